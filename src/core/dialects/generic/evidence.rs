//! Everything a document says about its phases, before anything is concluded from it.

use serde_json::Value;

use super::facts::About;
use super::keys::{Noun, Role, classify, single};
use super::listed::{self, Record, is_list};
use super::scope::{Found, Scope, Scopes, is_nothing};
use super::status::is_said;
use crate::core::dialects::reading::{Notes, phase_id};
use crate::core::phase::{PhaseId, PhaseStatus};
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
    /// How many are left.
    pub(super) left: Option<u64>,
    /// The last one that is done.
    pub(super) last_completed: Option<(PhaseId, String)>,
    /// Where the work is said to be.
    pub(super) current: Option<(PhaseId, String)>,
    /// What is recorded about the current phase alone.
    pub(super) current_status: Option<PhaseStatus>,
    /// Where it is said to go on.
    pub(super) resume: Option<(PhaseId, String)>,
    /// Whether the document may be about that phase alone.
    pub(super) about_one: bool,
    /// Whether the pointer says that all is done.
    pub(super) says_complete: bool,
    /// Whether the pointer says that the work failed.
    pub(super) says_failed: bool,
    /// Whether the pointer says that there is nothing.
    pub(super) says_idle: bool,
    /// Tasks that belong to no list of phases.
    pub(super) tasks: Vec<Task>,
    /// What is said about progress and cannot be read: it keeps everything open that nothing else settles.
    pub(super) vague: bool,
    /// Whether the work is said not to have begun.
    pub(super) not_begun: bool,
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
        if evidence.is_empty() && evidence.current.is_none() && evidence.tasks.is_empty() {
            evidence.take_instead(scopes, Noun::Unit, notes);
        }
        evidence.align(notes);
        evidence
    }

    /// Whether nothing is known about any phase.
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
                let about = About { bare: neutral.then_some(scope.name.as_str()), folded: &member.folded };
                self.fact(role, about, &member.found, notes);
            }
        }
    }

    /// Takes keys that are about one phase each: `STEP_3_STATUS`, `phase_1`.
    fn take_singles(&mut self, scopes: &Scopes<'_>, notes: &mut Notes<'_>) {
        for scope in &scopes.0 {
            for member in &scope.members {
                let Found { key, value, pointer } = &member.found;
                let Some(single) = single(key) else { continue };
                let known = is_said(value) || value.is_object();
                let is_record = match single.aspect {
                    "" => (known && single.sure) || (is_said(value) && !value.is_boolean()),
                    "status" => value.is_string() || known,
                    _ => value.is_boolean(),
                };
                let Some(id) = phase_id(&Value::from(single.id)).filter(|_| is_record) else { continue };
                let mut record = Record { id: Some(id), ..listed::record(value, pointer, notes) };
                let told = match (single.aspect, value.as_bool() == Some(true)) {
                    ("failed", true) => Some(PhaseStatus::Failed),
                    ("skipped", true) => Some(PhaseStatus::Skipped),
                    ("failed" | "skipped", false) => continue,
                    _ => record.status,
                };
                record.status = told;
                self.records.push(record);
            }
            if !self.records.is_empty() {
                return;
            }
        }
    }

    /// Takes tasks: as those of the current phase, or in the place of phases where nothing else is known.
    fn take_tasks(&mut self, scopes: &Scopes<'_>, notes: &mut Notes<'_>) {
        if self.is_empty() && self.current.is_none() {
            return self.take_instead(scopes, Noun::Task, notes);
        }
        for member in scopes.0.iter().flat_map(|scope| &scope.members) {
            let all = matches!(classify(&member.folded), Some((Noun::Task, Role::All)));
            if all && self.tasks.is_empty() && is_list(member.found.value) {
                self.tasks = listed::tasks(member.found.value, &member.found.pointer, notes);
            }
        }
    }

    /// Takes what goes by another name in the place of phases.
    fn take_instead(&mut self, scopes: &Scopes<'_>, noun: Noun, notes: &mut Notes<'_>) {
        let mut instead = Self::default();
        for scope in &scopes.0 {
            instead.take(scope, noun, notes);
        }
        // What is only said to be done, or only to be left, is no list of all there is.
        if !instead.records.is_empty() || instead.declared.is_some() {
            let Self { says_complete, says_idle, .. } = *self;
            *self = Self { says_complete, says_idle, ..instead };
        }
    }
}
