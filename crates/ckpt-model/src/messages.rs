//! Messages between agents that the state of a workflow lists as not delivered or not answered.

use serde::Serialize;
use serde_json::Value;

use super::json::Json;

/// The places of the lists in the state: natively saved, or in an imported file.
const PLACES: [&str; 2] = ["/acp_state", "/crunch/acp_state"];

/// The most messages that are listed of each kind.
const MAX_MESSAGES: usize = 100;

/// The ids of open messages, in the order of the state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Messages {
    /// Those to send again.
    pub pending: Vec<String>,
    /// Those that wait for an answer.
    pub awaiting_response: Vec<String>,
}

impl Messages {
    /// Reads the messages from the state of a workflow.
    #[must_use]
    pub fn of_state(state: &Json) -> Self {
        if state.is_empty_object() {
            return Self::default();
        }
        let state = state.to_value().unwrap_or_default();
        let mut messages = Self::default();
        for place in PLACES {
            let Some(lists) = state.pointer(place) else { continue };
            collect(lists.get("pending_messages"), &mut messages.pending);
            collect(lists.get("awaiting_response"), &mut messages.awaiting_response);
        }
        messages
    }
}

/// Adds the ids of a list: texts, or objects with an `id`.
fn collect(list: Option<&Value>, ids: &mut Vec<String>) {
    for message in list.and_then(Value::as_array).into_iter().flatten() {
        let id = message.as_str().or_else(|| message.get("id")?.as_str());
        if let Some(id) = id
            && ids.len() < MAX_MESSAGES
            && !ids.iter().any(|known| known == id)
        {
            ids.push(id.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_read_from_native_and_imported_state() {
        let lists = json!({"pending_messages": ["a", {"id": "b", "to": "x"}, 3, "a"], "awaiting_response": ["c"]});
        let expected = Messages { pending: vec!["a".into(), "b".into()], awaiting_response: vec!["c".into()] };
        for state in [json!({"acp_state": lists}), json!({"crunch": {"acp_state": lists}})] {
            assert_eq!(Messages::of_state(&Json::Given(state)), expected);
        }
        let none = Messages::of_state(&Json::Given(json!({"acp_state": {"pending_messages": 1}})));
        assert_eq!(none, Messages::default());
    }
}
