//! The phases: from the counter, or from the state machine where that says something else.

use serde_json::Value;

use super::counter::Counter;
use super::machine::{Machine, is_end, state_id};
use super::members::{bare, compare};
use crate::core::dialects::numbers;
use crate::core::dialects::reading::{Notes, phase_at, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};

/// What was found out about the phases.
pub(super) struct Found {
    pub(super) phases: Vec<Phase>,
    /// Whether these are all there are.
    pub(super) whole: bool,
    /// The phase that the document points at.
    pub(super) current: Option<PhaseId>,
    /// Whether the state machine stands at its end.
    pub(super) ended: bool,
}

pub(super) fn read(main: &Value, notes: &mut Notes<'_>) -> Found {
    for key in ["current_phase", "total_phases", "completed_phases"] {
        compare(main, key, notes);
    }
    let counter = Counter::read(main, notes);
    let machine = Machine::find(main);
    let by_states = machine.as_ref().filter(|machine| counter.yields_to(machine, notes));
    let mut found = match by_states {
        Some(machine) => from_states(machine, notes),
        None => from_counter(&counter, main, notes),
    };
    if let (None, Some(machine)) = (by_states, &machine) {
        name_phases(&mut found, &counter, machine);
    }
    found.ended = machine.is_some_and(|machine| machine.current.as_deref().is_some_and(is_end));
    read_data(main, &mut found.phases, notes);
    found
}

fn from_counter(counter: &Counter, main: &Value, notes: &mut Notes<'_>) -> Found {
    let entries = counter.completed.as_deref().unwrap_or_default();
    let mut mentioned: Vec<PhaseId> = entries.iter().map(|entry| entry.id.clone()).collect();
    let data = main.get("phase_data").and_then(Value::as_object);
    let described = data.into_iter().flat_map(|data| data.keys()).filter_map(|key| data_phase(key));
    for id in described.filter(|id| numbers::plain(id).is_some()) {
        if !mentioned.contains(&id) {
            mentioned.push(id);
        }
    }
    let (ids, whole) = counter.list(mentioned, notes);
    let mut phases: Vec<Phase> = ids.into_iter().map(Phase::pending).collect();
    for entry in entries {
        if let Some(phase) = phases.iter_mut().find(|phase| phase.id == entry.id) {
            notes.found(format!("phases/{}/status", entry.id), entry.status.word(), &entry.place);
            *phase = phase_at(entry.id.clone(), entry.status);
            phase.completed_at = entry.completed_at.filter(|_| entry.status.is_done());
        }
    }
    let current = counter.current.as_ref().map(|(id, place)| {
        notes.found("phase", id, place);
        id.clone()
    });
    // A counter that has moved past the end points at nothing.
    let all_done = whole && phases.iter().all(|phase| phase.status.is_done());
    let listed = |id: &PhaseId| phases.iter().any(|phase| phase.id == *id);
    let current = current.filter(|id| listed(id) || !all_done);
    Found { whole, current, phases, ended: false }
}

/// Phases that are states in their own right.
fn from_states(machine: &Machine<'_>, notes: &mut Notes<'_>) -> Found {
    let done = machine.completed.as_deref().unwrap_or_default();
    let chain = machine.chain();
    let working =
        |states: &[String]| states.iter().filter(|state| !is_end(state)).cloned().collect::<Vec<_>>();
    let mut mentioned = working(done);
    let current = machine.current.as_ref().filter(|state| !is_end(state));
    mentioned.extend(current.filter(|state| !done.contains(state)).cloned());
    let whole = chain.as_ref().is_some_and(|chain| mentioned.iter().all(|state| chain.contains(state)));
    let mut states = chain.unwrap_or_default();
    states.extend(mentioned.into_iter().filter(|state| !states.contains(state)).collect::<Vec<_>>());
    let mut next = current.cloned();
    if !whole
        && let Some(follower) =
            current.or(done.last()).filter(|at| done.contains(at)).and_then(|at| machine.must_follow(at))
        && !done.contains(&follower)
    {
        next = Some(follower.clone());
        if !states.contains(&follower) {
            states.push(follower);
        }
    }
    let mut phases: Vec<Phase> = Vec::new();
    for state in &states {
        let Some(id) = state_id(state).filter(|id| phases.iter().all(|phase| phase.id != *id)) else {
            continue;
        };
        let status = if done.contains(state) { PhaseStatus::Complete } else { PhaseStatus::Pending };
        if status == PhaseStatus::Complete {
            let place = format!("{}/completed_states", machine.place);
            notes.found(format!("phases/{id}/status"), status.word(), &place);
        }
        let name = Some(state.clone()).filter(|name| name != id.as_str());
        phases.push(Phase { name, ..phase_at(id, status) });
    }
    let current = next.as_deref().and_then(state_id);
    if let Some(current) = &current {
        notes.found("phase", current, &format!("{}/current_state", machine.place));
    }
    Found { phases, whole, current, ended: false }
}

/// Gives numbered phases the names of the states they were, and of those that must come next.
fn name_phases(found: &mut Found, counter: &Counter, machine: &Machine<'_>) {
    let entries = counter.completed.as_deref().unwrap_or_default();
    let states = machine.completed.as_deref().unwrap_or_default();
    if machine.completed.is_some() && entries.len() != states.len() {
        return;
    }
    let mut names: Vec<(PhaseId, &str)> = Vec::new();
    names.extend(entries.iter().zip(states).map(|(entry, state)| (entry.id.clone(), state.as_str())));
    let running =
        machine.current.as_deref().filter(|state| !is_end(state) && !states.iter().any(|s| s == state));
    let pointed = found.current.clone().filter(|id| names.iter().all(|(known, _)| known != id));
    names.extend(pointed.zip(running));
    for (id, name) in names {
        if let Some(phase) = found.phases.iter_mut().find(|phase| phase.id == id) {
            phase.name = Some(name.to_owned());
        }
    }
    for index in 1..found.phases.len() {
        let follower = found.phases[index - 1].name.as_deref().and_then(|before| machine.follower(before));
        let taken = found.phases.iter().any(|phase| phase.name.is_some() && phase.name == follower);
        if found.phases[index].name.is_none() && !taken {
            found.phases[index].name = follower;
        }
    }
}

/// The phase that a key of `phase_data` means.
pub(super) fn data_phase(key: &str) -> Option<PhaseId> {
    bare(&key.into())
}

/// What was recorded about single phases. A status among it beats the counter.
fn read_data(main: &Value, phases: &mut [Phase], notes: &mut Notes<'_>) {
    for (key, value) in main.get("phase_data").and_then(Value::as_object).into_iter().flatten() {
        let place = pointer(&["phase_data", key]);
        let id = data_phase(key);
        let known = |phase: &&mut Phase| Some(&phase.id) == id.as_ref() || phase.name.as_ref() == Some(key);
        let Some(phase) = phases.iter_mut().find(known).filter(|_| value.is_object()) else { continue };
        notes.found(format!("phases/{}/data", phase.id), "recorded", &place);
        phase.data = Some(Json::Given(value.clone()));
        let fact = format!("phases/{}/status", phase.id);
        let recorded = value.get("status").unwrap_or(&Value::Null);
        let Some(status) = notes.status(&fact, recorded, &format!("{place}/status")) else { continue };
        if status.is_done() != phase.status.is_done() {
            let listed = if phase.status.is_done() { "" } else { "not " };
            let message = format!(
                "phase {} is {listed}listed as completed, but recorded as {}; the record counts",
                phase.id,
                status.word()
            );
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, &place, &message);
        }
        let recorded = phase_at(phase.id.clone(), status);
        *phase = Phase { status, attempts: recorded.attempts, ..phase.clone() };
        phase.completed_at = phase.completed_at.filter(|_| status.is_done());
    }
}
