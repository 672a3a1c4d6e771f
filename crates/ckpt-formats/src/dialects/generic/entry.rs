//! One entry of a list: its id, and its status as far as the entry says it.
//!
//! | the entry has | its status |
//! |---|---|
//! | `status`, `state` or the like | that word; a word that is not known is not understood |
//! | else a flag, `done: true` or `passes: false` | done, or not |
//! | else a check box or a mark, `[x] build` | the status of the box |
//! | else a time, `completed_at` | done; a planned end is none |
//! | else parts with statuses | done if all are, not begun if none is, else begun |

use heck::ToSnakeCase as _;
use serde_json::Value;

use super::lists;
use super::words::{Word, has, status_word};
use crate::dialects::checklist::check_box;
use crate::dialects::members::text_or_number;
use crate::dialects::phase_list::phase_id;
use crate::dialects::times::ParsedTime;
use ckpt_model::json::below;
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::time::Timestamp;

/// The longest text that is an id; a longer one is a description.
const MAX_ID: usize = 64;

const ID: &str = "id phase_id step_id stage_id task_id story_id feature_id key slug phase stage step number num n code name title \
     task feature milestone story content text label description";
const NAME: &str = "name title label description content text summary task";
const STATUS: &str = "status state phase_status step_status stage_status task_status completion_status estado";
/// A result is a status only if it is a word for one.
const RESULTS: &str = "result outcome conclusion";
const FAILED: &str = "failed is_failed";
const FLAGS: &str =
    "passes completed done complete finished checked passed is_completed is_complete is_done implemented";
const COMPLETED_AT: &str = "completed_at finished_at completed_on completed_date completion_date";
const STARTED_AT: &str = "started_at begun_at started_on";
const PARTS: &str =
    "tasks items steps subtasks todos checklist stories user_stories features substeps phases stages objectives";

/// The members of an object, by their keys in snake case.
pub(super) struct Fields<'a>(Vec<(String, &'a str, &'a Value)>);

impl<'a> Fields<'a> {
    /// Returns the members of a value; none if it is not an object.
    pub(super) fn of(value: &'a Value) -> Self {
        let members = value.as_object().into_iter().flatten();
        Self(members.map(|(key, value)| (key.to_snake_case(), key.as_str(), value)).collect())
    }

    /// Returns all members with these names that are not blank, in the order of the names.
    pub(super) fn all(&self, names: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let found = names
            .split_ascii_whitespace()
            .flat_map(move |name| self.0.iter().filter(move |(snake, _, value)| snake == name && !is_blank(value)));
        found.map(|(_, key, value)| (*key, *value)).collect::<Vec<_>>().into_iter()
    }

    /// Returns the text or number of the first of these members that has one.
    pub(super) fn text(&self, names: &str) -> Option<String> {
        self.all(names).find_map(|(_, value)| text_or_number(value))
    }

    fn time(&self, names: &str) -> Option<Timestamp> {
        self.all(names).find_map(|(_, value)| ParsedTime::parse(value).timestamp())
    }
}

/// True if a value is null or a blank text.
pub(super) fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The status of an entry, as far as the entry says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// A word that is not known.
    Unknown(String),
    /// A status, and the text for it.
    Is(Word, String),
}

impl Said {
    fn flag(done: bool, text: &str) -> Self {
        Self::Is(Word::Is(if done { PhaseStatus::Complete } else { PhaseStatus::Pending }), text.to_owned())
    }

    /// Reads a value in the place of a status.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Bool(done) => Self::flag(*done, &done.to_string()),
            Value::String(text) if !text.trim().is_empty() => match status_word(text) {
                Some(word) => Self::Is(word, text.clone()),
                None => Self::Unknown(text.clone()),
            },
            Value::Null | Value::String(_) => Self::Nothing,
            other => Self::Unknown(other.to_string()),
        }
    }
}

/// One of the things that work consists of.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: PhaseId,
    pub(super) name: Option<String>,
    pub(super) said: Said,
    /// The place of the status, or of the entry.
    pub(super) place: String,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) depends_on: Vec<String>,
    pub(super) parts: Vec<Self>,
    /// True if an earlier record of it says something else.
    pub(super) is_revised: bool,
}

impl Entry {
    pub(super) fn named(id: PhaseId, place: &str) -> Self {
        Self {
            id,
            name: None,
            said: Said::Nothing,
            place: place.to_owned(),
            started_at: None,
            completed_at: None,
            depends_on: Vec::new(),
            parts: Vec::new(),
            is_revised: false,
        }
    }

    pub(super) fn with_status(self, status: PhaseStatus) -> Self {
        Self { said: Said::Is(Word::Is(status), status.word().to_owned()), ..self }
    }

    pub(super) fn word(&self) -> Option<Word> {
        if let Said::Is(word, _) = &self.said { Some(*word) } else { None }
    }

    pub(super) fn status(&self) -> Option<PhaseStatus> {
        self.word().map(Word::status)
    }

    pub(super) fn is_done(&self) -> bool {
        self.status().is_some_and(PhaseStatus::is_done)
    }

    /// True if it has begun or failed.
    pub(super) fn is_open(&self) -> bool {
        self.status().is_some_and(PhaseStatus::is_open)
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.word() == Some(Word::Blocked)
    }

    /// Reads a member of an object that is a list: anything but an object is its status.
    pub(super) fn member(key: &str, value: &Value, place: &str) -> Option<Self> {
        let mut entry = Self::named(text_id(key)?, place);
        match value {
            Value::Object(_) => entry.read(value, place),
            Value::Array(_) => entry.parts = lists::with_statuses(value, place).unwrap_or_default(),
            value => entry.said = Said::of(value),
        }
        Some(entry.with_parts())
    }

    /// Reads an element of an array. One without an id has its number.
    pub(super) fn element(index: usize, value: &Value, place: &str) -> Option<Self> {
        let number = || phase_id(&Value::from(index + 1));
        let entry = match value {
            Value::Object(_) => {
                let own = Fields::of(value).all(ID).find_map(|(_, id)| short_id(id));
                let mut entry = Self::named(own.or_else(number)?, place);
                entry.read(value, place);
                entry
            }
            Value::String(line) => {
                let (said, text) = marked_line(line);
                let (id, name) = match coded(text) {
                    Some((code, rest)) => (text_id(code), Some(rest.to_owned())),
                    None if text.chars().count() <= MAX_ID => (text_id(text), None),
                    None => (number(), Some(text.to_owned())),
                };
                Self { name, said, ..Self::named(id?, place) }
            }
            Value::Number(_) => Self::named(phase_id(value)?, place),
            _ => return None,
        };
        Some(entry.with_parts())
    }

    fn read(&mut self, value: &Value, place: &str) {
        let fields = Fields::of(value);
        self.name = fields.text(NAME).filter(|name| name != self.id.as_str());
        self.started_at = fields.time(STARTED_AT);
        self.completed_at = fields.time(COMPLETED_AT);
        if let Some((_, Value::Array(ids))) = fields.all("depends_on dependencies blocked_by").next() {
            self.depends_on = ids.iter().filter_map(text_or_number).collect();
        }
        let flag = || fields.all(FLAGS).find(|(_, value)| value.is_boolean());
        let result = || fields.all(RESULTS).find(|(_, value)| matches!(Said::of(value), Said::Is(..)));
        if fields.all(FAILED).any(|(_, value)| *value == Value::Bool(true)) {
            self.said = Said::Is(Word::Is(PhaseStatus::Failed), "failed".to_owned());
        } else if let Some((key, status)) = fields.all(STATUS).next().or_else(flag).or_else(result) {
            self.said = Said::of(status);
            self.place = below(place, key);
        } else if self.completed_at.is_some() {
            self.said = Said::flag(true, "completed");
        }
        let mut parts = fields.all(PARTS).filter_map(|(key, parts)| lists::with_statuses(parts, &below(place, key)));
        self.parts = parts.next().unwrap_or_default();
    }

    /// Takes the status of its parts if it has none of its own.
    fn with_parts(self) -> Self {
        let are =
            |condition: fn(PhaseStatus) -> bool| self.parts.iter().all(|part| part.status().is_some_and(condition));
        if self.said == Said::Nothing && self.parts.iter().any(|part| part.status().is_some()) {
            let status = if are(PhaseStatus::is_done) {
                PhaseStatus::Complete
            } else if are(|status| status == PhaseStatus::Pending) {
                PhaseStatus::Pending
            } else {
                PhaseStatus::InProgress
            };
            return self.with_status(status);
        }
        self
    }
}

/// Parses an id, unless it is too long for one.
pub(super) fn short_id(value: &Value) -> Option<PhaseId> {
    let text = text_or_number(value)?;
    if text.chars().count() <= MAX_ID { phase_id(value) } else { None }
}

fn text_id(text: &str) -> Option<PhaseId> {
    phase_id(&Value::from(text))
}

/// Splits `T001 Build it` and `1.2: Build it` after a code of capitals and digits.
fn coded(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once([' ', ':'])?;
    let code = word.trim_end_matches(['.', ':', ')']);
    let is_code = code.len() <= 12
        && code.ends_with(|c: char| c.is_ascii_digit())
        && code.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '.' | '-'));
    (is_code && !rest.trim().is_empty()).then(|| (code, rest.trim()))
}

/// Parses a line of a checklist, `[x] build`, or a mark and a name.
pub(super) fn marked_line(line: &str) -> (Said, &str) {
    let line = line.trim();
    if let Some((mark, name)) = check_box(line).filter(|(_, name)| !name.is_empty()) {
        return (Said::Is(Word::Is(mark.status()), "check box".to_owned()), name);
    }
    let marked = line.split_once(' ').filter(|(mark, _)| !mark.contains(char::is_alphanumeric) && !mark.is_ascii());
    match marked.and_then(|(mark, name)| Some((status_word(mark)?, mark, name))) {
        Some((word, mark, name)) => (Said::Is(word, mark.to_owned()), name.trim()),
        None => (Said::Nothing, line),
    }
}

/// Returns a name without case, separators and the word for what it names: `build` for `Build Phase`.
pub(super) fn plain(name: &str) -> String {
    let snake = name.to_snake_case();
    let kept: Vec<&str> = snake.split('_').filter(|token| super::words::classify(token).noun.is_none()).collect();
    if kept.is_empty() { snake } else { kept.join("_") }
}

/// Returns the number at the beginning of a name: `2`, `02-build`, `Phase 2`, `phase2_build`, `Step 2: Build`.
pub(super) fn number_in(name: &str) -> Option<u64> {
    let start = name.trim().trim_start_matches(|c: char| c.is_alphabetic());
    let word = name.trim().strip_suffix(start)?;
    if !(word.is_empty() || super::words::classify(&word.to_lowercase()).noun.is_some()) {
        return None;
    }
    let digits = start.trim_start_matches([' ', '_', '-', '#']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let is_whole =
        !digits[end..].starts_with(|c: char| c.is_alphanumeric() || c == '.') || digits[end..].starts_with(". ");
    if is_whole { digits[..end].parse().ok() } else { None }
}

/// True if a text is a name, and not a sentence.
pub(super) fn is_name(text: &str) -> bool {
    let is_sentence = text.ends_with(['.', '!', '?']) || text.split_whitespace().count() > 6;
    !text.is_empty() && text.chars().count() <= MAX_ID && !is_sentence && !has("true false", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(value: &Value) -> String {
        let entry = Entry::element(0, value, "").unwrap();
        match entry.said {
            Said::Nothing => "nothing".to_owned(),
            Said::Unknown(word) => format!("{word}?"),
            Said::Is(word, _) => format!("{} {}", entry.id, word.status().word()),
        }
    }

    #[test]
    fn the_word_of_an_entry_counts_more_than_its_flag_its_times_and_its_parts() {
        for (entry, expected) in [
            (json!({"id": "a", "status": "in_progress", "done": true, "completed_at": "2026-01-01"}), "a in_progress"),
            (json!({"id": "a", "passes": false, "completed_at": "2026-01-01"}), "a pending"),
            (json!({"id": "a", "completed_at": "2026-01-01"}), "a complete"),
            (json!({"id": "a", "completedAt": null}), "nothing"),
            (json!({"id": "a", "endDate": "2026-01-01", "startDate": "2025-01-01"}), "nothing"),
            (json!({"id": "a", "tasks": [{"id": 1, "done": true}, {"id": 2, "done": false}]}), "a in_progress"),
            (json!({"id": "a", "tasks": [{"id": 1, "done": false}]}), "a pending"),
            (json!({"id": "a", "tasks": ["[x] one"]}), "a complete"),
            (json!({"id": "a", "status": "green-ish"}), "green-ish?"),
            (json!("[x] T01 build"), "T01 complete"),
            (json!("build"), "nothing"),
        ] {
            assert_eq!(status(&entry), expected, "{entry}");
        }
    }

    #[test]
    fn a_name_is_compared_without_its_noun_and_may_begin_with_a_number() {
        assert_eq!([plain("Build Phase"), plain("phase_build"), plain("phase")], ["build", "build", "phase"]);
        for (name, number) in [("2", 2), ("02-build", 2), ("Phase 2: Paint", 2), ("phase2_paint", 2), ("1. Plan", 1)] {
            assert_eq!(number_in(name), Some(number), "{name}");
        }
        for name in ["2B", "1.2", "sprint", "v2", "build 2"] {
            assert_eq!(number_in(name), None, "{name}");
        }
    }
}
