//! Conclusions from the stated progress.
//!
//! A status recorded for a phase takes precedence over a list of phases with the same status, that over a counter, and a
//! counter over a pointer. A contradiction between them is a finding. A failure takes precedence over everything. Where
//! nothing states how far the work is, nothing is decided.

use std::collections::HashSet;

use super::phase_records::status_from_tasks;
use super::phase_table::PhaseTable;
use super::stated_progress::StatedProgress;
use crate::core::checkpoint::{CUSTOM_PIPELINE, Next, WorkflowStatus};
use crate::core::dialects::draft::Draft;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::task::{Task, TaskId};

/// Whether a pointer names a phase of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pointer {
    Absent,
    Followed,
    Unknown,
}

/// Adds phases, tasks and the next phase to the draft. `overall` is the status of the whole work.
pub(super) fn decide(
    mut stated: StatedProgress,
    overall: Option<WorkflowStatus>,
    draft: &mut Draft,
    log: &mut ReadLog<'_>,
) {
    let mut overall = overall.or(stated.says_failed.then_some(WorkflowStatus::Failed));
    // `{"phase": "build", "status": "done"}`: that phase is done, and it is unknown whether others follow.
    if overall == Some(WorkflowStatus::Complete) && stated.may_be_one_phase && stated.is_empty() {
        stated.current_status.get_or_insert(PhaseStatus::Complete);
        overall = None;
    }
    let mut table = PhaseTable::new(&stated, log);
    table.apply_records(&stated, log);
    table.apply_status_lists(&stated, log);
    let counters_fit = table.apply_counters(&stated, overall, log);
    let pointer = table.apply_pointer(&stated, overall, log);
    table.add_tasks(&stated, draft);
    let is_complete =
        overall == Some(WorkflowStatus::Complete) || (overall.is_none() && stated.says_complete);
    if is_complete && !table.has_any_status() {
        table.complete_first(table.phases.len());
    }
    let all_done = table.all_done();
    draft.content.status = overall.unwrap_or(if all_done && table.is_complete || stated.says_complete {
        WorkflowStatus::Complete
    } else {
        WorkflowStatus::InProgress
    });
    draft.content.phase = stated.current.as_ref().map(|(id, _)| id.clone());
    if !table.phases.is_empty() && !is_progress_known(&table, &stated, counters_fit, pointer) {
        return leave_undecided(draft, log);
    }
    let first_open = table.phases.iter().find(|phase| !phase.status.is_done());
    if let Some(phase) = first_open
        && table.unknown_status.contains(&phase.id)
    {
        let message = format!("whether {} is done cannot be told: its status is not known", phase.id);
        log.finding(Severity::Confirm, Code::StatusUnknown, message);
    }
    // A list that is all done, of work that continues or failed, cannot be complete.
    let is_contradicted = all_done && overall.is_some_and(|status| status != WorkflowStatus::Complete);
    if table.is_complete && !is_contradicted {
        draft.content.pipeline = Some(CUSTOM_PIPELINE.to_owned());
    }
    let has_ended = all_done && draft.content.status == WorkflowStatus::Complete;
    if !has_ended {
        draft.content.next = table.next(&stated, overall);
    }
    draft.content.phases = table.phases;
}

/// True if it is known how far the work is.
fn is_progress_known(
    table: &PhaseTable,
    stated: &StatedProgress,
    counters_fit: bool,
    pointer: Pointer,
) -> bool {
    if table.has_any_status() {
        return true;
    }
    let has_statement = pointer == Pointer::Followed
        || stated.not_started
        || !stated.status_lists.is_empty()
        || stated.done_count.is_some()
        || stated.last_completed.is_some();
    counters_fit && !stated.has_unreadable && has_statement && pointer != Pointer::Unknown
}

/// Leaves open where to continue: the phases are known, but not how far the work is.
fn leave_undecided(draft: &mut Draft, log: &mut ReadLog<'_>) {
    for task in &mut draft.content.tasks {
        task.phase = None;
    }
    let message = "phases are named, but nothing that can be relied on says which of them are done";
    log.finding(Severity::Advice, Code::PhasesUnknown, message);
}

impl PhaseTable {
    /// Applies the counters, unless the status of a phase is known. Returns false if they do not match the phases.
    fn apply_counters(
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
    fn apply_pointer(
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

    /// Adds the tasks of all phases to the draft, and concludes the status of the current phase from its tasks.
    fn add_tasks(&mut self, stated: &StatedProgress, draft: &mut Draft) {
        let mut used = HashSet::new();
        for record in &stated.records {
            self.add_tasks_of(&record.tasks, record.id.as_ref(), &mut used, draft);
        }
        let current = stated.current.as_ref().map(|(id, _)| id);
        self.add_tasks_of(&stated.tasks, current, &mut used, draft);
        let Some(current) = current else { return };
        if stated.tasks.is_empty() {
            return;
        }
        let index = match self.position(current) {
            None if !self.from_list => self.push(current),
            index => index,
        };
        if let Some(index) = index
            && !self.has_status[index]
            && let Some(status) = status_from_tasks(&stated.tasks)
        {
            self.set_status(index, status);
        }
    }

    /// Adds tasks to the draft. A task whose id is in use is prefixed with its phase.
    fn add_tasks_of(
        &self,
        tasks: &[Task],
        phase: Option<&PhaseId>,
        used: &mut HashSet<TaskId>,
        draft: &mut Draft,
    ) {
        for task in tasks {
            let own_phase = task.phase.as_ref().filter(|own| self.position(own).is_some());
            let phase = own_phase.or(phase);
            let mut task = Task { phase: phase.cloned(), ..task.clone() };
            if used.contains(&task.id) {
                let Some(phase) = phase else { continue };
                let Ok(id) = format!("{phase}/{}", task.id).parse() else { continue };
                task.id = id;
            }
            if used.insert(task.id.clone()) {
                draft.content.tasks.push(task);
            }
        }
    }

    /// Returns the next phase. Without a list, the current phase is the next one only if the work continues.
    fn next(&self, stated: &StatedProgress, overall: Option<WorkflowStatus>) -> Option<Next> {
        let continues = overall == Some(WorkflowStatus::InProgress) || !self.phases.is_empty();
        let current = if continues { stated.current.as_ref() } else { None };
        let (id, _) = stated.resume_at.as_ref().or(current)?;
        // A number that is not in the list names no phase.
        let is_unknown_number = !self.phases.is_empty()
            && self.position(id).is_none()
            && numbered_phases::number_of(id).is_some();
        if is_unknown_number {
            return None;
        }
        Some(Next { phase: Some(id.clone()), action: None, extra: Default::default() })
    }
}
