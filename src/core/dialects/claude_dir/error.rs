//! What went wrong, and where.

use serde_json::Value;

use super::members::{bare, member, phase};
use super::phases::Found;
use crate::core::checkpoint::{LastError, WorkflowStatus};
use crate::core::dialects::reading::{Notes, phase_at};
use crate::core::finding::{Code, Severity};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// The last error; some documents say nowhere when they were saved.
#[derive(Default)]
pub(super) struct Reported {
    pub(super) dated: Option<LastError>,
    pub(super) undated: Option<String>,
}

/// Reads the last error and marks the phase that failed: whatever else is said about it, it is not complete.
pub(super) fn read(
    main: &Value,
    status: WorkflowStatus,
    recorded_at: Option<Timestamp>,
    found: &mut Found,
    notes: &mut Notes<'_>,
) -> Reported {
    let in_state = |key: &str| {
        let value = main.get("error_state")?.get(key).filter(|value| !value.is_null())?;
        Some((value, format!("/error_state/{key}")))
    };
    let reported = member(main, "last_error").filter(|(value, _)| *value != "");
    let reported = reported.or_else(|| in_state("last_error")).filter(|(value, _)| *value != "");
    let message = reported.as_ref().map(|(value, place)| {
        let message = sentence(value);
        notes.found("last_error", &message, place);
        message
    });
    let failed = in_state("failed_state").filter(|(value, _)| *value != "");
    let failed = match failed {
        Some((state, place)) => failed_phase(state, &place, found, notes),
        None => pending_current(found).filter(|_| status == WorkflowStatus::Failed),
    };
    if let Some(phase) = failed.as_ref().and_then(|id| found.phases.iter_mut().find(|phase| phase.id == *id))
    {
        let attempts = phase.attempts.max(phase_at(phase.id.clone(), PhaseStatus::Failed).attempts);
        phase.error.clone_from(&message);
        *phase = Phase { status: PhaseStatus::Failed, completed_at: None, attempts, ..phase.clone() };
    }
    let (Some(message), Some((value, place))) = (message, reported) else { return Reported::default() };
    let told = value.get("timestamp").map(|at| (at, format!("{place}/timestamp")));
    let at = told.and_then(|(at, place)| notes.time("last_error/at", at, &place)).or(recorded_at);
    let Some(at) = at else { return Reported { dated: None, undated: Some(message) } };
    let told = value.get("phase").and_then(|id| phase(id, &format!("{place}/phase"), notes));
    let phase = told.or(failed).or_else(|| pending_current(found));
    Reported { dated: Some(LastError { message, phase, at, extra: Default::default() }), undated: None }
}

fn pending_current(found: &Found) -> Option<PhaseId> {
    let current = found.current.as_ref()?;
    let open = |phase: &&Phase| phase.id == *current && !phase.status.is_done();
    found.phases.iter().find(open).map(|phase| phase.id.clone())
}

fn failed_phase(state: &Value, place: &str, found: &Found, notes: &mut Notes<'_>) -> Option<PhaseId> {
    let id = bare(state);
    let named = |phase: &&Phase| {
        Some(&phase.id) == id.as_ref() || phase.name.as_deref().is_some_and(|name| *state == name)
    };
    let Some(phase) = found.phases.iter().find(named) else {
        let current = pending_current(found);
        if current.is_none() {
            let message = format!("{state} failed, but is none of the phases");
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        return current;
    };
    notes.found(format!("phases/{}/status", phase.id), "failed", place);
    if phase.status.is_done() {
        let message = format!("phase {} is listed as completed, but failed; it is not complete", phase.id);
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
    }
    Some(phase.id.clone())
}

fn sentence(value: &Value) -> String {
    let told = ["message", "error", "description", "reason"].iter().find_map(|key| value.get(key)?.as_str());
    told.or(value.as_str()).map_or_else(|| value.to_string(), str::to_owned)
}
