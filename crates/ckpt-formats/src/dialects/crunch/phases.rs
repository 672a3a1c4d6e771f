//! The phases of an issue. Those before the current one are taken as complete.

use serde_json::Value;

use super::read::text;
use crate::dialects::draft::Draft;
use crate::dialects::phase_list::{self, phase_id};
use crate::dialects::read_log::ReadLog;
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseStatus};

/// Stands in an id of a checkpoint that is about no phase.
pub(super) const NO_PHASE: &str = "none";

/// Returns the name of the current phase and its place; the most explicit place takes precedence.
fn current_phase(main: &Value, companion: Option<&Value>) -> Option<(String, &'static str)> {
    const PLACES: [&str; 2] = ["/workflow_state/current_phase", "/workflow_state/current_state_label"];
    let stated = PLACES.into_iter().find_map(|place| text(main, place).map(|word| (word, place)));
    let indexed = || companion.and_then(|entry| text(entry, "/phase")).map(|word| (word, "index: /phase"));
    let named = || {
        let id = text(main, "/checkpoint_id")?.strip_prefix("CP-")?;
        let phase = id.split('-').next()?;
        if phase == NO_PHASE { None } else { Some((phase, "/checkpoint_id")) }
    };
    let (word, place) = stated.or_else(indexed).or_else(named)?;
    Some((word.strip_prefix("state:").unwrap_or(word).trim().to_owned(), place))
}

pub(super) fn read(main: &Value, companion: Option<&Value>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Some((word, place)) = current_phase(main, companion) else {
        let message = "the checkpoint does not say which phase it is about";
        return log.finding(Severity::Confirm, Code::PhasesUnknown, message);
    };
    check_labels(main, companion, &word, log);
    let mut phases = phase_list::builtin("crunch");
    let all_done = phase_list::is_all_done_word(&word);
    let named = phase_id(&word.as_str().into()).map(|id| phase_list::find_named(&phases, &id, place, log));
    let Ok(at) = named.unwrap_or(Ok(None)) else { return };
    let at = if all_done { at.or(phases.len().checked_sub(1)) } else { at };
    let stated = main.pointer("/workflow_state/status").unwrap_or(&Value::Null);
    let stated = log.status("status", stated, "/workflow_state/status");
    let Some(at) = at else {
        let Some(id) = phase_id(&word.as_str().into()) else {
            return log.unreadable_phase(place);
        };
        let message =
            format!("{word} is none of the phases that are known; what comes before and after it cannot be told");
        log.finding_at(Severity::Confirm, Code::PhasesUnknown, place, &message);
        phases = vec![Phase::pending(id)];
        return finish(main, phases, 0, stated, draft, log);
    };
    draft.content.pipeline = Some("crunch".to_owned());
    if at > 0 {
        let implied = phase_list::join_ids(&phases[..at]);
        let message = format!("{implied} are taken as complete, because {} comes behind", phases[at].id);
        log.finding_at(Severity::Info, Code::PhasesImplied, place, &message);
    }
    for phase in &mut phases[..at] {
        phase_list::set_status(phase, PhaseStatus::Complete);
    }
    log.origin("phase", &phases[at].id, place);
    let stated = if all_done { Some(PhaseStatus::Complete) } else { stated };
    finish(main, phases, at, stated, draft, log);
}

/// Sets the values of the current phase and the status of the workflow.
fn finish(
    main: &Value,
    mut phases: Vec<Phase>,
    at: usize,
    stated: Option<PhaseStatus>,
    draft: &mut Draft,
    log: &mut ReadLog<'_>,
) {
    let phase = &mut phases[at];
    phase_list::set_status(phase, stated.unwrap_or(PhaseStatus::InProgress));
    if let Some(attempts) = main.pointer("/workflow_state/phase_attempt").and_then(Value::as_u64) {
        phase.attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    }
    let started = main.pointer("/workflow_state/phase_started_at").unwrap_or(&Value::Null);
    let fact = format!("phases/{}/started_at", phase.id);
    phase.started_at = log.time(&fact, started, "/workflow_state/phase_started_at");
    let outputs = main.get("agent_outputs").filter(|outputs| outputs.as_object().is_some_and(|o| !o.is_empty()));
    phase.data = outputs.cloned().map(Json::Given);
    let top = log.workflow_status(main.get("status").unwrap_or(&Value::Null), "/status");
    let all_done = draft.content.pipeline.is_some() && phases.iter().all(|phase| phase.status.is_done());
    draft.content.status = if all_done { WorkflowStatus::Complete } else { top.unwrap_or_default() };
    draft.content.phase = Some(phases[at].id.clone());
    draft.content.phases = phases;
}

fn check_labels(main: &Value, companion: Option<&Value>, current: &str, log: &mut ReadLog<'_>) {
    let label = text(main, "/workflow_state/current_state_label");
    let label =
        label.map(|label| (label.strip_prefix("state:").unwrap_or(label), "/workflow_state/current_state_label"));
    let indexed = companion.and_then(|entry| text(entry, "/phase")).map(|phase| (phase, "index: /phase"));
    for (other, place) in [label, indexed].into_iter().flatten() {
        if !other.eq_ignore_ascii_case(current) {
            let message = format!("this says {other}, but the checkpoint is about {current}; the checkpoint counts");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }
}
