//! Access to the members of a JSON document.

use serde_json::Value;

use ckpt_model::json::below;

/// Returns a text that is not blank, trimmed, or a number as text.
pub(super) fn text_or_number(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the first of these members that is neither null nor an empty text, with its key.
pub(super) fn first_member<'v>(value: &'v Value, keys: &[&'static str]) -> Option<(&'static str, &'v Value)> {
    keys.iter().find_map(|key| {
        let member = value.get(key).filter(|member| !member.is_null() && member.as_str() != Some(""));
        member.map(|member| (*key, member))
    })
}

/// Returns the error message of an object: a text, or the `message` of an object.
pub(super) fn error_text(value: &Value) -> Option<String> {
    let keys = ["error", "error_message", "errorMessage", "last_error", "lastError"];
    let (_, error) = first_member(value, &keys)?;
    let text = error.as_str().or_else(|| error.get("message").and_then(Value::as_str))?.trim();
    if text.is_empty() { None } else { Some(text.to_owned()) }
}

/// Returns the paths in a value: a text, an object with a `path`, or a list of these.
pub(super) fn paths(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(several) => several.iter().flat_map(paths).collect(),
        Value::Object(members) => members.get("path").map(paths).unwrap_or_default(),
        Value::String(path) if !path.trim().is_empty() => vec![path],
        _ => Vec::new(),
    }
}

/// Returns the elements of the array that is this member; none if it is anything else.
pub(super) fn elements<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Joins the parts of a JSON pointer.
pub(super) fn pointer(parts: &[&str]) -> String {
    parts.iter().fold(String::new(), |pointer, part| below(&pointer, part))
}

/// Parses a count: a number, or a text that is one.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}
