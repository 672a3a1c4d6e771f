//! Everything that a document states about its phases, before any conclusion.

use serde_json::Value;

use super::interpret::KeyContext;
use super::keys::{Noun, Role, classify, parse_single_phase_key};
use super::phase_records::{self, PhaseRecord, is_list};
use super::sections::{Section, Sections, is_blank};
use super::status_words::has_status;
use crate::core::dialects::phase_list::phase_id;
use crate::core::dialects::read_log::ReadLog;
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::task::Task;

/// The statements of a document about its phases. A `String` beside a value is its place in the document.
#[derive(Debug, Default)]
pub(super) struct StatedProgress {
    /// The phases with their statuses, in order.
    pub(super) records: Vec<PhaseRecord>,
    /// A log of statuses in chronological order; a phase may occur more than once.
    pub(super) history: Vec<PhaseRecord>,
    /// A bare list of all phases.
    pub(super) declared: Option<(Vec<PhaseId>, String)>,
    /// Lists of phases that have the same status.
    pub(super) status_lists: Vec<StatusList>,
    /// The number of phases that are done.
    pub(super) done_count: Option<(u64, String)>,
    /// The number of all phases.
    pub(super) total: Option<(u64, String)>,
    /// The number of phases that are left.
    pub(super) left_count: Option<u64>,
    /// The last phase that is done.
    pub(super) last_completed: Option<(PhaseId, String)>,
    /// The current phase.
    pub(super) current: Option<(PhaseId, String)>,
    /// The status of the current phase.
    pub(super) current_status: Option<PhaseStatus>,
    /// The phase to continue with.
    pub(super) resume_at: Option<(PhaseId, String)>,
    /// True if the document may be about the current phase only.
    pub(super) may_be_one_phase: bool,
    /// True if all phases are done according to the member for the current phase.
    pub(super) says_complete: bool,
    /// True if the work failed according to the member for the current phase.
    pub(super) says_failed: bool,
    /// True if there is no work according to the member for the current phase.
    pub(super) says_idle: bool,
    /// Tasks that belong to no list of phases.
    pub(super) tasks: Vec<Task>,
    /// True if there is a statement about progress that cannot be read: then nothing is decided without a status.
    pub(super) has_unreadable: bool,
    /// True if the work has not been started according to the document.
    pub(super) not_started: bool,
}

/// Phases that have the same status, and the place of the list.
#[derive(Debug)]
pub(super) struct StatusList {
    pub(super) status: PhaseStatus,
    pub(super) ids: Vec<PhaseId>,
    pub(super) place: String,
}

impl StatedProgress {
    /// Collects the statements about phases. If there are none, a list of tasks or of other units is taken as the phases.
    pub(super) fn collect(root: &Value, sections: &Sections<'_>, log: &mut ReadLog<'_>) -> Self {
        let mut stated = Self::default();
        if root.is_array() && is_list(root) {
            stated.records = phase_records::read_list(root, "", log);
            return stated;
        }
        for section in &sections.0 {
            stated.read_section(section, Noun::Phase, log);
        }
        if stated.records.is_empty() {
            stated.read_single_phase_keys(sections, log);
        }
        if stated.is_empty() && stated.current.is_none() {
            stated.read_as_phases(sections, Noun::Task, log);
        } else {
            stated.read_tasks(sections, log);
        }
        if stated.is_empty() && stated.current.is_none() && stated.tasks.is_empty() {
            stated.read_as_phases(sections, Noun::Unit, log);
        }
        stated.unify_phase_names(log);
        stated
    }

    /// True if nothing is stated about any phase but the current one.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.history.is_empty()
            && self.declared.is_none()
            && self.status_lists.iter().all(|list| list.ids.is_empty())
            && self.done_count.is_none()
            && self.total.is_none()
            && self.last_completed.is_none()
    }

    /// Reads the members of a section whose keys have this noun.
    fn read_section(&mut self, section: &Section<'_>, wanted: Noun, log: &mut ReadLog<'_>) {
        for member in &section.members {
            let Some((noun, role)) = classify(&member.snake_key) else { continue };
            let noun = if noun == Noun::Unspecified { section.noun } else { noun };
            let is_unspecified = noun == Noun::Unspecified && wanted == Noun::Phase;
            if (noun == wanted || is_unspecified) && !is_blank(member.value) {
                let context = KeyContext { unspecified_in: is_unspecified.then_some(&section.name) };
                self.interpret(role, context, member, log);
            }
        }
    }

    /// Reads keys for one phase each: `STEP_3_STATUS`, `phase_1`.
    fn read_single_phase_keys(&mut self, sections: &Sections<'_>, log: &mut ReadLog<'_>) {
        for section in &sections.0 {
            for member in &section.members {
                let value = member.value;
                let Some(key) = parse_single_phase_key(member.key) else { continue };
                let is_record = match key.property {
                    "" if key.is_certain => has_status(value) || value.is_object(),
                    "" => has_status(value) && !value.is_boolean(),
                    "status" => value.is_string() || value.is_object() || has_status(value),
                    _ => value.is_boolean(),
                };
                if !is_record {
                    continue;
                }
                let Some(id) = phase_id(&Value::from(key.id)) else { continue };
                let mut record = phase_records::read_entry(value, &member.pointer, log);
                record.id = Some(id);
                match (key.property, value.as_bool() == Some(true)) {
                    ("failed", true) => record.status = Some(PhaseStatus::Failed),
                    ("skipped", true) => record.status = Some(PhaseStatus::Skipped),
                    ("failed" | "skipped", false) => continue,
                    _ => {}
                }
                self.records.push(record);
            }
            if !self.records.is_empty() {
                return;
            }
        }
    }

    /// Reads the tasks of the current phase.
    fn read_tasks(&mut self, sections: &Sections<'_>, log: &mut ReadLog<'_>) {
        for member in sections.0.iter().flat_map(|section| &section.members) {
            let is_all_tasks = classify(&member.snake_key) == Some((Noun::Task, Role::All));
            if is_all_tasks && self.tasks.is_empty() && is_list(member.value) {
                self.tasks = phase_records::read_tasks(member.value, &member.pointer, log);
            }
        }
    }

    /// Takes tasks or other units as the phases.
    fn read_as_phases(&mut self, sections: &Sections<'_>, noun: Noun, log: &mut ReadLog<'_>) {
        let mut units = Self::default();
        for section in &sections.0 {
            units.read_section(section, noun, log);
        }
        // A list of those that are done, or of those that are left, is not a list of all.
        if !units.records.is_empty() || units.declared.is_some() {
            *self = Self { says_complete: self.says_complete, says_idle: self.says_idle, ..units };
        }
    }
}
