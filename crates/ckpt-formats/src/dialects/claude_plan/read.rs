//! Reading the file of a plan.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::dialects::draft::{Draft, WatchedPath};
use crate::dialects::members::{count, elements, pointer};
use crate::dialects::numbered_phases;
use crate::dialects::phase_list::phase_with_status;
use crate::dialects::read_log::ReadLog;
use crate::dialects::replans;
use crate::dialects::times::{earlier, parse_duration};
use ckpt_model::checkpoint::{Artifact, LastError, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::Json;
use ckpt_model::phase::{MAX_PHASES, Phase, PhaseId, PhaseStatus};

/// The member with the length of a phase.
pub(super) const DURATION: &str = "duration_minutes";

pub(super) fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    has("workflow_id")
        && has("current_phase")
        && main.get("completed_phases").is_some_and(Value::is_array)
        && (has("plan_path") || has("phase_metadata") || has("replan_history"))
}

pub(super) fn read(main: &Value, log: &mut ReadLog<'_>) -> Draft {
    let text = |key: &str| main.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut draft = Draft { workflow: text("workflow_id").map(str::to_owned), ..Draft::default() };
    if let Some(id) = &draft.workflow {
        log.origin("workflow", id, "/workflow_id");
    }
    if let Some(plan) = text("plan_path") {
        log.origin("title", plan, "/plan_path");
        draft.content.title = Some(plan.to_owned());
        draft.watched.push(WatchedPath { path: plan.to_owned(), modified_at: None });
    }
    read_phases(main, &mut draft, log);
    let member = |key: &str| Some((main.get(key)?, pointer(&[key])));
    let replans = replans::read(member("replan_history"), member("replan_count"), None, log);
    (draft.content.replans, draft.undated_replans) = (replans.dated, replans.undated);
    let completed = draft.content.phases.iter().filter_map(|phase| phase.completed_at);
    draft.recorded_at = completed.chain(draft.content.replans.iter().map(|replan| replan.at)).max();
    draft.content.last_error = last_error(&draft);
    read_status(main, &mut draft, log);
    draft
}

/// Reads the status of the plan. One with all phases of its total is complete, whatever it says.
fn read_status(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let content = &mut draft.content;
    let stated = main.get("status").and_then(|status| log.workflow_status(status, "/status"));
    content.status = stated.unwrap_or_default();
    let all_done = content.phases.iter().all(|phase| phase.status.is_done());
    if content.is_declared() && all_done && content.status == WorkflowStatus::InProgress {
        content.status = WorkflowStatus::Complete;
    }
    // The pointer of a completed plan leads past its end.
    if content.status == WorkflowStatus::Complete && !content.is_declared() {
        let pointer = content.next.as_ref().and_then(|next| next.phase.clone());
        let untouched = |phase: &Phase| phase.status == PhaseStatus::Pending && phase.data.is_none();
        content.phases.retain(|phase| Some(&phase.id) != pointer.as_ref() || !untouched(phase));
    }
    let is_listed = |id: &PhaseId| content.phases.iter().any(|phase| phase.id == *id);
    if content.status == WorkflowStatus::Complete || content.is_declared() {
        content.next = content.next.take().filter(|next| next.phase.as_ref().is_some_and(&is_listed));
        let last = content.phases.iter().rfind(|phase| phase.status.is_done()).map(|phase| phase.id.clone());
        content.phase = content.phase.take().filter(is_listed).or(last);
    }
}

fn last_error(draft: &Draft) -> Option<LastError> {
    let failed = draft.content.phases.iter().find(|phase| phase.status == PhaseStatus::Failed)?;
    Some(LastError {
        message: failed.error.clone()?,
        phase: Some(failed.id.clone()),
        at: draft.recorded_at?,
        extra: Default::default(),
    })
}

fn read_phases(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let current = main.get("current_phase").and_then(|value| log.phase_id(value, "/current_phase"));
    let listed = main.get("completed_phases").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    log.check_phase_count(listed.len(), "/completed_phases");
    let mut completed = Vec::new();
    for (index, entry) in listed.iter().take(MAX_PHASES).enumerate() {
        let place = pointer(&["completed_phases", &index.to_string()]);
        completed.extend(log.phase_id(entry, &place).map(|id| (id, place)));
    }
    let empty = Map::new();
    let metadata = main.get("phase_metadata").and_then(Value::as_object).unwrap_or(&empty);
    log.check_phase_count(metadata.len(), "/phase_metadata");
    let described: Vec<(PhaseId, &Value, String)> = metadata
        .iter()
        .take(MAX_PHASES)
        .filter_map(|(key, value)| {
            let place = pointer(&["phase_metadata", key]);
            Some((log.phase_id(&Value::from(key.as_str()), &place)?, value, place))
        })
        .collect();
    let total = main.get("total_phases").and_then(count).filter(|total| *total > 0);
    let number = |id: &PhaseId| numbered_phases::number_of(id);
    let is_past_end = |id: &&PhaseId| total.is_some_and(|total| number(id) > Some(total));
    let pointer = current.as_ref().filter(|id| !is_past_end(id));
    let ids = completed.iter().map(|(id, _)| id).chain(described.iter().map(|(id, ..)| id)).chain(pointer);
    let mut seen = HashSet::new();
    let mentioned: Vec<PhaseId> = ids.filter(|id| seen.insert(*id)).cloned().collect();
    let numbered = numbered_phases::range(&mentioned, total);
    if let (Some(total), Some(_)) = (total, &numbered) {
        log.origin("total", total, "/total_phases");
        draft.content.pipeline = Some("claude-plan".to_owned());
    }
    let ids = numbered.unwrap_or(mentioned);
    draft.content.phases = ids.into_iter().map(Phase::pending).collect();
    for phase in &mut draft.content.phases {
        if let Some((_, place)) = completed.iter().find(|(id, _)| *id == phase.id) {
            log.origin(format!("phases/{}/status", phase.id), "complete", place);
            *phase = phase_with_status(phase.id.clone(), PhaseStatus::Complete);
        }
        if let Some((_, value, place)) = described.iter().find(|(id, ..)| *id == phase.id) {
            read_metadata(value, place, phase, &mut draft.content.artifacts, log);
        }
    }
    if let Some(current) = current {
        log.origin("phase", &current, "/current_phase");
        draft.content.next = Some(Next { phase: Some(current.clone()), ..Next::default() });
        draft.content.phase = Some(current);
    }
}

fn read_metadata(value: &Value, place: &str, phase: &mut Phase, artifacts: &mut Vec<Artifact>, log: &mut ReadLog<'_>) {
    let (id, is_listed) = (phase.id.clone(), phase.status == PhaseStatus::Complete);
    let recorded = value.get("status").unwrap_or(&Value::Null);
    let status = log.status(&format!("phases/{id}/status"), recorded, &format!("{place}/status"));
    if let Some(status) = status {
        if is_listed && !status.is_done() {
            let message =
                format!("phase {id} is listed as completed, but recorded as {}; the record counts", status.word());
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        *phase = phase_with_status(id.clone(), status);
    }
    let at = value.get("timestamp").unwrap_or(&Value::Null);
    phase.completed_at = log.time(&format!("phases/{id}/completed_at"), at, &format!("{place}/timestamp"));
    let minutes = value.get(DURATION).and_then(parse_duration);
    phase.started_at = phase.completed_at.zip(minutes).and_then(|(at, minutes)| earlier(at, minutes * 60.0));
    if phase.status == PhaseStatus::Failed {
        let error = ["error", "error_message", "last_error"].iter().find_map(|key| value.get(*key)?.as_str());
        phase.error = error.map(str::to_owned);
    }
    for (index, path) in elements(value, "artifacts").enumerate() {
        if let Some(path) = path.as_str() {
            log.origin("artifact", path, &format!("{place}/artifacts/{index}"));
            artifacts.push(Artifact { phase: Some(id.clone()), ..Artifact::new(path, path) });
        }
    }
    phase.data = read_data(value, phase, status.is_some());
}

/// Returns the data of a phase: the members of its metadata that were not read as anything else.
fn read_data(metadata: &Value, phase: &Phase, has_status: bool) -> Option<Json> {
    let mut members = metadata.as_object()?.clone();
    if has_status {
        members.shift_remove("status");
    }
    if phase.completed_at.is_some() {
        members.shift_remove("timestamp");
    }
    if phase.started_at.is_some() {
        members.shift_remove(DURATION);
    }
    if phase.error.is_some() && members.get("error").is_some_and(Value::is_string) {
        members.shift_remove("error");
    }
    if let Some(Value::Array(paths)) = members.get("artifacts")
        && paths.iter().all(Value::is_string)
    {
        members.shift_remove("artifacts");
    }
    if members.is_empty() { None } else { Some(Json::Given(members.into())) }
}
