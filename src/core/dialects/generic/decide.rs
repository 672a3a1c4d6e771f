//! What follows from the evidence.
//!
//! A status recorded per phase beats a list of phases that stand alike, that beats a counter, and a counter beats a
//! pointer. Where they disagree, that is a finding. A failure is believed whatever stands beside it.

use std::collections::{HashMap, HashSet};

use super::super::numbers;
use super::super::reading::{Draft, Notes, phase_at};
use super::evidence::Evidence;
use super::listed::{Record, of_tasks};
use crate::core::change::MAX_PHASES;
use crate::core::checkpoint::{CUSTOM_PIPELINE, Next, WorkflowStatus};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::resume::{Code, Severity};
use crate::core::task::Task;

/// Puts phases, tasks and the way on into the draft. `claim` is what the document says about the whole.
pub(super) fn decide(
    evidence: Evidence,
    claim: Option<WorkflowStatus>,
    draft: &mut Draft,
    notes: &mut Notes<'_>,
) {
    let mut board = Board::lay_out(&evidence);
    board.record(&evidence, notes);
    board.lists(&evidence, notes);
    board.counters(&evidence, claim, notes);
    board.pointer(&evidence, claim, notes);
    board.tasks(&evidence, draft);
    let all_done = !board.phases.is_empty() && board.phases.iter().all(|phase| phase.status.is_done());
    // A list that is all done, of work that is said to go on or to have failed, cannot be the whole list.
    let contradicted = all_done && matches!(claim, Some(status) if status != WorkflowStatus::Complete);
    if board.whole && !contradicted {
        draft.pipeline = Some(CUSTOM_PIPELINE.to_owned());
    }
    draft.status = claim.unwrap_or(match all_done && board.whole || evidence.says_complete {
        true => WorkflowStatus::Complete,
        false => WorkflowStatus::InProgress,
    });
    draft.phase = evidence.current.as_ref().map(|(id, _)| id.clone());
    draft.next = board.next(&evidence, claim);
    draft.phases = board.phases;
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

/// The phases, with what is known about each so far.
struct Board {
    phases: Vec<Phase>,
    index: HashMap<PhaseId, usize>,
    /// Which of them have a status of their own.
    settled: Vec<bool>,
    /// Whether these are all there are.
    whole: bool,
}

impl Board {
    /// Finds out which phases there are, and in which order.
    fn lay_out(evidence: &Evidence) -> Self {
        let mut mentioned = Mentioned::default();
        mentioned.add(evidence.records.iter().filter_map(|record| record.id.as_ref()));
        mentioned.add(evidence.declared.iter().flat_map(|(ids, _)| ids));
        let known = !mentioned.ids.is_empty();
        mentioned.add(evidence.history.iter().filter_map(|record| record.id.as_ref()));
        for status in [
            PhaseStatus::Complete,
            PhaseStatus::Skipped,
            PhaseStatus::Failed,
            PhaseStatus::InProgress,
            PhaseStatus::Pending,
        ] {
            let alike = evidence.alike.iter().filter(|(known, ..)| *known == status);
            mentioned.add(alike.flat_map(|(_, ids, _)| ids));
        }
        mentioned.add(evidence.resume.iter().chain(&evidence.last_completed).map(|(id, _)| id));
        let has_facts = !mentioned.ids.is_empty() || evidence.total.is_some() || evidence.count.is_some();
        let current = evidence.current.iter().filter(|_| has_facts || evidence.current_status.is_some());
        mentioned.add(current.map(|(id, _)| id));
        let total = evidence.total.as_ref().map(|(total, _)| *total).filter(|total| *total > 0);
        let rest = evidence.alike.iter().any(|(status, ..)| *status == PhaseStatus::Pending);
        let mut whole = known || rest;
        let mut ids = mentioned.ids;
        if !known && let Some(range) = numbers::range(&ids, total) {
            whole |= total.is_some();
            ids = range;
        } else if let Some(total) = total {
            whole |= ids.len() as u64 >= total;
        }
        ids.truncate(MAX_PHASES);
        let settled = vec![false; ids.len()];
        let index = ids.iter().enumerate().map(|(index, id)| (id.clone(), index)).collect();
        Self { phases: ids.into_iter().map(Phase::pending).collect(), index, settled, whole }
    }

    fn position(&self, id: &PhaseId) -> Option<usize> {
        self.index.get(id).copied()
    }

    fn settle(&mut self, index: usize, status: PhaseStatus) {
        let id = self.phases[index].id.clone();
        let Phase { name, started_at, completed_at, error, .. } = self.phases[index].clone();
        self.phases[index] = Phase { name, started_at, completed_at, error, ..phase_at(id, status) };
        self.settled[index] = true;
    }

    /// What is recorded about each phase. Of a history, the last word counts, and a list knows better.
    fn record(&mut self, evidence: &Evidence, notes: &mut Notes<'_>) {
        for Record { id, name, status, started_at, completed_at, error, pointer, spelled, tasks, .. } in
            evidence.history.iter().chain(&evidence.records)
        {
            let Some(index) = id.as_ref().and_then(|id| self.position(id)) else { continue };
            let phase = &mut self.phases[index];
            phase.name = name.clone().filter(|name| *name != phase.id.as_str()).or(phase.name.take());
            phase.started_at = started_at.or(phase.started_at);
            phase.error = error.clone().or(phase.error.take());
            if let Some(status) = *status {
                phase.completed_at = completed_at.filter(|_| status.is_done());
                let words = if spelled.is_empty() { status.word() } else { spelled };
                notes.found(format!("phases/{}/status", phase.id), words, pointer);
                let id = phase.id.clone();
                self.settle(index, status);
                let left = tasks.iter().filter(|task| !task.status.is_done()).count();
                if status == PhaseStatus::Complete && left > 0 {
                    let message =
                        format!("phase {id} is recorded as complete, but {left} of its tasks are not");
                    notes.doubt_at(Severity::Advice, Code::RecordsDisagree, pointer, &message);
                }
            }
        }
    }

    /// Lists of phases that stand alike. The more careful word counts: a failure before all.
    fn lists(&mut self, evidence: &Evidence, notes: &mut Notes<'_>) {
        let order = [
            PhaseStatus::Failed,
            PhaseStatus::InProgress,
            PhaseStatus::Pending,
            PhaseStatus::Skipped,
            PhaseStatus::Complete,
        ];
        for status in order {
            for (_, ids, place) in evidence.alike.iter().filter(|(listed, ..)| *listed == status) {
                for id in ids {
                    let Some(index) = self.position(id) else { continue };
                    let known = self.phases[index].status;
                    if !self.settled[index] {
                        notes.found(format!("phases/{id}/status"), status.word(), place);
                        self.settle(index, status);
                    } else if known.is_done() != status.is_done() {
                        let message = format!(
                            "phase {id} is listed as {}, but recorded as {}; the record counts",
                            status.word(),
                            known.word()
                        );
                        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                    }
                }
            }
        }
    }

    /// Counters. They decide only where nothing better is known.
    fn counters(&mut self, evidence: &Evidence, claim: Option<WorkflowStatus>, notes: &mut Notes<'_>) {
        let better = self.settled.contains(&true);
        let last = evidence.last_completed.as_ref();
        if let Some((index, place)) = last.and_then(|(id, place)| Some((self.position(id)?, place))) {
            match better {
                true => self.doubt_last(index, place, notes),
                false => self.count(index + 1, place, claim, notes),
            }
        }
        let Some((count, place)) = &evidence.count else { return };
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        let done = self.phases.iter().filter(|phase| phase.status.is_done()).count();
        if better || last.is_some() {
            if done != count {
                let message =
                    format!("{count} phases are counted as done, but {done} are recorded; the record counts");
                notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            }
        } else if count <= self.phases.len() {
            self.count(count, place, claim, notes);
        } else {
            let message =
                format!("{count} phases are counted as done, but only {} are known", self.phases.len());
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }

    fn count(&mut self, count: usize, place: &str, claim: Option<WorkflowStatus>, notes: &mut Notes<'_>) {
        for index in 0..count {
            self.settle(index, PhaseStatus::Complete);
        }
        notes.found("phases done", count, place);
        // A failure that no phase is named for happened where the counter stands.
        if claim == Some(WorkflowStatus::Failed) && !self.phases.is_empty() {
            let index = count.min(self.phases.len() - 1);
            if index < count {
                let id = &self.phases[index].id;
                let message = format!(
                    "all phases are counted as done, but the work is recorded as failed; {id} is not taken as done"
                );
                notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            }
            self.settle(index, PhaseStatus::Failed);
        }
    }

    fn doubt_last(&mut self, last: usize, place: &str, notes: &mut Notes<'_>) {
        let (id, status) = (self.phases[last].id.clone(), self.phases[last].status);
        if !status.is_done() {
            let message =
                format!("{id} is said to be the last completed one, but it is recorded as {}", status.word());
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }

    /// The pointer: it gives the current phase a status, and stands for what lies before it if nothing else does.
    fn pointer(&mut self, evidence: &Evidence, claim: Option<WorkflowStatus>, notes: &mut Notes<'_>) {
        let Some((id, place)) = &evidence.current else { return };
        notes.found("phase", id, place);
        let Some(index) = self.position(id) else { return };
        let better = self.settled.contains(&true);
        if !self.settled[index] {
            let status = evidence.current_status.or(match claim {
                Some(WorkflowStatus::Failed) if !better => Some(PhaseStatus::Failed),
                _ => None,
            });
            if let Some(status) = status {
                self.settle(index, status);
            }
        }
        if !better && index > 0 && claim != Some(WorkflowStatus::Complete) {
            for earlier in 0..index {
                self.settle(earlier, PhaseStatus::Complete);
            }
            let message = format!("nothing says which phases are done; those before {id} are taken as done");
            notes.doubt_at(Severity::Advice, Code::PhasesImplied, place, &message);
        }
        // Work that is complete, and says only where it is, has nothing behind that.
        if !better && claim == Some(WorkflowStatus::Complete) {
            for index in 0..self.phases.len() {
                self.settle(index, PhaseStatus::Complete);
            }
        }
    }

    /// Tasks of the phases, each under a name that is its own.
    fn tasks(&mut self, evidence: &Evidence, draft: &mut Draft) {
        let mut taken = HashSet::new();
        let mut add = |tasks: &[Task], phase: Option<&PhaseId>| {
            for task in tasks {
                let mut task = Task { phase: phase.cloned(), ..task.clone() };
                if !taken.insert(task.id.clone()) {
                    let full = phase.map(|phase| format!("{phase}/{}", task.id));
                    let Some(id) = full.and_then(|full| full.parse().ok()).filter(|id| !taken.contains(id))
                    else {
                        continue;
                    };
                    taken.insert(id);
                    task.id = full_id(phase, &task);
                }
                draft.tasks.push(task);
            }
        };
        for record in &evidence.records {
            add(&record.tasks, record.id.as_ref());
        }
        let current = evidence.current.as_ref().map(|(id, _)| id);
        add(&evidence.tasks, current);
        let Some(current) = current.filter(|_| !evidence.tasks.is_empty()) else { return };
        // The phase that has them may be known by nothing else.
        let index = self.position(current).unwrap_or_else(|| {
            self.phases.push(Phase::pending(current.clone()));
            self.settled.push(false);
            self.index.insert(current.clone(), self.phases.len() - 1);
            self.phases.len() - 1
        });
        if let Some(status) = of_tasks(&evidence.tasks).filter(|_| !self.settled[index]) {
            self.settle(index, status);
        }
    }

    /// What is said to come next. Without a list, where the work is decides only if it is said to go on.
    fn next(&self, evidence: &Evidence, claim: Option<WorkflowStatus>) -> Option<Next> {
        let current = evidence.current.as_ref();
        let goes_on = claim == Some(WorkflowStatus::InProgress) || !self.phases.is_empty();
        let phase =
            evidence.resume.as_ref().or_else(|| current.filter(|_| goes_on)).map(|(id, _)| id.clone());
        phase.map(|phase| Next { phase: Some(phase), action: None, extra: Default::default() })
    }
}

fn full_id(phase: Option<&PhaseId>, task: &Task) -> crate::core::task::TaskId {
    let full = phase.and_then(|phase| format!("{phase}/{}", task.id).parse().ok());
    full.unwrap_or_else(|| task.id.clone())
}
