//! The runs of a workflow, and the decision which of them expire.

use std::collections::BTreeSet;

use serde::Serialize;

use super::decide::is_older;
use super::plan::CheckpointDecision;
use super::policy::RunRule;
use super::reason::Reason;
use super::snapshot::{BundleFacts, HeadFacts, WorkflowFacts};
use crate::checkpoint::WorkflowStatus;
use crate::reason::ArchiveReason;
use crate::time::Timestamp;

/// One pass of a workflow, from a fresh start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The number of its first checkpoint.
    pub first: u64,
    /// Its highest number: that before the next fresh start, or the head.
    pub last: u64,
    /// Its status at its end; in progress if it was started over before that.
    pub outcome: WorkflowStatus,
    /// The time of its last save, or of the archiving that ended it; none if it is unknown.
    pub last_save: Option<Timestamp>,
}

/// A run that expires: all of its content is deleted for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpiredRun {
    /// The number of its first checkpoint.
    pub first: u64,
    /// Its highest number.
    pub last: u64,
    /// Its status at its end.
    pub outcome: WorkflowStatus,
    /// The time of its last save, if it is known.
    pub last_save: Option<Timestamp>,
    /// The names of its bundles, the highest numbers first.
    pub bundles: Vec<String>,
    /// The size of its bundles and live checkpoints.
    pub bytes: u64,
    /// All reasons for that.
    pub reasons: Vec<Reason>,
}

impl ExpiredRun {
    /// Returns true if a number belongs to it.
    #[must_use]
    pub fn contains(&self, seq: u64) -> bool {
        (self.first..=self.last).contains(&seq)
    }
}

impl WorkflowFacts {
    /// Computes the runs that have content, the newest first; none if the head is unreadable, because then the newest
    /// run is unknown.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        let Some(status) = self.head.status() else { return Vec::new() };
        let details = self.checkpoints.iter().filter_map(|checkpoint| checkpoint.details.as_ref());
        let mut firsts: BTreeSet<u64> = details.map(|details| details.run).collect();
        firsts.extend(self.bundles.iter().map(|bundle| bundle.name.run));
        firsts.insert(self.run);
        let mut runs = Vec::new();
        let mut last = self.newest;
        for first in firsts.into_iter().rev() {
            let closing = self.closing_bundle(first);
            let archived_at = closing.map(|bundle| bundle.name.saved_at);
            let (outcome, last_save) = match self.head {
                HeadFacts::Checkpoint(_) if first == self.run => {
                    (status, self.newest_details().map(|details| details.saved_at))
                }
                HeadFacts::Seal(_, sealed_at) if first == self.run => (status, Some(archived_at.unwrap_or(sealed_at))),
                _ => {
                    let outcome = closing.and_then(|bundle| WorkflowStatus::archived_as(&bundle.name.reason));
                    (outcome.unwrap_or_default(), archived_at)
                }
            };
            runs.push(Run { first, last, outcome, last_save });
            last = first.saturating_sub(1);
        }
        runs
    }

    /// Returns the bundle that closed a run, which has its outcome and the time of its last save.
    fn closing_bundle(&self, run: u64) -> Option<&BundleFacts> {
        let of_run = self.bundles.iter().filter(|bundle| bundle.name.run == run);
        of_run.filter(|bundle| bundle.name.reason != ArchiveReason::Cleanup).max_by_key(|bundle| bundle.name.last)
    }
}

/// Returns the runs that expire, oldest first. A run of which a checkpoint stays live does not.
pub(super) fn expired(
    workflow: &WorkflowFacts,
    decisions: &[CheckpointDecision],
    rule: RunRule,
    now: Timestamp,
) -> Vec<ExpiredRun> {
    let mut expired = Vec::new();
    let mut newer_previous = 0;
    for run in workflow.runs() {
        let is_previous = run.first < workflow.run;
        let mut candidate = ExpiredRun {
            first: run.first,
            last: run.last,
            outcome: run.outcome,
            last_save: run.last_save,
            bundles: Vec::new(),
            bytes: 0,
            reasons: Vec::new(),
        };
        if is_previous && !rule.previous_runs.admits(newer_previous) {
            candidate.reasons.push(Reason::RunBeyondLimit(rule.previous_runs));
        }
        if matches!(run.outcome, WorkflowStatus::Failed | WorkflowStatus::Abandoned)
            && run.last_save.is_some_and(|last_save| is_older(last_save, rule.failed_for, now))
        {
            candidate.reasons.push(Reason::RunOlderThan(run.outcome, rule.failed_for));
        }
        newer_previous += usize::from(is_previous);
        for bundle in workflow.bundles.iter().filter(|bundle| bundle.name.run == run.first) {
            candidate.bundles.push(bundle.name.to_string());
            candidate.bytes += bundle.bytes;
        }
        let live: Vec<&CheckpointDecision> =
            decisions.iter().filter(|decision| candidate.contains(decision.handle.seq)).collect();
        candidate.bytes += live.iter().map(|decision| decision.bytes).sum::<u64>();
        let has_content = !candidate.bundles.is_empty() || !live.is_empty();
        let stays = candidate.reasons.is_empty() || live.iter().any(|decision| decision.keep);
        if has_content && !stays {
            expired.push(candidate);
        }
    }
    expired.reverse();
    expired
}
