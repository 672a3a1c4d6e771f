//! Finding the members of a document that may stand in two places.

use serde_json::Value;

use crate::core::dialects::numbers;
use crate::core::dialects::reading::{Notes, phase_id, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseId;

/// The object that later versions repeat their members in.
pub(super) const COPIES: &str = "workflow_state";

/// A member of the document: at the top, or else in `workflow_state`. `null` says nothing.
pub(super) fn member<'a>(main: &'a Value, key: &str) -> Option<(&'a Value, String)> {
    let top = main.get(key).map(|value| (value, pointer(&[key])));
    let copy = || Some((main.get(COPIES)?.get(key)?, pointer(&[COPIES, key])));
    top.filter(|(value, _)| !value.is_null()).or_else(copy).filter(|(value, _)| !value.is_null())
}

/// A member that is a text and not empty.
pub(super) fn text<'a>(main: &'a Value, key: &str) -> Option<(&'a str, String)> {
    let (value, place) = member(main, key)?;
    value.as_str().filter(|text| !text.trim().is_empty()).map(|text| (text, place))
}

/// Compares the two places where a member may stand. The top counts, because every version has it.
pub(super) fn compare(main: &Value, key: &str, notes: &mut Notes<'_>) {
    let copy = main.get(COPIES).and_then(|copies| copies.get(key)).filter(|copy| !copy.is_null());
    let top = main.get(key).filter(|top| !top.is_null());
    // `1` and `"1"` name the same phase.
    let words = |value: &Value| value.to_string().replace('"', "");
    if let (Some(top), Some(copy)) = (top, copy)
        && words(top) != words(copy)
    {
        let message = format!("this is not what /{COPIES}/{key} says; this counts");
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, &pointer(&[key]), &message);
    }
}

/// The id of a phase at a place; `phase_3` is 3.
pub(super) fn phase(value: &Value, place: &str, notes: &mut Notes<'_>) -> Option<PhaseId> {
    notes.phase(value, place).map(|id| numbered(&id).unwrap_or(id))
}

/// The id that a value means, where nobody needs to be told that it means none.
pub(super) fn bare(value: &Value) -> Option<PhaseId> {
    phase_id(value).map(|id| numbered(&id).unwrap_or(id))
}

/// The number in `phase_3`, `Phase 3` or `phase-3`.
fn numbered(id: &PhaseId) -> Option<PhaseId> {
    let (word, rest) = id.as_str().split_at_checked(5)?;
    let number: PhaseId = rest.trim_start_matches([' ', '_', '-']).parse().ok()?;
    (word.eq_ignore_ascii_case("phase") && numbers::plain(&number).is_some()).then_some(number)
}

/// A count: a number, or a text that is one.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}
