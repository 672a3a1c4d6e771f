//! Small looks into the members of a document.

use serde_json::Value;

/// A text that says something, or a number as text: what ids are written as.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The first of these members that says something, and its key.
pub(super) fn first<'v>(value: &'v Value, keys: &[&'static str]) -> Option<(&'static str, &'v Value)> {
    keys.iter().find_map(|key| {
        let member = value.get(key).filter(|member| !member.is_null() && member.as_str() != Some(""));
        member.map(|member| (*key, member))
    })
}

/// What a document says went wrong: a text, or the message of an object.
pub(super) fn error_text(value: &Value) -> Option<String> {
    let keys = ["error", "error_message", "errorMessage", "last_error", "lastError"];
    let error = first(value, &keys)?.1;
    let text = error.as_str().or_else(|| error.get("message").and_then(Value::as_str))?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The paths that a member names: a text, an object with a `path`, or a list of these.
pub(super) fn paths(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(several) => several.iter().flat_map(paths).collect(),
        Value::Object(members) => members.get("path").map(paths).unwrap_or_default(),
        Value::String(path) if !path.trim().is_empty() => vec![path],
        _ => Vec::new(),
    }
}
