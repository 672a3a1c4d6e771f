//! Decisions of a person: to approve a phase, or to reopen it.

use super::phases::find_phase;
use super::{Approve, ChangeError, Reopen};
use crate::checkpoint::{Content, Replan};
use crate::phase::{Approval, PhaseId, PhaseStatus};
use crate::task::TaskStatus;
use crate::time::Timestamp;

impl Approve {
    pub(super) fn apply(&self, phase: &PhaseId, next: &mut Content, now: Timestamp) -> Result<(), ChangeError> {
        let index = find_phase(next, phase)?;
        let approval = next.phases[index].approval.get_or_insert_with(Approval::default);
        approval.approved_at.get_or_insert(now);
        if approval.approved_by.is_none() {
            approval.approved_by.clone_from(&self.by);
            approval.recorded_by.clone_from(&self.recorded_by);
        }
        next.phase = Some(next.phases[index].id.clone());
        Ok(())
    }
}

impl Reopen {
    /// Makes the phase and every phase after it pending again. Their data and the last error stay, as a start for the next
    /// attempt; their approvals do not, because the results will differ.
    pub(super) fn apply(&self, next: &mut Content, now: Timestamp) -> Result<(), ChangeError> {
        let index = find_phase(next, &self.from)?;
        let from = next.phases[index].id.clone();
        let count = next.replans.iter().filter(|replan| replan.phase == from).count();
        if self.limit.is_some_and(|limit| count >= limit as usize) {
            return Err(ChangeError::ReplanLimit { phase: from, count });
        }
        let reopened: Vec<PhaseId> = next.phases[index..].iter().map(|phase| phase.id.clone()).collect();
        for phase in &mut next.phases[index..] {
            phase.enter(PhaseStatus::Pending, now);
            phase.started_at = None;
            if let Some(approval) = &mut phase.approval {
                (approval.approved_at, approval.approved_by, approval.recorded_by) = (None, None, None);
            }
        }
        for task in &mut next.tasks {
            if task.phase.as_ref().is_some_and(|phase| reopened.contains(phase)) {
                task.enter(TaskStatus::Pending, now);
                (task.attempts, task.started_at) = (0, None);
            }
        }
        next.replans.push(Replan {
            phase: from.clone(),
            reason: self.reason.clone(),
            at: now,
            extra: Default::default(),
        });
        next.phase = Some(from);
        Ok(())
    }
}
