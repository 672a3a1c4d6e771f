//! Decisions of a person: to approve a phase, or to reopen it.

use serde_json::json;

use super::apply::edit;
use super::phases::find_phase;
use super::{Approve, ChangeError, Edit, Reopen};
use crate::checkpoint::{Content, Replan};
use crate::phase::{Approval, Phase, PhaseId, PhaseStatus};
use crate::task::TaskStatus;
use crate::time::Timestamp;

impl Approve {
    pub(super) fn apply(&self, phase: &PhaseId, next: &mut Content, now: Timestamp) -> Result<(), ChangeError> {
        let index = find_phase(next, phase)?;
        self.select(&mut next.phases[index])?;
        let approval = next.phases[index].approval.get_or_insert_with(Approval::default);
        approval.approved_at.get_or_insert(now);
        if approval.approved_by.is_none() {
            approval.approved_by.clone_from(&self.by);
            approval.recorded_by.clone_from(&self.recorded_by);
        }
        next.phase = Some(next.phases[index].id.clone());
        Ok(())
    }

    /// Records the selected option. Where options are offered, one of them is selected.
    fn select(&self, phase: &mut Phase) -> Result<(), ChangeError> {
        let offered = phase.options();
        let refuse = |given: Option<&String>| {
            let offered = offered.iter().map(|option| option.id.clone()).collect();
            Err(ChangeError::Option { phase: phase.id.clone(), given: given.cloned(), offered })
        };
        let Some(given) = &self.option else {
            return if offered.is_empty() || phase.selected().is_some() { Ok(()) } else { refuse(None) };
        };
        let Some(approval) = &mut phase.approval else { return refuse(Some(given)) };
        match (offered.iter().find(|option| option.is(given)), &approval.selection) {
            (Some(option), Some(member)) => {
                let mut data = phase.data.take().unwrap_or_default();
                edit("data", &mut data, &[Edit::Set(member.clone(), option.id.clone().into())])?;
                phase.data = Some(data);
            }
            (None, _) if approval.evidence.is_some() => approval.option = Some(given.clone()),
            _ => return refuse(Some(given)),
        }
        Ok(())
    }
}

impl Reopen {
    /// Makes the phase and every phase after it pending again. Their data and the last error stay, as a start for the next
    /// attempt; their approvals and selections do not, because the results will differ.
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
                approval.option = None;
                if let (Some(data), Some(member)) = (&mut phase.data, &approval.selection) {
                    edit("data", data, &[Edit::Merge(json!({ member: null }))])?;
                }
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
