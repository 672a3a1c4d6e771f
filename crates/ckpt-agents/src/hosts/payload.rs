//! The input of a hook: one JSON object on stdin.
//!
//! Hosts add members every few weeks, so reading is lenient: every member is optional, one of another type counts as
//! missing, and unknown ones do not matter.

use serde_json::{Map, Value};

/// The largest payload that is read. The content of a written file is part of one.
pub const MAX_PAYLOAD_BYTES: usize = 16 << 20;
/// The longest id of a session that is used.
const MAX_SESSION_LENGTH: usize = 200;

/// The members of a payload that matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Payload {
    /// The session of the agent.
    pub session: Option<String>,
    /// The working directory of the agent.
    pub cwd: Option<String>,
    /// The id of the subagent that the event is about; none for the agent itself.
    pub subagent: Option<String>,
    /// How the session starts: `startup`, `resume`, `clear`, `compact` or `fork`.
    pub source: Option<String>,
    /// The cause of the compaction: `auto` or `manual`.
    pub trigger: Option<String>,
    /// Why the session ends, or the kind of the error that ended the turn.
    pub reason: Option<String>,
    /// The summary that replaces the context after a compaction.
    pub summary: Option<String>,
    /// True if a hook has made the agent continue already.
    pub stop_hook_active: bool,
    /// The tool that was used.
    pub tool: Option<ToolUse>,
}

/// A tool that the agent used.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub input: Value,
    /// Its result.
    pub response: Value,
}

/// The reason why a payload says nothing.
#[derive(Debug, thiserror::Error)]
pub enum BadPayload {
    /// It is not JSON.
    #[error("the payload is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// It is not an object.
    #[error("the payload is not an object")]
    NotAnObject,
}

impl Payload {
    /// Reads a payload.
    ///
    /// # Errors
    /// It is not a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadPayload> {
        match serde_json::from_slice(bytes).map_err(BadPayload::NotJson)? {
            Value::Object(members) => Ok(Self::from_members(members)),
            _ => Err(BadPayload::NotAnObject),
        }
    }

    fn from_members(mut members: Map<String, Value>) -> Self {
        let tool = match members.shift_remove("tool_name") {
            Some(Value::String(name)) => Some(ToolUse {
                name,
                input: members.shift_remove("tool_input").unwrap_or_default(),
                response: members.shift_remove("tool_response").unwrap_or_default(),
            }),
            _ => None,
        };
        let mut text = |name: &str| match members.shift_remove(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        let is_usable =
            |session: &String| session.len() <= MAX_SESSION_LENGTH && !session.contains(ckpt_model::text::is_hazardous);
        Self {
            session: text("session_id").filter(is_usable),
            cwd: text("cwd"),
            subagent: text("agent_id"),
            source: text("source"),
            trigger: text("trigger"),
            reason: text("error").or_else(|| text("reason")),
            summary: text("compact_summary"),
            stop_hook_active: members.get("stop_hook_active") == Some(&Value::Bool(true)),
            tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_may_be_missing_or_of_another_type() {
        assert_eq!(Payload::parse(b"{}").unwrap(), Payload::default());
        let odd =
            br#"{"session_id": 7, "cwd": null, "source": [], "tool_name": {}, "stop_hook_active": "yes", "x": 1}"#;
        assert_eq!(Payload::parse(odd).unwrap(), Payload::default());
        let read = Payload::parse(br#"{"session_id": "s", "tool_name": "Write", "error": "rate_limit"}"#).unwrap();
        assert_eq!(read.session.as_deref(), Some("s"));
        assert_eq!(read.reason.as_deref(), Some("rate_limit"));
        assert_eq!(read.tool.unwrap().input, Value::Null);
    }

    #[test]
    fn what_is_no_object_says_nothing() {
        for bytes in [&b""[..], b"[]", b"nonsense", b"\xff\xfe", b"{\"a\":", &b"[".repeat(5000)] {
            assert!(Payload::parse(bytes).is_err(), "{bytes:?}");
        }
    }
}
