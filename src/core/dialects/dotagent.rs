//! The `dotagent` dialect: `memory/state/phase.json`, with the tasks in `execution.json` beside it.
//!
//! A phase is done if `completed_phases` lists it. `phase_status` is that of `current_phase`, but agents write it in two
//! ways: some finish a phase and stay on it, some list it, advance `current_phase` and leave `complete` behind. So:
//!
//! | `phase_status` | `current_phase` | taken as |
//! |---|---|---|
//! | `complete` | listed | done; the next one is due |
//! | `complete` | not listed, and the phase before it is the last one listed | the pointer was advanced: pending, a finding says so |
//! | `complete` | not listed otherwise | done, and a finding says that the list lacks it |
//! | `failed` | any | failed, whatever the list says |
//! | `in_progress`, `pending` | listed | done, and a finding says that the list counts |
//! | `in_progress`, `pending` | not listed | as it says |
//! | unknown or missing | not listed | pending: nothing is concluded |
//!
//! Between two phases there is work left, so a workflow is resumed there and not begun again. Where there is no list at
//! all, the phases before the current one are taken as complete, with a finding. A `current_phase` such as `DONE` names
//! no phase: then the list alone decides. A phase that dotagent does not have stands behind all others.

mod execution;
mod writing;

use serde_json::Value;

use super::known_phases::{self, listed, says_all_done, stand};
use super::members::{error_text, first, paths, word};
use super::reading::{Draft, Notes, pointer};
use crate::core::checkpoint::{Artifact, Content, LastError, Next, WorkflowStatus};
use crate::core::finding::{Code, Severity};
use crate::core::phase::MAX_PHASES;
use crate::core::phase::{Approval, Phase, PhaseId, PhaseStatus};

pub(super) use writing::write;

const PIPELINE: &str = "dotagent";

pub(super) fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    let known = || {
        let current = main["current_phase"].as_str().unwrap_or_default();
        known_phases::position(&known_phases::of(PIPELINE), current.trim()).is_some()
    };
    has("phase_status")
        && has("current_phase")
        && !(has("plan_path") || has("phase_metadata") || has("checkpoint_id"))
        && (has("user_checkpoints") || has("interruption_safe") || (has("completed_phases") && known()))
}

pub(super) fn read(main: &Value, beside: Option<&Value>, notes: &mut Notes<'_>) -> Draft {
    let content = Content {
        pipeline: Some(PIPELINE.to_owned()),
        phases: known_phases::of(PIPELINE),
        ..Content::default()
    };
    let mut draft = Draft { workflow: word(&main["workflow_id"]), content, ..Draft::default() };
    if let Some(id) = &draft.workflow {
        notes.found("workflow", id, "/workflow_id");
    }
    draft.recorded_at = notes
        .time("saved_at", &main["last_updated"], "/last_updated")
        .or_else(|| notes.time("saved_at", &main["started_at"], "/started_at"));
    if main["interruption_safe"] == false {
        let message = "the file was being written when this was saved; compare it with the reports";
        notes.doubt_at(Severity::Confirm, Code::IncompleteWrite, "/interruption_safe", message);
    }
    let has_list = read_completed(&main["completed_phases"], &mut draft, notes);
    read_current(main, has_list, &mut draft, notes);
    read_approvals(&main["user_checkpoints"], &mut draft, notes);
    if draft.content.phases.iter().all(|phase| phase.status.is_done()) {
        draft.content.status = WorkflowStatus::Complete;
    }
    draft.content.tasks =
        beside.map(|beside| execution::read(beside, &draft.content.phases, notes)).unwrap_or_default();
    draft
}

/// The phase that an entry or a pointer names; one that dotagent does not have is added.
fn place(value: &Value, at: &str, phases: &mut Vec<Phase>, notes: &mut Notes<'_>) -> Option<usize> {
    let id = notes.phase(value, at)?;
    if says_all_done(id.as_str()) {
        let message = "this is no phase; it is kept, but not followed";
        notes.doubt_at(Severity::Info, Code::PhaseUnreadable, at, message);
        return None;
    }
    Some(known_phases::position(phases, id.as_str()).unwrap_or_else(|| {
        let message = format!("dotagent has no phase {id}; it is taken as one of its own");
        notes.doubt_at(Severity::Advice, Code::Imported, at, &message);
        phases.push(Phase::pending(id));
        phases.len() - 1
    }))
}

/// Reads the list of completed phases: objects or bare names, or an object by name. False if there is none.
fn read_completed(value: &Value, draft: &mut Draft, notes: &mut Notes<'_>) -> bool {
    let entries: Vec<(String, Value, &Value)> = match value {
        Value::Array(entries) => {
            let numbered = entries.iter().take(MAX_PHASES).enumerate();
            numbered.map(|(index, entry)| (index.to_string(), named_phase(entry), entry)).collect()
        }
        Value::Object(entries) => {
            let named = entries.iter().take(MAX_PHASES);
            named.map(|(name, entry)| (name.clone(), name.as_str().into(), entry)).collect()
        }
        _ => return false,
    };
    let mut failed = Vec::new();
    for (key, name, entry) in entries {
        let at = pointer(&["completed_phases", &key]);
        let Some(index) = place(&name, &at, &mut draft.content.phases, notes) else { continue };
        let phase = &mut draft.content.phases[index];
        read_entry(entry, &at, phase, notes);
        if phase.status == PhaseStatus::Failed {
            failed.push(index);
        }
        let Some((key, output)) = first(entry, &["output", "outputs"]) else { continue };
        for (index, path) in paths(output).into_iter().enumerate() {
            notes.found("artifact", path, &format!("{at}/{key}"));
            let name = if index == 0 { phase.id.as_str() } else { path };
            draft.content.artifacts.push(Artifact::new(name, path));
        }
    }
    for index in failed {
        stand(&mut draft.content.phases[index], PhaseStatus::Failed);
        draft.content.phases[index].completed_at = None;
    }
    true
}

/// Reads one completed phase. It is complete by being listed, unless its entry has a status that says otherwise.
fn read_entry(entry: &Value, at: &str, phase: &mut Phase, notes: &mut Notes<'_>) {
    let fact = format!("phases/{}", phase.id);
    let recorded = notes.status(&format!("{fact}/status"), &entry["status"], &format!("{at}/status"));
    let status = recorded.unwrap_or_else(|| {
        notes.found(format!("{fact}/status"), "complete", at);
        PhaseStatus::Complete
    });
    stand(phase, status);
    if !status.is_done() {
        let message = format!("listed as completed, but recorded as {}; the record counts", status.word());
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, at, &message);
    }
    let time = &entry["completed_at"];
    let time = notes.time(&format!("{fact}/completed_at"), time, &format!("{at}/completed_at"));
    phase.completed_at = time.filter(|_| status.is_done());
}

fn named_phase(entry: &Value) -> Value {
    match entry {
        Value::Object(_) => {
            first(entry, &["phase", "name", "id"]).map_or(Value::Null, |(_, name)| name.clone())
        }
        name => name.clone(),
    }
}

fn read_current(main: &Value, has_list: bool, draft: &mut Draft, notes: &mut Notes<'_>) {
    let status = notes.status("phase_status", &main["phase_status"], "/phase_status");
    let current = &main["current_phase"];
    if current.as_str().is_some_and(says_all_done) {
        draft.content.phase =
            draft.content.phases.iter().rfind(|phase| phase.status.is_done()).map(|phase| phase.id.clone());
        let open = listed(draft.content.phases.iter().filter(|phase| !phase.status.is_done()));
        if !open.is_empty() {
            let message =
                format!("everything is said to be done, but these are not listed as completed: {open}");
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, "/current_phase", &message);
        }
        if let Some(status) = status.filter(|status| !status.is_done()) {
            let message = format!("everything is said to be done, but also {}", status.word());
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, "/phase_status", &message);
        }
        return;
    }
    let Some(index) = place(current, "/current_phase", &mut draft.content.phases, notes) else { return };
    let id = draft.content.phases[index].id.clone();
    notes.found("phase", &id, "/current_phase");
    if !has_list && index > 0 {
        let before = &mut draft.content.phases[..index];
        before.iter_mut().for_each(|phase| stand(phase, PhaseStatus::Complete));
        let message =
            format!("there is no list of completed phases; those before {id} are taken as complete");
        notes.doubt_at(Severity::Info, Code::PhasesImplied, "/current_phase", &message);
    }
    if let Some(status) = status {
        settle(index, status, has_list, draft, notes);
    }
    let phase = &mut draft.content.phases[index];
    if phase.status == PhaseStatus::Failed {
        phase.error = error_text(main);
        match (phase.error.clone(), draft.recorded_at) {
            (Some(message), Some(at)) => {
                let phase = Some(id.clone());
                draft.content.last_error = Some(LastError { message, phase, at, extra: Default::default() });
            }
            (undated, _) => draft.undated_error = undated,
        }
    }
    if !phase.status.is_done() {
        draft.content.next = Some(Next { phase: Some(id.clone()), action: None, extra: Default::default() });
    }
    draft.content.phase = Some(id);
}

/// Applies the table of the module to the current phase.
fn settle(index: usize, status: PhaseStatus, has_list: bool, draft: &mut Draft, notes: &mut Notes<'_>) {
    let last_listed = draft.content.phases.iter().rposition(|phase| phase.status.is_done());
    let phase = &mut draft.content.phases[index];
    let id = phase.id.clone();
    let (is_listed, failed) = (phase.status.is_done(), phase.status == PhaseStatus::Failed);
    let advanced = has_list && index > 0 && last_listed == Some(index - 1);
    let mut say = |severity, code, message: String| notes.doubt_at(severity, code, "/phase_status", &message);
    match status {
        PhaseStatus::Failed => {
            if is_listed {
                let message = format!("phase {id} is listed as completed, but failed; the failure counts");
                say(Severity::Advice, Code::RecordsDisagree, message);
            }
            phase.completed_at = None;
            stand(phase, status);
        }
        _ if failed => {}
        PhaseStatus::Complete | PhaseStatus::Skipped if is_listed => {}
        PhaseStatus::Complete if advanced => {
            let message = format!(
                "taken as the status of the phase before: {id} is the next one, and not listed as completed"
            );
            say(Severity::Info, Code::RecordsDisagree, message);
        }
        PhaseStatus::Complete => {
            if has_list {
                let message = format!("phase {id} is complete, but missing in the list of completed phases");
                say(Severity::Info, Code::RecordsDisagree, message);
            }
            stand(phase, status);
        }
        open if is_listed => {
            let message = format!("phase {id} is {}, but listed as completed; the list counts", open.word());
            say(Severity::Advice, Code::RecordsDisagree, message);
        }
        status => stand(phase, status),
    }
}

/// Reads who agreed to what. An agreement without a time of its own is as old as the file.
fn read_approvals(value: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    for (index, entry) in value.as_array().into_iter().flatten().take(MAX_PHASES).enumerate() {
        let at = pointer(&["user_checkpoints", &index.to_string()]);
        let said = entry.is_string() || entry["approved"] == true || entry.get("approved_at").is_some();
        if !said || entry["approved"] == false {
            continue;
        }
        let Some(index) = place(&named_phase(entry), &at, &mut draft.content.phases, notes) else { continue };
        let fact = format!("phases/{}/approved_at", draft.content.phases[index].id);
        let own = notes.time(&fact, &entry["approved_at"], &format!("{at}/approved_at"));
        let granted = entry["approved_at"].is_null() && (entry.is_string() || entry["approved"] == true);
        let Some(time) = own.or(draft.recorded_at.filter(|_| granted)) else { continue };
        if own.is_none() {
            let message = "the approval names no time; that of the file is taken";
            notes.doubt_at(Severity::Info, Code::TimeAssumed, &at, message);
        }
        let approval = draft.content.phases[index].approval.get_or_insert_with(|| Approval {
            required: false,
            approved_at: None,
            approved_by: None,
            evidence: None,
            extra: Default::default(),
        });
        approval.approved_at = Some(time);
        approval.approved_by = first(entry, &["approved_by", "by"]).and_then(|(_, by)| word(by));
    }
}

/// The id of the phase that tasks belong to unless they say otherwise.
fn of_tasks(phases: &[Phase]) -> Option<PhaseId> {
    known_phases::position(phases, "IMPLEMENTATION").map(|index| phases[index].id.clone())
}

#[cfg(test)]
mod tests;
