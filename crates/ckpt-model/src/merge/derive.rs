//! The parts of a merged content that follow from what they are about.

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value;

use super::Settler;
use crate::checkpoint::{Content, Next, WorkflowStatus};
use crate::next_phase::RunState;
use crate::phase::{Phase, PhaseId, PhaseStatus};
use crate::task::{Task, TaskStatus};

/// Completes the merged content: `[origin, ours, theirs]`.
pub(super) fn settle(merged: &mut Content, sides: [&Content; 3], settler: &mut Settler<'_>) {
    let [origin, ours, theirs] = sides;
    merged.labels = union([&origin.labels, &ours.labels, &theirs.labels], String::clone);
    merged.replans = union([&origin.replans, &ours.replans, &theirs.replans], |replan| {
        (replan.at, replan.phase.clone(), replan.reason.clone())
    });
    let sides_of = [ours, theirs].map(|side| by_id(&side.phases, |phase| &phase.id));
    for phase in &mut merged.phases {
        if sides_of.iter().all(|side| side.get(&phase.id) != Some(&&*phase)) {
            make_consistent(phase);
        }
    }
    let sides_of = [ours, theirs].map(|side| by_id(&side.tasks, |task| &task.id));
    for task in &mut merged.tasks {
        if sides_of.iter().all(|side| side.get(&task.id) != Some(&&*task)) {
            make_task_consistent(task);
        }
    }
    let failed = merged.last_error.as_ref().and_then(|error| error.phase.as_ref());
    if failed.and_then(|id| merged.find_phase(id)).is_some_and(|phase| phase.status.is_done()) {
        merged.last_error = None;
    }
    merged.phase = last_reported(merged, sides);
    settle_status(merged, sides);
    merged.next = next(merged, sides, settler);
}

fn by_id<T, I: Hash + Eq>(entries: &[T], id: impl Fn(&T) -> &I) -> HashMap<&I, &T> {
    entries.iter().map(|entry| (id(entry), entry)).collect()
}

/// Returns the entries that no side has taken away: those of the origin first, then those that were added.
fn union<T: Clone + PartialEq, K: Ord>([origin, ours, theirs]: [&[T]; 3], key: impl Fn(&T) -> K) -> Vec<T> {
    if origin == theirs || ours == theirs {
        return ours.to_vec();
    }
    if origin == ours {
        return theirs.to_vec();
    }
    let kept = origin.iter().filter(|entry| ours.contains(entry) && theirs.contains(entry));
    let mut added: Vec<&T> = Vec::new();
    for entry in ours.iter().chain(theirs).filter(|entry| !origin.contains(entry)) {
        if !added.contains(&entry) {
            added.push(entry);
        }
    }
    added.sort_by_key(|entry| key(entry));
    kept.chain(added).cloned().collect()
}

/// Takes away what does not go with the status of a phase that was put together from both sides.
fn make_consistent(phase: &mut Phase) {
    if !phase.status.is_done() {
        phase.completed_at = None;
    }
    if !phase.status.is_open() {
        phase.recency = 0;
    }
    if phase.status != PhaseStatus::Failed {
        phase.error = None;
    }
}

/// Does the same for a task.
fn make_task_consistent(task: &mut Task) {
    if !task.status.is_done() {
        task.completed_at = None;
    }
    if task.status != TaskStatus::Failed {
        task.error = None;
    }
}

/// Returns the last reported phase: of two, the one that began or ended last.
fn last_reported(merged: &Content, [origin, ours, theirs]: [&Content; 3]) -> Option<PhaseId> {
    if origin.phase == theirs.phase {
        return ours.phase.clone();
    }
    if origin.phase == ours.phase {
        return theirs.phase.clone();
    }
    let last_activity = |id: &&PhaseId| {
        let place = merged.phases.iter().position(|phase| phase.id == **id);
        let phase = place.and_then(|place| merged.phases.get(place));
        (phase.and_then(|phase| phase.started_at.max(phase.completed_at)), place, (*id).clone())
    };
    [&ours.phase, &theirs.phase].into_iter().flatten().max_by_key(last_activity).cloned()
}

/// Completes or reopens the workflow, as a save does that changes a phase.
fn settle_status(merged: &mut Content, [_, ours, theirs]: [&Content; 3]) {
    let is_done = |content: &Content| {
        let has_phases = content.is_declared() && !content.phases.is_empty();
        has_phases && RunState::recorded(content).left().next().is_none() && content.open_tasks().next().is_none()
    };
    let by_its_phases = |side: &Content| side.status == WorkflowStatus::Complete && is_done(side);
    match (merged.status, is_done(merged)) {
        (WorkflowStatus::InProgress, true) => merged.status = WorkflowStatus::Complete,
        (WorkflowStatus::Complete, false) if by_its_phases(ours) || by_its_phases(theirs) => {
            merged.status = WorkflowStatus::InProgress;
        }
        _ => {}
    }
}

/// Returns the phase and the action to continue with.
fn next(merged: &Content, sides: [&Content; 3], settler: &mut Settler<'_>) -> Option<Next> {
    let recorded = sides.map(|side| side.next.as_ref());
    let text = |values: [Option<&str>; 3]| values.map(|value| value.map(Value::from));
    let mut choose = |place: &str, values: [Option<&str>; 3]| {
        let values = text(values);
        let chosen = settler.choose(place, values.each_ref().map(Option::as_ref));
        chosen.as_ref().and_then(Value::as_str).map(str::to_owned)
    };
    let is_declared = merged.is_declared();
    let named = recorded.map(|next| {
        let next = next.filter(|next| next.explicit || !is_declared)?;
        next.phase.as_ref().map(PhaseId::as_str)
    });
    let named = choose("/next/phase", named).and_then(|id| id.parse::<PhaseId>().ok());
    let is_left = |id: &PhaseId| RunState::recorded(merged).state(id).is_none_or(|state| !state.is_done());
    let named = named.filter(|id| !is_declared || is_left(id));
    let is_explicit = named
        .as_ref()
        .is_some_and(|id| recorded.iter().flatten().any(|next| next.explicit && next.phase.as_ref() == Some(id)));
    let phase = match named {
        Some(named) => Some(named),
        None => RunState::recorded(&Content { next: None, ..merged.clone() }).next_phase().cloned(),
    };
    // An action belongs to its phase.
    let actions = recorded.map(|next| {
        let next = next.filter(|next| next.phase == phase || !is_declared)?;
        next.action.as_deref()
    });
    let action = match actions {
        _ if merged.status == WorkflowStatus::Complete && !is_explicit => None,
        [_, None, None] if is_declared => {
            phase.as_ref().and_then(|id| merged.find_phase(id)).and_then(|phase| phase.action.clone())
        }
        // A side that continues elsewhere has not taken the action away.
        [_, Some(action), None] | [_, None, Some(action)] if is_declared => Some(action.to_owned()),
        actions => choose("/next/action", actions),
    };
    (phase.is_some() || action.is_some()).then(|| Next {
        phase,
        action,
        explicit: is_explicit,
        extra: Default::default(),
    })
}
