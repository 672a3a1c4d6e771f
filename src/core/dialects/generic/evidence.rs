//! Everything a document says about its phases, before anything is concluded from it.

use serde_json::Value;

use super::super::reading::{Notes, phase_id};
use super::keys::{Noun, Role, classify, single};
use super::listed::{self, Record, is_list};
use super::scope::{Found, Scope, Scopes, is_idle_word, is_nothing, text};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::status_word::StatusWord;
use crate::core::task::Task;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Phases with what is recorded about each, in order.
    pub(super) records: Vec<Record>,
    /// What happened, in the order it happened; a phase may occur more than once.
    pub(super) history: Vec<Record>,
    /// A bare list of all phases.
    pub(super) declared: Option<(Vec<PhaseId>, String)>,
    /// Lists of phases that stand alike.
    pub(super) alike: Vec<(PhaseStatus, Vec<PhaseId>, String)>,
    /// How many phases are done.
    pub(super) count: Option<(u64, String)>,
    /// How many there are.
    pub(super) total: Option<(u64, String)>,
    /// The last one that is done.
    pub(super) last_completed: Option<(PhaseId, String)>,
    /// Where the work is said to be.
    pub(super) current: Option<(PhaseId, String)>,
    /// What is recorded about the current phase alone.
    pub(super) current_status: Option<PhaseStatus>,
    /// Where it is said to go on.
    pub(super) resume: Option<(PhaseId, String)>,
    /// Whether the pointer says that all is done.
    pub(super) says_complete: bool,
    /// Whether the pointer says that there is nothing.
    pub(super) says_idle: bool,
    /// Tasks that belong to no list of phases.
    pub(super) tasks: Vec<Task>,
}

impl Evidence {
    /// Gathers it. Facts about phases come first; where there are none, a list of tasks is taken for the phases.
    pub(super) fn gather(root: &Value, scopes: &Scopes<'_>, notes: &mut Notes<'_>) -> Self {
        let mut evidence = Self::default();
        if let Value::Array(_) = root
            && is_list(root)
        {
            evidence.records = listed::records(root, "", notes);
            return evidence;
        }
        for scope in &scopes.0 {
            evidence.take(scope, Noun::Phase, notes);
        }
        if evidence.records.is_empty() {
            evidence.take_singles(scopes, notes);
        }
        evidence.take_tasks(scopes, notes);
        evidence
    }

    /// Whether something is known about any phase.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.history.is_empty()
            && self.declared.is_none()
            && self.alike.iter().all(|(_, ids, _)| ids.is_empty())
            && self.count.is_none()
            && self.total.is_none()
            && self.last_completed.is_none()
    }

    fn take(&mut self, scope: &Scope<'_>, wanted: Noun, notes: &mut Notes<'_>) {
        for member in &scope.members {
            let Some((noun, role)) = classify(&member.folded) else { continue };
            let inherited = if noun == Noun::Bare { scope.noun } else { noun };
            let neutral = inherited == Noun::Bare && wanted == Noun::Phase;
            if (inherited == wanted || neutral) && !is_nothing(member.found.value) {
                self.fact(role, neutral.then_some(scope.name.as_str()), &member.found, notes);
            }
        }
    }

    /// Takes one fact. `bare` names the object around a key that does not say what it is about.
    fn fact(&mut self, role: Role, bare: Option<&str>, found: &Found<'_>, notes: &mut Notes<'_>) {
        let Found { value, pointer, .. } = found;
        let number = || value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        let place = || pointer.clone();
        match role {
            Role::All | Role::Status if bare.is_none() && is_list(value) => {
                if self.records.is_empty() {
                    self.records = listed::records(value, pointer, notes);
                }
            }
            Role::All if bare.is_none() => match value {
                Value::Array(items) => {
                    if let Some(ids) = ids(items).filter(|_| self.declared.is_none()) {
                        self.declared = Some((ids, place()));
                    }
                }
                // `phase: 3` is where the work is.
                value => self.point(value, pointer, notes),
            },
            Role::Current => self.point(value, pointer, notes),
            Role::Status if bare.is_none() && value.is_string() && self.current_status.is_none() => {
                self.current_status = notes.status("phase status", value, pointer);
            }
            Role::History if is_list(value) && self.history.is_empty() => {
                self.history = listed::records(value, pointer, notes);
            }
            Role::Completed | Role::Failed | Role::Skipped | Role::Pending | Role::Active => {
                self.list(role, bare, found, number());
            }
            Role::Total if bare.is_none_or(|name| name == "progress") && self.total.is_none() => {
                self.total = number().map(|total| (total, place()));
            }
            Role::LastCompleted if self.last_completed.is_none() => {
                self.last_completed = phase_id(value).map(|id| (id, place()));
            }
            Role::Resume if self.resume.is_none() => {
                self.resume = pointed(value).map(|id| (id, place()));
            }
            Role::Next if bare.is_none() && self.resume.is_none() => {
                // A sentence is an action, not the name of a phase.
                let named = text(value).is_none_or(|text| !text.trim().contains(char::is_whitespace));
                self.resume = pointed(value).filter(|_| named).map(|id| (id, place()));
            }
            _ => {}
        }
    }

    fn list(&mut self, role: Role, bare: Option<&str>, found: &Found<'_>, number: Option<u64>) {
        let status = match role {
            Role::Failed => PhaseStatus::Failed,
            Role::Skipped => PhaseStatus::Skipped,
            Role::Pending => PhaseStatus::Pending,
            Role::Active => PhaseStatus::InProgress,
            _ => PhaseStatus::Complete,
        };
        match found.value {
            Value::Array(items) => {
                let ids = ids(items).or_else(|| ids_of_objects(items));
                self.alike.extend(ids.map(|ids| (status, ids, found.pointer.clone())));
            }
            _ if role != Role::Completed || bare.is_some_and(|name| name != "progress") => {}
            // `completed_step: build` names one; `completed_steps: 3` counts them.
            Value::String(text) if number.is_none() && bare.is_none() => {
                let id = phase_id(&Value::from(text.as_str()));
                self.alike.extend(id.map(|id| (status, vec![id], found.pointer.clone())));
            }
            _ if self.count.is_none() => self.count = number.map(|count| (count, found.pointer.clone())),
            _ => {}
        }
    }

    /// Takes where the work is said to be.
    fn point(&mut self, value: &Value, place: &str, notes: &mut Notes<'_>) {
        if let Value::Object(_) = value
            && self.current_status.is_none()
        {
            self.current_status = listed::record(value, place, notes).status;
        }
        let Some(id) = pointed(value).filter(|_| self.current.is_none()) else { return };
        match StatusWord::understand(id.as_str()) {
            _ if is_idle_word(id.as_str()) => self.says_idle = true,
            // `current_phase: COMPLETE` names no phase.
            Some(StatusWord::Complete) => self.says_complete = true,
            _ => self.current = Some((id, place.to_owned())),
        }
    }

    /// Takes keys that are about one phase each: `STEP_3_STATUS`, `phase_1`.
    fn take_singles(&mut self, scopes: &Scopes<'_>, notes: &mut Notes<'_>) {
        for scope in &scopes.0 {
            for member in &scope.members {
                let Found { key, value, pointer } = &member.found;
                let Some(id) = single(key).and_then(|id| phase_id(&Value::from(id))) else { continue };
                let is_record = value.is_string() || value.is_boolean() || value.is_object();
                if is_record && self.records.iter().all(|known| known.id.as_ref() != Some(&id)) {
                    let record = listed::record(value, pointer, notes);
                    self.records.push(Record { id: Some(id), ..record });
                }
            }
            if !self.records.is_empty() {
                return;
            }
        }
    }

    /// Takes tasks: as those of the current phase, or in the place of phases where nothing else is known.
    fn take_tasks(&mut self, scopes: &Scopes<'_>, notes: &mut Notes<'_>) {
        let alone = self.is_empty() && self.current.is_none();
        let mut instead = Self::default();
        for scope in &scopes.0 {
            if alone {
                instead.take(scope, Noun::Task, notes);
                continue;
            }
            for member in &scope.members {
                let all = matches!(classify(&member.folded), Some((Noun::Task, Role::All)));
                if all && self.tasks.is_empty() && is_list(member.found.value) {
                    self.tasks = listed::tasks(member.found.value, &member.found.pointer, notes);
                }
            }
        }
        // What is only said to be done, or only to be left, is no list of all there is.
        if alone && (!instead.records.is_empty() || instead.declared.is_some()) {
            let Self { says_complete, says_idle, .. } = *self;
            *self = Self { says_complete, says_idle, ..instead };
        }
    }
}

/// The ids in an array, if it holds nothing else.
fn ids(items: &[Value]) -> Option<Vec<PhaseId>> {
    let short = |value: &Value| text(value).is_some_and(|text| text.chars().count() <= 64);
    items.iter().map(|value| phase_id(value).filter(|_| short(value))).collect()
}

fn ids_of_objects(items: &[Value]) -> Option<Vec<PhaseId>> {
    const NAMES: [&str; 9] =
        ["phase", "id", "step", "stage", "phase_id", "step_id", "task_id", "name", "number"];
    items.iter().map(|item| listed::member(item, &NAMES).and_then(|(_, id)| phase_id(id))).collect()
}

/// The phase that a pointer names: a text, a number, or an object with one of them.
fn pointed(value: &Value) -> Option<PhaseId> {
    const NAMES: [&str; 8] = ["id", "phase", "phase_id", "step", "current", "number", "name", "key"];
    match value {
        Value::Object(_) => listed::member(value, &NAMES).and_then(|(_, id)| phase_id(id)),
        value => text(value).filter(|text| text.chars().count() <= 64).and_then(|_| phase_id(value)),
    }
}
