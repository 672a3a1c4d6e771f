//! Making a store fit a size.

use std::collections::BTreeSet;

use super::judge::{judge, reason};
use super::plan::{Removal, WorkflowPlan};
use super::policy::{KeepRules, Policy};
use super::reason::Reason;
use super::snapshot::{Snapshot, Standing, WorkflowFacts};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::size::Size;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// Adds the oldest finished workflows to what goes, until the live checkpoints fit.
///
/// Which workflows those are is decided as if there were no keep rules; what a keep rule matches stays all the same.
/// So a keep rule never sends another workflow away in the place of the one it protects.
pub(super) fn fit(
    snapshot: &Snapshot,
    in_scope: &[&WorkflowFacts],
    policy: &Policy,
    limit: Size,
    now: Timestamp,
    plans: &mut [WorkflowPlan],
) {
    let chosen = choose(snapshot, in_scope, policy, limit, now);
    for plan in plans.iter_mut().filter(|plan| chosen.contains(&plan.workflow)) {
        let kept_by_rule = |reason: &Reason| {
            matches!(reason, Reason::KeepLast(_) | Reason::KeepWithin(_) | Reason::KeepTrigger(..))
        };
        if plan.verdicts.iter().any(|verdict| verdict.reasons.iter().any(kept_by_rule)) {
            continue;
        }
        for verdict in &mut plan.verdicts {
            if verdict.keep {
                verdict.keep = false;
                verdict.reasons.clear();
            }
            verdict.reasons.push(Reason::MaxSize(limit));
        }
        plan.removal = Removal::Whole(plan.status.map_or(crate::core::ArchiveReason::Cleanup, reason));
    }
}

/// The oldest finished workflows that may leave entirely, as many as it takes.
fn choose(
    snapshot: &Snapshot,
    in_scope: &[&WorkflowFacts],
    policy: &Policy,
    limit: Size,
    now: Timestamp,
) -> BTreeSet<WorkflowId> {
    let all = snapshot.workflows.iter().flat_map(|facts| &facts.checkpoints);
    let mut bytes: u64 = all.map(|facts| facts.bytes).sum();
    let mut candidates = Vec::new();
    for facts in in_scope {
        let (verdicts, _) = judge(facts, policy, &KeepRules::default(), now);
        let staying: u64 = verdicts.iter().filter(|verdict| verdict.keep).map(|verdict| verdict.bytes).sum();
        let going: u64 = verdicts.iter().filter(|verdict| !verdict.keep).map(|verdict| verdict.bytes).sum();
        bytes = bytes.saturating_sub(going);
        let newest = facts.checkpoints.iter().find(|checkpoint| checkpoint.seq == facts.newest);
        let saved_at = newest.and_then(|newest| Some(newest.content.as_ref()?.saved_at));
        let guarded = facts.checkpoints.iter().any(|checkpoint| {
            checkpoint.content.as_ref().is_none_or(|content| content.pinned || content.saved_at > now)
        });
        let finished =
            matches!(facts.standing, Standing::Live(status) if status != WorkflowStatus::InProgress);
        if finished && !guarded && staying > 0 {
            candidates.extend(saved_at.map(|saved_at| (saved_at, facts.workflow.clone(), staying)));
        }
    }
    candidates.sort();
    let mut chosen = BTreeSet::new();
    for (_, workflow, staying) in candidates {
        if bytes <= limit.0 {
            break;
        }
        bytes = bytes.saturating_sub(staying);
        chosen.insert(workflow);
    }
    chosen
}
