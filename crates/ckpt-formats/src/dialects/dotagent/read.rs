//! Reading `phase.json`.

use serde_json::Value;

use super::{PHASES, PIPELINE, execution};
use crate::dialects::draft::Draft;
use crate::dialects::members::{elements, error_text, first_member, paths, pointer, text_or_number};
use crate::dialects::phase_list::{self, is_all_done_word, join_ids, set_status};
use crate::dialects::read_log::ReadLog;
use ckpt_model::checkpoint::{Artifact, Content, LastError, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{Approval, MAX_PHASES, Phase, PhaseStatus};

pub(super) fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    let has_builtin_phase = || {
        let current = main["current_phase"].as_str().unwrap_or_default();
        phase_list::position(&phase_list::builtin(PIPELINE), current.trim()).is_some()
    };
    has("phase_status")
        && has("current_phase")
        && !(has("plan_path") || has("phase_metadata") || has("checkpoint_id"))
        && (has("user_checkpoints") || has("interruption_safe") || (has("completed_phases") && has_builtin_phase()))
}

pub(super) fn read(main: &Value, companion: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let content =
        Content { pipeline: Some(PIPELINE.to_owned()), phases: phase_list::builtin(PIPELINE), ..Content::default() };
    let mut draft = Draft { workflow: text_or_number(&main["workflow_id"]), content, ..Draft::default() };
    if let Some(id) = &draft.workflow {
        log.origin("workflow", id, "/workflow_id");
    }
    draft.recorded_at = log
        .time("saved_at", &main["last_updated"], "/last_updated")
        .or_else(|| log.time("saved_at", &main["started_at"], "/started_at"));
    let has_list = read_completed(&main["completed_phases"], &mut draft, log);
    read_current(main, has_list, &mut draft, log);
    read_approvals(main, &mut draft, log);
    if draft.content.phases.iter().all(|phase| phase.status.is_done()) {
        draft.content.status = WorkflowStatus::Complete;
    }
    if let Some(companion) = companion {
        read_tasks(companion, &mut draft, log);
    }
    draft
}

/// Reads the tasks, unless they are of another workflow.
fn read_tasks(companion: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let other = companion.get("workflow_id").and_then(text_or_number);
    if let (Some(other), Some(own)) = (&other, &draft.workflow)
        && other != own
    {
        let message = format!("execution.json is of workflow {other}, and this of {own}; its tasks are not read");
        log.finding(Severity::Confirm, Code::RecordsDisagree, message);
        return;
    }
    draft.content.tasks = execution::read(companion, &draft.content.phases, log);
}

/// Returns the index of the phase that a value names. A phase that dotagent does not have is added.
fn find_or_add_phase(value: &Value, at: &str, phases: &mut Vec<Phase>, log: &mut ReadLog<'_>) -> Option<usize> {
    let id = log.phase_id(value, at)?;
    if is_all_done_word(id.as_str()) {
        let message = "this is no phase; it is kept, but not followed";
        log.finding_at(Severity::Info, Code::PhaseUnreadable, at, message);
        return None;
    }
    // The phases of dotagent have many spellings, those that a file adds have one.
    let own = phases.len().min(PHASES);
    let named = phase_list::find_named(&phases[..own], &id, at, log).ok()?;
    Some(named.or_else(|| phase_list::position(phases, id.as_str())).unwrap_or_else(|| {
        let message = format!("dotagent has no phase {id}; it is taken as one of its own");
        log.finding_at(Severity::Advice, Code::Imported, at, &message);
        phases.push(Phase::pending(id));
        phases.len() - 1
    }))
}

/// Reads the list of completed phases: objects or bare names, or an object by name. Returns false if there is none.
fn read_completed(value: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) -> bool {
    let entries: Vec<(String, Value, &Value)> = match value {
        Value::Array(entries) => {
            let indexed = entries.iter().take(MAX_PHASES).enumerate();
            indexed.map(|(index, entry)| (index.to_string(), phase_name(entry), entry)).collect()
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
        let Some(index) = find_or_add_phase(&name, &at, &mut draft.content.phases, log) else { continue };
        let phase = &mut draft.content.phases[index];
        read_entry(entry, &at, phase, log);
        if phase.status == PhaseStatus::Failed {
            failed.push(index);
        }
        let Some((key, output)) = first_member(entry, &["output", "outputs"]) else { continue };
        for (index, path) in paths(output).into_iter().enumerate() {
            log.origin("artifact", path, &format!("{at}/{key}"));
            let name = if index == 0 { phase.id.as_str() } else { path };
            let phase = Some(phase.id.clone());
            draft.content.artifacts.push(Artifact { phase, ..Artifact::new(name, path) });
        }
    }
    for index in failed {
        set_status(&mut draft.content.phases[index], PhaseStatus::Failed);
        draft.content.phases[index].completed_at = None;
    }
    true
}

/// Reads one entry of the list. Its phase is complete unless the entry has another status.
fn read_entry(entry: &Value, at: &str, phase: &mut Phase, log: &mut ReadLog<'_>) {
    let fact = format!("phases/{}", phase.id);
    let recorded = log.status(&format!("{fact}/status"), &entry["status"], &format!("{at}/status"));
    let status = recorded.unwrap_or_else(|| {
        log.origin(format!("{fact}/status"), "complete", at);
        PhaseStatus::Complete
    });
    set_status(phase, status);
    if !status.is_done() {
        let message = format!("listed as completed, but recorded as {}; the record counts", status.word());
        log.finding_at(Severity::Advice, Code::RecordsDisagree, at, &message);
    }
    let time = &entry["completed_at"];
    let time = log.time(&format!("{fact}/completed_at"), time, &format!("{at}/completed_at"));
    phase.completed_at = if status.is_done() { time } else { None };
}

/// Returns the member that names the phase of an entry, or the entry itself if it is a bare name.
pub(super) fn phase_name(entry: &Value) -> Value {
    match entry {
        Value::Object(_) => first_member(entry, &["phase", "name", "id"]).map_or(Value::Null, |(_, name)| name.clone()),
        name => name.clone(),
    }
}

fn read_current(main: &Value, has_list: bool, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let status = log.status("phase_status", &main["phase_status"], "/phase_status");
    let current = &main["current_phase"];
    if current.as_str().is_some_and(is_all_done_word) {
        draft.content.phase =
            draft.content.phases.iter().rfind(|phase| phase.status.is_done()).map(|phase| phase.id.clone());
        let open = join_ids(draft.content.phases.iter().filter(|phase| !phase.status.is_done()));
        if !open.is_empty() {
            let message = format!("everything is said to be done, but these are not listed as completed: {open}");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, "/current_phase", &message);
        }
        if let Some(status) = status
            && !status.is_done()
        {
            let message = format!("everything is said to be done, but also {}", status.word());
            log.finding_at(Severity::Advice, Code::RecordsDisagree, "/phase_status", &message);
        }
        return;
    }
    let Some(index) = find_or_add_phase(current, "/current_phase", &mut draft.content.phases, log) else {
        return;
    };
    let id = draft.content.phases[index].id.clone();
    log.origin("phase", &id, "/current_phase");
    if !has_list && index > 0 {
        for phase in &mut draft.content.phases[..index] {
            set_status(phase, PhaseStatus::Complete);
        }
        let message = format!("there is no list of completed phases; those before {id} are taken as complete");
        log.finding_at(Severity::Info, Code::PhasesImplied, "/current_phase", &message);
    }
    if let Some(status) = status {
        apply_phase_status(index, status, has_list, draft, log);
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
        draft.content.next = Some(Next { phase: Some(id.clone()), ..Next::default() });
    }
    draft.content.phase = Some(id);
}

/// Applies `phase_status` to the current phase by the table in the documentation of the dialect.
fn apply_phase_status(index: usize, status: PhaseStatus, has_list: bool, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let last_listed = draft.content.phases.iter().rposition(|phase| phase.status.is_done());
    let phase = &mut draft.content.phases[index];
    let id = phase.id.clone();
    let (is_listed, failed) = (phase.status.is_done(), phase.status == PhaseStatus::Failed);
    let advanced = has_list && index > 0 && last_listed == Some(index - 1);
    let mut finding = |severity, code, message: String| log.finding_at(severity, code, "/phase_status", &message);
    match status {
        PhaseStatus::Failed => {
            if is_listed {
                let message = format!("phase {id} is listed as completed, but failed; the failure counts");
                finding(Severity::Advice, Code::RecordsDisagree, message);
            }
            phase.completed_at = None;
            set_status(phase, status);
        }
        _ if failed => {}
        PhaseStatus::Complete | PhaseStatus::Skipped if is_listed => {}
        PhaseStatus::Complete if advanced => {
            let message =
                format!("taken as the status of the phase before: {id} is the next one, and not listed as completed");
            finding(Severity::Info, Code::RecordsDisagree, message);
        }
        PhaseStatus::Complete => {
            if has_list {
                let message = format!("phase {id} is complete, but missing in the list of completed phases");
                finding(Severity::Info, Code::RecordsDisagree, message);
            }
            set_status(phase, status);
        }
        open if is_listed => {
            let message = format!("phase {id} is {}, but listed as completed; the list counts", open.word());
            finding(Severity::Advice, Code::RecordsDisagree, message);
        }
        status => set_status(phase, status),
    }
}

/// Reads the approvals. An approval without a time has the time of the file.
fn read_approvals(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    for (index, entry) in elements(main, "user_checkpoints").take(MAX_PHASES).enumerate() {
        let at = pointer(&["user_checkpoints", &index.to_string()]);
        let is_approved = entry.is_string() || entry["approved"] == true || entry.get("approved_at").is_some();
        if !is_approved || entry["approved"] == false {
            continue;
        }
        let Some(index) = find_or_add_phase(&phase_name(entry), &at, &mut draft.content.phases, log) else {
            continue;
        };
        let fact = format!("phases/{}/approved_at", draft.content.phases[index].id);
        let own = log.time(&fact, &entry["approved_at"], &format!("{at}/approved_at"));
        let has_no_time = entry["approved_at"].is_null() && (entry.is_string() || entry["approved"] == true);
        let time = if has_no_time { draft.recorded_at } else { own };
        let Some(time) = time else { continue };
        if own.is_none() {
            let message = "the approval names no time; that of the file is taken";
            log.finding_at(Severity::Info, Code::TimeAssumed, &at, message);
        }
        let approval = draft.content.phases[index].approval.get_or_insert_with(Approval::default);
        approval.approved_at = Some(time);
        approval.approved_by = first_member(entry, &["approved_by", "by"]).and_then(|(_, by)| text_or_number(by));
    }
}
