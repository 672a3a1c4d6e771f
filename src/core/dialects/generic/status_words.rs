//! The status of an entry of a list: a word, a flag, a mark, a percentage or an exit code.

use serde_json::Value;

use super::phase_records::member;
use crate::core::phase::PhaseStatus;
use crate::core::status_word::parse_status_word;

/// Keys whose value is a status.
const STATUS: [&str; 7] =
    ["status", "state", "phase_status", "step_status", "stage_status", "task_status", "item_status"];
/// Keys whose value may be a status, or anything else.
const RESULT: [&str; 3] = ["result", "outcome", "conclusion"];
const DONE: [&str; 10] = [
    "completed",
    "done",
    "complete",
    "finished",
    "checked",
    "is_completed",
    "is_complete",
    "is_done",
    "is_finished",
    "is_checked",
];
/// Flags for the outcome of an attempt.
const SUCCEEDED: [&str; 4] = ["passed", "success", "succeeded", "successful"];
const PERCENT: [&str; 5] = ["progress", "percent", "percentage", "percent_complete", "completion_percentage"];

/// The status of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum EntryStatus<'a> {
    /// The entry has no status.
    Absent,
    /// A status that is not known, with its key.
    Unknown(&'a str, &'a Value),
    /// A status, with its key and the original value.
    Known(PhaseStatus, &'a str, &'a Value),
}

/// Reads the status of an object. A failure takes precedence over everything else; an unknown status word decides
/// nothing, and neither do the other members then.
pub(super) fn entry_status(value: &Value) -> EntryStatus<'_> {
    let flag = |names: &[&str]| {
        names.iter().find_map(|name| {
            let (key, value) = member(value, &[name])?;
            Some((key, value, value.as_bool()?))
        })
    };
    if let Some((key, value, true)) = flag(&["failed", "is_failed", "errored"]) {
        return EntryStatus::Known(PhaseStatus::Failed, key, value);
    }
    let succeeded = flag(&SUCCEEDED);
    if let Some((key, value, false)) = succeeded {
        return EntryStatus::Known(PhaseStatus::Failed, key, value);
    }
    if let Some((key, word)) = member(value, &STATUS) {
        return match parse_status(word) {
            Some(status) => EntryStatus::Known(status, key, word),
            None => EntryStatus::Unknown(key, word),
        };
    }
    if let Some((key, value, done)) = flag(&DONE).or(succeeded) {
        let status = if done { PhaseStatus::Complete } else { PhaseStatus::Pending };
        return EntryStatus::Known(status, key, value);
    }
    if let Some((key, word)) = member(value, &RESULT)
        && !word.is_boolean()
        && let Some(status) = parse_status(word)
    {
        return EntryStatus::Known(status, key, word);
    }
    if let Some((key, code)) = member(value, &["exit_code", "return_code", "returncode"])
        && let Some(code) = code.as_i64()
    {
        let status = if code == 0 { PhaseStatus::Complete } else { PhaseStatus::Failed };
        return EntryStatus::Known(status, key, value);
    }
    if let Some((key, percent)) = member(value, &PERCENT)
        && let Some(status) = parse_percent(percent)
    {
        return EntryStatus::Known(status, key, percent);
    }
    EntryStatus::Absent
}

/// Parses a status: a word, a word with a mark, a flag, or an object with one of these.
pub(super) fn parse_status(value: &Value) -> Option<PhaseStatus> {
    match value {
        Value::Bool(true) => Some(PhaseStatus::Complete),
        Value::Bool(false) => Some(PhaseStatus::Pending),
        Value::String(word) => parse_word(word),
        Value::Object(_) => {
            let inner = member(value, &["state", "status", "value", "name", "code"])?.1;
            inner.as_str().and_then(parse_word)
        }
        _ => None,
    }
}

/// Parses a word such as `done`, also with a mark before or behind it that means the same.
fn parse_word(text: &str) -> Option<PhaseStatus> {
    let meaning = |word: &str| parse_status_word(word);
    if let Some(status) = meaning(text) {
        return Some(status);
    }
    let is_mark = |part: &str| !part.contains(char::is_alphanumeric) && meaning(part).is_some();
    let text = text.trim();
    let (mark, word) = match (text.split_once(' '), text.rsplit_once(' ')) {
        (Some((mark, word)), _) if is_mark(mark) => (mark, word),
        (_, Some((word, mark))) if is_mark(mark) => (mark, word),
        _ => return None,
    };
    meaning(word).filter(|status| meaning(mark) == Some(*status))
}

/// Parses a percentage. 1 is ambiguous: one percent, or the whole.
fn parse_percent(value: &Value) -> Option<PhaseStatus> {
    let percent = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().strip_suffix('%')?.trim().parse().ok()?,
        _ => return None,
    };
    match percent {
        0.0 => Some(PhaseStatus::Pending),
        100.0 => Some(PhaseStatus::Complete),
        percent if percent > 0.0 && percent < 100.0 && percent != 1.0 => Some(PhaseStatus::InProgress),
        _ => None,
    }
}

/// Parses a line of a checklist, `[x] build`, `- [ ] test`, or a mark and a name, into status, mark and name.
pub(super) fn parse_checkbox(line: &str) -> Option<(PhaseStatus, &str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    for (mark, status) in
        [("[x]", PhaseStatus::Complete), ("[X]", PhaseStatus::Complete), ("[ ]", PhaseStatus::Pending)]
    {
        if let Some(name) = line.strip_prefix(mark) {
            let name = name.trim();
            return if name.is_empty() { None } else { Some((status, mark, name)) };
        }
    }
    let (mark, name) = line.split_once(' ')?;
    if mark.contains(char::is_alphanumeric) {
        return None;
    }
    let status = parse_status_word(mark)?;
    Some((status, mark, name.trim()))
}

/// True if an entry has a status, known or not.
pub(super) fn has_status(value: &Value) -> bool {
    match value {
        Value::Object(_) => entry_status(value) != EntryStatus::Absent,
        Value::String(word) => parse_word(word).is_some(),
        value => value.is_boolean(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(value: &Value) -> Option<PhaseStatus> {
        match entry_status(value) {
            EntryStatus::Known(status, ..) => Some(status),
            _ => None,
        }
    }

    #[test]
    fn the_status_of_an_entry_has_many_forms() {
        for (entry, meant) in [
            (json!({"status": "done"}), PhaseStatus::Complete),
            (json!({"status": "\u{2705} Complete"}), PhaseStatus::Complete),
            (json!({"status": "done \u{2714}\u{fe0f}"}), PhaseStatus::Complete),
            (json!({"status": {"state": "running", "since": 3}}), PhaseStatus::InProgress),
            (json!({"done": true, "result": "3 files"}), PhaseStatus::Complete),
            (json!({"isCompleted": false}), PhaseStatus::Pending),
            (json!({"success": true}), PhaseStatus::Complete),
            (json!({"success": false}), PhaseStatus::Failed),
            (json!({"outcome": "SUCCESS"}), PhaseStatus::Complete),
            (json!({"exit_code": 0}), PhaseStatus::Complete),
            (json!({"exit_code": 2}), PhaseStatus::Failed),
            (json!({"progress": 100}), PhaseStatus::Complete),
            (json!({"progress": "40%"}), PhaseStatus::InProgress),
            (json!({"percent": 0}), PhaseStatus::Pending),
        ] {
            assert_eq!(status(&entry), Some(meant), "{entry}");
        }
    }

    #[test]
    fn a_failure_takes_precedence_over_other_members() {
        for entry in [
            json!({"status": "done", "failed": true}),
            json!({"completed": true, "success": false}),
            json!({"status": "completed", "passed": false}),
        ] {
            assert_eq!(status(&entry), Some(PhaseStatus::Failed), "{entry}");
        }
    }

    #[test]
    fn an_unknown_status_decides_nothing() {
        for entry in [
            json!({"status": "shelved", "completed": true}),
            json!({"status": 3}),
            json!({"status": "\u{274c} done"}),
            json!({"progress": 1}),
            json!({"progress": 140}),
            json!({"result": "built"}),
            json!({}),
        ] {
            assert_eq!(status(&entry), None, "{entry}");
        }
    }

    #[test]
    fn lines_of_a_checklist_are_parsed() {
        assert_eq!(parse_checkbox("[x] build"), Some((PhaseStatus::Complete, "[x]", "build")));
        assert_eq!(parse_checkbox("- [ ] test it"), Some((PhaseStatus::Pending, "[ ]", "test it")));
        assert_eq!(parse_checkbox("\u{274c} deploy"), Some((PhaseStatus::Failed, "\u{274c}", "deploy")));
        for line in ["build", "done deploy", "[x]", "- item"] {
            assert_eq!(parse_checkbox(line), None, "{line}");
        }
    }
}
