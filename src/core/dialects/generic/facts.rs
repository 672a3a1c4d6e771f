//! Taking one fact after another, by what its key says it is about.

use serde_json::Value;

use super::amounts::{fraction, names, whole};
use super::evidence::Evidence;
use super::keys::{Role, is_plural};
use super::listed::{self, is_list, is_named_list};
use super::scope::{Found, is_idle_word, text};
use super::status::{Said, of_entry};
use crate::core::dialects::reading::{Notes, phase_id, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};

impl Evidence {
    pub(super) fn fact(&mut self, role: Role, about: About<'_>, found: &Found<'_>, notes: &mut Notes<'_>) {
        let Found { value, pointer, .. } = found;
        let place = || pointer.clone();
        match role {
            Role::All | Role::Status if about.bare.is_none() && is_list(value) => {
                if self.records.is_empty() {
                    self.records = listed::records(value, pointer, notes);
                } else {
                    self.failures(value, pointer);
                }
            }
            Role::All if about.bare.is_none() => self.all(about, found, notes),
            Role::Current => self.point(value, pointer, notes),
            Role::Status
                if about.folded.ends_with("progress") && value.as_str().and_then(fraction).is_some() =>
            {
                self.counted(value, pointer, notes);
            }
            Role::Status if about.bare.is_none() && value.is_string() && self.current_status.is_none() => {
                self.current_status = notes.status("phase status", value, pointer);
            }
            Role::History if is_list(value) && self.history.is_empty() => {
                self.history = listed::records(value, pointer, notes);
            }
            Role::Completed | Role::Failed | Role::Skipped | Role::Pending | Role::Active => {
                self.list(role, about, found, notes);
            }
            Role::Total if about.bare.is_none_or(|name| name == "progress") && self.total.is_none() => {
                self.total = whole(value).map(|total| (total, place()));
            }
            Role::LastCompleted if self.last_completed.is_none() && self.count.is_none() => {
                let none = text(value).is_some_and(|text| is_idle_word(&text) || text == "-1");
                if none {
                    self.count = Some((0, place()));
                } else {
                    self.last_completed = phase_id(value).map(|id| (id, place()));
                }
            }
            Role::Resume if self.resume.is_none() => {
                self.resume = pointed(value).map(|id| (id, place()));
            }
            Role::Next if about.bare.is_none() && self.resume.is_none() => {
                // A sentence is an action, not the name of a phase.
                let named = text(value).is_none_or(|text| !text.trim().contains(char::is_whitespace));
                self.resume = pointed(value).filter(|_| named).map(|id| (id, place()));
            }
            _ => {}
        }
    }

    /// Takes what stands under `phases` or `phase`: a bare list, how many there are, or where the work is.
    fn all(&mut self, about: About<'_>, found: &Found<'_>, notes: &mut Notes<'_>) {
        let Found { value, pointer, .. } = found;
        if is_plural(about.folded) {
            let several = value.as_str().and_then(|text| names(text, about.shouts(found)));
            let items = several.as_ref().or(value.as_array());
            if let Some(ids) = items.and_then(|items| ids(items)) {
                self.declared = self.declared.take().or(Some((ids, pointer.clone())));
            } else if is_named_list(value) && self.records.is_empty() {
                self.records = listed::records(value, pointer, notes);
            } else if let Some(total) = whole(value) {
                self.total = self.total.take().or(Some((total, pointer.clone())));
            } else if value.is_object() {
                self.failures(value, pointer);
                self.point(value, pointer, notes);
            }
            return;
        }
        match value {
            Value::Array(items) => {
                if let Some(ids) = ids(items).filter(|_| self.declared.is_none()) {
                    self.declared = Some((ids, pointer.clone()));
                }
            }
            // `phase: 3` is where the work is, and a status beside it may be that of the phase.
            value => {
                self.about_one = self.current.is_none();
                self.point(value, pointer, notes);
            }
        }
    }

    /// Takes phases that stand alike: a list of them, one of them, or how many they are.
    fn list(&mut self, role: Role, about: About<'_>, found: &Found<'_>, notes: &mut Notes<'_>) {
        let status = match role {
            Role::Failed => PhaseStatus::Failed,
            Role::Skipped => PhaseStatus::Skipped,
            Role::Pending => PhaseStatus::Pending,
            Role::Active => PhaseStatus::InProgress,
            _ => PhaseStatus::Complete,
        };
        let (value, place) = (found.value, found.pointer.as_str());
        let plural = is_plural(about.folded);
        let several = value.as_str().filter(|_| plural).and_then(|text| names(text, about.shouts(found)));
        match (value, several) {
            (Value::Array(items), _) => self.alike(status, items, place, notes),
            (_, Some(items)) => self.alike(status, &items, place, notes),
            (Value::Object(members), _) if is_list(value) || about.bare.is_none() && is_named_list(value) => {
                // Each may say something else about itself: `{"build": true, "test": false}`.
                let records = listed::records(value, place, notes);
                for (record, key) in records.into_iter().zip(members.keys()) {
                    let status = record.status.filter(|own| !own.is_done()).unwrap_or(status);
                    let place = format!("{place}{}", pointer(&[key]));
                    self.alike.extend(record.id.map(|id| (status, vec![id], place)));
                }
            }
            (Value::Bool(_) | Value::Object(_), _) => {}
            _ if about.bare.is_some_and(|name| name != "progress") => {}
            _ if role == Role::Completed => {
                let counts = whole(value).is_some() || value.is_number();
                // `completed_step: build` names one; `completed_steps: 3` counts them.
                match phase_id(value).filter(|_| !counts && about.bare.is_none()) {
                    Some(id) if value.as_str().and_then(fraction).is_none() => {
                        self.alike.push((status, vec![id], place.to_owned()));
                    }
                    _ => self.counted(value, place, notes),
                }
            }
            _ if about.bare.is_some() => {}
            _ if role == Role::Active => self.point(value, place, notes),
            _ if role == Role::Pending && plural => self.left = whole(value),
            _ if !plural => {
                let named = pointed(value).filter(|id| !is_idle_word(id.as_str()));
                self.alike.extend(named.map(|id| (status, vec![id], place.to_owned())));
            }
            _ => {}
        }
    }

    /// Takes a list of phases that stand alike. One that says of itself that it failed is believed.
    fn alike(&mut self, status: PhaseStatus, items: &[Value], place: &str, notes: &mut Notes<'_>) {
        let (mut ids, mut failed) = (Vec::new(), Vec::new());
        for (index, item) in items.iter().enumerate() {
            let id = match item {
                Value::Object(_) => id_of_object(item),
                item => Some(item).filter(|item| is_short(item)).and_then(phase_id),
            };
            match id {
                Some(id) if matches!(of_entry(item), Said::Known(PhaseStatus::Failed, ..)) => failed.push(id),
                Some(id) => ids.push(id),
                None => {
                    let message = "this names no phase; it is left out";
                    let place = format!("{place}/{index}");
                    notes.doubt_at(Severity::Advice, Code::PhaseUnreadable, &place, message);
                }
            }
        }
        self.vague |= ids.is_empty() && failed.is_empty() && !items.is_empty();
        if !failed.is_empty() {
            self.alike.push((PhaseStatus::Failed, failed, place.to_owned()));
        }
        self.alike.push((status, ids, place.to_owned()));
    }

    /// Takes the failures out of what is not read otherwise: they count wherever they stand.
    fn failures(&mut self, value: &Value, place: &str) {
        let failed = listed::failures(value);
        if !failed.is_empty() {
            self.alike.push((PhaseStatus::Failed, failed, place.to_owned()));
        }
    }

    /// Takes how many are done: `3`, or `3 of 7`.
    fn counted(&mut self, value: &Value, place: &str, notes: &mut Notes<'_>) {
        if let Some((count, total)) = value.as_str().and_then(fraction) {
            self.count.get_or_insert((count, place.to_owned()));
            self.total.get_or_insert((total, place.to_owned()));
        } else if let Some(count) = whole(value) {
            self.count.get_or_insert((count, place.to_owned()));
        } else if value.is_number() {
            let message = "this is no number of phases; nothing is concluded from it";
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, message);
            self.vague = true;
        }
    }

    /// Takes where the work is said to be.
    fn point(&mut self, value: &Value, place: &str, notes: &mut Notes<'_>) {
        if let Value::Object(_) = value
            && self.current_status.is_none()
        {
            self.current_status = listed::record(value, place, notes).status;
        }
        if let Some((at, total)) = value.as_str().and_then(fraction).filter(|_| self.current.is_none()) {
            self.total.get_or_insert((total, place.to_owned()));
            self.current = phase_id(&Value::from(at)).map(|id| (id, place.to_owned()));
            return;
        }
        let Some(id) = pointed(value).filter(|_| self.current.is_none()) else { return };
        if is_idle_word(id.as_str()) {
            self.says_idle = true;
        } else {
            self.current = Some((id, place.to_owned()));
        }
    }
}

/// What a fact is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    /// The object around a key that does not say what it is about.
    pub(super) bare: Option<&'a str>,
    /// The key, in one spelling.
    pub(super) folded: &'a str,
}

impl About<'_> {
    /// Whether the key is written as scripts write theirs, who divide lists by blanks.
    fn shouts(self, found: &Found<'_>) -> bool {
        !found.key.contains(char::is_lowercase)
    }
}

fn is_short(value: &Value) -> bool {
    text(value).is_some_and(|text| text.chars().count() <= 64)
}

/// The ids in an array, if it holds nothing else.
fn ids(items: &[Value]) -> Option<Vec<PhaseId>> {
    items.iter().map(|value| phase_id(value).filter(|_| is_short(value))).collect()
}

fn id_of_object(item: &Value) -> Option<PhaseId> {
    const NAMES: [&str; 9] =
        ["phase", "id", "step", "stage", "phase_id", "step_id", "task_id", "name", "number"];
    listed::member(item, &NAMES).and_then(|(_, id)| phase_id(id))
}

/// The phase that a pointer names: a text, a number, or an object with one of them.
fn pointed(value: &Value) -> Option<PhaseId> {
    const NAMES: [&str; 8] = ["id", "phase", "phase_id", "step", "current", "number", "name", "key"];
    match value {
        Value::Object(_) => listed::member(value, &NAMES).and_then(|(_, id)| phase_id(id)),
        value => Some(value).filter(|value| is_short(value)).and_then(phase_id),
    }
}
