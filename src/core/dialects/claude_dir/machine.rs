//! The state machine of version 2: the phases by name, as far as they have been passed.

use serde_json::{Map, Value};

use super::members::COPIES;
use crate::core::dialects::known_phases;
use crate::core::dialects::reading::{phase_id, pointer};
use crate::core::phase::MAX_PHASES;
use crate::core::phase::PhaseId;

/// What the state machine says.
pub(super) struct Machine<'a> {
    /// The states that were completed, in order, each once; none if they are not listed at all.
    pub(super) completed: Option<Vec<String>>,
    /// The state it is in.
    pub(super) current: Option<String>,
    /// Where in the document it stands.
    pub(super) place: String,
    table: Option<&'a Map<String, Value>>,
}

impl<'a> Machine<'a> {
    /// Finds the machine, if there is one that says something.
    pub(super) fn find(main: &'a Value) -> Option<Self> {
        let at = |parts: &[&str]| {
            let place = pointer(parts);
            main.pointer(&place).filter(|machine| machine.is_object()).map(|machine| (machine, place))
        };
        let (machine, place) = at(&["state_machine"]).or_else(|| at(&[COPIES, "state_machine"]))?;
        let completed = machine.get("completed_states").and_then(Value::as_array).map(|states| {
            let mut known: Vec<String> = Vec::new();
            for state in states.iter().filter_map(state) {
                if !known.contains(&state) {
                    known.push(state);
                }
            }
            known
        });
        let current = machine.get("current_state").and_then(state);
        let table = machine.get("transition_table").and_then(Value::as_object);
        let silent = current.is_none() && completed.as_ref().is_none_or(Vec::is_empty);
        (!silent).then_some(Self { completed, current, place, table })
    }

    /// The states that may follow a state.
    fn successors(&self, state: &str) -> Vec<String> {
        match self.table.and_then(|table| table.get(state)) {
            Some(Value::String(list)) => {
                list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Array(list)) => list.iter().filter_map(self::state).collect(),
            _ => Vec::new(),
        }
    }

    /// The one state that work goes on with behind `state`, if there is no other; the end is no work.
    pub(super) fn follower(&self, state: &str) -> Option<String> {
        let mut working = self.successors(state).into_iter().filter(|next| !is_end(next));
        working.next().filter(|_| working.next().is_none())
    }

    /// Whether nothing but `next` can follow `state`.
    pub(super) fn must_follow(&self, state: &str) -> Option<String> {
        self.follower(state).filter(|_| self.successors(state).len() == 1)
    }

    /// All working states in order, if the table leaves no choice.
    pub(super) fn chain(&self) -> Option<Vec<String>> {
        let table = self.table.filter(|table| !table.is_empty() && table.len() <= MAX_PHASES)?;
        let mut targets = Vec::new();
        for from in table.keys() {
            match self.successors(from).as_slice() {
                [] => {}
                [only] => targets.push(only.clone()),
                _ => return None,
            }
        }
        let targets: std::collections::HashSet<String> = targets.into_iter().collect();
        let mut starts = table.keys().filter(|state| !targets.contains(*state));
        let start = starts.next().filter(|_| starts.next().is_none())?;
        let mut chain = vec![start.clone()];
        let mut passed = 1;
        let mut state = start.clone();
        // Only one state has no predecessor, so a walk that passes every key once is the whole table.
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

/// Whether a state stands for the end: there is nothing to do in it.
pub(super) fn is_end(state: &str) -> bool {
    known_phases::says_all_done(state)
}

fn state(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The id of the phase that a state is.
pub(super) fn state_id(state: &str) -> Option<PhaseId> {
    phase_id(&state.into())
}
