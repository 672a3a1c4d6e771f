//! The memory of a workflow about the plan of a session, in its state: `agent_plan.SESSION`.
//!
//! A host reports a change by its own id of an item, without the text, so the ids are kept with the phases they led to. They
//! are in the checkpoint and not beside it: whoever reads one has the other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json::Json;

/// The member of the state.
const MEMBER: &str = "agent_plan";
/// The sessions that are remembered.
const MOST_SESSIONS: usize = 8;
/// The session of a host that does not name it.
const UNNAMED: &str = "-";

/// The items of the plan of one session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PlanMemory {
    /// The phases or tasks by the host's own ids.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) ids: BTreeMap<String, String>,
    /// The tasks that were made from the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tasks: Vec<String>,
}

impl PlanMemory {
    /// Reads the memory of a session. One that cannot be read is empty.
    pub(super) fn read(state: &Json, session: Option<&str>) -> Self {
        let Ok(state) = state.to_value() else { return Self::default() };
        let stored = state.get(MEMBER).and_then(|all| all.get(session.unwrap_or(UNNAMED)));
        stored.and_then(|stored| serde_json::from_value(stored.clone()).ok()).unwrap_or_default()
    }

    /// Writes the memory of a session, and forgets sessions of long ago.
    pub(super) fn write(&self, state: &mut Json, session: Option<&str>) {
        let (Ok(Value::Object(mut members)), Ok(memory)) = (state.to_value(), serde_json::to_value(self)) else {
            return;
        };
        let mut all = match members.shift_remove(MEMBER) {
            Some(Value::Object(all)) => all,
            _ => Map::new(),
        };
        let session = session.unwrap_or(UNNAMED);
        all.shift_remove(session);
        while all.len() >= MOST_SESSIONS {
            let Some(oldest) = all.keys().next().cloned() else { break };
            all.shift_remove(&oldest);
        }
        all.insert(session.to_owned(), memory);
        members.insert(MEMBER.to_owned(), Value::Object(all));
        *state = Json::Given(Value::Object(members));
    }
}
