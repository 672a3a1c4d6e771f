//! Comparing two checkpoints.
//!
//! Only their [`Content`] is compared. The rest describes the save (its number, time, writer, trigger, note, pin and
//! context) and differs between any two.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::checkpoint::{Artifact, Checkpoint, Content};
use super::digest::Digest;
use super::json::{InvalidJson, below};
use super::text_diff::{TextDiff, unified};

/// Lists whose entries have names, and the field with the name.
pub(crate) const NAMED: [(&str, &str); 4] =
    [("phases", "id"), ("tasks", "id"), ("artifacts", "name"), ("facts", "name")];

/// The most lines of the diff of one content.
const MAX_CONTENT_LINES: usize = 2_000;
/// How many lines are shown around one that differs.
const CONTEXT: u32 = 3;
/// The most contents that are compared.
const MAX_CONTENTS: usize = 100;

/// The differences between two checkpoints.
#[derive(Debug, Clone)]
pub struct Difference {
    /// Turns what the first says about the work into what the second says, by RFC 6902.
    pub changes: json_patch::Patch,
    /// The same by what it is about: entries of lists go by their names, not by their places.
    pub summary: Vec<Changed>,
}

impl Difference {
    /// True if both have the same content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty()
    }
}

/// One thing that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// The field of the checkpoint: `phases`, `labels`, `state`.
    pub field: String,
    /// The entry, where entries have names: the id of a phase or task, the name of an artifact.
    pub name: Option<String>,
    /// The place inside, as a JSON pointer; empty if it is about all of the field or entry.
    pub pointer: String,
    /// The kind of change.
    pub change: ChangeKind,
    /// The old value; null if there was none.
    pub before: Value,
    /// The new value; null if there is none.
    pub after: Value,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another one.
    Changed,
    /// Its entries stand in another order.
    Reordered,
}

/// Compares two checkpoints, which may be of different workflows.
///
/// # Errors
/// One of them is nested deeper than this program reads.
pub fn diff(from: &Checkpoint, to: &Checkpoint) -> Result<Difference, InvalidJson> {
    let (before, after) = (members(&from.content)?, members(&to.content)?);
    let mut summary = Vec::new();
    for field in keys(&before, &after) {
        Field { name: field, entry: None, found: &mut summary }.compare(before.get(field), after.get(field));
    }
    let changes = json_patch::diff(&Value::Object(before), &Value::Object(after));
    Ok(Difference { changes, summary })
}

/// The lines that differ in an artifact whose content was kept both times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContentDiff {
    /// The name of the artifact.
    pub name: String,
    /// Its path, relative to the project.
    pub path: String,
    /// The lines of a unified diff.
    #[serde(flatten)]
    pub diff: TextDiff,
}

/// Compares the kept contents of the artifacts that two checkpoints have and that differ, as far as they are text. `read`
/// returns a content.
pub fn content_diffs(before: &Content, after: &Content, read: impl Fn(&Digest) -> Option<Vec<u8>>) -> Vec<ContentDiff> {
    let compare = |new: &Artifact| {
        let old = before.artifacts.iter().find(|old| old.name == new.name)?;
        let (one, other) = (old.object()?, new.object()?);
        if one == other {
            return None;
        }
        let diff = unified(&read(&one)?, &read(&other)?, CONTEXT, MAX_CONTENT_LINES)?;
        Some(ContentDiff { name: new.name.clone(), path: new.path.clone(), diff })
    };
    after.artifacts.iter().filter_map(compare).take(MAX_CONTENTS).collect()
}

fn members(content: &Content) -> Result<Map<String, Value>, InvalidJson> {
    match serde_json::to_value(content).map_err(|error| InvalidJson::from_serde(&error))? {
        Value::Object(members) => Ok(members),
        _ => Ok(Map::new()),
    }
}

/// The keys of both, each once, in the order of the first.
fn keys<'a>(a: &'a Map<String, Value>, b: &'a Map<String, Value>) -> impl Iterator<Item = &'a str> {
    a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).map(String::as_str)
}

/// A field that is being compared, or an entry of it.
struct Field<'a> {
    name: &'a str,
    entry: Option<&'a str>,
    found: &'a mut Vec<Changed>,
}

impl Field<'_> {
    fn compare(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let known = self.found.len();
        let named = NAMED.iter().find(|(list, _)| *list == self.name);
        match (before, after, named) {
            // Labels and facts are left out of the file when there are none.
            (None | Some(Value::Array(_)), None | Some(Value::Array(_)), Some((_, key))) => {
                self.entries(list(before), list(after), |entry| entry.get(*key).and_then(Value::as_str));
            }
            (before, after, _) if self.name == "labels" => {
                self.entries(list(before), list(after), Value::as_str);
            }
            _ => {
                let free = self.name == "state" || !Content::FIELDS.contains(&self.name);
                self.walk("", before, after, free);
            }
        }
        // What a comparison by names cannot tell is still a change.
        if self.found.len() == known && before != after {
            self.say("", before, after, ChangeKind::Changed);
        }
    }

    /// Compares lists whose entries have names. Where two have one name, or one has none, only their places tell them apart.
    fn entries(&mut self, before: &[Value], after: &[Value], name: impl Fn(&Value) -> Option<&str>) {
        let (old, new) = (Entries::new(before, &name), Entries::new(after, &name));
        if old.names.len() < before.len() || new.names.len() < after.len() {
            for place in 0..before.len().max(after.len()) {
                self.walk(&format!("/{place}"), before.get(place), after.get(place), false);
            }
            return;
        }
        let added = new.names.iter().filter(|name| !old.by_name.contains_key(*name));
        for entry in old.names.iter().chain(added) {
            let (before, after) = (old.by_name.get(entry).copied(), new.by_name.get(entry).copied());
            Field { name: self.name, entry: Some(entry), found: self.found }.walk("", before, after, false);
        }
        let kept = old.names.iter().filter(|name| new.by_name.contains_key(*name));
        if !kept.eq(new.names.iter().filter(|name| old.by_name.contains_key(*name))) {
            let [before, after] = [old, new].map(|entries| Value::from(entries.names));
            self.say("", Some(&before), Some(&after), ChangeKind::Reordered);
        }
    }

    /// Goes down to what differs. In a free-form value `null` is a value; in a field of ours it says nothing.
    fn walk(&mut self, pointer: &str, before: Option<&Value>, after: Option<&Value>, free: bool) {
        let says = |value: &&Value| free || !value.is_null();
        match (before.filter(says), after.filter(says)) {
            (None, None) => {}
            (Some(before), Some(after)) if before == after => {}
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                for key in keys(before, after) {
                    let free = free || key == "data" || key == "document";
                    self.walk(&below(pointer, key), before.get(key), after.get(key), free);
                }
            }
            (Some(Value::Array(before)), Some(Value::Array(after))) => {
                for index in 0..before.len().max(after.len()) {
                    self.walk(&format!("{pointer}/{index}"), before.get(index), after.get(index), true);
                }
            }
            (before @ Some(_), after @ Some(_)) => self.say(pointer, before, after, ChangeKind::Changed),
            (before @ Some(_), None) => self.say(pointer, before, None, ChangeKind::Removed),
            (None, after @ Some(_)) => self.say(pointer, None, after, ChangeKind::Added),
        }
    }

    fn say(&mut self, pointer: &str, before: Option<&Value>, after: Option<&Value>, change: ChangeKind) {
        self.found.push(Changed {
            field: self.name.to_owned(),
            name: self.entry.map(str::to_owned),
            pointer: pointer.to_owned(),
            change,
            before: before.cloned().unwrap_or_default(),
            after: after.cloned().unwrap_or_default(),
        });
    }
}

/// The entries of a list by their names.
struct Entries<'a> {
    names: Vec<&'a str>,
    by_name: HashMap<&'a str, &'a Value>,
}

impl<'a> Entries<'a> {
    fn new(list: &'a [Value], name: impl Fn(&'a Value) -> Option<&'a str>) -> Self {
        let mut entries = Self { names: Vec::new(), by_name: HashMap::new() };
        for entry in list {
            if let Some(name) = name(entry)
                && !entries.by_name.contains_key(name)
            {
                entries.by_name.insert(name, entry);
                entries.names.push(name);
            }
        }
        entries
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Compares what two documents say; the fields that must be there are filled in.
    fn said(before: Value, after: Value) -> Vec<(String, ChangeKind)> {
        let read = |content: Value| -> Checkpoint {
            let mut document = json!({
                "version": "1.0", "sha256": "0".repeat(64), "workflow": "w", "seq": 1,
                "saved_at": "2026-01-30T14:30:00.000Z", "trigger": "manual", "status": "in_progress", "save_id": "s",
            });
            document.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
            serde_json::from_value(document).unwrap()
        };
        let difference = diff(&read(before), &read(after)).unwrap();
        assert_eq!(difference.changes.0.is_empty(), difference.is_empty());
        let place = |changed: &Changed| {
            let name = changed.name.as_deref().unwrap_or_default();
            format!("{}:{name}:{}", changed.field, changed.pointer)
        };
        difference.summary.iter().map(|changed| (place(changed), changed.change)).collect()
    }

    fn one(place: &str, change: ChangeKind) -> Vec<(String, ChangeKind)> {
        vec![(place.to_owned(), change)]
    }

    #[test]
    fn what_is_said_of_the_checkpoint_is_no_difference() {
        let own = json!({
            "seq": 7, "trigger": "session_end", "note": "n", "pinned": true, "saved_at": "2026-01-30T14:40:00.000Z",
            "context": {"git": {"branch": "main", "commit": null}, "watched": [{"path": "p", "sha256": null}]},
        });
        assert_eq!(said(json!({}), own), []);
    }

    #[test]
    fn unknown_fields_are_compared_at_every_level() {
        assert_eq!(said(json!({"mine": 1}), json!({"mine": 1.0})), one("mine::", ChangeKind::Changed));
        assert_eq!(said(json!({}), json!({"mine": null})), one("mine::", ChangeKind::Added));
        let mine = |value| json!({"mine": {"a/b": value}});
        assert_eq!(said(mine(json!(1)), mine(json!(2))), one("mine::/a~1b", ChangeKind::Changed));
        let task = |x: u8| json!({"tasks": [{"id": "t", "status": "pending", "x": x}]});
        assert_eq!(said(task(1), task(2)), one("tasks:t:/x", ChangeKind::Changed));
    }

    #[test]
    fn two_entries_of_one_name_hide_nothing() {
        let tasks = |second: &str| json!({"tasks": [{"id": "t", "status": "pending"}, {"id": "t", "status": second}]});
        assert_eq!(said(tasks("running"), tasks("failed")), one("tasks::/1/status", ChangeKind::Changed));
    }

    #[test]
    fn lists_without_names_go_by_their_places() {
        let state = |list: Value| json!({"state": {"l": list}});
        assert_eq!(said(state(json!([1, 2])), state(json!([1]))), one("state::/l/1", ChangeKind::Removed));
        assert_eq!(said(state(json!([1])), state(json!({"0": 1}))), one("state::/l", ChangeKind::Changed));
        assert_eq!(said(state(json!([null])), state(json!([null, null]))), one("state::/l/1", ChangeKind::Added));
    }
}
