//! The decision about each checkpoint of one workflow.

use std::collections::BTreeMap;

use super::plan::{CheckpointDecision, CleanupEffect};
use super::policy::{KeepRules, Policy, Rules};
use super::reason::Reason;
use super::snapshot::{CheckpointDetails, CheckpointFacts, HeadFacts, WorkflowFacts};
use crate::checkpoint::WorkflowStatus;
use crate::phase::PhaseId;
use crate::reason::ArchiveReason;
use crate::selector::Handle;
use crate::span::Span;
use crate::time::Timestamp;
use crate::trigger::Trigger;

/// Decides about every live checkpoint of `workflow`, oldest first, and how those that leave do so.
pub(super) fn decide(
    workflow: &WorkflowFacts,
    policy: &Policy,
    keep: &KeepRules,
    now: Timestamp,
) -> (Vec<CheckpointDecision>, CleanupEffect) {
    let mut decider = Decider { workflow, rules: &policy.rules, keep, abandoned_after: None, purge: policy.purge, now };
    if let Some(span) = policy.abandon_idle
        && workflow.head == HeadFacts::Checkpoint(WorkflowStatus::InProgress)
        && decider.is_idle(span)
    {
        decider.abandoned_after = Some(span);
        let decisions = decider.decide_all();
        if decisions.iter().all(|decision| !decision.keep) {
            return (decisions, CleanupEffect::Workflow(ArchiveReason::Abandoned));
        }
        decider.abandoned_after = None;
    }
    let mut decisions = decider.decide_all();
    let effect = effect(workflow, &mut decisions);
    (decisions, effect)
}

/// A checkpoint with the number of newer ones, in its workflow and with its [`count_key`].
struct RankedCheckpoint<'a> {
    facts: &'a CheckpointFacts,
    newer: usize,
    newer_alike: usize,
}

/// Returns the key under which a checkpoint is counted: batches and agents per phase, all others per workflow.
pub(super) fn count_key<'a>(trigger: &'a Trigger, phase: Option<&'a PhaseId>) -> (&'a str, Option<&'a PhaseId>) {
    let counted = match trigger {
        Trigger::BatchComplete | Trigger::AgentComplete => phase,
        _ => None,
    };
    (trigger.word(), counted)
}

struct Decider<'a> {
    workflow: &'a WorkflowFacts,
    rules: &'a Rules,
    keep: &'a KeepRules,
    /// Set while an open workflow is treated as abandoned, because it was idle for longer than this.
    abandoned_after: Option<Span>,
    /// True if what leaves is deleted.
    purge: bool,
    now: Timestamp,
}

impl Decider<'_> {
    /// Decides about all checkpoints, oldest first.
    fn decide_all(&self) -> Vec<CheckpointDecision> {
        let mut counts = BTreeMap::new();
        let mut decisions = Vec::with_capacity(self.workflow.checkpoints.len());
        for (newer, facts) in self.workflow.checkpoints.iter().rev().enumerate() {
            let newer_alike = facts.details.as_ref().map_or(0, |details| {
                let count = counts.entry(count_key(&details.trigger, details.phase.as_ref())).or_insert(0_usize);
                *count += 1;
                *count - 1
            });
            decisions.push(self.decide(&RankedCheckpoint { facts, newer, newer_alike }));
        }
        decisions.reverse();
        decisions
    }

    fn decide(&self, candidate: &RankedCheckpoint<'_>) -> CheckpointDecision {
        let mut stays = self.guards(candidate.facts);
        let mut leaves = Vec::new();
        if let Some(details) = &candidate.facts.details {
            stays.extend(self.keep_rules(candidate, details));
            leaves = self.rules(candidate, details);
            if leaves.is_empty() {
                stays.extend(self.within_rules(details));
            }
        }
        if leaves.is_empty() && stays.is_empty() {
            stays.push(self.recent().unwrap_or(Reason::NoRule));
        }
        let keep = !stays.is_empty();
        CheckpointDecision {
            handle: Handle::new(&self.workflow.workflow, candidate.facts.seq),
            bytes: candidate.facts.bytes,
            keep,
            delete: false,
            reasons: if keep { stays } else { leaves },
        }
    }

    /// Returns the guards that apply. No policy overrides them.
    fn guards(&self, facts: &CheckpointFacts) -> Vec<Reason> {
        let (head, is_newest) = (self.workflow.head, facts.seq == self.workflow.newest);
        let mut reasons = Vec::new();
        let is_open = head == HeadFacts::Checkpoint(WorkflowStatus::InProgress);
        if is_newest && is_open && self.abandoned_after.is_none() {
            reasons.push(Reason::NewestOfOpen);
        }
        match &facts.details {
            Some(details) if details.pinned => reasons.push(Reason::Pinned),
            None => reasons.push(Reason::Unreadable),
            Some(_) => {}
        }
        if facts.details.as_ref().is_some_and(|details| details.saved_at > self.now) {
            reasons.push(Reason::Future);
        }
        if !is_newest && head == HeadFacts::Unreadable {
            reasons.push(Reason::NewestUnreadable);
        }
        reasons
    }

    /// Returns the keep rules that match.
    fn keep_rules(&self, candidate: &RankedCheckpoint<'_>, details: &CheckpointDetails) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if let Some(limit) = self.keep.last
            && limit.admits(candidate.newer)
        {
            reasons.push(Reason::KeepLast(limit));
        }
        if let Some(span) = self.keep.within
            && !self.is_older(details, span)
        {
            reasons.push(Reason::KeepWithin(span));
        }
        if let Some(limit) = self.keep.triggers.of(&details.trigger)
            && limit.admits(candidate.newer_alike)
        {
            reasons.push(Reason::KeepTrigger(details.trigger.clone(), limit));
        }
        reasons
    }

    /// Returns the rules by which a checkpoint leaves.
    fn rules(&self, candidate: &RankedCheckpoint<'_>, details: &CheckpointDetails) -> Vec<Reason> {
        if let Some(span) = self.abandoned_after {
            return vec![Reason::AbandonedAfter(span)];
        }
        let status = match self.workflow.head {
            HeadFacts::Checkpoint(status) => status,
            HeadFacts::Seal(..) => return vec![Reason::AlreadyArchived],
            HeadFacts::Unreadable => return Vec::new(),
        };
        let open = status == WorkflowStatus::InProgress;
        let mut reasons = Vec::new();
        if let Some(span) = self.rules.max_age() {
            if open && self.is_older(details, span) {
                reasons.push(Reason::OlderThan(span));
            } else if !open && self.is_idle(span) {
                reasons.push(Reason::IdleFor(status, span));
            }
        }
        match (self.rules, status) {
            (Rules::Everything, _) => reasons.push(Reason::NotKept),
            (Rules::MaxAge(_), _) => {}
            (Rules::Configured { triggers, compress_after, .. }, WorkflowStatus::InProgress) => {
                if let Some(span) = compress_after
                    && !self.purge
                    && self.is_idle(*span)
                {
                    reasons.push(Reason::CompressedAfter(*span));
                }
                if let Some(limit) = triggers.of(&details.trigger)
                    && !limit.admits(candidate.newer_alike)
                {
                    let phase = count_key(&details.trigger, details.phase.as_ref()).1.cloned();
                    reasons.push(Reason::BeyondLimit(details.trigger.clone(), limit, phase));
                }
            }
            (Rules::Configured { .. }, WorkflowStatus::Complete) if candidate.facts.seq == self.workflow.newest => {}
            (Rules::Configured { .. }, _) => reasons.push(Reason::Finished(status)),
        }
        reasons
    }

    /// Returns the limit that admits a checkpoint which no rule makes leave.
    fn within_rules(&self, details: &CheckpointDetails) -> Option<Reason> {
        match (self.rules, self.workflow.head) {
            (Rules::Configured { triggers, .. }, HeadFacts::Checkpoint(WorkflowStatus::InProgress)) => {
                let limit = triggers.of(&details.trigger)?;
                Some(Reason::WithinLimit(details.trigger.clone(), limit))
            }
            (Rules::Configured { .. }, HeadFacts::Checkpoint(WorkflowStatus::Complete)) => Some(Reason::Final),
            _ => None,
        }
    }

    /// Returns the maximum age as the reason of a checkpoint that has not reached it.
    fn recent(&self) -> Option<Reason> {
        let span = self.rules.max_age()?;
        match self.workflow.head {
            HeadFacts::Checkpoint(WorkflowStatus::InProgress) => Some(Reason::Recent(span)),
            HeadFacts::Checkpoint(_) => Some(Reason::RecentlyActive(span)),
            HeadFacts::Seal(..) | HeadFacts::Unreadable => None,
        }
    }

    fn is_older(&self, details: &CheckpointDetails, span: Span) -> bool {
        is_older(details.saved_at, span, self.now)
    }

    /// Returns true if the newest checkpoint of the workflow is older than `span`.
    fn is_idle(&self, span: Span) -> bool {
        self.workflow.newest_details().is_some_and(|details| self.is_older(details, span))
    }
}

/// Returns how the checkpoints leave, and keeps the newest one of a live workflow of which another one stays.
fn effect(workflow: &WorkflowFacts, decisions: &mut [CheckpointDecision]) -> CleanupEffect {
    let all_leave = decisions.iter().all(|decision| !decision.keep);
    match workflow.head {
        _ if decisions.iter().all(|decision| decision.keep) => return CleanupEffect::Nothing,
        HeadFacts::Checkpoint(status) if all_leave => {
            return CleanupEffect::Workflow(archive_reason(status));
        }
        HeadFacts::Checkpoint(_) => {}
        HeadFacts::Seal(..) | HeadFacts::Unreadable => return CleanupEffect::Checkpoints,
    }
    for newest in decisions.iter_mut().filter(|decision| decision.handle.seq == workflow.newest) {
        if !newest.keep {
            newest.keep = true;
            newest.reasons = vec![Reason::NewestOfKept];
        }
    }
    if decisions.iter().all(|decision| decision.keep) { CleanupEffect::Nothing } else { CleanupEffect::Checkpoints }
}

/// Returns the reason for archiving a workflow with this status.
pub(super) fn archive_reason(status: WorkflowStatus) -> ArchiveReason {
    status.archive_reason().unwrap_or(ArchiveReason::Cleanup)
}

/// Returns true if more than `span` lies between `time` and `now`.
pub(super) fn is_older(time: Timestamp, span: Span, now: Timestamp) -> bool {
    u64::try_from(now.seconds_since(time)).is_ok_and(|age| age > span.seconds())
}
