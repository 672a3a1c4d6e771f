//! Values by themselves: names and numbers, the members of an object, a thing with its status, and lists of things.
//!
//! `2`, `Phase 2`, `phase_2` and `02-build` are the same phase if only one in the list matches.

use std::collections::HashMap;

use serde_json::Value;

use super::vocabulary::{
    self as words, HISTORY_ID, OVERALL_STATUS, Role, Word, classify, has, is_idle_word, snake_case, status_word,
};
use crate::dialects::checklist::check_box;
use crate::dialects::members::text_or_number;
use crate::dialects::phase_list::phase_id;
use crate::dialects::read_log::ReadLog;
use ckpt_model::json::below;
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::time::Timestamp;

/// The longest text that is taken as a name; a longer one is a description.
pub(super) const MAX_NAME: usize = 64;

/// Finds things by their names.
#[derive(Default)]
pub(super) struct Names {
    by_id: HashMap<PhaseId, usize>,
    /// By spelling, and by `#` and the number in it; `None` if several things have it.
    by_spelling: HashMap<String, Option<usize>>,
}

impl Names {
    pub(super) fn add(&mut self, index: usize, id: &PhaseId, name: Option<&str>) {
        self.by_id.entry(id.clone()).or_insert(index);
        let number = number_in(id.as_str()).or_else(|| name.and_then(number_in));
        let number = number.map(|number| format!("#{number}"));
        for spelling in [Some(plain(id.as_str())), name.map(plain), number].into_iter().flatten() {
            let entry = self.by_spelling.entry(spelling).or_insert(Some(index));
            *entry = entry.filter(|known| *known == index);
        }
    }

    /// Returns the thing with this id, the same spelling, or the same number, if there is exactly one.
    pub(super) fn find(&self, id: &PhaseId) -> Option<usize> {
        let by_number = || *self.by_spelling.get(&format!("#{}", number_in(id.as_str())?))?;
        self.find_spelling(id).or_else(by_number)
    }

    /// Returns the thing with this id or the same spelling, if there is exactly one.
    pub(super) fn find_spelling(&self, id: &PhaseId) -> Option<usize> {
        self.by_id.get(id).copied().or_else(|| *self.by_spelling.get(&plain(id.as_str()))?)
    }
}

/// Returns a name in snake case, without the word for what it names: `build` for `Build Phase`.
fn plain(name: &str) -> String {
    let snake = snake_case(name);
    let kept: Vec<&str> = snake.split('_').filter(|token| classify(token).noun.is_none()).collect();
    if kept.concat().is_empty() { snake } else { kept.join("_") }
}

/// Returns the number in a name: `2`, `02-build`, `Phase 2`, `phase2_build`, `Step 2: Build`.
pub(super) fn number_in(name: &str) -> Option<u64> {
    let (number, rest) = leading_number(without_noun(name))?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '.')).then_some(number)
}

/// Returns a name without the word for what it names at its beginning.
fn without_noun(text: &str) -> &str {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_noun = end > 0 && classify(&word.to_lowercase()).noun.is_some();
    if is_noun { rest.trim_start_matches([' ', '_', '-', '#']) } else { text }
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

/// Parses a count: a number or a text. `3.0` is a count, `2.5` is not.
pub(super) fn parse_count(value: &Value) -> Option<u64> {
    let text = text_or_number(value)?;
    let (digits, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if fraction.bytes().all(|b| b == b'0') { digits.parse().ok() } else { None }
}

/// Parses the two numbers of `3/7`, `3 of 7` or `Step 3 out of 7 (43%)`, if the first is not the greater.
pub(super) fn parse_fraction(value: &Value) -> Option<(u64, u64)> {
    let (first, rest) = leading_number(without_noun(value.as_str()?))?;
    let rest = rest.trim_start();
    let rest = ["/", "out of ", "of "].iter().find_map(|word| rest.strip_prefix(word))?;
    let (second, rest) = leading_number(rest.trim_start())?;
    let ends = rest.is_empty() || rest.starts_with([' ', ',', '(', ':']);
    (ends && first <= second && second > 0).then_some((first, second))
}

/// Splits a text with several names: at commas, or at blanks if `split_at_blanks` or if all names are numbers.
pub(super) fn split_names(text: &str, split_at_blanks: bool) -> Option<Value> {
    let has_commas = text.contains([',', ';']);
    let is_separator = |c: char| if has_commas { matches!(c, ',' | ';') } else { c.is_whitespace() };
    let names: Vec<&str> = text.split(is_separator).map(str::trim).filter(|name| !name.is_empty()).collect();
    let all_numbers = names.iter().all(|name| name.bytes().all(|b| b.is_ascii_digit()));
    let is_list = names.len() > 1 && (has_commas || all_numbers);
    (is_list || (split_at_blanks && !names.is_empty())).then(|| names.into())
}

/// Parses a phase id, unless it is too long for one.
pub(super) fn short_id(value: &Value) -> Option<PhaseId> {
    let text = text_or_number(value)?;
    let is_exponent = value.is_number() && text.contains(['e', 'E']);
    if text.chars().count() <= MAX_NAME && !is_exponent { phase_id(value) } else { None }
}

/// True for `T001`, `US-3`, `1.2`, `M08.R21`: capitals and digits, in parts of which the last one has digits.
pub(super) fn is_code(word: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = |part: &str| is_digits(part.trim_start_matches(|c: char| c.is_ascii_uppercase()));
    word.len() <= 16
        && word.split(['.', '-']).all(is_part)
        && word.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit())
}

/// True if a text looks like the path of a file.
pub(super) fn is_path(text: &str) -> bool {
    let is_plain = !text.contains(['\n', '\t', '*', '?', '<', '>', '|']) && text.len() <= 1024 && !text.contains("://");
    let file_name = text.rsplit('/').next().unwrap_or_default();
    let has_extension = file_name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=12).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
            && extension.bytes().any(|b| b.is_ascii_alphabetic())
    });
    is_plain && (has_extension || (text.contains('/') && !text.contains(' ')))
}

pub(super) fn is_number(value: &Value) -> bool {
    value.is_number() || parse_count(value).is_some() || parse_fraction(value).is_some()
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

/// One of the things that work consists of: a phase, a step or a task, with what is said of it.
#[derive(Debug, Clone)]
pub(super) struct Thing {
    pub(super) id: PhaseId,
    pub(super) name: Option<String>,
    /// The status by its own record.
    pub(super) standing: Standing,
    /// The status that follows from everything that is said of it.
    pub(super) status: Option<PhaseStatus>,
    /// The place of the status, or else of the record.
    pub(super) place: String,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) error: Option<String>,
    pub(super) output: Option<String>,
    /// The larger thing it is said to belong to.
    pub(super) part_of: Option<PhaseId>,
    pub(super) depends_on: Vec<String>,
    /// Its own parts.
    pub(super) parts: Vec<Thing>,
}

/// The status of an entry, as far as it is said.
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

impl Thing {
    pub(super) fn named(id: PhaseId, place: &str) -> Self {
        Self {
            id,
            name: None,
            standing: Standing::Unsaid,
            status: None,
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

    /// Takes the status that its record says; that of a thing without one follows from its parts.
    fn with_status(mut self) -> Self {
        self.status = match &self.standing {
            Standing::Said(word, _) => Some(word.status()),
            Standing::Unknown(_) => None,
            Standing::Unsaid => status_of_parts(&self.parts),
        };
        self
    }

    pub(super) fn is_done(&self) -> bool {
        self.status.is_some_and(PhaseStatus::is_done)
    }

    pub(super) fn is_open(&self) -> bool {
        self.status.is_some_and(PhaseStatus::is_open)
    }

    /// True if it waits for somebody.
    pub(super) fn is_blocked(&self) -> bool {
        self.standing.word() == Some(Word::Blocked)
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
fn status_of_parts(parts: &[Thing]) -> Option<PhaseStatus> {
    let statuses: Vec<PhaseStatus> = parts.iter().filter_map(|part| part.status).collect();
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

/// Reads the things of a list: an array, or an object by name. `ids` are the keys of the name of a thing.
pub(super) fn read_things(list: &Value, place: &str, ids: &str, log: &mut ReadLog<'_>) -> Vec<Thing> {
    match list {
        Value::Object(members) => {
            let things = members.iter().filter_map(|(key, value)| {
                let id = phase_id(&Value::from(key.as_str()))?;
                Some(read_member(value, id, &below(place, key), log))
            });
            things.collect()
        }
        Value::Array(items) => {
            let things = items.iter().enumerate().filter_map(|(index, value)| {
                let place = format!("{place}/{index}");
                let own = Fields::of(value).id(ids);
                let thing = read_element(value, own.or_else(|| phase_id(&Value::from(index + 1)))?, &place, log);
                if thing.is_none() && !value.is_null() {
                    log.unreadable_phase(&place);
                }
                thing
            });
            things.collect()
        }
        _ => Vec::new(),
    }
}

/// Reads a member of an object: anything but an object or a checklist is its status.
fn read_member(value: &Value, id: PhaseId, place: &str, log: &mut ReadLog<'_>) -> Thing {
    let mut thing = Thing::named(id, place);
    if value.is_object() {
        read_object(&Fields::of(value), place, &mut thing, log);
    } else if is_checklist(value) {
        thing.parts = read_things(value, place, words::ENTRY_ID, log);
    } else {
        thing.standing = standing_of(value);
    }
    thing.with_status()
}

/// Reads an element of an array: a text is its name.
fn read_element(value: &Value, id: PhaseId, place: &str, log: &mut ReadLog<'_>) -> Option<Thing> {
    let mut thing = Thing::named(id, place);
    match value {
        Value::Object(_) => read_object(&Fields::of(value), place, &mut thing, log),
        Value::String(line) => {
            let (standing, name) = parse_line(line);
            thing.standing = standing;
            name_thing(&mut thing, name)?;
        }
        Value::Number(_) => thing.id = phase_id(value)?,
        _ => return None,
    }
    Some(thing.with_status())
}

/// Names an thing by a line of text: by a short code at its beginning, by all of it, or by its number if it is long.
fn name_thing(thing: &mut Thing, text: &str) -> Option<()> {
    let coded = text.split_once([' ', ':']).filter(|(code, rest)| is_code(code) && !rest.trim().is_empty());
    if let Some((code, rest)) = coded {
        thing.id = phase_id(&Value::from(code.trim_end_matches('.')))?;
        thing.name = Some(rest.trim().to_owned());
    } else if text.chars().count() <= MAX_NAME {
        thing.id = phase_id(&Value::from(text))?;
    } else {
        thing.name = Some(text.to_owned());
    }
    Some(())
}

fn read_object(fields: &Fields<'_>, place: &str, thing: &mut Thing, log: &mut ReadLog<'_>) {
    let mut time = |names: &str| {
        let (key, time) = fields.get(names).filter(|(_, time)| !time.is_boolean())?;
        log.parse_time(time, &below(place, key))
    };
    thing.started_at = time(words::ENTRY_STARTED);
    thing.completed_at = time(words::ENTRY_FINISHED);
    let (standing, key) = entry_standing(fields);
    thing.standing = standing;
    if let Some(key) = key {
        thing.place = below(place, &key);
    } else if thing.completed_at.is_some() {
        thing.standing = Standing::is(PhaseStatus::Complete, "");
    } else if thing.started_at.is_some() && fields.has(words::ENTRY_FINISHED) {
        thing.standing = Standing::is(PhaseStatus::InProgress, "");
    }
    thing.name = fields.text(words::ENTRY_NAME).filter(|name| name != thing.id.as_str());
    thing.error = fields.text(words::ENTRY_ERROR);
    thing.output = fields.text(words::ENTRY_OUTPUT).filter(|path| is_path(path));
    thing.part_of = fields.get("phase phase_id stage milestone epic").and_then(|(_, id)| short_id(id));
    if let Some((_, Value::Array(ids))) = fields.get(words::ENTRY_DEPENDS_ON) {
        thing.depends_on = ids.iter().filter_map(text_or_number).collect();
    }
    let parts = words::ENTRY_TASKS.split_ascii_whitespace().filter_map(|key| fields.get(key));
    if let Some((key, parts)) = parts.clone().find(|(_, parts)| is_list(parts)) {
        thing.parts = read_things(parts, &below(place, key), words::ENTRY_ID, log);
    }
}

/// Returns what some members of an object say of its status, and the key of the first.
type EntryRule = fn(&Fields<'_>) -> Option<(Standing, String)>;

/// The ways in which an object says its own status, the strongest first. A failure takes precedence over everything else; beside an
/// unknown word, the other members decide nothing.
const ENTRY_RULES: [EntryRule; 6] = [
    |fields| {
        let failed = fields.flag(words::ENTRY_FAILED).filter(|(_, failed)| *failed);
        let (key, _) = failed.or_else(|| fields.flag(words::ENTRY_SUCCESS).filter(|(_, success)| !*success))?;
        Some((Standing::is(PhaseStatus::Failed, key), key.to_owned()))
    },
    |fields| {
        let (key, status) = fields.get(words::ENTRY_STATUS)?;
        let standing = standing_of(status);
        // Work that is said to be done, and did not pass, failed.
        let did_not_pass = fields.flag("passed passes").filter(|(_, passed)| !*passed);
        let is_done = standing.word().is_some_and(|word| word.status().is_done());
        Some(match did_not_pass {
            Some((key, _)) if is_done => (Standing::is(PhaseStatus::Failed, "false"), key.to_owned()),
            _ => (standing, key.to_owned()),
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
    let marked = line.split_once(' ').filter(|(mark, _)| !mark.contains(char::is_alphanumeric) && !mark.is_ascii());
    match marked.and_then(|(mark, name)| Some((mark, status_word(mark)?, name))) {
        Some((mark, word, name)) => (Standing::Said(word, mark.to_owned()), name.trim()),
        None => (Standing::Unsaid, line),
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

/// True if most values of a list are statuses, whatever the name of the list.
pub(super) fn has_statuses(value: &Value) -> bool {
    let is_known = |item: &Value| entry_standing(&Fields::of(item)).0.word().is_some();
    let is_thing = |value: &Value| value.is_object() || value.is_null();
    let (total, known) = match value {
        Value::Array(items) if items.iter().all(Value::is_object) => {
            (items.len(), items.iter().filter(|item| is_known(item)).count())
        }
        // Lines with marks. Where all of them are done, they may be a list of what is new.
        Value::Array(items) => {
            let words: Vec<Word> = items.iter().filter_map(|item| parse_line(item.as_str()?).0.word()).collect();
            let has_left = words.iter().any(|word| !word.status().is_done());
            (items.len(), if has_left { words.len() } else { 0 })
        }
        Value::Object(members) if members.values().all(is_thing) => {
            (members.len().max(2), members.values().filter(|item| is_known(item)).count())
        }
        Value::Object(members) => {
            let words = members.iter().filter(|(key, value)| is_word(value) && !is_about_one(key)).count();
            let paths = members.values().filter(|value| value.as_str().is_some_and(is_path)).count();
            (members.len(), if words < 2 { 0 } else { words + paths })
        }
        _ => return false,
    };
    known > 0 && known * 5 >= total * 3
}

fn is_word(value: &Value) -> bool {
    value.as_str().is_some_and(|text| status_word(text).is_some())
}

/// True if most lines of a log are about a thing and its status.
pub(super) fn are_events(lines: &Value) -> bool {
    let is_event = |line: &&Value| {
        let fields = Fields::of(line);
        fields.id(HISTORY_ID).is_some() && entry_standing(&fields).0.word().is_some()
    };
    let lines = lines.as_array().map(Vec::as_slice).unwrap_or_default();
    lines.iter().filter(is_event).count() * 5 >= lines.len() * 3
}

/// True if all members of a document are things with a status.
pub(super) fn has_statuses_only(root: &Value) -> bool {
    let is_objects =
        root.as_object().is_some_and(|members| members.len() > 1 && members.values().all(Value::is_object));
    is_objects && has_statuses(root) && !is_mixed(root)
}

/// True if a key is one of those that describe one thing: `status`, `result`, `current_phase`.
fn is_about_one(key: &str) -> bool {
    let snake_key = snake_case(key);
    has(OVERALL_STATUS, &snake_key)
        || !matches!(classify(&snake_key).role, Role::Unknown | Role::Aside | Role::Qualified)
}

/// True if the keys of an object say that it describes progress instead of listing things: `{"current": .., "history": ..}`.
fn is_mixed(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    members.keys().any(|key| {
        let key = classify(&snake_case(key));
        key.noun.is_none() && !matches!(key.role, Role::Unknown | Role::Aside)
    })
}

/// True if an object has an object or nothing for each of its names.
pub(super) fn is_named_map(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    let is_thing = |value: &Value| value.is_object() || value.is_null();
    !members.is_empty() && members.values().all(is_thing) && !is_mixed(value)
}

/// True if a value whose key names things is a list of them with statuses: objects, words or flags.
pub(super) fn is_named_list(value: &Value) -> bool {
    let Value::Object(members) = value else { return is_list(value) };
    let may_be_word = |value: &Value| value.is_string() || value.is_null();
    let is_map = members.values().any(is_word) && members.values().all(may_be_word);
    // A flag alone is a remark: what else there is to do, it does not say.
    let is_flags = members.len() > 1 && members.values().all(Value::is_boolean);
    (is_list(value) || is_map || is_flags || has_statuses(value)) && !is_mixed(value)
}
