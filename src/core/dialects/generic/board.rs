//! The phases, with what is known about each: which there are, and what is recorded or listed about them.

use std::collections::{HashMap, HashSet};

use super::evidence::Evidence;
use super::listed::Record;
use crate::core::dialects::numbers;
use crate::core::dialects::reading::{Notes, phase_at};
use crate::core::finding::{Code, Severity};
use crate::core::phase::MAX_PHASES;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};

/// The statuses, the most careful first: of two words for one phase, that counts.
const CAREFUL: [PhaseStatus; 5] = [
    PhaseStatus::Failed,
    PhaseStatus::InProgress,
    PhaseStatus::Pending,
    PhaseStatus::Skipped,
    PhaseStatus::Complete,
];

/// The phases, with what is known about each so far.
pub(super) struct Board {
    pub(super) phases: Vec<Phase>,
    index: HashMap<PhaseId, usize>,
    /// Which of them have a status of their own.
    pub(super) settled: Vec<bool>,
    /// Which of them have a status that is not understood.
    pub(super) unknown: HashSet<PhaseId>,
    /// Whether they are listed somewhere, and not only mentioned.
    pub(super) listed: bool,
    /// Whether these are all there are.
    pub(super) whole: bool,
}

/// Ids in the order they were first mentioned.
#[derive(Default)]
struct Mentioned {
    ids: Vec<PhaseId>,
    known: HashSet<PhaseId>,
}

impl Mentioned {
    fn add<'a>(&mut self, ids: impl Iterator<Item = &'a PhaseId>) {
        let Self { ids: all, known } = self;
        all.extend(ids.filter(|id| known.insert((*id).clone())).cloned());
    }
}

impl Board {
    /// Finds out which phases there are, and in which order.
    pub(super) fn lay_out(evidence: &Evidence, notes: &mut Notes<'_>) -> Self {
        let mut mentioned = Mentioned::default();
        mentioned.add(evidence.records.iter().filter_map(|record| record.id.as_ref()));
        mentioned.add(evidence.declared.iter().flat_map(|(ids, _)| ids));
        let listed = !mentioned.ids.is_empty();
        mentioned.add(evidence.history.iter().filter_map(|record| record.id.as_ref()));
        for status in CAREFUL.into_iter().rev() {
            let alike = evidence.alike.iter().filter(|(known, ..)| *known == status);
            mentioned.add(alike.flat_map(|(_, ids, _)| ids));
        }
        let total = evidence.total.as_ref().map(|(total, _)| *total).filter(|total| *total > 0);
        if !listed {
            mentioned.add(evidence.last_completed.iter().map(|(id, _)| id));
            let from_zero = mentioned.ids.iter().any(|id| id.as_str() == "0");
            // What points behind the last phase names none.
            let within = |id: &PhaseId| match (numbers::plain(id), total) {
                (Some(number), Some(total)) => number < total || (number == total && !from_zero),
                _ => true,
            };
            mentioned.add(evidence.resume.iter().map(|(id, _)| id).filter(|id| within(id)));
            let has_facts = !mentioned.ids.is_empty() || total.is_some() || evidence.count.is_some();
            let current = evidence.current.iter().filter(|_| has_facts || evidence.current_status.is_some());
            mentioned.add(current.map(|(id, _)| id).filter(|id| within(id)));
        }
        let rest = evidence.alike.iter().any(|(status, ..)| *status == PhaseStatus::Pending);
        let mut whole = listed || rest;
        let mut ids = mentioned.ids;
        if !listed && let Some(range) = numbers::range(&ids, total) {
            whole |= total.is_some();
            ids = range;
        } else if let Some(total) = total {
            whole |= ids.len() as u64 >= total;
        }
        if let (Some((total, place)), true) = (&evidence.total, whole && !ids.is_empty())
            && ids.len() as u64 != *total
        {
            let message = format!("{total} phases are counted, but {} are known; those count", ids.len());
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        if ids.len() > MAX_PHASES {
            let message = format!("there are {} phases; the first {MAX_PHASES} are taken", ids.len());
            notes.doubt(Severity::Confirm, Code::PhaseUnreadable, message);
            ids.truncate(MAX_PHASES);
            whole = false;
        }
        let settled = vec![false; ids.len()];
        let index = ids.iter().enumerate().map(|(index, id)| (id.clone(), index)).collect();
        let phases = ids.into_iter().map(Phase::pending).collect();
        Self { phases, index, settled, unknown: HashSet::new(), listed, whole }
    }

    pub(super) fn position(&self, id: &PhaseId) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// Whether something is known about how any of them stands.
    pub(super) fn is_settled(&self) -> bool {
        self.settled.contains(&true)
    }

    pub(super) fn all_done(&self) -> bool {
        !self.phases.is_empty() && self.phases.iter().all(|phase| phase.status.is_done())
    }

    /// Adds a phase behind the others, if there is room for it.
    pub(super) fn push(&mut self, id: &PhaseId) -> Option<usize> {
        if self.phases.len() >= MAX_PHASES {
            return None;
        }
        self.phases.push(Phase::pending(id.clone()));
        self.settled.push(false);
        self.index.insert(id.clone(), self.phases.len() - 1);
        Some(self.phases.len() - 1)
    }

    pub(super) fn settle(&mut self, index: usize, status: PhaseStatus) {
        let id = self.phases[index].id.clone();
        let Phase { name, started_at, completed_at, error, .. } = self.phases[index].clone();
        let completed_at = completed_at.filter(|_| status.is_done());
        self.phases[index] = Phase { name, started_at, completed_at, error, ..phase_at(id, status) };
        self.settled[index] = true;
    }

    /// What is recorded about each phase. Of a history the last word counts, and a list knows better; of two records
    /// in one list, the more careful one counts.
    pub(super) fn record(&mut self, evidence: &Evidence, notes: &mut Notes<'_>) {
        for record in &evidence.history {
            self.take(record, false, notes);
        }
        let mut seen = HashSet::new();
        for record in &evidence.records {
            let again = record.status.is_some() && !seen.insert(record.id.as_ref());
            self.take(record, again, notes);
        }
    }

    fn take(&mut self, record: &Record, again: bool, notes: &mut Notes<'_>) {
        let Record { id, name, status, started_at, completed_at, error, pointer, spelled, .. } = record;
        let Some(index) = id.as_ref().and_then(|id| self.position(id)) else { return };
        let phase = &mut self.phases[index];
        phase.name = name.clone().filter(|name| *name != phase.id.as_str()).or(phase.name.take());
        phase.started_at = started_at.or(phase.started_at);
        phase.error = error.clone().or(phase.error.take());
        let (id, before) = (phase.id.clone(), phase.status);
        if record.unknown {
            self.unknown.insert(id.clone())
        } else {
            status.is_some() && self.unknown.remove(&id)
        };
        let Some(mut status) = *status else { return };
        let words = if spelled.is_empty() { status.word() } else { spelled };
        notes.found(format!("phases/{id}/status"), words, pointer);
        if again && before != status {
            let message = format!(
                "phase {id} is recorded as {} and as {}; the more careful word counts",
                before.word(),
                status.word()
            );
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, pointer, &message);
            status = CAREFUL.into_iter().find(|one| [before, status].contains(one)).unwrap_or(status);
        }
        self.phases[index].completed_at = *completed_at;
        self.settle(index, status);
        if status != PhaseStatus::Complete {
            return;
        }
        let left = record.tasks.iter().filter(|task| !task.status.is_done()).count();
        let but = match left {
            1.. => format!("but {left} of its tasks are not"),
            0 if error.is_some() => "but with an error".to_owned(),
            0 => return,
        };
        let message = format!("phase {id} is recorded as complete, {but}");
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, pointer, &message);
    }

    /// Lists of phases that stand alike. The more careful word counts, and a failure before all, records included.
    pub(super) fn lists(&mut self, evidence: &Evidence, notes: &mut Notes<'_>) {
        for status in CAREFUL {
            for (_, ids, place) in evidence.alike.iter().filter(|(listed, ..)| *listed == status) {
                for id in ids {
                    let Some(index) = self.position(id) else { continue };
                    let known = self.phases[index].status;
                    let failed = status == PhaseStatus::Failed && known.is_done();
                    if self.settled[index] && known.is_done() != status.is_done() {
                        let counts =
                            if failed { "the failure counts" } else { "the more careful word counts" };
                        let message = format!(
                            "phase {id} is listed as {}, but recorded as {}; {counts}",
                            status.word(),
                            known.word()
                        );
                        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                    }
                    if !self.settled[index] || failed {
                        notes.found(format!("phases/{id}/status"), status.word(), place);
                        self.settle(index, status);
                        self.unknown.remove(id);
                    }
                }
            }
        }
    }
}
