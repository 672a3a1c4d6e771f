//! The state machine of version 2: the phases by name, as far as the work has come.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::members::WORKFLOW_STATE;
use crate::dialects::members::{pointer, text_or_number};
use crate::dialects::phase_list;
use ckpt_model::phase::{MAX_PHASES, PhaseId};

/// The members of the state machine.
pub(super) struct StateMachine<'a> {
    /// The completed states in order, without duplicates; `None` if the document has no list of them.
    pub(super) completed: Option<Vec<String>>,
    /// The current state.
    pub(super) current: Option<String>,
    /// Its JSON pointer.
    pub(super) place: String,
    transitions: Option<&'a Map<String, Value>>,
}

impl<'a> StateMachine<'a> {
    /// Finds the state machine, unless it has neither a current nor a completed state.
    pub(super) fn find(main: &'a Value) -> Option<Self> {
        let at = |parts: &[&str]| {
            let place = pointer(parts);
            main.pointer(&place).filter(|machine| machine.is_object()).map(|machine| (machine, place))
        };
        let (machine, place) = at(&["state_machine"]).or_else(|| at(&[WORKFLOW_STATE, "state_machine"]))?;
        let completed = machine.get("completed_states").and_then(Value::as_array).map(|states| {
            let mut completed: Vec<String> = Vec::new();
            for state in states.iter().filter_map(text_or_number) {
                if !completed.contains(&state) {
                    completed.push(state);
                }
            }
            completed
        });
        let current = machine.get("current_state").and_then(text_or_number);
        let transitions = machine.get("transition_table").and_then(Value::as_object);
        let is_empty = current.is_none() && completed.as_ref().is_none_or(Vec::is_empty);
        (!is_empty).then_some(Self { completed, current, place, transitions })
    }

    /// Returns the states that may follow a state.
    fn successors(&self, state: &str) -> Vec<String> {
        match self.transitions.and_then(|table| table.get(state)) {
            Some(Value::String(list)) => {
                list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Array(list)) => list.iter().filter_map(text_or_number).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the successor of a state if there is exactly one besides the end.
    pub(super) fn next_working_state(&self, state: &str) -> Option<String> {
        let mut successors = self.successors(state);
        successors.retain(|next| !is_end(next));
        if successors.len() == 1 { successors.pop() } else { None }
    }

    /// Returns the successor of a state if there is exactly one, and it is not the end.
    pub(super) fn only_successor(&self, state: &str) -> Option<String> {
        let mut successors = self.successors(state);
        if successors.len() == 1 { successors.pop().filter(|next| !is_end(next)) } else { None }
    }

    /// Returns all states but the end in order, if the transitions leave no choice.
    pub(super) fn chain(&self) -> Option<Vec<String>> {
        let table = self.transitions.filter(|table| !table.is_empty() && table.len() <= MAX_PHASES)?;
        let mut targets = HashSet::new();
        for from in table.keys() {
            match self.successors(from).as_slice() {
                [] => {}
                [only] => {
                    targets.insert(only.clone());
                }
                _ => return None,
            }
        }
        let starts: Vec<&String> = table.keys().filter(|state| !targets.contains(*state)).collect();
        let [start] = starts[..] else { return None };
        let mut chain = vec![start.clone()];
        let mut passed = 1;
        let mut state = start.clone();
        // Only one state has no predecessor, so a walk that passes every key once covers the whole table.
        while let Some(next) = self.successors(&state).into_iter().next() {
            passed += usize::from(table.contains_key(&next));
            if passed > table.len() {
                return None;
            }
            if !is_end(&next) {
                chain.push(next.clone());
            }
            state = next;
        }
        (passed == table.len()).then_some(chain)
    }
}

/// True if a state is the end: there is no work in it.
pub(super) fn is_end(state: &str) -> bool {
    phase_list::is_all_done_word(state)
}

/// Returns the id of the phase of a state.
pub(super) fn state_id(state: &str) -> Option<PhaseId> {
    phase_list::phase_id(&state.into())
}
