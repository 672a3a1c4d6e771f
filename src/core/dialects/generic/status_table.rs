//! The table of phases in which conclusions are collected: which phases there are, and the status of each.

use std::collections::{HashMap, HashSet};

use super::phase_records::PhaseRecord;
use super::stated_progress::StatedProgress;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::phase_list;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{MAX_PHASES, Phase, PhaseId, PhaseStatus};

/// The statuses, the most cautious first. Of two statuses for one phase, the more cautious one is taken.
const MOST_CAUTIOUS_FIRST: [PhaseStatus; 5] = [
    PhaseStatus::Failed,
    PhaseStatus::InProgress,
    PhaseStatus::Pending,
    PhaseStatus::Skipped,
    PhaseStatus::Complete,
];

/// The phases and their statuses so far.
pub(super) struct StatusTable {
    pub(super) phases: Vec<Phase>,
    index_by_id: HashMap<PhaseId, usize>,
    /// For each phase: true if its status is known.
    pub(super) has_status: Vec<bool>,
    /// The phases that have a status which is not known.
    pub(super) unknown_status: HashSet<PhaseId>,
    /// True if the phases are from a list of phases, and not only mentioned.
    pub(super) from_list: bool,
    /// True if the table has all phases.
    pub(super) is_complete: bool,
}

/// Ids in the order in which they were first added.
#[derive(Default)]
struct OrderedIds {
    ids: Vec<PhaseId>,
    seen: HashSet<PhaseId>,
}

impl OrderedIds {
    fn add<'a>(&mut self, ids: impl IntoIterator<Item = &'a PhaseId>) {
        for id in ids {
            if self.seen.insert(id.clone()) {
                self.ids.push(id.clone());
            }
        }
    }
}

impl StatusTable {
    /// Creates the table: which phases there are, and in which order.
    pub(super) fn new(stated: &StatedProgress, log: &mut ReadLog<'_>) -> Self {
        let total = stated.total.as_ref().map(|(total, _)| *total).filter(|total| *total > 0);
        let mut listed = OrderedIds::default();
        listed.add(stated.records.iter().filter_map(|record| record.id.as_ref()));
        listed.add(stated.declared.iter().flat_map(|(ids, _)| ids));
        let from_list = !listed.ids.is_empty();
        let mut ids = with_mentioned(listed, from_list, total, stated);
        let has_rest = stated.status_lists.iter().any(|list| list.status == PhaseStatus::Pending);
        let mut is_complete = from_list || has_rest;
        if !from_list && let Some(range) = numbered_phases::range(&ids, total) {
            is_complete |= total.is_some();
            ids = range;
        } else if let Some(total) = total {
            is_complete |= ids.len() as u64 >= total;
        }
        if let Some((total, place)) = &stated.total
            && is_complete
            && !ids.is_empty()
            && ids.len() as u64 != *total
        {
            let message = format!("{total} phases are counted, but {} are known; those count", ids.len());
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        if ids.len() > MAX_PHASES {
            let message = format!("there are {} phases; the first {MAX_PHASES} are taken", ids.len());
            log.finding(Severity::Confirm, Code::PhaseUnreadable, message);
            ids.truncate(MAX_PHASES);
            is_complete = false;
        }
        Self {
            has_status: vec![false; ids.len()],
            index_by_id: ids.iter().enumerate().map(|(index, id)| (id.clone(), index)).collect(),
            phases: ids.into_iter().map(Phase::pending).collect(),
            unknown_status: HashSet::new(),
            from_list,
            is_complete,
        }
    }

    pub(super) fn position(&self, id: &PhaseId) -> Option<usize> {
        self.index_by_id.get(id).copied()
    }

    /// True if the status of any phase is known.
    pub(super) fn has_any_status(&self) -> bool {
        self.has_status.contains(&true)
    }

    pub(super) fn all_done(&self) -> bool {
        !self.phases.is_empty() && self.phases.iter().all(|phase| phase.status.is_done())
    }

    /// Adds a phase behind the others, unless the table is full.
    pub(super) fn push(&mut self, id: &PhaseId) -> Option<usize> {
        let index = self.phases.len();
        if index >= MAX_PHASES {
            return None;
        }
        self.phases.push(Phase::pending(id.clone()));
        self.has_status.push(false);
        self.index_by_id.insert(id.clone(), index);
        Some(index)
    }

    pub(super) fn set_status(&mut self, index: usize, status: PhaseStatus) {
        let phase = &mut self.phases[index];
        phase_list::set_status(phase, status);
        if !status.is_done() {
            phase.completed_at = None;
        }
        self.has_status[index] = true;
    }

    /// Sets the status of the first `count` phases to complete.
    pub(super) fn complete_first(&mut self, count: usize) {
        for index in 0..count {
            self.set_status(index, PhaseStatus::Complete);
        }
    }

    /// Applies the records of phases. The last entry of the history for a phase is taken, and a list takes precedence
    /// over the history. Of two records in one list the more cautious one is taken.
    pub(super) fn apply_records(&mut self, stated: &StatedProgress, log: &mut ReadLog<'_>) {
        for record in &stated.history {
            self.apply_record(record, false, log);
        }
        let mut seen = HashSet::new();
        for record in &stated.records {
            let is_repeated = record.status.is_some() && !seen.insert(record.id.as_ref());
            self.apply_record(record, is_repeated, log);
        }
    }

    fn apply_record(&mut self, record: &PhaseRecord, is_repeated: bool, log: &mut ReadLog<'_>) {
        let Some(index) = record.id.as_ref().and_then(|id| self.position(id)) else { return };
        let place = &record.pointer;
        let phase = &mut self.phases[index];
        let (id, previous) = (phase.id.clone(), phase.status);
        if let Some(name) = &record.name
            && *name != id.as_str()
        {
            phase.name = Some(name.clone());
        }
        phase.started_at = record.started_at.or(phase.started_at);
        if record.error.is_some() {
            phase.error.clone_from(&record.error);
        }
        if record.has_unknown_status {
            self.unknown_status.insert(id.clone());
        } else if record.status.is_some() {
            self.unknown_status.remove(&id);
        }
        let Some(mut status) = record.status else { return };
        let text = if record.status_text.is_empty() { status.word() } else { &record.status_text };
        log.origin(format!("phases/{id}/status"), text, place);
        if is_repeated && previous != status {
            let message = format!(
                "phase {id} is recorded as {} and as {}; the more careful word counts",
                previous.word(),
                status.word()
            );
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            status = more_cautious(previous, status);
        }
        self.phases[index].completed_at = record.completed_at;
        self.set_status(index, status);
        if status == PhaseStatus::Complete {
            check_complete(&id, record, log);
        }
    }

    /// Applies the lists of phases with the same status. The more cautious status is taken. A failure takes precedence
    /// over everything, records included.
    pub(super) fn apply_status_lists(&mut self, stated: &StatedProgress, log: &mut ReadLog<'_>) {
        for status in MOST_CAUTIOUS_FIRST {
            for list in stated.status_lists.iter().filter(|list| list.status == status) {
                for id in &list.ids {
                    self.apply_listed_status(id, status, &list.place, log);
                }
            }
        }
    }

    fn apply_listed_status(&mut self, id: &PhaseId, status: PhaseStatus, place: &str, log: &mut ReadLog<'_>) {
        let Some(index) = self.position(id) else { return };
        let previous = self.phases[index].status;
        let overrides = status == PhaseStatus::Failed && previous.is_done();
        if self.has_status[index] && previous.is_done() != status.is_done() {
            let counts = if overrides { "the failure counts" } else { "the more careful word counts" };
            let message = format!(
                "phase {id} is listed as {}, but recorded as {}; {counts}",
                status.word(),
                previous.word()
            );
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        if !self.has_status[index] || overrides {
            log.origin(format!("phases/{id}/status"), status.word(), place);
            self.set_status(index, status);
            self.unknown_status.remove(id);
        }
    }
}

/// Adds the phases that are mentioned anywhere to those of the list.
fn with_mentioned(
    mut mentioned: OrderedIds,
    from_list: bool,
    total: Option<u64>,
    stated: &StatedProgress,
) -> Vec<PhaseId> {
    mentioned.add(stated.history.iter().filter_map(|record| record.id.as_ref()));
    for status in MOST_CAUTIOUS_FIRST.into_iter().rev() {
        let lists = stated.status_lists.iter().filter(|list| list.status == status);
        mentioned.add(lists.flat_map(|list| &list.ids));
    }
    if from_list {
        return mentioned.ids;
    }
    mentioned.add(stated.last_completed.iter().map(|(id, _)| id));
    let from_zero = mentioned.ids.iter().any(|id| id.as_str() == "0");
    // A pointer behind the last phase names none.
    let is_within = |id: &&PhaseId| match (numbered_phases::number_of(id), total) {
        (Some(number), Some(total)) => number < total || (number == total && !from_zero),
        _ => true,
    };
    mentioned.add(stated.resume_at.iter().map(|(id, _)| id).filter(is_within));
    let has_others = !mentioned.ids.is_empty() || total.is_some() || stated.done_count.is_some();
    if has_others || stated.current_status.is_some() {
        mentioned.add(stated.current.iter().map(|(id, _)| id).filter(is_within));
    }
    mentioned.ids
}

fn more_cautious(one: PhaseStatus, other: PhaseStatus) -> PhaseStatus {
    let rank = |status| MOST_CAUTIOUS_FIRST.iter().position(|listed| *listed == status);
    if rank(one) < rank(other) { one } else { other }
}

/// Logs a finding about a complete phase that has open tasks or an error.
fn check_complete(id: &PhaseId, record: &PhaseRecord, log: &mut ReadLog<'_>) {
    let open_tasks = record.tasks.iter().filter(|task| !task.status.is_done()).count();
    let contradiction = if open_tasks > 0 {
        format!("but {open_tasks} of its tasks are not")
    } else if record.error.is_some() {
        "but with an error".to_owned()
    } else {
        return;
    };
    let message = format!("phase {id} is recorded as complete, {contradiction}");
    log.finding_at(Severity::Advice, Code::RecordsDisagree, &record.pointer, &message);
}
