//! The cleanup plan of a whole store.

use serde::Serialize;

use super::decide::{decide, is_older};
use super::policy::{KeepRules, Policy, PolicyError, Rules};
use super::reason::Reason;
use super::runs::{self, ExpiredRun};
use super::size;
use super::snapshot::{Snapshot, TemporaryFile, UnreferredObject, WorkflowFacts};
use crate::checkpoint::WorkflowStatus;
use crate::digest::Digest;
use crate::reason::ArchiveReason;
use crate::selector::Handle;
use crate::span::Span;
use crate::time::Timestamp;
use crate::workflow_id::WorkflowId;

/// The age from which a temporary file is stale.
const STALE_AFTER: Span = Span::from_days(1);

/// The age from which an object that nothing refers to is removed: until then, a save that needs it again finds it.
const OBJECT_GRACE: Span = Span::from_days(1);

/// Returns true if an object that nothing refers to has been there for long enough.
#[must_use]
pub fn is_past_grace(modified: Timestamp, now: Timestamp) -> bool {
    is_older(modified, OBJECT_GRACE, now)
}

/// The effects of a cleanup. It contains no time: equal decisions make equal plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CleanupPlan {
    /// The workflows in scope, in the order of their ids.
    pub workflows: Vec<WorkflowPlan>,
    /// The stale temporary files to remove.
    pub stale_files: Vec<TemporaryFile>,
    /// The objects to remove.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<UnreferredObject>,
    /// True if leaving checkpoints are deleted instead of archived.
    pub purge: bool,
}

/// The effects on one workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkflowPlan {
    /// Its id.
    pub workflow: WorkflowId,
    /// Its highest number at the time of the decision.
    pub newest: u64,
    /// Its status, if it could be read.
    pub status: Option<WorkflowStatus>,
    /// One decision for every live checkpoint, oldest first.
    pub decisions: Vec<CheckpointDecision>,
    /// How the checkpoints leave that do.
    pub effect: CleanupEffect,
    /// The runs that expire, oldest first.
    pub expired: Vec<ExpiredRun>,
}

/// The decision about one checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointDecision {
    /// The checkpoint.
    pub handle: Handle,
    /// The size of its file.
    pub bytes: u64,
    /// True if it stays live.
    pub keep: bool,
    /// True if it is deleted for good instead of archived.
    pub delete: bool,
    /// All reasons for that.
    pub reasons: Vec<Reason>,
}

/// How checkpoints of a workflow leave the live store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CleanupEffect {
    /// All of them stay.
    Nothing,
    /// Single checkpoints leave.
    Checkpoints,
    /// The workflow is archived as a whole.
    Workflow(ArchiveReason),
}

impl CleanupPlan {
    /// Returns the runs that are deleted for good, with their workflows.
    pub fn expired_runs(&self) -> impl Iterator<Item = (&WorkflowId, &ExpiredRun)> {
        self.workflows.iter().flat_map(|plan| plan.expired.iter().map(|run| (&plan.workflow, run)))
    }

    /// Returns a digest that is equal for equal plans.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of_json(self)
    }

    /// Returns all decisions.
    pub fn decisions(&self) -> impl Iterator<Item = &CheckpointDecision> {
        self.workflows.iter().flat_map(|workflow| &workflow.decisions)
    }

    /// Returns the checkpoints that leave the live store.
    pub fn leaving(&self) -> impl Iterator<Item = &CheckpointDecision> {
        self.decisions().filter(|decision| !decision.keep)
    }

    /// Returns true if there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_idle = self.workflows.iter().all(WorkflowPlan::is_idle);
        is_idle && self.stale_files.is_empty() && self.objects.is_empty()
    }
}

impl WorkflowPlan {
    /// Returns true if nothing happens to the workflow.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.effect == CleanupEffect::Nothing && self.expired.is_empty()
    }

    /// Returns the checkpoints that leave the live store.
    pub fn leaving(&self) -> impl Iterator<Item = &CheckpointDecision> {
        self.decisions.iter().filter(|decision| !decision.keep)
    }
}

/// Decides what stays and what leaves.
///
/// # Errors
/// The policy has no rule; or something would leave although a keep rule matches nothing at all.
pub fn plan(snapshot: &Snapshot, policy: &Policy, now: Timestamp) -> Result<CleanupPlan, PolicyError> {
    if policy.rules == Rules::Everything && policy.keep.is_empty() {
        return Err(PolicyError::Empty);
    }
    let in_scope: Vec<&WorkflowFacts> =
        snapshot.workflows.iter().filter(|facts| policy.filter.matches(&facts.workflow, facts.head.status())).collect();
    let mut workflows: Vec<WorkflowPlan> = in_scope.iter().map(|facts| plan_checkpoints(facts, policy, now)).collect();
    if let Some(limit) = policy.max_size {
        size::fit(snapshot, &in_scope, policy, limit, now, &mut workflows);
    }
    for (facts, plan) in in_scope.iter().zip(&mut workflows) {
        if let Some(rule) = policy.runs {
            plan.expired = runs::expired(facts, &plan.decisions, rule, now);
        }
        for decision in plan.decisions.iter_mut().filter(|decision| !decision.keep) {
            let seq = decision.handle.seq;
            decision.delete = policy.purge || plan.expired.iter().any(|run| run.contains(seq));
        }
    }
    let files = snapshot.temporary_files.iter();
    let mut stale_files: Vec<TemporaryFile> =
        files.filter(|file| is_older(file.modified, STALE_AFTER, now)).cloned().collect();
    stale_files.sort();
    let objects = snapshot.objects.clone();
    let plan = CleanupPlan { workflows, stale_files, objects, purge: policy.purge };
    let leaving = plan.leaving().count();
    match unmatched_keep_rule(&plan, &policy.keep) {
        Some(rule) if leaving > 0 => Err(PolicyError::MatchesNothing { rule, leaving }),
        _ => Ok(plan),
    }
}

fn plan_checkpoints(facts: &WorkflowFacts, policy: &Policy, now: Timestamp) -> WorkflowPlan {
    let (decisions, effect) = decide(facts, policy, &policy.keep, now);
    WorkflowPlan {
        workflow: facts.workflow.clone(),
        newest: facts.newest,
        status: facts.head.status(),
        decisions,
        effect,
        expired: Vec::new(),
    }
}

/// Returns the first keep rule that matches no checkpoint, in words.
fn unmatched_keep_rule(plan: &CleanupPlan, keep: &KeepRules) -> Option<String> {
    let reasons: Vec<&Reason> = plan.decisions().flat_map(|decision| &decision.reasons).collect();
    if let Some(limit) = keep.last
        && !reasons.iter().any(|reason| matches!(reason, Reason::KeepLast(_)))
    {
        return Some(format!("keep the newest {limit}"));
    }
    if let Some(span) = keep.within
        && !reasons.iter().any(|reason| matches!(reason, Reason::KeepWithin(_)))
    {
        return Some(format!("keep within {span}"));
    }
    let is_matched = |word: &str| {
        let is_rule = |reason: &&Reason| matches!(reason, Reason::KeepTrigger(by, _) if by.word() == word);
        reasons.iter().any(is_rule)
    };
    let unmatched = keep.triggers.0.iter().find(|(word, _)| !is_matched(word));
    unmatched.map(|(word, limit)| format!("keep {limit} {word}"))
}
