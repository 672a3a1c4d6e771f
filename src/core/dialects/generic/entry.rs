//! One entry of a list: a phase, a step or a task with what is said of it.

use serde_json::Value;

use super::shapes::{MAX_NAME, is_code, is_path, short_id};
use super::vocabulary::{self as words, Word, is_idle_word, snake_case, status_word};
use crate::core::dialects::checklist::check_box;
use crate::core::dialects::members::text_or_number;
use crate::core::dialects::phase_list::phase_id;
use crate::core::dialects::read_log::ReadLog;
use crate::core::json::below;
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// An entry of a list.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) id: PhaseId,
    pub(super) name: Option<String>,
    pub(super) standing: Standing,
    /// The place of the status, or else of the entry.
    pub(super) place: String,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) error: Option<String>,
    pub(super) output: Option<String>,
    /// The larger thing it is said to belong to.
    pub(super) part_of: Option<PhaseId>,
    pub(super) depends_on: Vec<String>,
    /// Its own parts.
    pub(super) parts: Vec<Item>,
}

/// What is said of the status of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Unsaid,
    /// A word that is not known.
    Unknown(String),
    /// A status, and the word for it.
    Said(Word, String),
}

impl Standing {
    pub(super) fn is(status: PhaseStatus, text: &str) -> Self {
        Self::Said(Word::Is(status), text.to_owned())
    }

    pub(super) fn word(&self) -> Option<Word> {
        if let Self::Said(word, _) = self { Some(*word) } else { None }
    }
}

impl Item {
    pub(super) fn named(id: PhaseId, place: &str) -> Self {
        Self {
            id,
            name: None,
            standing: Standing::Unsaid,
            place: place.to_owned(),
            started_at: None,
            completed_at: None,
            error: None,
            output: None,
            part_of: None,
            depends_on: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Returns the status as phases have it; that of an entry without one follows from its parts.
    pub(super) fn status(&self) -> Option<PhaseStatus> {
        match &self.standing {
            Standing::Said(word, _) => Some(word.status()),
            Standing::Unknown(_) => None,
            Standing::Unsaid => status_of_parts(&self.parts),
        }
    }

    /// Fills in what a second record of the same thing says.
    pub(super) fn complete_by(&mut self, other: Self) {
        self.name = self.name.take().or(other.name);
        self.error = self.error.take().or(other.error);
        self.output = self.output.take().or(other.output);
        self.started_at = self.started_at.or(other.started_at);
        self.completed_at = self.completed_at.or(other.completed_at);
        if self.parts.is_empty() {
            self.parts = other.parts;
        }
    }
}

/// Returns the status that follows from the parts of something. Of parts of which some have none, it is begun.
fn status_of_parts(parts: &[Item]) -> Option<PhaseStatus> {
    let statuses: Vec<PhaseStatus> = parts.iter().filter_map(Item::status).collect();
    let is_known = statuses.len() == parts.len();
    if statuses.is_empty() {
        None
    } else if is_known && statuses.iter().all(|status| status.is_done()) {
        Some(PhaseStatus::Complete)
    } else if is_known && statuses.iter().all(|status| *status == PhaseStatus::Pending) {
        Some(PhaseStatus::Pending)
    } else {
        Some(PhaseStatus::InProgress)
    }
}

/// Reads the entries of a list: an array, or an object by name. `ids` are the keys of the name of an entry.
pub(super) fn read_items(list: &Value, place: &str, ids: &str, log: &mut ReadLog<'_>) -> Vec<Item> {
    match list {
        Value::Object(members) => {
            let items = members.iter().filter_map(|(key, value)| {
                let id = phase_id(&Value::from(key.as_str()))?;
                Some(read_member(value, id, &below(place, key), log))
            });
            items.collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate().filter_map(|(index, value)| {
                let place = format!("{place}/{index}");
                let own = Fields::of(value).id(ids);
                let item =
                    read_element(value, own.or_else(|| phase_id(&Value::from(index + 1)))?, &place, log);
                if item.is_none() && !value.is_null() {
                    log.unreadable_phase(&place);
                }
                item
            });
            items.collect()
        }
        _ => Vec::new(),
    }
}

/// Reads a member of an object: anything but an object or a checklist is its status.
fn read_member(value: &Value, id: PhaseId, place: &str, log: &mut ReadLog<'_>) -> Item {
    let mut item = Item::named(id, place);
    if value.is_object() {
        read_object(&Fields::of(value), place, &mut item, log);
    } else if is_checklist(value) {
        item.parts = read_items(value, place, words::ENTRY_ID, log);
    } else {
        item.standing = standing_of(value);
    }
    item
}

/// Reads an element of an array: a text is its name.
fn read_element(value: &Value, id: PhaseId, place: &str, log: &mut ReadLog<'_>) -> Option<Item> {
    let mut item = Item::named(id, place);
    match value {
        Value::Object(_) => read_object(&Fields::of(value), place, &mut item, log),
        Value::String(line) => {
            let (standing, name) = parse_line(line);
            item.standing = standing;
            name_item(&mut item, name)?;
        }
        Value::Number(_) => item.id = phase_id(value)?,
        _ => return None,
    }
    Some(item)
}

/// Names an item by a line of text: by a short code at its beginning, by all of it, or by its number if it is long.
fn name_item(item: &mut Item, text: &str) -> Option<()> {
    let coded = text.split_once([' ', ':']).filter(|(code, rest)| is_code(code) && !rest.trim().is_empty());
    if let Some((code, rest)) = coded {
        item.id = phase_id(&Value::from(code.trim_end_matches('.')))?;
        item.name = Some(rest.trim().to_owned());
    } else if text.chars().count() <= MAX_NAME {
        item.id = phase_id(&Value::from(text))?;
    } else {
        item.name = Some(text.to_owned());
    }
    Some(())
}

fn read_object(fields: &Fields<'_>, place: &str, item: &mut Item, log: &mut ReadLog<'_>) {
    let mut time = |names: &str| {
        let (key, time) = fields.get(names).filter(|(_, time)| !time.is_boolean())?;
        log.parse_time(time, &below(place, key))
    };
    item.started_at = time(words::ENTRY_STARTED);
    item.completed_at = time(words::ENTRY_FINISHED);
    let (standing, key) = entry_standing(fields);
    item.standing = standing;
    if let Some(key) = key {
        item.place = below(place, &key);
    } else if item.completed_at.is_some() {
        item.standing = Standing::is(PhaseStatus::Complete, "");
    } else if item.started_at.is_some() && fields.has(words::ENTRY_FINISHED) {
        item.standing = Standing::is(PhaseStatus::InProgress, "");
    }
    item.name = fields.text(words::ENTRY_NAME).filter(|name| name != item.id.as_str());
    item.error = fields.text(words::ENTRY_ERROR);
    item.output = fields.text(words::ENTRY_OUTPUT).filter(|path| is_path(path));
    item.part_of = fields.get("phase phase_id stage milestone epic").and_then(|(_, id)| short_id(id));
    if let Some((_, Value::Array(ids))) = fields.get(words::ENTRY_DEPENDS_ON) {
        item.depends_on = ids.iter().filter_map(text_or_number).collect();
    }
    let parts = words::ENTRY_TASKS.split_ascii_whitespace().filter_map(|key| fields.get(key));
    if let Some((key, parts)) = parts.clone().find(|(_, parts)| is_list(parts)) {
        item.parts = read_items(parts, &below(place, key), words::ENTRY_ID, log);
    }
}

/// True if a value is a list of things of which some have a status.
pub(super) fn is_list(value: &Value) -> bool {
    let has_status = |value: &Value| match value {
        Value::Object(_) => {
            let fields = Fields::of(value);
            entry_standing(&fields).0 != Standing::Unsaid
                || fields.get(words::ENTRY_TASKS).is_some_and(|(_, parts)| is_list(parts))
                || fields.get("completed_at finished_at").is_some()
        }
        Value::String(line) => parse_line(line).0 != Standing::Unsaid,
        _ => is_checklist(value),
    };
    match value {
        Value::Array(items) => items.iter().any(has_status),
        Value::Object(members) => {
            let may_be_thing = |value: &Value| value.is_object() || value.is_null() || is_checklist(value);
            members.values().any(has_status) && members.values().all(may_be_thing)
        }
        _ => false,
    }
}

/// True if a value is a list of lines with check boxes.
fn is_checklist(value: &Value) -> bool {
    let has_box = |line: &Value| line.as_str().is_some_and(|line| parse_line(line).0 != Standing::Unsaid);
    value.as_array().is_some_and(|lines| !lines.is_empty() && lines.iter().all(has_box))
}

/// Returns what some members of an object say of its status, and the key of the first.
type EntryRule = fn(&Fields<'_>) -> Option<(Standing, String)>;

/// What an object may say of its own status, the strongest first. A failure takes precedence over everything else; beside an
/// unknown word, the other members decide nothing.
const ENTRY_RULES: [EntryRule; 6] = [
    |fields| {
        let failed = fields.flag(words::ENTRY_FAILED).filter(|(_, failed)| *failed);
        let (key, _) =
            failed.or_else(|| fields.flag(words::ENTRY_SUCCESS).filter(|(_, success)| !*success))?;
        Some((Standing::is(PhaseStatus::Failed, key), key.to_owned()))
    },
    |fields| {
        let (key, status) = fields.get(words::ENTRY_STATUS)?;
        let standing = standing_of(status);
        // Work that is said to be done, and did not pass, failed.
        let did_not_pass = fields.flag("passed passes").filter(|(_, passed)| !*passed);
        let is_done = standing.word().is_some_and(|word| word.status().is_done());
        Some(match did_not_pass.filter(|_| is_done) {
            Some((key, _)) => (Standing::is(PhaseStatus::Failed, "false"), key.to_owned()),
            None => (standing, key.to_owned()),
        })
    },
    |fields| {
        let (key, done) = fields.flag(words::ENTRY_DONE)?;
        Some((standing_of(&Value::Bool(done)), key.to_owned()))
    },
    |fields| {
        let (key, result) = fields.get(words::ENTRY_RESULT)?;
        let text = result.as_str()?;
        Some((Standing::Said(status_word(text)?, text.to_owned()), key.to_owned()))
    },
    |fields| {
        let (key, code) = fields.get("exit_code return_code returncode")?;
        let code = code.as_i64()?;
        let status = if code == 0 { PhaseStatus::Complete } else { PhaseStatus::Failed };
        Some((Standing::is(status, &code.to_string()), key.to_owned()))
    },
    |fields| {
        let (key, percent) = fields.get(words::ENTRY_PERCENT)?;
        Some((Standing::is(parse_percent(percent)?, &percent.to_string()), key.to_owned()))
    },
];

/// Returns what an object says of its own status, and under which key.
pub(super) fn entry_standing(fields: &Fields<'_>) -> (Standing, Option<String>) {
    let said = ENTRY_RULES.iter().find_map(|rule| rule(fields));
    said.map_or((Standing::Unsaid, None), |(standing, key)| (standing, Some(key)))
}

/// Returns what a value in the place of a status says: a word, a flag, or an object with one of these.
pub(super) fn standing_of(value: &Value) -> Standing {
    match value {
        Value::Null => Standing::Unsaid,
        Value::Bool(true) => Standing::is(PhaseStatus::Complete, "true"),
        Value::Bool(false) => Standing::is(PhaseStatus::Pending, "false"),
        Value::String(text) if text.trim().is_empty() => Standing::Unsaid,
        Value::String(text) => match status_word(text) {
            Some(word) => Standing::Said(word, text.clone()),
            None if is_path(text) => Standing::is(PhaseStatus::Complete, text),
            None => Standing::Unknown(text.clone()),
        },
        Value::Object(_) => match Fields::of(value).get("state status value name code") {
            Some((_, text @ Value::String(_))) => standing_of(text),
            _ => Standing::Unknown("that is recorded".to_owned()),
        },
        other => Standing::Unknown(other.to_string()),
    }
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

/// Parses a line of a checklist, `[x] build`, `- [ ] test`, or a mark and a name, into what it says and the name.
pub(super) fn parse_line(line: &str) -> (Standing, &str) {
    let line = line.trim();
    if let Some((mark, name)) = check_box(line).filter(|(_, name)| !name.is_empty()) {
        return (Standing::is(mark.status(), "check box"), name);
    }
    let marked =
        line.split_once(' ').filter(|(mark, _)| !mark.contains(char::is_alphanumeric) && !mark.is_ascii());
    match marked.and_then(|(mark, name)| Some((mark, status_word(mark)?, name))) {
        Some((mark, word, name)) => (Standing::Said(word, mark.to_owned()), name.trim()),
        None => (Standing::Unsaid, line),
    }
}

/// The members of an object, by their keys in snake case.
pub(super) struct Fields<'a>(Vec<(String, &'a str, &'a Value)>);

impl<'a> Fields<'a> {
    /// Returns the members of a value; none if it is not an object.
    pub(super) fn of(value: &'a Value) -> Self {
        let members = value.as_object().into_iter().flatten();
        Self(members.map(|(key, value)| (snake_case(key), key.as_str(), value)).collect())
    }

    /// Returns the first member with one of these names that is not blank, and its key. The order of the names counts.
    pub(super) fn get(&self, names: &str) -> Option<(&'a str, &'a Value)> {
        names.split_ascii_whitespace().find_map(|name| {
            let is_it = |(key, _, value): &&(String, &str, &Value)| *key == *name && !is_blank(value);
            self.0.iter().find(is_it).map(|(_, key, value)| (*key, *value))
        })
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &'a Value> {
        self.0.iter().map(|(_, _, value)| *value)
    }

    /// True if there is a member with one of these names, perhaps a blank one.
    fn has(&self, names: &str) -> bool {
        self.0.iter().any(|(key, ..)| words::has(names, key))
    }

    /// Returns the first of these members that is true or false.
    fn flag(&self, names: &str) -> Option<(&'a str, bool)> {
        names.split_ascii_whitespace().find_map(|name| {
            let (key, value) = self.get(name)?;
            Some((key, value.as_bool()?))
        })
    }

    /// Returns the text of the first of these members, unless it says that there is none.
    pub(super) fn text(&self, names: &str) -> Option<String> {
        self.get(names).and_then(|(_, value)| text_or_number(value)).filter(|text| !is_idle_word(text))
    }

    /// Returns the id of an object in a list: the first of these members that can be one.
    pub(super) fn id(&self, names: &str) -> Option<PhaseId> {
        names.split_ascii_whitespace().find_map(|name| self.get(name).and_then(|(_, id)| short_id(id)))
    }
}

/// True if a value is null or a blank text.
pub(super) fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}
