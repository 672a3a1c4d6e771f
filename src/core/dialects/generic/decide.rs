//! Conclusions from the stated progress.
//!
//! A status recorded for a phase takes precedence over a list of phases with the same status, that over a counter, and a
//! counter over a pointer. A contradiction between them is a finding. A failure takes precedence over everything. Where
//! nothing states how far the work is, nothing is decided.

use std::collections::HashSet;

use super::counters::Pointer;
use super::phase_records::status_from_tasks;
use super::stated_progress::StatedProgress;
use super::status_table::StatusTable;
use crate::core::checkpoint::{CUSTOM_PIPELINE, Next, WorkflowStatus};
use crate::core::dialects::draft::Draft;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::task::{Task, TaskId};

/// Adds phases, tasks and the next phase to the draft. `overall` is the status of the whole work.
pub(super) fn decide(
    mut stated: StatedProgress,
    overall: Option<WorkflowStatus>,
    draft: &mut Draft,
    log: &mut ReadLog<'_>,
) {
    let mut overall = overall.or(stated.says_failed.then_some(WorkflowStatus::Failed));
    let names_next = match (&stated.current, &stated.resume_at) {
        (Some((current, _)), Some((next, _))) => current != next,
        _ => false,
    };
    // `{"phase": "build", "status": "done"}`: that phase is done, and it is unknown whether others follow, unless the
    // document names one.
    let is_one_phase = (stated.may_be_one_phase || names_next) && stated.is_empty();
    if overall == Some(WorkflowStatus::Complete) && is_one_phase {
        stated.current_status.get_or_insert(PhaseStatus::Complete);
        overall = None;
    }
    let mut table = StatusTable::new(&stated, log);
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
    table: &StatusTable,
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

impl StatusTable {
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
        Some(Next { phase: Some(id.clone()), explicit: stated.resume_at.is_some(), ..Next::default() })
    }
}
