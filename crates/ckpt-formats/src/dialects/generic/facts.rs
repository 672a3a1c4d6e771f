//! The facts of a document about its progress, with places and without conclusions: lists, pointers, totals, the status of
//! the whole.

use std::collections::HashMap;

use heck::ToSnakeCase as _;
use serde_json::{Map, Value};

use super::entry::{Entry, Fields, Said, is_blank, is_name, number_in, short_id};
use super::lists::{Index, Kind, List, entries, numbered, with_statuses};
use super::words::{Noun, OVERALL, Role, WHOLES, Word, classify, has, is_all_done, status_word};
use crate::dialects::document::Notation;
use ckpt_model::json::below;
use ckpt_model::phase::{PhaseId, PhaseStatus};

/// The deepest level at which facts are looked for.
const MAX_LEVELS: usize = 6;

/// A value that names one entry: where the work is, what comes next, what was done last.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub(super) role: Role,
    pub(super) noun: Option<Noun>,
    pub(super) id: PhaseId,
    /// The status beside it, if it is an object.
    pub(super) said: Said,
    pub(super) place: String,
    pub(super) scope: String,
}

/// A number of entries: all, or those that are done.
#[derive(Debug, Clone)]
pub(super) struct Count {
    pub(super) noun: Noun,
    pub(super) is_total: bool,
    pub(super) number: u64,
    pub(super) place: String,
}

/// The status of the whole, or of some part of the document around a list.
#[derive(Debug, Clone)]
pub(super) struct Overall {
    pub(super) said: Said,
    pub(super) place: String,
    pub(super) scope: String,
}

/// Everything that a document says about its progress.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) lists: Vec<List>,
    pub(super) pointers: Vec<Pointer>,
    /// The status of what a pointer names: `phase_status: complete`.
    pub(super) pointer_statuses: Vec<(Noun, Said, String)>,
    pub(super) counts: Vec<Count>,
    pub(super) overall: Vec<Overall>,
    /// True if a key is about work, whatever its value.
    pub(super) mentions_work: bool,
    /// True if a sentence names what comes next.
    pub(super) says_next: bool,
    /// Words such as `none` in the place of a pointer.
    pub(super) says_none: bool,
    /// Things that some list, whatever its name, says to be done.
    pub(super) done: Vec<PhaseId>,
}

impl Facts {
    /// Collects the facts of a document. Of a log, the last line counts, unless each line is about one entry.
    pub(super) fn of(root: &Value, notation: Notation) -> Self {
        let mut facts = Self::default();
        match root {
            Value::Array(lines) if notation == Notation::JsonLines && !are_entries(lines) => {
                facts.walk(lines.last().unwrap_or(&Value::Null), "", None, 0);
            }
            root => facts.walk(root, "", None, 0),
        }
        if notation == Notation::JsonLines {
            // A log has a record of each change.
            facts.lists.iter_mut().flat_map(|list| &mut list.entries).for_each(|entry| entry.is_revised = false);
        }
        facts
    }

    /// Keeps the list at a place only, which a person has chosen. Entries without a status are taken as not done.
    pub(super) fn only(&mut self, root: &Value, place: &str) -> Result<(), String> {
        let value = root.pointer(place).ok_or_else(|| format!("it has nothing at {place}"))?;
        let grouped = self.lists.iter().find(|list| list.place == place && list.kind == Kind::Grouped).cloned();
        let mut list = grouped.unwrap_or_else(|| List {
            place: place.to_owned(),
            scope: String::new(),
            noun: Noun::Task,
            kind: Kind::Recorded,
            entries: entries(value, place),
        });
        if list.entries.is_empty() {
            return Err(format!("{place} has no entries"));
        }
        for entry in list.entries.iter_mut().filter(|entry| entry.said == Said::Nothing) {
            *entry = entry.clone().with_status(PhaseStatus::Pending);
        }
        *self = Self { lists: vec![List { noun: Noun::Task, ..list }], ..Self::default() };
        Ok(())
    }

    fn walk(&mut self, value: &Value, place: &str, noun: Option<Noun>, level: usize) {
        match value {
            Value::Object(members) if level < MAX_LEVELS => {
                if level == 0 && members.len() > 1 {
                    self.list(value, place, Noun::Other);
                }
                self.object(members, place, noun, level);
            }
            Value::Array(items) if level == 0 && !self.list(value, place, noun_of(items)) && items.len() == 1 => {
                self.walk(&items[0], &below(place, "0"), noun, level + 1);
            }
            _ => {}
        }
    }

    fn object(&mut self, members: &Map<String, Value>, place: &str, context: Option<Noun>, level: usize) {
        if let Some((noun, entries)) = numbered(members, place) {
            self.push(place, place, noun, Kind::Recorded, entries);
        }
        let mut groups: Vec<Group> = Vec::new();
        for (key, value) in members {
            let snake = key.to_snake_case();
            let key_means = classify(&snake);
            let at = At { place: below(place, key), scope: place.to_owned(), noun: key_means.noun.or(context) };
            self.mentions_work |= key_means.noun.is_some_and(Noun::is_work) && key_means.role != Role::Other;
            if has(OVERALL, &snake) && !value.is_object() && !value.is_array() && key_means.noun.is_none() {
                self.overall(value, &at, level);
                continue;
            }
            match key_means.role {
                _ if at.noun == Some(Noun::Aside) => {
                    self.list(value, &at.place, Noun::Aside);
                }
                Role::Are(status) => self.group(status, value, at, &mut groups, level),
                Role::All | Role::Status | Role::Other => {
                    self.other(key_means.role, &snake, value, &at, level);
                }
                Role::Total => self.count(true, value, &at),
                role => self.pointer(role, value, &at, level),
            }
        }
        self.merge(&groups, place);
    }

    /// Reads a list, or looks into an object.
    fn other(&mut self, role: Role, snake: &str, value: &Value, at: &At, level: usize) {
        let noun = at.noun.unwrap_or(Noun::Other);
        if let (true, Value::Object(by_heading)) = (snake == "checklist", value) {
            return self.checklist(by_heading, at);
        }
        match value {
            Value::Object(_) | Value::Array(_) if self.list(value, &at.place, noun) => {
                // A list whose name says nothing may hold one whose name does.
                let level = if noun == Noun::Other { level + 1 } else { MAX_LEVELS };
                self.walk(value, &at.place, None, level);
            }
            Value::Array(items) if role == Role::All && noun.is_work() && !items.is_empty() => {
                self.push(&at.place, &at.scope, noun, Kind::Named, entries(value, &at.place));
            }
            Value::Array(items) if items.len() == 1 => {
                self.walk(&items[0], &below(&at.place, "0"), at.noun, level + 1);
            }
            Value::Object(_) => {
                let is_named = role != Role::Other || has("progress status", snake);
                self.walk(value, &at.place, if is_named { at.noun } else { None }, level + 1);
            }
            Value::String(_) if role == Role::Status && noun.is_work() && fraction(value).is_none() => {
                self.pointer_statuses.push((noun, Said::of(value), at.place.clone()));
            }
            // `max_review_iterations: 3` is a limit.
            value if (role == Role::Status || !snake.contains('_') || snake.starts_with("num_")) && noun.is_work() => {
                match fraction(value) {
                    Some((done, total)) => {
                        self.count(false, &done.into(), at);
                        self.count(true, &total.into(), at);
                    }
                    None => self.count(true, value, at),
                }
            }
            _ => {}
        }
    }

    /// Adds a list whose entries say their statuses. Returns false if the value is not one.
    fn list(&mut self, value: &Value, place: &str, noun: Noun) -> bool {
        let are_words = || value.as_object().is_some_and(|it| it.values().all(|value| !value.is_object()));
        if !noun.is_work() && are_words() {
            return false;
        }
        let Some(entries) = with_statuses(value, place) else { return false };
        let scope = place.rsplit_once('/').map_or("", |(scope, _)| scope);
        self.push(place, scope, noun, Kind::Recorded, entries);
        true
    }

    fn push(&mut self, place: &str, scope: &str, noun: Noun, kind: Kind, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        self.done.extend(entries.iter().filter(|entry| entry.is_done()).map(|entry| entry.id.clone()));
        self.lists.push(List { place: place.to_owned(), scope: scope.to_owned(), noun, kind, entries });
    }

    /// Reads check boxes by heading: headings with a number are the entries, and else the boxes are.
    fn checklist(&mut self, by_heading: &Map<String, Value>, at: &At) {
        let value = Value::Object(by_heading.clone());
        let numbered = by_heading.keys().filter(|heading| number_in(heading).is_some()).count();
        if numbered * 2 >= by_heading.len() {
            self.list(&value, &at.place, Noun::Phase);
        } else {
            let boxes: Vec<Value> = by_heading.values().filter_map(Value::as_array).flatten().cloned().collect();
            self.list(&boxes.into(), &at.place, Noun::Task);
        }
    }

    /// Reads the status of the whole: of the document, of an object around a list, or of one such as `workflow`.
    fn overall(&mut self, value: &Value, at: &At, level: usize) {
        let name = at.scope.rsplit('/').next().unwrap_or_default().to_snake_case();
        let is_flag = value.is_boolean();
        // A flag that is not set says nothing about the whole.
        if is_blank(value) || value.is_number() || value == &Value::Bool(false) || (is_flag && level > 1) {
            return;
        }
        let scope = if level == 1 && has(WHOLES, &name) { String::new() } else { at.scope.clone() };
        self.overall.push(Overall { said: Said::of(value), place: at.place.clone(), scope });
    }

    fn count(&mut self, is_total: bool, value: &Value, at: &At) {
        let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
        if let (Some(noun), Some(number)) = (at.noun.filter(|noun| noun.is_work()), number) {
            self.counts.push(Count { noun, is_total, number, place: at.place.clone() });
        }
    }

    fn pointer(&mut self, role: Role, value: &Value, at: &At, level: usize) {
        if let (Value::Object(_), Role::Current | Role::Next) = (value, role) {
            let fields = Fields::of(value);
            let id = fields.all("id phase stage step task number name title").find_map(|(_, id)| short_id(id));
            let said = fields.all("status state").next().map_or(Said::Nothing, |(_, status)| Said::of(status));
            self.says_next |= role == Role::Next && id.is_none();
            if let (Some(id), true) = (id, at.noun.is_some_and(Noun::is_work)) {
                self.pointers.push(Pointer {
                    role,
                    noun: at.noun,
                    id,
                    said,
                    place: at.place.clone(),
                    scope: at.scope.clone(),
                });
            }
            let context = if role == Role::Current { at.noun } else { None };
            return self.walk(value, &at.place, context, level + 1);
        }
        let is_about_work = at.noun.is_some_and(Noun::is_work) || role == Role::Next;
        if !is_about_work {
            return;
        }
        if let Some((current, total)) = fraction(value) {
            self.count(true, &total.into(), at);
            return self.pointer(role, &current.into(), at, level);
        }
        let text = value.as_str().unwrap_or_default().trim();
        let place = at.place.clone();
        match status_word(text) {
            Some(Word::Idle) => self.says_none |= role == Role::Current,
            _ if is_all_done(text) && role == Role::Current => {
                self.overall.push(Overall { said: Said::of(&"complete".into()), place, scope: at.scope.clone() });
            }
            Some(Word::Is(PhaseStatus::Pending | PhaseStatus::Failed) | Word::Abandoned | Word::Blocked) => {}
            _ if !(value.is_u64() || value.is_string() && is_name(text)) => {}
            _ => {
                let Some(id) = short_id(value) else { return };
                let said = Said::Nothing;
                self.pointers.push(Pointer { role, noun: at.noun, id, said, place, scope: at.scope.clone() });
            }
        }
    }

    /// Reads entries with the same status: a list of them, or their number.
    fn group(&mut self, status: PhaseStatus, value: &Value, at: At, groups: &mut Vec<Group>, level: usize) {
        let items = match value {
            Value::Array(_) => entries(value, &at.place),
            Value::Object(members) if !members.is_empty() && members.values().all(Value::is_object) => {
                entries(value, &at.place)
            }
            // `active_task: T3` is where the work is.
            Value::String(_) if status == PhaseStatus::InProgress => {
                return self.pointer(Role::Current, value, &at, level);
            }
            Value::String(text)
                if at.noun.is_some_and(Noun::is_work)
                    && status == PhaseStatus::Failed
                    && is_name(text)
                    && status_word(text).is_none() =>
            {
                entries(&[text.clone()].into(), &at.place)
            }
            Value::Object(_) => return self.walk(value, &at.place, at.noun, level + 1),
            value if status == PhaseStatus::Complete => return self.count(false, value, &at),
            _ => return,
        };
        // What cannot be read may be anything.
        if value.as_array().is_some_and(|all| all.len() != items.len()) {
            return;
        }
        groups.push(Group { noun: at.noun.unwrap_or(Noun::Other), status, items, place: at.place });
    }

    /// Makes lists of groups: statuses of a list of names beside them, or a list of their own.
    fn merge(&mut self, groups: &[Group], scope: &str) {
        let mut nouns: Vec<Noun> = groups.iter().map(|group| group.noun).collect();
        nouns.sort();
        nouns.dedup();
        for noun in nouns {
            let mut own: Vec<&Group> = groups.iter().filter(|group| group.noun == noun).collect();
            // Those that are done come first, and those that are left last.
            own.sort_by_key(|group| (!group.status.is_done(), group.status == PhaseStatus::Pending));
            let is_beside = |list: &&mut List| list.scope == scope && (list.noun == noun || noun == Noun::Other);
            if let Some(list) = self.lists.iter_mut().filter(|list| list.noun.is_work()).find(is_beside) {
                apply(&own, list);
                continue;
            }
            let mut entries: Vec<Entry> = Vec::new();
            let mut known: HashMap<PhaseId, usize> = HashMap::new();
            for (group, item) in own.iter().flat_map(|group| group.items.iter().map(move |item| (group, item))) {
                match known.get(&item.id) {
                    // In two lists at once: which one is newer is unknown.
                    Some(known) => entries[*known].said = Said::Unknown("in two lists".to_owned()),
                    None => {
                        known.insert(item.id.clone(), entries.len());
                        entries.push(group.entry(item));
                    }
                }
            }
            let kind = if own.iter().any(|group| !group.status.is_done()) { Kind::Grouped } else { Kind::OnlyDone };
            let place = own.first().map_or(scope, |group| group.place.as_str());
            if !entries.is_empty() {
                self.push(place, scope, noun, kind, entries);
            }
        }
    }
}

/// The place of a member, and the things it is about.
struct At {
    place: String,
    scope: String,
    noun: Option<Noun>,
}

/// Entries with the same status.
struct Group {
    noun: Noun,
    status: PhaseStatus,
    items: Vec<Entry>,
    place: String,
}

impl Group {
    /// Returns an entry with the status of the group. One that says something else is not understood.
    fn entry(&self, item: &Entry) -> Entry {
        let is_other = item.status().is_some_and(|own| own.is_done() != self.status.is_done());
        let entry = item.clone().with_status(self.status);
        if is_other { Entry { said: Said::Unknown("two statuses".to_owned()), ..entry } } else { entry }
    }
}

/// Adds the statuses of groups to a list that names their entries. Two statuses for one entry are not understood. Where those
/// that are done are listed, the others are not.
fn apply(groups: &[&Group], list: &mut List) {
    let index = Index::of(&list.entries);
    for (group, item) in groups.iter().flat_map(|group| group.items.iter().map(move |item| (group, item))) {
        let Some(entry) = index.find(item.id.as_str()).and_then(|index| list.entries.get_mut(index)) else {
            list.entries.push(Entry { said: Said::Unknown("listed elsewhere".to_owned()), ..item.clone() });
            continue;
        };
        match entry.status() {
            Some(known) if known.is_done() == group.status.is_done() => {}
            Some(_) => entry.said = Said::Unknown("two statuses".to_owned()),
            None => {
                entry.said = group.entry(item).said;
                entry.place.clone_from(&group.place);
            }
        }
    }
    if list.kind == Kind::Named && groups.iter().any(|group| group.status == PhaseStatus::Complete) {
        list.kind = Kind::Recorded;
        for entry in list.entries.iter_mut().filter(|entry| entry.said == Said::Nothing) {
            *entry = entry.clone().with_status(PhaseStatus::Pending);
        }
    }
}

/// True if most lines of a log are about one entry each.
fn are_entries(lines: &[Value]) -> bool {
    let has_status = |line: &&Value| {
        Entry::element(0, line, "").is_some_and(|entry| entry.word().is_some() && entry.id.as_str() != "1")
    };
    lines.iter().filter(has_status).count() * 2 > lines.len()
}

/// Returns what the entries of an array are called by the key of their id.
fn noun_of(items: &[Value]) -> Noun {
    let first = items.first().and_then(Value::as_object);
    let mut keys = first.into_iter().flatten().map(|(key, _)| classify(&key.to_snake_case()));
    keys.find_map(|key| key.noun.filter(|noun| noun.is_work() && key.role == Role::Current)).unwrap_or(Noun::Other)
}

/// Parses the two numbers of `3/7` or `Step 3 of 7`, if the first is not the greater.
fn fraction(value: &Value) -> Option<(u64, u64)> {
    let text = value.as_str()?.trim();
    let digits = text.trim_start_matches(|c: char| c.is_alphabetic()).trim_start();
    let (first, rest) = digits.split_once('/').or_else(|| digits.split_once(" of "))?;
    let end = rest.trim_start().find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.trim_start().len());
    let (first, second) = (first.trim().parse().ok()?, rest.trim_start()[..end].parse().ok()?);
    (first <= second && second > 0).then_some((first, second))
}
