//! Applying the progress counters and the pointer to the current phase.

use super::stated_progress::StatedProgress;
use super::status_table::StatusTable;
use crate::core::checkpoint::WorkflowStatus;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};

/// The result of applying a pointer to a phase.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointer {
    /// The document has none.
    Absent,
    Followed,
    /// It names no phase of the table.
    Unknown,
}

impl StatusTable {
    /// Applies the counters, unless the status of a phase is known. Returns false if they do not match the phases.
    pub(super) fn apply_counters(
        &mut self,
        stated: &StatedProgress,
        overall: Option<WorkflowStatus>,
        log: &mut ReadLog<'_>,
    ) -> bool {
        let had_status = self.has_any_status();
        if let Some((id, place)) = &stated.last_completed {
            let Some(index) = self.position(id) else {
                let message = format!("{id} is said to be the last completed one, but it is not listed");
                log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                return false;
            };
            if had_status {
                self.check_last_completed(index, place, log);
            } else {
                self.apply_done_count(index + 1, place, overall, log);
            }
        }
        let Some((count, place)) = &stated.done_count else { return true };
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        if had_status || stated.last_completed.is_some() {
            let done = self.phases.iter().filter(|phase| phase.status.is_done()).count();
            if done != count {
                let message =
                    format!("{count} phases are counted as done, but {done} are recorded; the record counts");
                log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            }
        } else if !self.from_list && !self.phases.is_empty() && !self.is_numbered() {
            // The current phase has a name, and those before it are unknown: the count cannot be applied.
            log.origin("phases done", count, place);
        } else if count <= self.phases.len() {
            self.apply_done_count(count, place, overall, log);
        } else {
            let message =
                format!("{count} phases are counted as done, but only {} are known", self.phases.len());
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            return false;
        }
        true
    }

    fn apply_done_count(
        &mut self,
        count: usize,
        place: &str,
        overall: Option<WorkflowStatus>,
        log: &mut ReadLog<'_>,
    ) {
        self.complete_first(count);
        log.origin("phases done", count, place);
        // A failure without a phase happened in the phase behind the counted ones.
        if overall == Some(WorkflowStatus::Failed) && !self.phases.is_empty() {
            let index = count.min(self.phases.len() - 1);
            if index < count {
                let id = &self.phases[index].id;
                let message = format!(
                    "all phases are counted as done, but the work is recorded as failed; {id} is not taken as done"
                );
                log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            }
            self.set_status(index, PhaseStatus::Failed);
        }
    }

    fn check_last_completed(&self, index: usize, place: &str, log: &mut ReadLog<'_>) {
        let phase = &self.phases[index];
        if !phase.status.is_done() {
            let (id, status) = (&phase.id, phase.status.word());
            let message =
                format!("{id} is said to be the last completed one, but it is recorded as {status}");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }

    /// Applies the current phase, or the one to resume at: sets its status, and if no other status is known, takes the
    /// phases before it as complete.
    pub(super) fn apply_pointer(
        &mut self,
        stated: &StatedProgress,
        overall: Option<WorkflowStatus>,
        log: &mut ReadLog<'_>,
    ) -> Pointer {
        if let Some((id, place)) = &stated.current {
            log.origin("phase", id, place);
        }
        let had_status = self.has_any_status();
        let resume_at = if had_status { None } else { stated.resume_at.as_ref() };
        let Some((id, place)) = resume_at.or(stated.current.as_ref()) else { return Pointer::Absent };
        let Some(index) = self.position(id).or_else(|| self.first_for_zero(id)) else {
            return self.apply_unknown_pointer(id, place, overall, log);
        };
        let current = stated.current.as_ref().and_then(|(id, _)| self.position(id));
        if let Some(current) = current {
            let previous = self.phases[current].status;
            match (self.has_status[current], stated.current_status) {
                (true, Some(PhaseStatus::Failed)) if previous.is_done() => {
                    let message = format!(
                        "phase {id} is recorded as {} and as failed; the failure counts",
                        previous.word()
                    );
                    log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                    self.set_status(current, PhaseStatus::Failed);
                }
                (false, Some(status)) => self.set_status(current, status),
                (false, None) if overall == Some(WorkflowStatus::Failed) && !had_status => {
                    self.set_status(current, PhaseStatus::Failed);
                }
                _ => {}
            }
        }
        if had_status {
            return Pointer::Followed;
        }
        if overall == Some(WorkflowStatus::Complete) {
            // No phase is left behind the current one.
            self.complete_first(self.phases.len());
        } else if index > 0 {
            self.complete_first(index);
            let message = format!("nothing says which phases are done; those before {id} are taken as done");
            log.finding_at(Severity::Advice, Code::PhasesImplied, place, &message);
        }
        Pointer::Followed
    }

    /// Returns the first phase for 0, unless the phases are numbers. For any other number it is unknown whether counting
    /// starts at 0.
    fn first_for_zero(&self, id: &PhaseId) -> Option<usize> {
        if id.as_str() == "0" && !self.phases.is_empty() && !self.is_numbered() { Some(0) } else { None }
    }

    fn is_numbered(&self) -> bool {
        self.phases.iter().any(|phase| numbered_phases::number_of(&phase.id).is_some())
    }

    /// Applies a pointer to a phase that is not in the table. Behind a list that is all done, it may be the next phase.
    fn apply_unknown_pointer(
        &mut self,
        id: &PhaseId,
        place: &str,
        overall: Option<WorkflowStatus>,
        log: &mut ReadLog<'_>,
    ) -> Pointer {
        let number = numbered_phases::number_of(id);
        if self.all_done() && self.has_any_status() {
            let has_ended = overall == Some(WorkflowStatus::Complete) || number.is_some();
            if !has_ended && self.from_list {
                self.push(id);
            }
            return Pointer::Followed;
        }
        if self.phases.is_empty() {
            return Pointer::Unknown;
        }
        let message = match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number @ 1..) if number < self.phases.len() && !self.is_numbered() => format!(
                "{id} may be {} or {}: it is not said whether counting begins at 0",
                self.phases[number - 1].id,
                self.phases[number].id
            ),
            _ => format!("{id} is none of the phases that are known"),
        };
        log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        Pointer::Unknown
    }
}
