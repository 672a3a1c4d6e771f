//! The last error, and the phase that failed.

use serde_json::Value;

use super::members::member;
use super::phases::ReadPhases;
use crate::dialects::numbered_phases::{logged_phase_id, parse_phase_id};
use crate::dialects::read_log::ReadLog;
use ckpt_model::checkpoint::{LastError, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
use ckpt_model::time::Timestamp;

/// The last error, with or without a time.
#[derive(Default)]
pub(super) struct ReportedError {
    pub(super) dated: Option<LastError>,
    pub(super) undated: Option<String>,
}

/// Reads the last error and marks the phase that failed: it is not complete, whatever the other members have.
pub(super) fn read(
    main: &Value,
    status: WorkflowStatus,
    recorded_at: Option<Timestamp>,
    phases: &mut ReadPhases,
    log: &mut ReadLog<'_>,
) -> ReportedError {
    let in_state = |key: &str| {
        let value = main.get("error_state")?.get(key).filter(|value| !value.is_null())?;
        Some((value, format!("/error_state/{key}")))
    };
    let reported = member(main, "last_error").filter(|(value, _)| *value != "");
    let reported = reported.or_else(|| in_state("last_error")).filter(|(value, _)| *value != "");
    let message = reported.as_ref().map(|(value, place)| {
        let message = error_message(value);
        log.origin("last_error", &message, place);
        message
    });
    let failed = in_state("failed_state").filter(|(value, _)| *value != "");
    let failed = match failed {
        Some((state, place)) => failed_phase(state, &place, phases, log),
        None if status == WorkflowStatus::Failed => open_current(phases),
        None => None,
    };
    if let Some(id) = &failed
        && let Some(phase) = phases.list.iter_mut().find(|phase| phase.id == *id)
    {
        phase.status = PhaseStatus::Failed;
        phase.attempts = phase.attempts.max(1);
        phase.completed_at = None;
        phase.error.clone_from(&message);
    }
    let (Some(message), Some((value, place))) = (message, reported) else { return ReportedError::default() };
    let at = value.get("timestamp").unwrap_or(&Value::Null);
    let at = log.time("last_error/at", at, &format!("{place}/timestamp")).or(recorded_at);
    let Some(at) = at else { return ReportedError { dated: None, undated: Some(message) } };
    let id = value.get("phase").unwrap_or(&Value::Null);
    let named = logged_phase_id(id, &format!("{place}/phase"), log);
    let phase = named.or(failed).or_else(|| open_current(phases));
    ReportedError { dated: Some(LastError { message, phase, at, extra: Default::default() }), undated: None }
}

/// Returns the current phase, unless it is done.
fn open_current(phases: &ReadPhases) -> Option<PhaseId> {
    let current = phases.current.as_ref()?;
    let is_open = |phase: &&Phase| phase.id == *current && !phase.status.is_done();
    phases.list.iter().find(is_open).map(|phase| phase.id.clone())
}

/// Returns the phase of the failed state, or the current one if no phase has that name.
fn failed_phase(state: &Value, place: &str, phases: &ReadPhases, log: &mut ReadLog<'_>) -> Option<PhaseId> {
    let id = parse_phase_id(state);
    let is_failed =
        |phase: &&Phase| Some(&phase.id) == id.as_ref() || phase.name.as_deref().is_some_and(|name| *state == name);
    let Some(phase) = phases.list.iter().find(is_failed) else {
        let current = open_current(phases);
        if current.is_none() {
            let message = format!("{state} failed, but is none of the phases");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        return current;
    };
    log.origin(format!("phases/{}/status", phase.id), "failed", place);
    if phase.status.is_done() {
        let message = format!("phase {} is listed as completed, but failed; it is not complete", phase.id);
        log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
    }
    Some(phase.id.clone())
}

/// Returns the message of an error: a text, a member of an object, or the value as JSON.
fn error_message(value: &Value) -> String {
    let message = ["message", "error", "description", "reason"].iter().find_map(|key| value.get(key)?.as_str());
    message.or(value.as_str()).map_or_else(|| value.to_string(), str::to_owned)
}
