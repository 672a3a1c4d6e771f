//! Access to members that a document may have twice.

use serde_json::Value;

use crate::dialects::members::pointer;
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};

/// The object with the copies of members in later versions.
pub(super) const WORKFLOW_STATE: &str = "workflow_state";

/// Returns a member that is not null, and its place: at the top level, else in `workflow_state`.
pub(super) fn member<'a>(main: &'a Value, key: &str) -> Option<(&'a Value, String)> {
    let (top, copy) = (top_level(main, key), copied(main, key));
    top.map(|value| (value, pointer(&[key]))).or_else(|| copy.map(|value| (value, pointer(&[WORKFLOW_STATE, key]))))
}

fn top_level<'a>(main: &'a Value, key: &str) -> Option<&'a Value> {
    main.get(key).filter(|value| !value.is_null())
}

fn copied<'a>(main: &'a Value, key: &str) -> Option<&'a Value> {
    main.get(WORKFLOW_STATE)?.get(key).filter(|value| !value.is_null())
}

/// Returns a member that is a text and not blank, and its place.
pub(super) fn text<'a>(main: &'a Value, key: &str) -> Option<(&'a str, String)> {
    let (value, place) = member(main, key)?;
    value.as_str().filter(|text| !text.trim().is_empty()).map(|text| (text, place))
}

/// Logs a finding if a member and its copy differ. The top level takes precedence, because every version has it.
pub(super) fn compare(main: &Value, key: &str, log: &mut ReadLog<'_>) {
    // `1` and `"1"` name the same phase.
    let without_quotes = |value: &Value| value.to_string().replace('"', "");
    if let (Some(top), Some(copy)) = (top_level(main, key), copied(main, key))
        && without_quotes(top) != without_quotes(copy)
    {
        let message = format!("this is not what /{WORKFLOW_STATE}/{key} says; this counts");
        log.finding_at(Severity::Advice, Code::RecordsDisagree, &pointer(&[key]), &message);
    }
}
