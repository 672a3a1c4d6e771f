//! `max_size`: the oldest finished workflows leave until the live checkpoints fit.

use std::collections::BTreeSet;

use super::decide::{archive_reason, decide};
use super::plan::{CheckpointDecision, CleanupEffect, WorkflowPlan};
use super::policy::{KeepRules, Policy};
use super::reason::Reason;
use super::snapshot::{HeadFacts, Snapshot, WorkflowFacts};
use crate::checkpoint::WorkflowStatus;
use crate::reason::ArchiveReason;
use crate::size::Size;
use crate::time::Timestamp;
use crate::workflow_id::WorkflowId;

/// Makes the oldest finished workflows leave until the live checkpoints fit `limit`.
///
/// The workflows are chosen as if there were no keep rules, and those with a checkpoint that a keep rule matches then
/// stay. So a keep rule never makes another workflow leave in place of the one it protects.
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
        if plan.decisions.iter().flat_map(|decision| &decision.reasons).any(Reason::is_keep_rule) {
            continue;
        }
        for decision in &mut plan.decisions {
            if decision.keep {
                decision.keep = false;
                decision.reasons.clear();
            }
            decision.reasons.push(Reason::MaxSize(limit));
        }
        plan.effect = CleanupEffect::Workflow(plan.status.map_or(ArchiveReason::Cleanup, archive_reason));
    }
}

/// Returns the oldest finished workflows without guarded checkpoints, as many as it takes.
fn choose(
    snapshot: &Snapshot,
    in_scope: &[&WorkflowFacts],
    policy: &Policy,
    limit: Size,
    now: Timestamp,
) -> BTreeSet<WorkflowId> {
    let mut bytes = snapshot.live_bytes();
    let mut candidates = Vec::new();
    for facts in in_scope {
        let (decisions, _) = decide(facts, policy, &KeepRules::default(), now);
        let (staying, leaving): (Vec<&CheckpointDecision>, Vec<_>) =
            decisions.iter().partition(|decision| decision.keep);
        let staying: u64 = staying.iter().map(|decision| decision.bytes).sum();
        bytes = bytes.saturating_sub(leaving.iter().map(|decision| decision.bytes).sum());
        let guarded = facts.checkpoints.iter().any(|checkpoint| {
            checkpoint.details.as_ref().is_none_or(|details| details.pinned || details.saved_at > now)
        });
        let finished = matches!(facts.head, HeadFacts::Checkpoint(status) if status != WorkflowStatus::InProgress);
        if let Some(newest) = facts.newest_details()
            && finished
            && !guarded
            && staying > 0
        {
            candidates.push((newest.saved_at, facts.workflow.clone(), staying));
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
