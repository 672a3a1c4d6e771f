//! What follows from the evidence.
//!
//! A status recorded per phase beats a list of phases that stand alike, that beats a counter, and a counter beats a
//! pointer. Where they disagree, that is a finding. A failure is believed whatever stands beside it. Where nothing
//! says how far the work is, nothing is decided.

use std::collections::HashSet;

use super::board::Board;
use super::evidence::Evidence;
use super::listed::of_tasks;
use crate::core::checkpoint::{CUSTOM_PIPELINE, Next, WorkflowStatus};
use crate::core::dialects::numbers;
use crate::core::dialects::reading::{Draft, Notes};
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::task::Task;

/// Puts phases, tasks and the way on into the draft. `claim` is what the document says about the whole.
pub(super) fn decide(
    evidence: Evidence,
    claim: Option<WorkflowStatus>,
    draft: &mut Draft,
    notes: &mut Notes<'_>,
) {
    let claim = claim.or(evidence.says_failed.then_some(WorkflowStatus::Failed));
    let mut evidence = evidence;
    // `{"phase": "build", "status": "done"}`: that phase is done, and nothing says whether others follow.
    let about_one = claim == Some(WorkflowStatus::Complete) && evidence.about_one && evidence.is_empty();
    if about_one && evidence.current_status.is_none() {
        evidence.current_status = Some(PhaseStatus::Complete);
    }
    let claim = claim.filter(|_| !about_one);
    let mut board = Board::lay_out(&evidence, notes);
    board.record(&evidence, notes);
    board.lists(&evidence, notes);
    let counted = board.counters(&evidence, claim, notes);
    let pointed = board.pointer(&evidence, claim, notes);
    board.tasks(&evidence, draft);
    // Work that is complete, and says nothing about its phases, has done them all.
    let complete = claim == Some(WorkflowStatus::Complete) || (claim.is_none() && evidence.says_complete);
    if complete && !board.is_settled() {
        (0..board.phases.len()).for_each(|index| board.settle(index, PhaseStatus::Complete));
    }
    let all_done = board.all_done();
    // A list that is all done, of work that is said to go on or to have failed, cannot be the whole list.
    let contradicted = all_done && matches!(claim, Some(status) if status != WorkflowStatus::Complete);
    draft.content.status = claim.unwrap_or(if all_done && board.whole || evidence.says_complete {
        WorkflowStatus::Complete
    } else {
        WorkflowStatus::InProgress
    });
    draft.content.phase = evidence.current.as_ref().map(|(id, _)| id.clone());
    let begins = pointed == Some(true) || evidence.not_begun || !evidence.alike.is_empty();
    let counts = counted && (evidence.count.is_some() || evidence.last_completed.is_some());
    let told = board.is_settled() || (counted && !evidence.vague && (begins || counts));
    if !board.phases.is_empty() && (!told || (pointed == Some(false) && !board.is_settled())) {
        return undecided(draft, notes);
    }
    let first = board.phases.iter().find(|phase| !phase.status.is_done()).map(|phase| &phase.id);
    if let Some(id) = first.filter(|id| board.unknown.contains(*id)) {
        let message = format!("whether {id} is done cannot be told: its status is not known");
        notes.doubt(Severity::Confirm, Code::StatusUnknown, message);
    }
    if board.whole && !contradicted {
        draft.content.pipeline = Some(CUSTOM_PIPELINE.to_owned());
    }
    let ended = all_done && draft.content.status == WorkflowStatus::Complete;
    draft.content.next = board.next(&evidence, claim).filter(|_| !ended);
    draft.content.phases = board.phases;
}

/// Leaves it open where to go on: the phases are known, but not how far the work is.
fn undecided(draft: &mut Draft, notes: &mut Notes<'_>) {
    for task in &mut draft.content.tasks {
        task.phase = None;
    }
    let message = "phases are named, but nothing that can be relied on says which of them are done";
    notes.doubt(Severity::Advice, Code::PhasesUnknown, message);
}

impl Board {
    /// Counters. They decide only where nothing better is known. Says whether they could be followed.
    fn counters(
        &mut self,
        evidence: &Evidence,
        claim: Option<WorkflowStatus>,
        notes: &mut Notes<'_>,
    ) -> bool {
        let better = self.is_settled();
        let last = evidence.last_completed.as_ref();
        if let Some((id, place)) = last {
            match self.position(id) {
                Some(index) if better => self.doubt_last(index, place, notes),
                Some(index) => self.count(index + 1, place, claim, notes),
                None => {
                    let message = format!("{id} is said to be the last completed one, but it is not listed");
                    notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                    return false;
                }
            }
        }
        let Some((count, place)) = &evidence.count else { return true };
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        let done = self.phases.iter().filter(|phase| phase.status.is_done()).count();
        if better || last.is_some() {
            if done != count {
                let message =
                    format!("{count} phases are counted as done, but {done} are recorded; the record counts");
                notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            }
        } else if !self.listed && !self.phases.is_empty() && !self.is_numbered() {
            // Where the work is has a name, and those before it have none: there is nothing to count off.
            notes.found("phases done", count, place);
        } else if count <= self.phases.len() {
            self.count(count, place, claim, notes);
        } else {
            let message =
                format!("{count} phases are counted as done, but only {} are known", self.phases.len());
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
            return false;
        }
        true
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
    /// Says whether it could be followed; nothing if there is none.
    fn pointer(
        &mut self,
        evidence: &Evidence,
        claim: Option<WorkflowStatus>,
        notes: &mut Notes<'_>,
    ) -> Option<bool> {
        if let Some((id, place)) = &evidence.current {
            notes.found("phase", id, place);
        }
        let better = self.is_settled();
        let (id, place) = evidence.resume.as_ref().filter(|_| !better).or(evidence.current.as_ref())?;
        let Some(index) = self.position(id).or_else(|| self.first_of_all(id)) else {
            return Some(self.lost(id, place, claim, notes));
        };
        let current = evidence.current.as_ref().and_then(|(id, _)| self.position(id));
        let known = current.map(|current| (self.settled[current], self.phases[current].status));
        match (current, known, evidence.current_status) {
            (Some(current), Some((true, known)), Some(PhaseStatus::Failed)) if known.is_done() => {
                let message =
                    format!("phase {id} is recorded as {} and as failed; the failure counts", known.word());
                notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                self.settle(current, PhaseStatus::Failed);
            }
            (Some(current), Some((false, _)), Some(status)) => self.settle(current, status),
            (Some(current), Some((false, _)), None) if claim == Some(WorkflowStatus::Failed) && !better => {
                self.settle(current, PhaseStatus::Failed);
            }
            _ => {}
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
            (0..self.phases.len()).for_each(|index| self.settle(index, PhaseStatus::Complete));
        }
        Some(true)
    }

    /// Zero is the first of a list that is not numbered; of any other number it is not known where counting begins.
    fn first_of_all(&self, id: &PhaseId) -> Option<usize> {
        (id.as_str() == "0" && !self.phases.is_empty() && !self.is_numbered()).then_some(0)
    }

    fn is_numbered(&self) -> bool {
        self.phases.iter().any(|phase| numbers::plain(&phase.id).is_some())
    }

    /// A pointer to nothing that is listed. Behind a list that is all done, it may be what comes next.
    fn lost(
        &mut self,
        id: &PhaseId,
        place: &str,
        claim: Option<WorkflowStatus>,
        notes: &mut Notes<'_>,
    ) -> bool {
        let number = numbers::plain(id);
        if self.all_done() && self.is_settled() {
            let ended = claim == Some(WorkflowStatus::Complete) || number.is_some();
            if !ended && self.listed {
                self.push(id);
            }
            return true;
        }
        if self.phases.is_empty() {
            return false;
        }
        let message = match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number @ 1..) if number < self.phases.len() && !self.is_numbered() => format!(
                "{id} may be {} or {}: it is not said whether counting begins at 0",
                self.phases[number - 1].id,
                self.phases[number].id
            ),
            _ => format!("{id} is none of the phases that are known"),
        };
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        false
    }

    /// Tasks of the phases, each under a name that is its own.
    fn tasks(&mut self, evidence: &Evidence, draft: &mut Draft) {
        let mut taken = HashSet::new();
        let known: HashSet<PhaseId> = self.phases.iter().map(|phase| phase.id.clone()).collect();
        let mut add = |tasks: &[Task], phase: Option<&PhaseId>| {
            for task in tasks {
                let own = task.phase.as_ref().filter(|own| known.contains(*own));
                let phase = own.or(phase);
                let mut task = Task { phase: phase.cloned(), ..task.clone() };
                if !taken.insert(task.id.clone()) {
                    let full = phase.map(|phase| format!("{phase}/{}", task.id));
                    let Some(id) = full.and_then(|full| full.parse().ok()).filter(|id| !taken.contains(id))
                    else {
                        continue;
                    };
                    taken.insert(id.clone());
                    task.id = id;
                }
                draft.content.tasks.push(task);
            }
        };
        for record in &evidence.records {
            add(&record.tasks, record.id.as_ref());
        }
        let current = evidence.current.as_ref().map(|(id, _)| id);
        add(&evidence.tasks, current);
        let Some(current) = current.filter(|_| !evidence.tasks.is_empty()) else { return };
        // The phase that has them may be known by nothing else.
        let Some(index) = self.position(current).or_else(|| (!self.listed).then(|| self.push(current))?)
        else {
            return;
        };
        if let Some(status) = of_tasks(&evidence.tasks).filter(|_| !self.settled[index]) {
            self.settle(index, status);
        }
    }

    /// What is said to come next. Without a list, where the work is decides only if it is said to go on.
    fn next(&self, evidence: &Evidence, claim: Option<WorkflowStatus>) -> Option<Next> {
        let goes_on = claim == Some(WorkflowStatus::InProgress) || !self.phases.is_empty();
        let current = evidence.current.as_ref().filter(|_| goes_on);
        let (id, _) = evidence.resume.as_ref().or(current)?;
        // A number that names no phase of the list says nothing that could be followed.
        let lost = !self.phases.is_empty() && self.position(id).is_none() && numbers::plain(id).is_some();
        (!lost).then(|| Next { phase: Some(id.clone()), action: None, extra: Default::default() })
    }
}
