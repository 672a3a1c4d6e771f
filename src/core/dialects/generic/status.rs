//! What an entry of a list says about how it stands: in a word, a flag, a mark, a share or an exit code.

use serde_json::Value;

use super::listed::member;
use super::scope::is_nothing;
use crate::core::phase::PhaseStatus;
use crate::core::status_word::StatusWord;

/// Keys whose value is there to say it.
const STATUS: [&str; 7] =
    ["status", "state", "phase_status", "step_status", "stage_status", "task_status", "item_status"];
/// Keys whose value may say it, and may say much else.
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
/// What was tried, and came out well or not.
const WENT_WELL: [&str; 4] = ["passed", "success", "succeeded", "successful"];
const SHARE: [&str; 5] = ["progress", "percent", "percentage", "percent_complete", "completion_percentage"];

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Said<'a> {
    /// Nothing about how it stands.
    Nothing,
    /// Something that is not understood, under this key.
    Unknown(&'a str, &'a Value),
    /// This, under that key.
    Known(PhaseStatus, &'a str, &'a Value),
}

/// Reads an object. A failure counts whatever stands beside it; a word that is not understood decides nothing, and
/// neither does what stands beside that.
pub(super) fn of_entry(value: &Value) -> Said<'_> {
    let flag = |names: &[&str]| {
        let found =
            names.iter().find_map(|name| member(value, &[name]).filter(|(_, value)| value.is_boolean()));
        found.map(|(key, value)| (key, value, *value == Value::Bool(true)))
    };
    let (well, failed) = (flag(&WENT_WELL), flag(&["failed", "is_failed", "errored"]));
    if let Some((key, value, _)) = failed.filter(|(.., failed)| *failed).or(well.filter(|(.., well)| !well)) {
        return Said::Known(PhaseStatus::Failed, key, value);
    }
    if let Some((key, word)) = member(value, &STATUS) {
        return of_word(word).map_or(Said::Unknown(key, word), |status| Said::Known(status, key, word));
    }
    if let Some((key, value, done)) = flag(&DONE).or(well) {
        let status = if done { PhaseStatus::Complete } else { PhaseStatus::Pending };
        return Said::Known(status, key, value);
    }
    if let Some((key, word)) = member(value, &RESULT)
        && let Some(status) = of_word(word).filter(|_| !word.is_boolean())
    {
        return Said::Known(status, key, word);
    }
    if let Some((key, code)) = member(value, &["exit_code", "return_code", "returncode"])
        && let Some(code) = code.as_i64()
    {
        let status = if code == 0 { PhaseStatus::Complete } else { PhaseStatus::Failed };
        return Said::Known(status, key, value);
    }
    match member(value, &SHARE).and_then(|(key, share)| Some((key, share, of_share(share)?))) {
        Some((key, share, status)) => Said::Known(status, key, share),
        None => Said::Nothing,
    }
}

/// Understands a word, a word with a mark beside it, a flag, or an object around one of them.
pub(super) fn of_word(value: &Value) -> Option<PhaseStatus> {
    match value {
        Value::Bool(true) => Some(PhaseStatus::Complete),
        Value::Bool(false) => Some(PhaseStatus::Pending),
        Value::String(word) => understand(word),
        Value::Object(_) => {
            let inner = member(value, &["state", "status", "value", "name", "code"])?.1;
            inner.as_str().and_then(understand)
        }
        _ => None,
    }
}

/// `done`, and also the green tick before or behind it, if both mean the same.
fn understand(text: &str) -> Option<PhaseStatus> {
    let meaning = |word: &str| StatusWord::understand(word).map(PhaseStatus::from);
    meaning(text).or_else(|| {
        let text = text.trim();
        let mark = |part: &str| !part.contains(char::is_alphanumeric) && meaning(part).is_some();
        let (first, rest) = text.split_once(' ').filter(|(first, _)| mark(first)).or_else(|| {
            let (rest, last) = text.rsplit_once(' ').filter(|(_, last)| mark(last))?;
            Some((last, rest))
        })?;
        meaning(rest).filter(|status| meaning(first) == Some(*status))
    })
}

/// A share in percent. One is a percent or the whole: that is not said.
fn of_share(share: &Value) -> Option<PhaseStatus> {
    let share = match share {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().strip_suffix('%')?.trim().parse().ok()?,
        _ => return None,
    };
    match share {
        0.0 => Some(PhaseStatus::Pending),
        100.0 => Some(PhaseStatus::Complete),
        share if share > 0.0 && share < 100.0 && share != 1.0 => Some(PhaseStatus::InProgress),
        _ => None,
    }
}

/// A line of a check list: `[x] build`, `- [ ] test`, a mark and a name. Gives the status, the mark and the name.
pub(super) fn checkbox(line: &str) -> Option<(PhaseStatus, &str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    for (mark, status) in
        [("[x]", PhaseStatus::Complete), ("[X]", PhaseStatus::Complete), ("[ ]", PhaseStatus::Pending)]
    {
        if let Some(name) = line.strip_prefix(mark) {
            return Some((status, mark, name.trim())).filter(|(.., name)| !name.is_empty());
        }
    }
    let (mark, name) = line.split_once(' ')?;
    let status = StatusWord::understand(mark).filter(|_| !mark.contains(char::is_alphanumeric))?;
    Some((status.into(), mark, name.trim()))
}

/// Whether an entry says how it stands, or is meant to.
pub(super) fn is_said(value: &Value) -> bool {
    match value {
        Value::Object(_) => of_entry(value) != Said::Nothing,
        Value::String(word) => understand(word).is_some(),
        value => !is_nothing(value) && value.is_boolean(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(value: &Value) -> Option<PhaseStatus> {
        match of_entry(value) {
            Said::Known(status, ..) => Some(status),
            _ => None,
        }
    }

    #[test]
    fn an_entry_says_how_it_stands_in_many_ways() {
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
    fn a_failure_counts_whatever_stands_beside_it() {
        for entry in [
            json!({"status": "done", "failed": true}),
            json!({"completed": true, "success": false}),
            json!({"status": "completed", "passed": false}),
        ] {
            assert_eq!(status(&entry), Some(PhaseStatus::Failed), "{entry}");
        }
    }

    #[test]
    fn what_is_not_understood_decides_nothing() {
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
    fn lines_of_a_check_list_are_read() {
        assert_eq!(checkbox("[x] build"), Some((PhaseStatus::Complete, "[x]", "build")));
        assert_eq!(checkbox("- [ ] test it"), Some((PhaseStatus::Pending, "[ ]", "test it")));
        assert_eq!(checkbox("\u{274c} deploy"), Some((PhaseStatus::Failed, "\u{274c}", "deploy")));
        for line in ["build", "done deploy", "[x]", "- item"] {
            assert_eq!(checkbox(line), None, "{line}");
        }
    }
}
