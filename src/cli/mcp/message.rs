//! JSON-RPC messages: what arrives, and what is answered.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use ckpt_model::json::parse_strict;

/// The codes of JSON-RPC and of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RpcCode {
    Parse = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    /// Up to 2025-11-25; later these are invalid parameters.
    ResourceNotFound = -32002,
    UnsupportedVersion = -32022,
}

/// An answer that is not a result: the request itself cannot be served.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RpcError {
    #[serde(serialize_with = "as_number")]
    pub(super) code: RpcCode,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_number<S: Serializer>(code: &RpcCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(*code as i32)
}

impl RpcError {
    pub(super) fn new(code: RpcCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(RpcCode::InvalidParams, message)
    }
}

/// A message that wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// A line, parsed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Request(Request),
    /// Notifications and responses. Calls are answered one by one, so there is nothing to cancel.
    Unanswered,
    Invalid(Value, RpcError),
    /// Several at once, which the protocol of 2025-03-26 has.
    Batch(Vec<Message>),
}

impl Message {
    /// Reads a line; a blank one says nothing.
    pub(super) fn read(line: &[u8]) -> Self {
        if line.trim_ascii().is_empty() {
            return Self::Unanswered;
        }
        match parse_strict(line) {
            Ok(Value::Array(messages)) if !messages.is_empty() => {
                Self::Batch(messages.into_iter().map(Self::of_value).collect())
            }
            Ok(value) => Self::of_value(value),
            Err(error) => Self::Invalid(
                Value::Null,
                RpcError::new(RpcCode::Parse, format!("not a JSON message: {}", error.message)),
            ),
        }
    }

    fn of_value(value: Value) -> Self {
        let invalid = |id: Value, message: &str| Self::Invalid(id, RpcError::new(RpcCode::InvalidRequest, message));
        let Value::Object(mut members) = value else {
            return invalid(Value::Null, "a message is an object");
        };
        let id = match members.remove("id") {
            Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Some(Value::Number(id)),
            Some(Value::String(id)) => Some(Value::String(id)),
            None => None,
            Some(_) => return invalid(Value::Null, "`id` must be a string or an integer"),
        };
        let reply_to = id.clone().unwrap_or(Value::Null);
        if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(reply_to, "`jsonrpc` must be \"2.0\"");
        }
        let method = match members.remove("method") {
            Some(Value::String(method)) => method,
            None if members.contains_key("result") || members.contains_key("error") => {
                return Self::Unanswered;
            }
            _ => return invalid(reply_to, "`method` must be a string"),
        };
        let Some(id) = id else { return Self::Unanswered };
        match members.remove("params") {
            None | Some(Value::Null) => Self::Request(Request { id, method, params: Map::new() }),
            Some(Value::Object(params)) => Self::Request(Request { id, method, params }),
            Some(_) => Self::Invalid(id, RpcError::invalid_params("`params` must be an object")),
        }
    }
}

/// The result of a request.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Answer {
    /// An object that the protocol describes.
    Object(Value),
    /// The document of a tool.
    Tool(ToolAnswer),
}

impl From<Value> for Answer {
    fn from(object: Value) -> Self {
        Self::Object(object)
    }
}

/// The answer of a tool. Its document is in it twice: clients of the first version know no structured content.
#[derive(Debug)]
pub(super) struct ToolAnswer {
    pub(super) document: Box<RawValue>,
    pub(super) is_error: bool,
}

impl Serialize for ToolAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        let text = Text { r#type: "text", text: self.document.get() };
        let mut answer = serializer.serialize_struct("ToolAnswer", 3)?;
        answer.serialize_field("content", &[text])?;
        answer.serialize_field("structuredContent", &self.document)?;
        answer.serialize_field("isError", &self.is_error)?;
        answer.end()
    }
}

/// A result, with the members that every result has in the stateless era.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Complete {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ttl_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_scope: Option<&'static str>,
    #[serde(flatten)]
    pub(super) answer: Answer,
}

/// The message that answers a request.
#[derive(Debug, Serialize)]
pub(super) struct Reply {
    jsonrpc: &'static str,
    id: Value,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Result(Complete),
    Error(RpcError),
}

/// The messages that answer a line: as many as it has requests.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Replies {
    One(Reply),
    Batch(Vec<Reply>),
}

impl Reply {
    pub(super) fn new(id: Value, result: Result<Complete, RpcError>) -> Self {
        let outcome = result.map_or_else(Outcome::Error, Outcome::Result);
        Self { jsonrpc: "2.0", id, outcome }
    }
}
