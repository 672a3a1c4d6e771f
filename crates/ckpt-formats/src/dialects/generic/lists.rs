//! Lists: arrays of entries, objects of entries by name, and entries that are members beside each other.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::entry::{Entry, Said, number_in, plain};
use super::words::{Noun, Role, classify};
use crate::dialects::phase_list::phase_id;
use ckpt_model::json::below;
use ckpt_model::phase::PhaseId;

/// How the statuses of a list are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each entry says its own.
    Recorded,
    /// By the list that an entry is in: `completed`, `remaining`.
    Grouped,
    /// Those that are done are listed, and it is unknown what else there is.
    OnlyDone,
    /// The entries have names only.
    Named,
    /// Nothing but numbers: `2 of 5`.
    Counted,
}

/// A list of a document.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub(super) place: String,
    /// The object that it is in.
    pub(super) scope: String,
    pub(super) noun: Noun,
    pub(super) kind: Kind,
    pub(super) entries: Vec<Entry>,
}

impl List {
    pub(super) fn are_all_done(&self) -> bool {
        !self.entries.is_empty() && self.entries.iter().all(Entry::is_done)
    }

    /// The number of entries whose status is not understood.
    pub(super) fn unclear(&self) -> usize {
        self.entries.iter().filter(|entry| entry.word().is_none()).count()
    }

    /// True if nearly every status is understood: all of a short list, nine of ten of a long one.
    pub(super) fn is_understood(&self) -> bool {
        self.unclear() * 10 <= self.entries.len()
    }
}

/// Finds the entries of a list by id, else by spelling, by name, or by number, if exactly one has it.
pub(super) struct Index(HashMap<String, Option<usize>>);

impl Index {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut index = HashMap::new();
        for (position, entry) in entries.iter().enumerate() {
            let (id, name) = (entry.id.as_str(), entry.name.as_deref());
            let number = number_in(id).or_else(|| number_in(name?));
            let keys = [Some(format!("={id}")), Some(format!("~{}", plain(id)))];
            let more = [name.map(|name| format!("\"{}", plain(name))), number.map(|number| format!("#{number}"))];
            for key in keys.into_iter().chain(more).flatten() {
                let found = index.entry(key).or_insert(Some(position));
                *found = found.filter(|known| *known == position);
            }
        }
        Self(index)
    }

    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let plain = plain(id);
        let number = number_in(id).map(|number| format!("#{number}"));
        let keys = [Some(format!("={id}")), Some(format!("~{plain}")), Some(format!("\"{plain}")), number];
        keys.into_iter().flatten().find_map(|key| self.0.get(&key).copied().flatten())
    }
}

/// Reads the entries of an array or an object. Of several records of one entry, the last one counts.
pub(super) fn entries(value: &Value, place: &str) -> Vec<Entry> {
    match value {
        Value::Array(items) => {
            let read = |(index, item)| Entry::element(index, item, &format!("{place}/{index}"));
            unique(items.iter().enumerate().filter_map(read).collect())
        }
        Value::Object(members) => {
            let read = |(key, value): (&String, &Value)| Entry::member(key, value, &below(place, key));
            members.iter().filter_map(read).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads the entries of a value of which at least half say a status.
pub(super) fn with_statuses(value: &Value, place: &str) -> Option<Vec<Entry>> {
    let is_candidate = match value {
        Value::Array(items) => items.iter().all(|item| item.is_object() || item.is_string()),
        Value::Object(members) => is_map(members),
        _ => false,
    };
    let entries = if is_candidate { entries(value, place) } else { return None };
    let said = entries.iter().filter(|entry| entry.said != Said::Nothing).count();
    // Words may be about anything; if most of them are statuses, it is a list of statuses.
    let are_words = value.as_object().is_some_and(|members| members.values().all(|value| !value.is_object()));
    let known = entries.iter().filter(|entry| entry.word().is_some()).count();
    let is_list = if are_words { entries.len() > 1 && known * 2 > entries.len() } else { said * 2 >= entries.len() };
    (is_list && said > 0).then_some(entries)
}

/// True if all members may be entries, and none is a part of progress such as `current` or `completed`.
fn is_map(members: &Map<String, Value>) -> bool {
    let kinds: [fn(&Value) -> bool; 3] = [
        |value| value.is_object() || value.is_null(),
        |value| value.is_array(),
        |value| value.is_string() || value.is_boolean() || value.is_null(),
    ];
    let is_part = |(key, value): (&String, &Value)| {
        let key = classify(&heck::ToSnakeCase::to_snake_case(key.as_str()));
        !value.is_object() && key.noun.is_none() && key.role != Role::Other
    };
    kinds.iter().any(|is_kind| members.values().all(is_kind)) && !members.iter().any(is_part)
}

/// Gives every entry an id of its own. Records with the same id and name are of one thing: the last one counts.
fn unique(entries: Vec<Entry>) -> Vec<Entry> {
    let mut first: HashMap<PhaseId, usize> = HashMap::new();
    let mut kept: Vec<Entry> = Vec::new();
    for (index, mut entry) in entries.into_iter().enumerate() {
        if let Some(&known) = first.get(&entry.id) {
            if kept[known].name == entry.name || entry.name.is_none() {
                entry.name = kept[known].name.take();
                entry.is_revised = kept[known].is_revised || kept[known].is_done() != entry.is_done();
                kept[known] = entry;
                continue;
            }
            // An id that several things share is not the id of any.
            let own = entry.name.as_deref().and_then(|name| phase_id(&name.into()));
            let own = own.filter(|own| !first.contains_key(own));
            let Some(own) = own.or_else(|| phase_id(&format!("{} ({})", entry.id, index + 1).into())) else {
                continue;
            };
            entry.id = own;
        }
        first.insert(entry.id.clone(), kept.len());
        kept.push(entry);
    }
    kept
}

/// Reads entries that are members beside each other: `phase_1: {..}`, `step_2_status: done`.
pub(super) fn numbered(members: &Map<String, Value>, place: &str) -> Option<(Noun, Vec<Entry>)> {
    let of_entry = |(key, value): (&String, &Value)| {
        let snake = heck::ToSnakeCase::to_snake_case(key.as_str());
        let word_end = snake.find(|c: char| !c.is_alphabetic())?;
        let noun = classify(&snake[..word_end]).noun.filter(|noun| noun.is_work())?;
        let digits = snake[word_end..].trim_start_matches('_');
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (number, rest) = digits.split_at(end);
        let is_status = matches!(rest, "" | "_status" | "_complete" | "_completed" | "_done");
        if number.is_empty() || !(value.is_object() || is_status) {
            return None;
        }
        let id = if rest.is_empty() || value.is_object() { key.as_str() } else { number };
        Some((noun, Entry::member(id, value, &below(place, key))?))
    };
    let found: Vec<(Noun, Entry)> = members.iter().filter_map(of_entry).collect();
    let noun = found.iter().map(|(noun, _)| *noun).min()?;
    let entries: Vec<Entry> = found.into_iter().filter(|(own, _)| *own == noun).map(|(_, entry)| entry).collect();
    let has_status = entries.iter().any(|entry| entry.word().is_some());
    (entries.len() > 1 && has_status).then(|| (noun, unique(entries)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Option<Vec<String>> {
        let line = |entry: &Entry| format!("{} {}", entry.id, entry.status().map_or("?", |status| status.word()));
        with_statuses(value, "").map(|entries| entries.iter().map(line).collect())
    }

    #[test]
    fn a_list_has_statuses() {
        for (value, expected) in [
            (json!([{"id": 1, "status": "done"}, {"id": 2, "status": "odd"}]), &["1 complete", "2 ?"][..]),
            (json!({"plan": {"status": "done"}, "build": {}}), &["plan complete", "build ?"]),
            (json!({"plan": "done", "build": "pending"}), &["plan complete", "build pending"]),
            (json!(["[x] plan", "[ ] build"]), &["plan complete", "build pending"]),
            (json!({"A": ["[x] a"], "B": ["[ ] b"]}), &["A complete", "B pending"]),
        ] {
            assert_eq!(read(&value).unwrap(), expected, "{value}");
        }
        for value in [
            json!(["plan", "build"]),
            json!([{"id": 1}, {"id": 2}]),
            json!({"name": "x", "kind": "y", "status": "done"}),
            json!({"current": "plan", "state": "done"}),
            json!({"completed": ["[x] plan"], "pending": ["[ ] build"]}),
            json!(3),
        ] {
            assert_eq!(read(&value), None, "{value}");
        }
    }

    #[test]
    fn of_several_records_of_one_entry_the_last_one_counts() {
        let twice = json!([{"stage": "a", "status": "failed"}, {"stage": "b", "status": "done"}, {"stage": "a", "status": "done"}]);
        assert_eq!(read(&twice).unwrap(), ["a complete", "b complete"]);
        let tasks = json!([{"phase": 1, "title": "x", "status": "done"}, {"phase": 1, "title": "y", "status": "todo"}]);
        assert_eq!(read(&tasks).unwrap(), ["1 complete", "y pending"]);
    }

    #[test]
    fn members_with_a_noun_and_a_number_are_a_list() {
        let value = json!({"STEP_0_STATUS": "done", "STEP_1_STATUS": "\u{274c}", "STEP": "1", "step_2_of": 3});
        let (noun, entries) = numbered(value.as_object().unwrap(), "").unwrap();
        let ids: Vec<_> = entries.iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!((noun, ids), (Noun::Step, vec!["0", "1"]));
        let one = json!({"phase_1": {"status": "done"}, "a": 1});
        assert!(numbered(one.as_object().unwrap(), "").is_none());
    }

    #[test]
    fn an_entry_is_found_by_its_spelling_or_its_number_if_it_is_the_only_one() {
        let entries = entries(&json!(["Build Phase", "phase2_test", "02-ship"]), "");
        let index = Index::of(&entries);
        assert_eq!(index.find("build"), Some(0));
        assert_eq!(index.find("2"), None, "both are 2");
        assert_eq!(index.find("PHASE2_TEST"), Some(1));
        assert_eq!(index.find("deploy"), None);
    }
}
