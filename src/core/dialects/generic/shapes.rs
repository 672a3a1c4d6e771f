//! Names, numbers and lists in the values of a document.
//!
//! `2`, `Phase 2`, `phase_2` and `02-build` are the same phase if only one in the list matches.

use std::collections::HashMap;

use serde_json::Value;

use super::entry::{Fields, entry_standing, is_list, parse_line};
use super::vocabulary::{HISTORY_ID, OVERALL_STATUS, Role, Word, classify, has, snake_case, status_word};
use crate::core::dialects::members::text_or_number;
use crate::core::dialects::phase_list::phase_id;
use crate::core::phase::PhaseId;

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
    let is_plain =
        !text.contains(['\n', '\t', '*', '?', '<', '>', '|']) && text.len() <= 1024 && !text.contains("://");
    let file_name = text.rsplit('/').next().unwrap_or_default();
    let has_extension = file_name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=12).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
            && extension.bytes().any(|b| b.is_ascii_alphabetic())
    });
    is_plain && (has_extension || (text.contains('/') && !text.contains(' ')))
}

/// Splits a key for one phase into the id of the phase and what the value is: `status`, `done`, or nothing in particular.
pub(super) fn parse_single_phase_key(key: &str) -> Option<(String, &'static str)> {
    const PROPERTIES: [&str; 6] = ["_status", "_completed", "_complete", "_done", "_failed", "_skipped"];
    let snake = snake_case(key);
    let rest = ["phase", "step", "stage"].iter().find_map(|noun| snake.strip_prefix(noun))?;
    let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
    let id = rest.strip_prefix('_').or(is_number.then_some(rest))?;
    let property =
        PROPERTIES.into_iter().find_map(|end| Some((id.strip_suffix(end)?, end.trim_start_matches('_'))));
    match property {
        Some((id, property)) => Some((id.to_owned(), property)),
        // `phase_1` is a phase, and `phase_1_output` is not.
        None if id.bytes().all(|b| b.is_ascii_digit()) => Some((key.to_owned(), "")),
        None => None,
    }
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
            let words: Vec<Word> =
                items.iter().filter_map(|item| parse_line(item.as_str()?).0.word()).collect();
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

pub(super) fn is_number(value: &Value) -> bool {
    value.is_number() || parse_count(value).is_some() || parse_fraction(value).is_some()
}

/// True if a key names things by how far they are: `courses_completed`.
pub(super) fn is_partition(name: &str) -> bool {
    let is_said = |word: Option<&str>| word.is_some_and(|word| has("completed done pending remaining", word));
    is_said(name.split('_').next()) || is_said(name.split('_').next_back())
}
