//! The output of a hook: at most one JSON object, with nothing but what the host accepts at that event.
//!
//! Codex refuses unknown members, Gemini shows anything else to the person, so both get exactly these.

use serde_json::json;

use super::host::{HookEvent, Host};

/// Something to tell a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// Text for the context of the agent.
    Context(String),
    /// The agent is to continue, for this reason.
    Continue(String),
}

impl HookAnswer {
    /// Returns the line for a host; none if the host would not accept it at this event.
    #[must_use]
    pub fn line(&self, host: Host, event: HookEvent) -> Option<String> {
        let name = host.event_name(event)?;
        let document = match (self, event) {
            (Self::Context(text), HookEvent::SessionStart) => {
                json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})
            }
            (Self::Continue(reason), HookEvent::Stop) => {
                let word = if host == Host::Gemini { "deny" } else { "block" };
                json!({"decision": word, "reason": reason})
            }
            _ => return None,
        };
        Some(format!("{document}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_gets_what_it_accepts_and_nothing_else() {
        let brief = HookAnswer::Context("a \"b\"".to_owned());
        assert_eq!(
            brief.line(Host::Codex, HookEvent::SessionStart).unwrap(),
            "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"a \\\"b\\\"\"}}\n"
        );
        let to_continue = HookAnswer::Continue("why".to_owned());
        assert_eq!(
            to_continue.line(Host::Claude, HookEvent::Stop).unwrap(),
            "{\"decision\":\"block\",\"reason\":\"why\"}\n"
        );
        assert_eq!(
            to_continue.line(Host::Gemini, HookEvent::Stop).unwrap(),
            "{\"decision\":\"deny\",\"reason\":\"why\"}\n"
        );
        for event in HookEvent::ALL {
            for host in Host::ALL {
                let accepted = brief.line(host, event).is_some();
                assert_eq!(accepted, event == HookEvent::SessionStart, "{host} {event:?}");
                assert_eq!(to_continue.line(host, event).is_some(), event == HookEvent::Stop, "{host} {event:?}");
            }
        }
    }
}
