//! The decision about a whole store.

use serde::Serialize;

use super::judge::judge;
use super::policy::{KeepRules, Policy, PolicyError, Rules};
use super::reason::Reason;
use super::snapshot::{Leftover, Snapshot, WorkflowFacts};
use super::{bundles, merge, size};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::digest::Digest;
use crate::core::reason::ArchiveReason;
use crate::core::selector::Handle;
use crate::core::span::Span;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// How long a file that is being written is left alone.
const LEFTOVER_AFTER: Span = Span::from_days(1);

/// What a cleanup does, decided. It has no time in it: the same decision is the same plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CleanupPlan {
    /// The workflows in scope, in the order of their ids.
    pub workflows: Vec<WorkflowPlan>,
    /// Files that were being written and never will be.
    pub leftovers: Vec<Leftover>,
    /// Whether what goes is not archived.
    pub purge: bool,
}

/// What happens to one workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkflowPlan {
    /// Its id.
    pub workflow: WorkflowId,
    /// Its highest number when this was decided.
    pub newest: u64,
    /// What it says about itself.
    pub status: Option<WorkflowStatus>,
    /// One for every live checkpoint, the oldest first.
    pub verdicts: Vec<Verdict>,
    /// How those leave that go.
    pub removal: Removal,
    /// The bundles that go.
    pub bundles: Vec<BundleRemoval>,
    /// The bundles that become one, the newest first, together with the one that is made now, if single checkpoints go.
    pub merge: Vec<String>,
}

/// The decision about one checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The checkpoint.
    pub handle: Handle,
    /// The size of its file.
    pub bytes: u64,
    /// Whether it stays in the live store.
    pub keep: bool,
    /// Everything that says so.
    pub reasons: Vec<Reason>,
}

/// How checkpoints leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Removal {
    /// None does.
    Nothing,
    /// Those that go.
    Some,
    /// All of them: the workflow is archived.
    Whole(ArchiveReason),
}

/// A bundle that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BundleRemoval {
    /// Its name.
    pub name: String,
    /// The size of its file.
    pub bytes: u64,
    /// Everything that says so.
    pub reasons: Vec<Reason>,
}

impl CleanupPlan {
    /// Tells plans apart: two are equal if and only if this is.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// Every verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.workflows.iter().flat_map(|workflow| &workflow.verdicts)
    }

    /// The checkpoints that go.
    pub fn removed(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts().filter(|verdict| !verdict.keep)
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.workflows.iter().all(WorkflowPlan::is_idle) && self.leftovers.is_empty()
    }
}

impl WorkflowPlan {
    fn is_idle(&self) -> bool {
        self.removal == Removal::Nothing && self.bundles.is_empty() && self.merge.is_empty()
    }

    /// The checkpoints that go.
    pub fn removed(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.keep)
    }

    /// The highest number in the bundle of what goes.
    fn made(&self) -> Option<u64> {
        self.removed().map(|verdict| verdict.handle.seq).max()
    }
}

/// Decides what goes and what stays.
///
/// # Errors
/// The policy has no rule; or something would go although a keep rule matches nothing at all.
pub fn plan(snapshot: &Snapshot, policy: &Policy, now: Timestamp) -> Result<CleanupPlan, PolicyError> {
    if policy.rules == Rules::Everything && policy.keep.is_empty() {
        return Err(PolicyError::Empty);
    }
    let in_scope: Vec<&WorkflowFacts> = snapshot
        .workflows
        .iter()
        .filter(|facts| policy.scope.covers(&facts.workflow, facts.standing.status()))
        .collect();
    let mut workflows: Vec<WorkflowPlan> = in_scope
        .iter()
        .map(|facts| {
            let (verdicts, removal) = judge(facts, policy, &policy.keep, now);
            WorkflowPlan {
                workflow: facts.workflow.clone(),
                newest: facts.newest,
                status: facts.standing.status(),
                verdicts,
                removal,
                bundles: Vec::new(),
                merge: Vec::new(),
            }
        })
        .collect();
    if let Some(limit) = policy.max_size {
        size::fit(snapshot, &in_scope, policy, limit, now, &mut workflows);
    }
    for (facts, plan) in in_scope.iter().zip(&mut workflows) {
        let made = plan.made().filter(|_| !policy.purge);
        let makes_one = made.is_some() && plan.removal == Removal::Some;
        let merged = merge::merged(facts, makes_one, made.is_some(), policy.bundles);
        if let Some(rule) = policy.bundles {
            plan.bundles = bundles::expired(facts, made, &merged, makes_one, rule, now);
        }
        plan.merge = merged.iter().map(|facts| facts.name.to_string()).collect();
    }
    let too_old = |leftover: &&Leftover| {
        policy.sweep && super::judge::is_older(now.seconds_since(leftover.modified), LEFTOVER_AFTER)
    };
    let mut leftovers: Vec<Leftover> = snapshot.leftovers.iter().filter(too_old).cloned().collect();
    leftovers.sort();
    let plan = CleanupPlan { workflows, leftovers, purge: policy.purge };
    match unmatched(&plan, &policy.keep) {
        Some(rule) if plan.removed().next().is_some() => {
            Err(PolicyError::MatchesNothing { rule, removed: plan.removed().count() })
        }
        _ => Ok(plan),
    }
}

/// The first keep rule that matches nothing, in words.
fn unmatched(plan: &CleanupPlan, keep: &KeepRules) -> Option<String> {
    let matched =
        |test: &dyn Fn(&Reason) -> bool| plan.verdicts().any(|verdict| verdict.reasons.iter().any(test));
    if let Some(limit) = keep.last.filter(|_| !matched(&|reason| matches!(reason, Reason::KeepLast(_)))) {
        return Some(format!("keep the newest {limit}"));
    }
    if let Some(span) = keep.within.filter(|_| !matched(&|reason| matches!(reason, Reason::KeepWithin(_)))) {
        return Some(format!("keep within {span}"));
    }
    let mut triggers = keep.triggers.0.iter();
    let unmatched = triggers.find(|(word, _)| {
        !matched(&|reason| matches!(reason, Reason::KeepTrigger(trigger, _) if trigger.word() == *word))
    });
    unmatched.map(|(word, limit)| format!("keep {limit} {word}"))
}
