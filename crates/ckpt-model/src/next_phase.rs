//! The phase to continue with. `save` and `resume` make the same decision, from the record and the outputs that are there.
//!
//! 1. A phase that is failed or in progress; of several, the one saved last.
//! 2. Else the recorded next phase, if a save named it and it is not done.
//! 3. Else the first declared phase that is not done.
//!
//! Declared phases before the earliest one that was ever begun are not part of the run. They count as skipped by
//! inference, until a save begins one of them or `revise` reopens it.

use super::checkpoint::{Content, Next};
use super::gate::failed_gate;
use super::phase::{Phase, PhaseId, PhaseStatus};

/// The state of a phase in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseState {
    /// Recorded as complete or skipped.
    DoneByRecord,
    /// In progress, and all its outputs exist.
    DoneByEvidence,
    /// Declared before the first phase that was ever begun.
    SkippedByInference,
    /// Its result exists, and a person has not agreed to it yet.
    AwaitingApproval,
    /// Recorded as failed.
    Failed,
    /// Begun and not finished.
    InProgress,
    /// Not begun, or reopened.
    Pending,
}

impl PhaseState {
    /// The state of a phase by its record alone.
    #[must_use]
    pub fn recorded(phase: &Phase) -> Self {
        let settled_by_output = phase.approval.as_ref().is_some_and(|approval| approval.evidence.is_some());
        match phase.status {
            PhaseStatus::Complete if failed_gate(phase).is_some() => Self::Failed,
            PhaseStatus::Complete if phase.lacks_approval() && !settled_by_output => Self::AwaitingApproval,
            PhaseStatus::Complete | PhaseStatus::Skipped => Self::DoneByRecord,
            PhaseStatus::InProgress if phase.lacks_selection() => Self::AwaitingApproval,
            PhaseStatus::InProgress => Self::InProgress,
            PhaseStatus::Failed => Self::Failed,
            PhaseStatus::Pending => Self::Pending,
        }
    }

    /// True if work can continue after this phase.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::DoneByRecord | Self::DoneByEvidence)
    }

    /// True if the phase belongs to the run and is not done.
    #[must_use]
    pub fn is_left(self) -> bool {
        !self.is_done() && self != Self::SkippedByInference
    }
}

/// The phases of a run, each with its state.
#[derive(Debug, Clone)]
pub struct RunState<'c> {
    /// The content of the checkpoint.
    pub content: &'c Content,
    /// The phases, in declared order.
    pub phases: Vec<(&'c Phase, PhaseState)>,
}

impl<'c> RunState<'c> {
    /// The state by the record alone.
    #[must_use]
    pub fn recorded(content: &'c Content) -> Self {
        Self::new(content, PhaseState::recorded)
    }

    /// The state of a run in which `state` judges each phase.
    pub fn new(content: &'c Content, state: impl Fn(&Phase) -> PhaseState) -> Self {
        let before_run = if content.is_declared() { before_run(content) } else { 0 };
        let phases = content.phases.iter().enumerate().map(|(index, phase)| match state(phase) {
            PhaseState::Pending if index < before_run => (phase, PhaseState::SkippedByInference),
            state => (phase, state),
        });
        Self { content, phases: phases.collect() }
    }

    /// The phase to continue with; `None` if none is left, or if none is known.
    #[must_use]
    pub fn next_phase(&self) -> Option<&'c PhaseId> {
        let last_saved = self.content.phase.as_ref();
        let is_open = |phase: &Phase, state: PhaseState| {
            (phase.status.is_open() && state.is_left()) || state == PhaseState::Failed
        };
        let open = self.phases.iter().rev().filter(|(phase, state)| is_open(phase, *state));
        // Of imported phases, which have no order, the one that was last reported, or else the first.
        let open = open.max_by_key(|(phase, _)| (phase.recency, last_saved == Some(&phase.id)));
        if let Some((phase, _)) = open {
            return Some(&phase.id);
        }
        if let Some(next) = &self.content.next
            && let Some(id) = &next.phase
            && (next.explicit || !self.content.is_declared())
            && self.state(id).map_or(!self.content.is_declared(), |state| !state.is_done())
        {
            return Some(id);
        }
        self.left().next().map(|phase| &phase.id)
    }

    /// The phase and action to continue with. The recorded action belongs to the recorded phase only.
    #[must_use]
    pub fn next(&self) -> Option<Next> {
        let recorded = self.content.next.as_ref();
        let id = self.next_phase();
        if let Some(recorded) = recorded
            && (recorded.phase.as_ref() == id || recorded.phase.is_none())
        {
            return Some(Next { phase: id.cloned(), ..recorded.clone() });
        }
        let action = self.content.find_phase(id?).and_then(|phase| phase.action.clone());
        Some(Next { phase: id.cloned(), action, ..Next::default() })
    }

    /// The state of one phase; `None` if the workflow has no such phase.
    #[must_use]
    pub fn state(&self, id: &PhaseId) -> Option<PhaseState> {
        self.phases.iter().find(|(phase, _)| phase.id == *id).map(|(_, state)| *state)
    }

    /// The number of its phases that are done, of those that belong to it.
    #[must_use]
    pub fn progress(&self) -> RunProgress {
        let count = |selects: fn(PhaseState) -> bool| self.phases.iter().filter(|(_, state)| selects(*state)).count();
        let skipped = count(|state| state == PhaseState::SkippedByInference);
        let total = self.content.is_declared().then_some(self.phases.len() - skipped);
        RunProgress { done: count(PhaseState::is_done), total, skipped }
    }

    /// The phases that belong to the run and are not done, in declared order.
    pub fn left(&self) -> impl Iterator<Item = &'c Phase> {
        self.phases.iter().filter(|(_, state)| state.is_left()).map(|(phase, _)| *phase)
    }

    /// The ids of the phases in a state, in declared order.
    #[must_use]
    pub fn ids(&self, selects: impl Fn(PhaseState) -> bool) -> Vec<PhaseId> {
        self.phases.iter().filter(|(_, state)| selects(*state)).map(|(phase, _)| phase.id.clone()).collect()
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// The number of phases that are done.
    pub done: usize,
    /// The number of phases of the run, if they are declared.
    pub total: Option<usize>,
    /// The number of declared phases that are skipped by inference, which are not counted above.
    pub skipped: usize,
}

/// The number of phases before the earliest one that was begun or reopened; 0 if there is none.
fn before_run(content: &Content) -> usize {
    let reopened = |id: &PhaseId| content.replans.iter().any(|replan| replan.phase == *id);
    content.phases.iter().position(|phase| phase.was_begun() || reopened(&phase.id)).unwrap_or_default()
}
