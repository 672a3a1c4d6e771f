//! The phases of an issue: those before the current one are taken as complete.

use serde_json::Value;

use super::read::text;
use crate::core::checkpoint::WorkflowStatus;
use crate::core::dialects::known_phases;
use crate::core::dialects::reading::{Draft, Notes, phase_id};
use crate::core::finding::{Code, Severity};
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseStatus};

/// Where a checkpoint says which phase it is about, the most explicit place first.
fn current(main: &Value, beside: Option<&Value>) -> Option<(String, &'static str)> {
    const PLACES: [&str; 2] = ["/workflow_state/current_phase", "/workflow_state/current_state_label"];
    let stated = PLACES.into_iter().find_map(|place| text(main, place).map(|word| (word, place)));
    let indexed = || beside.and_then(|entry| text(entry, "/phase")).map(|word| (word, "index: /phase"));
    let named = || {
        let id = text(main, "/checkpoint_id")?.strip_prefix("CP-")?;
        Some((id.split('-').next()?, "/checkpoint_id"))
    };
    let (word, place) = stated.or_else(indexed).or_else(named)?;
    Some((word.strip_prefix("state:").unwrap_or(word).trim().to_owned(), place))
}

pub(super) fn read(main: &Value, beside: Option<&Value>, draft: &mut Draft, notes: &mut Notes<'_>) {
    let Some((word, place)) = current(main, beside) else {
        let message = "the checkpoint does not say which phase it is about";
        return notes.doubt(Severity::Advice, Code::PhasesUnknown, message);
    };
    check_labels(main, beside, &word, notes);
    let mut phases = known_phases::of("crunch");
    let over = known_phases::says_all_done(&word);
    let at = known_phases::position(&phases, &word);
    let at = at.or_else(|| over.then(|| phases.len().saturating_sub(1)));
    let stated = main.pointer("/workflow_state/status").unwrap_or(&Value::Null);
    let stated = notes.status("status", stated, "/workflow_state/status");
    let Some(at) = at else {
        let Some(id) = phase_id(&word.as_str().into()) else {
            let message = "this cannot be the name of a phase; it is kept, but not followed";
            return notes.doubt_at(Severity::Advice, Code::PhaseUnreadable, place, message);
        };
        let message = format!(
            "{word} is none of the phases that are known; what comes before and after it cannot be told"
        );
        notes.doubt_at(Severity::Advice, Code::PhasesUnknown, place, &message);
        phases = vec![Phase::pending(id)];
        return settle(main, phases, 0, stated, draft, notes);
    };
    draft.content.pipeline = Some("crunch".to_owned());
    if at > 0 {
        let implied = known_phases::listed(&phases[..at]);
        let message = format!("{implied} are taken as complete, because {} comes behind", phases[at].id);
        notes.doubt_at(Severity::Info, Code::PhasesImplied, place, &message);
    }
    for phase in &mut phases[..at] {
        known_phases::stand(phase, PhaseStatus::Complete);
    }
    notes.found("phase", &phases[at].id, place);
    let stated = if over { Some(PhaseStatus::Complete) } else { stated };
    settle(main, phases, at, stated, draft, notes);
}

/// Says what is known of the current phase, and whether it was the last thing to do.
fn settle(
    main: &Value,
    mut phases: Vec<Phase>,
    at: usize,
    stated: Option<PhaseStatus>,
    draft: &mut Draft,
    notes: &mut Notes<'_>,
) {
    let phase = &mut phases[at];
    known_phases::stand(phase, stated.unwrap_or(PhaseStatus::InProgress));
    if let Some(attempts) = main.pointer("/workflow_state/phase_attempt").and_then(Value::as_u64) {
        phase.attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    }
    let started = main.pointer("/workflow_state/phase_started_at").unwrap_or(&Value::Null);
    let fact = format!("phases/{}/started_at", phase.id);
    phase.started_at = notes.time(&fact, started, "/workflow_state/phase_started_at");
    let outputs =
        main.get("agent_outputs").filter(|outputs| outputs.as_object().is_some_and(|o| !o.is_empty()));
    phase.data = outputs.cloned().map(Json::Given);
    let top = notes.workflow_status(main.get("status").unwrap_or(&Value::Null), "/status");
    let all_done = draft.content.pipeline.is_some() && phases.iter().all(|phase| phase.status.is_done());
    draft.content.status = if all_done { WorkflowStatus::Complete } else { top.unwrap_or_default() };
    draft.content.phase = Some(phases[at].id.clone());
    draft.content.phases = phases;
}

fn check_labels(main: &Value, beside: Option<&Value>, current: &str, notes: &mut Notes<'_>) {
    let label = text(main, "/workflow_state/current_state_label");
    let label = label
        .map(|label| (label.strip_prefix("state:").unwrap_or(label), "/workflow_state/current_state_label"));
    let indexed = beside.and_then(|entry| text(entry, "/phase")).map(|phase| (phase, "index: /phase"));
    for (other, place) in [label, indexed].into_iter().flatten() {
        if !other.eq_ignore_ascii_case(current) {
            let message =
                format!("this says {other}, but the checkpoint is about {current}; the checkpoint counts");
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }
}
