//! Collects the statements of a document about its progress, with their places and without any conclusion.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value};

use super::values::{
    Fields, Standing, Thing, entry_standing, has_statuses, has_statuses_only, is_blank, is_code, is_list,
    is_named_list, is_named_map, is_number, is_path, number_in, parse_count, parse_fraction, read_things, short_id,
    split_names, standing_of,
};
use super::vocabulary::{
    ENTRY_ID, HISTORY_ID, Key, Noun, OVERALL_COMPLETE, OVERALL_STATUS, Role, WHOLES, WORKFLOW_ID, classify, has,
    is_idle_word, pointer_word, singular, snake_case, status_word,
};
use crate::dialects::members::text_or_number;
use crate::dialects::phase_list::phase_id;
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::below;
use ckpt_model::phase::{PhaseId, PhaseStatus};

/// The deepest level at which statements are looked for, the document itself included.
const MAX_LEVELS: usize = 5;
/// The longest name of a phase in words. A longer text is prose.
const MAX_NAME_WORDS: usize = 6;

/// One thing that a document says.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) claim: Claim,
    /// The things it is about.
    pub(super) noun: Noun,
    pub(super) place: String,
    /// The number of objects around it.
    pub(super) level: usize,
}

#[derive(Debug)]
pub(super) enum Claim {
    /// These are the things, in this order.
    Things(Vec<Thing>),
    /// These things have this status.
    Group(PhaseStatus, Vec<Thing>),
    /// This happened, in this order.
    History(Vec<Thing>),
    /// This many are done, left, or there at all.
    Count(Counted, u64),
    /// The work stands here.
    Pointer(Pointer, PhaseId),
    /// The thing that the work stands at has this status.
    PointerStatus(Standing),
    /// The work stands nowhere: the pointer is null or a word such as `none`.
    Nowhere,
    /// The work as a whole has this status.
    Overall(Standing),
    /// The work as a whole was finished at some time.
    Finished,
    /// Something is to be done next.
    Action,
    /// It is about work, and says nothing about where it stands.
    Mention,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Done,
    Left,
    Total,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointer {
    /// `current_phase: build`.
    Current,
    /// `phase: build`: a status beside it may be that of the phase.
    About,
    /// `build_phase: compile`: one of several pointers, perhaps.
    Qualified,
    /// `step_index: 2`: counted from 0.
    Position,
    Next,
    LastDone,
}

/// Collects the statements of a document, those of outer objects first.
pub(super) fn collect(root: &Value, log: &mut ReadLog<'_>) -> Vec<Statement> {
    let mut collector = Collector { statements: Vec::new(), queue: VecDeque::new(), log };
    if !root.is_array() && !has_statuses_only(root) {
        collector.queue.push_back((root, Section::default()));
    } else if is_list(root) || has_statuses(root) {
        let claim = Claim::Things(read_things(root, "", ENTRY_ID, collector.log));
        collector.statements.push(Statement { claim, noun: Noun::Other, place: String::new(), level: 0 });
    }
    while let Some((value, section)) = collector.queue.pop_front() {
        collector.section(value, &section);
    }
    collector.statements
}

/// Collects the events of a log, in which each line is about a phase or the like, and what became of it.
pub(super) fn collect_events(lines: &Value, log: &mut ReadLog<'_>) -> Vec<Statement> {
    let claim = Claim::History(read_things(lines, "", HISTORY_ID, log));
    vec![Statement { claim, noun: Noun::Other, place: String::new(), level: 0 }]
}

/// An object in which statements are looked for.
#[derive(Default)]
struct Section {
    place: String,
    name: String,
    /// The things that keys without a noun are about.
    noun: Option<Noun>,
    level: usize,
}

impl Section {
    /// True if a status in it is that of the whole work.
    fn is_about_the_whole(&self) -> bool {
        self.level == 0 || has(WHOLES, &self.name)
    }
}

/// Returns the word for things that no table has, if the keys name both those that are done and the current one:
/// `completed_questions` or `questions_done` beside `current_question`.
fn unknown_noun(names: &[String]) -> Option<&str> {
    let done = |name: &String| {
        let behind = ["_completed", "_done"].iter().find_map(|end| name.strip_suffix(end));
        name.strip_prefix("completed_").or(behind).map(singular)
    };
    let is_unknown = |noun: &String| classify(noun).noun.is_none();
    let unknown: HashSet<String> = names.iter().filter_map(done).filter(is_unknown).collect();
    let mut current = names.iter().filter_map(|name| name.strip_prefix("current_"));
    current.find(|noun| !noun.is_empty() && unknown.contains(*noun))
}

/// Returns a key in which the word for such things is one that the tables have.
fn with_known_noun(name: &str, noun: &str) -> Option<String> {
    let known = |is_plural: bool| if is_plural { "units" } else { "unit" };
    let stem = singular(name);
    if let Some(rest) = stem.strip_suffix(noun).filter(|rest| rest.ends_with('_')) {
        return Some(format!("{rest}{}", known(stem != name)));
    }
    let mut ends = name.match_indices('_').map(|(end, _)| name.split_at(end));
    let (word, rest) = ends.find(|(word, _)| singular(word) == noun)?;
    Some(format!("{}{rest}", known(word != noun)))
}

struct Collector<'v, 'l, 'd> {
    statements: Vec<Statement>,
    queue: VecDeque<(&'v Value, Section)>,
    log: &'l mut ReadLog<'d>,
}

/// A member of a section.
struct Member<'v, 's> {
    /// Its key as written, and in snake case.
    key: &'v str,
    name: &'s str,
    value: &'v Value,
    place: String,
    section: &'s Section,
    /// The things that it is about, by its key or by the section.
    noun: Option<Noun>,
    is_plural: bool,
}

impl Member<'_, '_> {
    /// True if it is said what it counts or lists.
    fn is_named(&self) -> bool {
        self.noun.is_some() || self.section.name == "progress"
    }

    /// Returns the names in a text. Shell scripts, whose keys are in upper case, separate them by blanks.
    fn names(&self) -> Option<Value> {
        let is_upper_case = !self.key.contains(char::is_lowercase);
        self.value.as_str().and_then(|text| split_names(text, is_upper_case))
    }
}

impl<'v> Collector<'v, '_, '_> {
    fn section(&mut self, value: &'v Value, section: &Section) {
        let names: Vec<String> = value.as_object().into_iter().flatten().map(|(key, _)| snake_case(key)).collect();
        let unknown = unknown_noun(&names);
        for ((key, value), name) in value.as_object().into_iter().flatten().zip(&names) {
            let known = unknown.and_then(|noun| with_known_noun(name, noun));
            let Key { noun, role, is_plural } = classify(known.as_ref().unwrap_or(name));
            let (place, noun) = (below(&section.place, key), noun.or(section.noun));
            let member = Member { key, name, value, place, section, noun, is_plural };
            if !self.about_the_whole(&member) {
                self.member(role, &member);
            }
        }
        self.single_phase_keys(value, section);
    }

    fn state(&mut self, claim: Claim, member: &Member<'_, '_>) {
        let (noun, place) = (member.noun.unwrap_or(Noun::Other), member.place.clone());
        self.statements.push(Statement { claim, noun, place, level: member.section.level });
    }

    /// Reads the status of the whole work. Returns false if the member is not about that.
    fn about_the_whole(&mut self, member: &Member<'_, '_>) -> bool {
        let Member { name, value, section, .. } = member;
        let is_status = has(OVERALL_STATUS, name) && !value.is_object() && !value.is_array();
        let is_flag = has(OVERALL_COMPLETE, name) && value.is_boolean();
        let is_time = has("completed_at finished_at", name) && section.level == 0 && !is_blank(value);
        let is_id = has(WORKFLOW_ID, name) && !value.is_object();
        let says_something = is_status && !is_blank(value) || is_flag && **value == Value::Bool(true);
        if says_something && section.is_about_the_whole() {
            self.state(Claim::Overall(standing_of(value)), member);
        } else if is_time {
            self.state(Claim::Finished, member);
        } else if is_id && member.noun.is_some() {
            self.state(Claim::Mention, member);
        }
        is_status || is_flag || is_time || is_id
    }

    fn member(&mut self, role: Role, member: &Member<'v, '_>) {
        let value = member.value;
        match role {
            Role::All if member.is_plural || value.is_array() => self.all(member),
            Role::All => self.one(member),
            Role::Are(status) => self.group(status, member),
            Role::Status => self.statuses(member),
            Role::Position => self.pointer(Pointer::Position, member),
            Role::Next => self.next(member),
            Role::LastDone => self.last_done(member),
            Role::Current => self.current(member),
            Role::Aside => self.aside(member),
            // Of none there is none, whatever they are.
            Role::Total if member.is_named() || parse_count(value) == Some(0) => {
                self.count(Counted::Total, member);
            }
            Role::Qualified if value.is_string() => self.pointer(Pointer::Qualified, member),
            Role::History if value.is_array() => {
                let items = read_things(value, &member.place, HISTORY_ID, self.log);
                self.state(Claim::History(items), member);
            }
            Role::Previous => self.other(!is_blank(value), member),
            Role::Total | Role::Qualified | Role::History | Role::Unknown => {
                let is_list = value.is_array() && (is_partition(member.name) || member.is_plural);
                self.other(is_list, member);
            }
        }
    }

    /// Looks into a member whose key says nothing.
    fn other(&mut self, is_about_work: bool, member: &Member<'v, '_>) {
        if !self.container(member) && is_about_work {
            self.state(Claim::Mention, member);
        }
    }

    /// Reads a member about something else than the progress: one that waits is work all the same.
    fn aside(&mut self, member: &Member<'v, '_>) {
        if ["current_", "active_", "next_", "pending_"].iter().any(|start| member.name.starts_with(start)) {
            self.state(Claim::Mention, member);
        }
    }

    /// Reads a list of things, or looks into an object. Returns false if the value is neither.
    fn container(&mut self, member: &Member<'v, '_>) -> bool {
        if has_statuses(member.value) || (member.noun.is_some() && is_named_list(member.value)) {
            self.things(member.value, member);
            return true;
        }
        self.look_into(member.noun, member)
    }

    fn look_into(&mut self, noun: Option<Noun>, member: &Member<'v, '_>) -> bool {
        let level = member.section.level + 1;
        let is_section = member.value.is_object() && level < MAX_LEVELS;
        if is_section {
            let (place, name) = (member.place.clone(), member.name.to_owned());
            self.queue.push_back((member.value, Section { place, name, noun, level }));
        }
        is_section
    }

    fn things(&mut self, list: &Value, member: &Member<'_, '_>) {
        let items = read_things(list, &member.place, ENTRY_ID, self.log);
        self.state(Claim::Things(items), member);
    }

    fn count(&mut self, counted: Counted, member: &Member<'_, '_>) {
        if let Some(count) = parse_count(member.value) {
            self.state(Claim::Count(counted, count), member);
        }
    }

    /// Reads `phases`: a list with statuses or names, or their number.
    fn all(&mut self, member: &Member<'v, '_>) {
        let value = member.value;
        if is_named_list(value) || value.as_array().is_some_and(|items| !items.is_empty()) {
            self.things(value, member);
        } else if let Some(names) = member.names() {
            self.things(&names, member);
        } else if value.is_object() {
            self.pointer_in_object(Pointer::Current, member);
            if is_named_map(value) {
                self.things(value, member);
            }
            self.look_into(member.noun, member);
        } else if value.is_array() {
            self.state(Claim::Mention, member);
        } else {
            self.count(Counted::Total, member);
        }
    }

    /// Reads `phase`: where the work stands. `feature: dark mode` is the title of the work.
    fn one(&mut self, member: &Member<'v, '_>) {
        let value = member.value;
        let is_word = value.is_null() || value.as_str().is_some_and(|text| pointer_word(text).is_some());
        let words = value.as_str().map_or(0, |text| text.split_whitespace().count());
        if has("meta metadata", &member.section.name) && words > 2 {
            // What a file says about itself is the title of the work.
            self.state(Claim::Mention, member);
        } else if is_named_list(value) && value.is_object() {
            self.things(value, member);
        } else if is_word || matches!(member.noun, Some(Noun::Phase | Noun::Step)) {
            self.pointer(Pointer::About, member);
        } else if !self.look_into(None, member) {
            self.state(Claim::Mention, member);
        }
    }

    /// Reads `phase_status`: a list of statuses, a fraction, or the status of the current one.
    fn statuses(&mut self, member: &Member<'v, '_>) {
        let is_list = member.value.is_object() || member.value.is_array();
        if is_list || !(member.noun.is_some() || member.name == "progress") {
            self.other(false, member);
        } else if parse_fraction(member.value).is_some() {
            self.done_count(member);
        } else if member.value.is_string() && member.noun.is_some() {
            self.state(Claim::PointerStatus(standing_of(member.value)), member);
        }
    }

    /// Reads things with the same status: a list of them, one of them, or their number.
    fn group(&mut self, status: PhaseStatus, member: &Member<'v, '_>) {
        let value = member.value;
        let names = if member.is_plural { member.names() } else { None };
        let is_list = value.is_array() || is_named_list(value) || is_named_map(value);
        let is_empty = is_blank(value) || value.as_object().is_some_and(Map::is_empty);
        if names.is_some() || is_list {
            self.named_group(status, names.as_ref().unwrap_or(value), member);
        } else if value.is_null() && status == PhaseStatus::InProgress {
            self.state(Claim::Nowhere, member);
        } else if is_empty {
            self.state(Claim::Mention, member);
        } else if !self.look_into(member.noun, member) && !value.is_boolean() && member.is_named() {
            self.one_or_number(status, member);
        }
    }

    /// Reads `completed_steps: 3`, `completed_step: build` or `active_task: T-1`.
    fn one_or_number(&mut self, status: PhaseStatus, member: &Member<'v, '_>) {
        let is_one = !member.is_plural && member.noun.is_some();
        if status == PhaseStatus::Complete && (member.is_plural || is_number(member.value)) {
            self.done_count(member);
        } else if status == PhaseStatus::Pending && member.is_plural {
            self.count(Counted::Left, member);
        } else if status == PhaseStatus::InProgress && is_one {
            self.pointer(Pointer::Current, member);
        } else if let Some(id) = short_id(member.value).filter(|id| is_one && !is_idle_word(id.as_str())) {
            self.state(Claim::Group(status, vec![Thing::named(id, &member.place)]), member);
        }
    }

    fn named_group(&mut self, status: PhaseStatus, list: &Value, member: &Member<'_, '_>) {
        let mut items = read_things(list, &member.place, ENTRY_ID, self.log);
        // An object without a name is none of them.
        if let Value::Array(values) = list {
            let is_named = |value: &Value| !value.is_object() || Fields::of(value).get(ENTRY_ID).is_some();
            let mut named = values.iter().filter(|value| !value.is_null()).map(is_named);
            items.retain(|_| named.next().unwrap_or(true));
        }
        let is_unreadable = items.is_empty() && list.as_array().is_some_and(|items| !items.is_empty());
        self.state(if is_unreadable { Claim::Mention } else { Claim::Group(status, items) }, member);
    }

    /// Reads the number of done things: `3`, or `3 of 7`.
    fn done_count(&mut self, member: &Member<'_, '_>) {
        if let Some((count, total)) = parse_fraction(member.value) {
            self.state(Claim::Count(Counted::Done, count), member);
            self.state(Claim::Count(Counted::Total, total), member);
        } else if parse_count(member.value).is_some() {
            self.count(Counted::Done, member);
        } else if is_number(member.value) {
            let message = "this is no number of phases; nothing is concluded from it";
            self.log.finding_at(Severity::Advice, Code::RecordsDisagree, &member.place, message);
            self.state(Claim::Mention, member);
        }
    }

    /// Reads what is current. In an object that is not about the whole, only a noun makes it the place of the work.
    fn current(&mut self, member: &Member<'v, '_>) {
        if member.noun.is_some() || member.section.is_about_the_whole() {
            self.pointer(Pointer::Current, member);
        } else {
            self.state(Claim::Mention, member);
        }
    }

    /// Reads where the work stands.
    fn pointer(&mut self, pointer: Pointer, member: &Member<'v, '_>) {
        match member.value {
            Value::Null => self.state(Claim::Nowhere, member),
            Value::Object(_) => {
                self.pointer_in_object(pointer, member);
                self.look_into(member.noun, member);
            }
            Value::String(text) => self.named_pointer(pointer, text, member),
            value => {
                let value = match value.as_array().and_then(|items| items.first()) {
                    Some(first) if pointer == Pointer::Next => first,
                    _ => value,
                };
                if let Some(id) = Fields::of(value).id(ENTRY_ID).or_else(|| short_id(value)) {
                    self.state(Claim::Pointer(pointer, id), member);
                }
            }
        }
    }

    /// Reads a text that says where the work stands. Prose names no phase, and neither does a path.
    fn named_pointer(&mut self, pointer: Pointer, text: &str, member: &Member<'_, '_>) {
        if let Some((current, total)) = parse_fraction(member.value)
            && let Some(id) = phase_id(&Value::from(current))
        {
            self.state(Claim::Count(Counted::Total, total), member);
            return self.state(Claim::Pointer(Pointer::Current, id), member);
        }
        let words = text.split_whitespace().count();
        let is_prose = (words > MAX_NAME_WORDS && number_in(text).is_none())
            || (text.contains(['\n', ',']) && words > 2)
            || text.contains(". ")
            || (text.trim_end().ends_with('.') && words > 2);
        let is_file = is_path(text) && text.contains('/');
        let id = if is_prose || is_file { None } else { short_id(member.value) };
        self.state(id.map_or(Claim::Mention, |id| Claim::Pointer(pointer, id)), member);
    }

    /// Reads a pointer that is an object: `{"id": 3, "status": "in_progress"}`.
    fn pointer_in_object(&mut self, pointer: Pointer, member: &Member<'_, '_>) {
        const NAMES: &str = "id phase phase_id step stage current number task_id name key slug title index";
        let fields = Fields::of(member.value);
        let named = fields.id(NAMES).filter(|id| !is_idle_word(id.as_str()));
        let numbered = || if pointer == Pointer::Next { fields.values().find_map(numbered_place) } else { None };
        let Some(id) = named.or_else(numbered) else { return };
        let (standing, _) = entry_standing(&fields);
        let kind = if pointer == Pointer::Next { pointer } else { Pointer::Current };
        self.state(Claim::Pointer(kind, id), member);
        if standing != Standing::Unsaid && kind == Pointer::Current {
            self.state(Claim::PointerStatus(standing), member);
        }
    }

    /// Reads what is next. A sentence is an action; without a noun, a bare `next` and a list may be actions too, but a code
    /// such as `US-3` is none.
    fn next(&mut self, member: &Member<'v, '_>) {
        let first = member.value.as_array().and_then(|items| items.first()).unwrap_or(member.value);
        let text = text_or_number(first);
        let is_action =
            text.as_ref().is_some_and(|text| text.split_whitespace().count() > 2 || pointer_word(text).is_some());
        let is_vague = member.name == "next" || (member.value.is_array() && member.name != "next_available");
        let is_code = |text: &str| is_code(text) && text.contains(char::is_alphabetic);
        let is_place = member.noun.is_some() || !is_vague || member.value.as_str().is_some_and(is_code);
        if member.value.is_object() || (!is_action && is_place) {
            self.pointer(Pointer::Next, member);
        }
        let is_object = first.as_object().is_some_and(|members| !members.is_empty());
        if is_object || text.is_some_and(|text| !text.trim().is_empty() && !is_idle_word(&text)) {
            self.state(Claim::Action, member);
        }
    }

    fn last_done(&mut self, member: &Member<'v, '_>) {
        match text_or_number(member.value) {
            Some(text) if is_idle_word(&text) || text == "-1" => {
                self.state(Claim::Count(Counted::Done, 0), member);
            }
            _ => self.pointer(Pointer::LastDone, member),
        }
    }

    /// Reads keys for one phase each: `STEP_3_STATUS`, `phase_1`, `phase2_done`.
    fn single_phase_keys(&mut self, value: &Value, section: &Section) {
        let (mut items, mut noun) = (Vec::new(), Noun::Phase);
        for (key, value) in value.as_object().into_iter().flatten() {
            let Some((id, property)) = parse_single_phase_key(key) else { continue };
            let is_record = match property {
                "" => value.is_object() || value.as_str().is_some_and(|text| status_word(text).is_some()),
                "status" => value.is_string() || value.is_object(),
                "failed" | "skipped" => *value == Value::Bool(true),
                _ => value.is_boolean(),
            };
            let value = if matches!(property, "failed" | "skipped") { &Value::from(property) } else { value };
            if !is_record {
                continue;
            }
            let list = Value::Object([(id, value.clone())].into_iter().collect());
            for item in read_things(&list, &section.place, ENTRY_ID, self.log) {
                noun = classify(&snake_case(key)).noun.unwrap_or(noun);
                items.push(Thing { place: below(&section.place, key), ..item });
            }
        }
        if !items.is_empty() {
            let (place, level) = (section.place.clone(), section.level);
            self.statements.push(Statement { claim: Claim::Things(items), noun, place, level });
        }
    }
}

/// Returns the number of the thing that a text begins with: `Phase 3 of 5 has no plan`.
fn numbered_place(value: &Value) -> Option<PhaseId> {
    let text = value.as_str()?;
    let word = text.split_whitespace().next()?.to_lowercase();
    classify(&word).noun?;
    phase_id(&Value::from(number_in(text)?))
}

/// Splits a key for one phase into the id of the phase and what the value is: `status`, `done`, or nothing in particular.
fn parse_single_phase_key(key: &str) -> Option<(String, &'static str)> {
    const PROPERTIES: [&str; 6] = ["_status", "_completed", "_complete", "_done", "_failed", "_skipped"];
    let snake = snake_case(key);
    let rest = ["phase", "step", "stage"].iter().find_map(|noun| snake.strip_prefix(noun))?;
    let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
    let id = rest.strip_prefix('_').or(is_number.then_some(rest))?;
    let property = PROPERTIES.into_iter().find_map(|end| Some((id.strip_suffix(end)?, end.trim_start_matches('_'))));
    match property {
        Some((id, property)) => Some((id.to_owned(), property)),
        // `phase_1` is a phase, and `phase_1_output` is not.
        None if id.bytes().all(|b| b.is_ascii_digit()) => Some((key.to_owned(), "")),
        None => None,
    }
}

/// True if a key names things by how far they are: `courses_completed`.
fn is_partition(name: &str) -> bool {
    let is_said = |word: Option<&str>| word.is_some_and(|word| has("completed done pending remaining", word));
    is_said(name.split('_').next()) || is_said(name.split('_').next_back())
}
