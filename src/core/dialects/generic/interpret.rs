//! Interpreting the value of a member by the role of its key.

use serde_json::Value;

use super::keys::{Role, is_plural};
use super::numbers::{parse_count, parse_fraction, split_names};
use super::phase_records::{self, is_list, is_named_list};
use super::sections::{Member, is_idle_word};
use super::stated_progress::{StatedProgress, StatusList};
use super::status_words::{EntryStatus, entry_status};
use crate::core::dialects::members::{pointer, text_or_number};
use crate::core::dialects::phase_list::phase_id;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};

/// The context of a key.
#[derive(Clone, Copy)]
pub(super) struct KeyContext<'a> {
    /// The name of the section, for a key without a noun in a section without one.
    pub(super) unspecified_in: Option<&'a String>,
}

impl KeyContext<'_> {
    /// True if the key has a noun, or is in a section that has one.
    fn has_noun(self) -> bool {
        self.unspecified_in.is_none()
    }

    /// True if a number under the key counts phases.
    fn may_count(self) -> bool {
        self.unspecified_in.is_none_or(|name| name == "progress")
    }
}

impl StatedProgress {
    /// Adds the statement of a member. The first statement of each kind is kept.
    pub(super) fn interpret(
        &mut self,
        role: Role,
        context: KeyContext<'_>,
        member: &Member<'_>,
        log: &mut ReadLog<'_>,
    ) {
        let Member { value, pointer, .. } = member;
        let place = || pointer.clone();
        match role {
            Role::All | Role::Status if context.has_noun() && is_list(value) => {
                if self.records.is_empty() {
                    self.records = phase_records::read_list(value, pointer, log);
                } else {
                    self.add_failures(value, pointer);
                }
            }
            Role::All if context.has_noun() => self.add_all(member, log),
            Role::Current => self.add_current(value, pointer, log),
            Role::Status
                if member.snake_key.ends_with("progress")
                    && value.as_str().and_then(parse_fraction).is_some() =>
            {
                self.add_done_count(value, pointer, log);
            }
            Role::Status if context.has_noun() && value.is_string() && self.current_status.is_none() => {
                self.current_status = log.status("phase status", value, pointer);
            }
            Role::History if is_list(value) && self.history.is_empty() => {
                self.history = phase_records::read_list(value, pointer, log);
            }
            Role::Completed | Role::Failed | Role::Skipped | Role::Pending | Role::Active => {
                self.add_status_list(role, context, member, log);
            }
            Role::Total if context.may_count() && self.total.is_none() => {
                self.total = parse_count(value).map(|total| (total, place()));
            }
            Role::LastCompleted if self.last_completed.is_none() && self.done_count.is_none() => {
                if text_or_number(value).is_some_and(|text| is_idle_word(&text) || text == "-1") {
                    self.done_count = Some((0, place()));
                } else {
                    self.last_completed = phase_id(value).map(|id| (id, place()));
                }
            }
            Role::Resume if self.resume_at.is_none() => {
                self.resume_at = named_phase(value).map(|id| (id, place()));
            }
            Role::Next if context.has_noun() && self.resume_at.is_none() => {
                // A sentence is an action, not the name of a phase.
                let is_sentence =
                    text_or_number(value).is_some_and(|text| text.contains(char::is_whitespace));
                if !is_sentence {
                    self.resume_at = named_phase(value).map(|id| (id, place()));
                }
            }
            _ => {}
        }
    }

    /// Adds the value of `phases` or `phase`: a bare list, a total, or the current phase.
    fn add_all(&mut self, member: &Member<'_>, log: &mut ReadLog<'_>) {
        let Member { value, pointer, .. } = member;
        if !is_plural(&member.snake_key) {
            if let Value::Array(items) = value {
                if self.declared.is_none() {
                    self.declared = phase_ids(items).map(|ids| (ids, pointer.clone()));
                }
            } else {
                // `phase: 3` is the current phase, and a status beside it may be that of the phase.
                self.may_be_one_phase = self.current.is_none();
                self.add_current(value, pointer, log);
            }
            return;
        }
        let names = value.as_str().and_then(|text| split_names(text, is_upper_case(member.key)));
        let items = names.as_ref().or(value.as_array());
        if let Some(ids) = items.and_then(|items| phase_ids(items)) {
            self.declared.get_or_insert((ids, pointer.clone()));
        } else if is_named_list(value) && self.records.is_empty() {
            self.records = phase_records::read_list(value, pointer, log);
        } else if let Some(total) = parse_count(value) {
            self.total.get_or_insert((total, pointer.clone()));
        } else if value.is_object() {
            self.add_failures(value, pointer);
            self.add_current(value, pointer, log);
        }
    }

    /// Adds phases with the same status: a list of them, one of them, or their number.
    fn add_status_list(
        &mut self,
        role: Role,
        context: KeyContext<'_>,
        member: &Member<'_>,
        log: &mut ReadLog<'_>,
    ) {
        let status = match role {
            Role::Failed => PhaseStatus::Failed,
            Role::Skipped => PhaseStatus::Skipped,
            Role::Pending => PhaseStatus::Pending,
            Role::Active => PhaseStatus::InProgress,
            _ => PhaseStatus::Complete,
        };
        let (value, place) = (member.value, member.pointer.as_str());
        let plural = is_plural(&member.snake_key);
        if plural
            && let Some(text) = value.as_str()
            && let Some(names) = split_names(text, is_upper_case(member.key))
        {
            return self.add_listed(status, &names, place, log);
        }
        match value {
            Value::Array(items) => self.add_listed(status, items, place, log),
            Value::Object(members) if is_list(value) || context.has_noun() && is_named_list(value) => {
                // Each entry may have another status: `{"build": true, "test": false}`.
                let records = phase_records::read_list(value, place, log);
                for (record, key) in records.into_iter().zip(members.keys()) {
                    let status = record.status.filter(|own| !own.is_done()).unwrap_or(status);
                    if let Some(id) = record.id {
                        let place = format!("{place}{}", pointer(&[key]));
                        self.status_lists.push(StatusList { status, ids: vec![id], place });
                    }
                }
            }
            Value::Bool(_) | Value::Object(_) => {}
            _ if !context.may_count() => {}
            _ if role == Role::Completed => {
                // `completed_step: build` names a phase; `completed_steps: 3` counts them.
                let is_count = parse_count(value).is_some()
                    || value.is_number()
                    || value.as_str().and_then(parse_fraction).is_some();
                match phase_id(value) {
                    Some(id) if !is_count && context.has_noun() => {
                        self.status_lists.push(StatusList { status, ids: vec![id], place: place.to_owned() });
                    }
                    _ => self.add_done_count(value, place, log),
                }
            }
            _ if !context.has_noun() => {}
            _ if role == Role::Active => self.add_current(value, place, log),
            _ if role == Role::Pending && plural => self.left_count = parse_count(value),
            _ if !plural => {
                if let Some(id) = named_phase(value)
                    && !is_idle_word(id.as_str())
                {
                    self.status_lists.push(StatusList { status, ids: vec![id], place: place.to_owned() });
                }
            }
            _ => {}
        }
    }

    /// Adds a list of phases with the same status. An entry with the status failed is failed.
    fn add_listed(&mut self, status: PhaseStatus, items: &[Value], place: &str, log: &mut ReadLog<'_>) {
        let (mut ids, mut failed) = (Vec::new(), Vec::new());
        for (index, item) in items.iter().enumerate() {
            let id = if item.is_object() { id_of_object(item) } else { short_id(item) };
            match id {
                Some(id) if matches!(entry_status(item), EntryStatus::Known(PhaseStatus::Failed, ..)) => {
                    failed.push(id);
                }
                Some(id) => ids.push(id),
                None => {
                    let message = "this names no phase; it is left out";
                    let place = format!("{place}/{index}");
                    log.finding_at(Severity::Advice, Code::PhaseUnreadable, &place, message);
                }
            }
        }
        self.has_unreadable |= ids.is_empty() && failed.is_empty() && !items.is_empty();
        self.add_failed(failed, place);
        self.status_lists.push(StatusList { status, ids, place: place.to_owned() });
    }

    /// Adds the failures in a value that is not read otherwise: a failure is never ignored.
    fn add_failures(&mut self, value: &Value, place: &str) {
        self.add_failed(phase_records::failures(value), place);
    }

    fn add_failed(&mut self, ids: Vec<PhaseId>, place: &str) {
        if !ids.is_empty() {
            self.status_lists.push(StatusList { status: PhaseStatus::Failed, ids, place: place.to_owned() });
        }
    }

    /// Adds the number of done phases: `3`, or `3 of 7`.
    fn add_done_count(&mut self, value: &Value, place: &str, log: &mut ReadLog<'_>) {
        if let Some((count, total)) = value.as_str().and_then(parse_fraction) {
            self.done_count.get_or_insert((count, place.to_owned()));
            self.total.get_or_insert((total, place.to_owned()));
        } else if let Some(count) = parse_count(value) {
            self.done_count.get_or_insert((count, place.to_owned()));
        } else if value.is_number() {
            let message = "this is no number of phases; nothing is concluded from it";
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, message);
            self.has_unreadable = true;
        }
    }

    /// Adds the current phase, and its status if the value is an object with one.
    fn add_current(&mut self, value: &Value, place: &str, log: &mut ReadLog<'_>) {
        if value.is_object() && self.current_status.is_none() {
            self.current_status = phase_records::read_entry(value, place, log).status;
        }
        if self.current.is_some() {
            return;
        }
        if let Some((current, total)) = value.as_str().and_then(parse_fraction) {
            self.total.get_or_insert((total, place.to_owned()));
            self.current = phase_id(&Value::from(current)).map(|id| (id, place.to_owned()));
            return;
        }
        let Some(id) = named_phase(value) else { return };
        if is_idle_word(id.as_str()) {
            self.says_idle = true;
        } else {
            self.current = Some((id, place.to_owned()));
        }
    }
}

/// True if a key is written as in shell scripts, which separate names by blanks.
fn is_upper_case(key: &str) -> bool {
    !key.contains(char::is_lowercase)
}

/// Returns the ids in an array; `None` if it has anything else.
fn phase_ids(items: &[Value]) -> Option<Vec<PhaseId>> {
    items.iter().map(short_id).collect()
}

/// Parses a phase id, unless it is too long for one.
fn short_id(value: &Value) -> Option<PhaseId> {
    let is_short = text_or_number(value)?.chars().count() <= 64;
    if is_short { phase_id(value) } else { None }
}

fn id_of_object(item: &Value) -> Option<PhaseId> {
    const NAMES: [&str; 9] =
        ["phase", "id", "step", "stage", "phase_id", "step_id", "task_id", "name", "number"];
    phase_records::member(item, &NAMES).and_then(|(_, id)| phase_id(id))
}

/// Returns the phase that a value names: a text, a number, or an object with one of these.
fn named_phase(value: &Value) -> Option<PhaseId> {
    const NAMES: [&str; 8] = ["id", "phase", "phase_id", "step", "current", "number", "name", "key"];
    if value.is_object() {
        return phase_records::member(value, &NAMES).and_then(|(_, id)| phase_id(id));
    }
    short_id(value)
}
