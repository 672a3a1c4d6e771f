//! The phases: from the counter, or from the state machine where that takes precedence.

use serde_json::Value;

use super::counter::PhaseCounter;
use super::members::compare;
use super::state_machine::{StateMachine, is_end, state_id};
use crate::dialects::members::pointer;
use crate::dialects::numbered_phases::{self, parse_phase_id};
use crate::dialects::phase_list::{phase_with_status, set_status};
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};

/// The phases of a document.
pub(super) struct ReadPhases {
    pub(super) list: Vec<Phase>,
    /// True if the list has all phases.
    pub(super) is_complete: bool,
    /// The phase that the document points at.
    pub(super) current: Option<PhaseId>,
    /// True if the state machine is at its end.
    pub(super) ended: bool,
}

pub(super) fn read(main: &Value, log: &mut ReadLog<'_>) -> ReadPhases {
    for key in ["current_phase", "total_phases", "completed_phases"] {
        compare(main, key, log);
    }
    let counter = PhaseCounter::read(main, log);
    let machine = StateMachine::find(main);
    let mut phases = match &machine {
        Some(machine) if counter.yields_to(machine, log) => from_states(machine, log),
        Some(machine) => {
            let mut phases = from_counter(&counter, main, log);
            name_phases(&mut phases, &counter, machine);
            phases
        }
        None => from_counter(&counter, main, log),
    };
    phases.ended = machine.is_some_and(|machine| machine.current.as_deref().is_some_and(is_end));
    read_data(main, &mut phases.list, log);
    phases
}

fn from_counter(counter: &PhaseCounter, main: &Value, log: &mut ReadLog<'_>) -> ReadPhases {
    let entries = counter.completed.as_deref().unwrap_or_default();
    let mut mentioned: Vec<PhaseId> = entries.iter().map(|entry| entry.id.clone()).collect();
    let data = main.get("phase_data").and_then(Value::as_object);
    let described = data.into_iter().flat_map(|data| data.keys()).filter_map(|key| data_phase(key));
    for id in described.filter(|id| numbered_phases::number_of(id).is_some()) {
        if !mentioned.contains(&id) {
            mentioned.push(id);
        }
    }
    let (ids, is_complete) = counter.phase_ids(mentioned, log);
    let mut phases: Vec<Phase> = ids.into_iter().map(Phase::pending).collect();
    for entry in entries {
        if let Some(phase) = phases.iter_mut().find(|phase| phase.id == entry.id) {
            log.origin(format!("phases/{}/status", entry.id), entry.status.word(), &entry.place);
            *phase = phase_with_status(entry.id.clone(), entry.status);
            phase.completed_at = if entry.status.is_done() { entry.completed_at } else { None };
        }
    }
    let current = counter.current.as_ref().map(|(id, place)| {
        log.origin("phase", id, place);
        id.clone()
    });
    // A counter that has moved past the end points at no phase.
    let all_done = is_complete && phases.iter().all(|phase| phase.status.is_done());
    let listed = |id: &PhaseId| phases.iter().any(|phase| phase.id == *id);
    let current = current.filter(|id| listed(id) || !all_done);
    ReadPhases { list: phases, is_complete, current, ended: false }
}

/// Builds the phases from the states.
fn from_states(machine: &StateMachine<'_>, log: &mut ReadLog<'_>) -> ReadPhases {
    let done = machine.completed.as_deref().unwrap_or_default();
    let chain = machine.chain();
    let mut mentioned: Vec<&String> = done.iter().filter(|state| !is_end(state)).collect();
    let current = machine.current.as_ref().filter(|state| !is_end(state));
    mentioned.extend(current.filter(|state| !done.contains(state)));
    let is_complete = chain.as_ref().is_some_and(|chain| mentioned.iter().all(|state| chain.contains(state)));
    let mut states = chain.unwrap_or_default();
    for state in mentioned {
        if !states.contains(state) {
            states.push(state.clone());
        }
    }
    let mut next = current.cloned();
    if !is_complete
        && let Some(last) = current.or(done.last())
        && done.contains(last)
        && let Some(successor) = machine.only_successor(last)
        && !done.contains(&successor)
    {
        next = Some(successor.clone());
        if !states.contains(&successor) {
            states.push(successor);
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
            log.origin(format!("phases/{id}/status"), status.word(), &place);
        }
        let name = Some(state.clone()).filter(|name| name != id.as_str());
        phases.push(Phase { name, ..phase_with_status(id, status) });
    }
    let current = next.as_deref().and_then(state_id);
    if let Some(current) = &current {
        log.origin("phase", current, &format!("{}/current_state", machine.place));
    }
    ReadPhases { list: phases, is_complete, current, ended: false }
}

/// Names numbered phases after their states, and later ones after the states that must follow.
fn name_phases(phases: &mut ReadPhases, counter: &PhaseCounter, machine: &StateMachine<'_>) {
    let entries = counter.completed.as_deref().unwrap_or_default();
    let states = machine.completed.as_deref().unwrap_or_default();
    if machine.completed.is_some() && entries.len() != states.len() {
        return;
    }
    let mut names: Vec<(PhaseId, &str)> = Vec::new();
    names.extend(entries.iter().zip(states).map(|(entry, state)| (entry.id.clone(), state.as_str())));
    let running = machine.current.as_deref().filter(|state| !is_end(state) && !states.iter().any(|s| s == state));
    let current = phases.current.clone().filter(|id| names.iter().all(|(known, _)| known != id));
    names.extend(current.zip(running));
    for (id, name) in names {
        if let Some(phase) = phases.list.iter_mut().find(|phase| phase.id == id) {
            phase.name = Some(name.to_owned());
        }
    }
    let phases = &mut phases.list;
    for index in 1..phases.len() {
        let previous = phases[index - 1].name.as_deref();
        let Some(successor) = previous.and_then(|state| machine.next_working_state(state)) else { continue };
        let is_taken = phases.iter().any(|phase| phase.name.as_ref() == Some(&successor));
        if phases[index].name.is_none() && !is_taken {
            phases[index].name = Some(successor);
        }
    }
}

/// Returns the phase of a key of `phase_data`.
pub(super) fn data_phase(key: &str) -> Option<PhaseId> {
    parse_phase_id(&key.into())
}

/// Reads the data of phases. A status in it takes precedence over the counter.
fn read_data(main: &Value, phases: &mut [Phase], log: &mut ReadLog<'_>) {
    for (key, value) in main.get("phase_data").and_then(Value::as_object).into_iter().flatten() {
        let place = pointer(&["phase_data", key]);
        let id = data_phase(key);
        if !value.is_object() {
            continue;
        }
        let is_named = |phase: &&mut Phase| Some(&phase.id) == id.as_ref() || phase.name.as_ref() == Some(key);
        let Some(phase) = phases.iter_mut().find(is_named) else { continue };
        log.origin(format!("phases/{}/data", phase.id), "recorded", &place);
        phase.data = Some(Json::Given(value.clone()));
        let fact = format!("phases/{}/status", phase.id);
        let recorded = value.get("status").unwrap_or(&Value::Null);
        let Some(status) = log.status(&fact, recorded, &format!("{place}/status")) else { continue };
        if status.is_done() != phase.status.is_done() {
            let listed = if phase.status.is_done() { "" } else { "not " };
            let message = format!(
                "phase {} is {listed}listed as completed, but recorded as {}; the record counts",
                phase.id,
                status.word()
            );
            log.finding_at(Severity::Advice, Code::RecordsDisagree, &place, &message);
        }
        set_status(phase, status);
        if !status.is_done() {
            phase.completed_at = None;
        }
    }
}
