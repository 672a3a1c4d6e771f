//! Phases as the readers build them: ids, statuses, and the lists of the built-in pipelines.

use serde_json::{Map, Value};

use super::read_log::ReadLog;
use ckpt_model::builtin;
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
use ckpt_model::phase_name::{PhaseMatch, find_phase, is_number};

/// Returns the phases of a built-in pipeline, all pending, with their names and descriptions.
pub(super) fn builtin(pipeline: &str) -> Vec<Phase> {
    let Some(builtin) = builtin::find(pipeline) else { return Vec::new() };
    let specs = builtin.pipeline(0).phases.into_iter();
    specs
        .map(|spec| {
            let mut phase = Phase::pending(spec.id.clone());
            spec.describe(&mut phase);
            phase
        })
        .collect()
}

/// Parses the id of a phase: a number, or a text. A text that is too long or has a comma is made to fit.
pub(super) fn phase_id(value: &Value) -> Option<PhaseId> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.trim().parse().ok().or_else(|| {
            let fitting: String = text.trim().replace(',', ";").chars().take(64).collect();
            fitting.trim().parse().ok()
        }),
        _ => None,
    }
}

/// Returns the index of the phase with this id, ignoring case.
pub(super) fn position(phases: &[Phase], id: &str) -> Option<usize> {
    phases.iter().position(|phase| phase.id.as_str().eq_ignore_ascii_case(id))
}

/// Returns the index of the phase that a text names, in any spelling. A number that names none, or a text that names
/// several, is never the id of another phase: that is a finding.
pub(super) fn find_named(
    phases: &[Phase],
    id: &PhaseId,
    pointer: &str,
    log: &mut ReadLog<'_>,
) -> Result<Option<usize>, NoPhase> {
    let message = match find_phase(phases, id.as_str()) {
        PhaseMatch::One(index) => return Ok(Some(index)),
        PhaseMatch::None if !is_number(id.as_str()) => return Ok(None),
        PhaseMatch::None => format!("there is no phase {id}; nothing is concluded from it"),
        PhaseMatch::Several(candidates) => {
            let names = candidates.iter().map(PhaseId::as_str).collect::<Vec<_>>().join(" or ");
            format!("phase {id} may be {names}; nothing is concluded from it")
        }
    };
    log.finding_at(Severity::Confirm, Code::PhaseUnreadable, pointer, &message);
    Err(NoPhase)
}

/// The text names no phase, and cannot be the id of another one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoPhase;

/// Returns a phase with a status and nothing else.
pub(super) fn phase_with_status(id: PhaseId, status: PhaseStatus) -> Phase {
    let mut phase = Phase::pending(id);
    set_status(&mut phase, status);
    phase
}

/// Sets the status of a phase. A phase that was started counts one attempt.
pub(super) fn set_status(phase: &mut Phase, status: PhaseStatus) {
    phase.status = status;
    phase.attempts = u32::from(!matches!(status, PhaseStatus::Pending | PhaseStatus::Skipped));
}

/// Returns the word for a status in systems that write `completed`.
pub(super) fn completed_word(status: PhaseStatus) -> &'static str {
    match status {
        PhaseStatus::Complete => "completed",
        other => other.word(),
    }
}

/// Returns the word for the status of a workflow in systems that write `completed`.
pub(super) fn completed_workflow_word(status: WorkflowStatus) -> &'static str {
    match status {
        WorkflowStatus::Complete => "completed",
        other => other.word(),
    }
}

/// True if the text in the place of a phase id means that all phases are done.
pub(super) fn is_all_done_word(text: &str) -> bool {
    let text = text.trim();
    ["complete", "completed", "done", "finished"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns the data of a phase; none if it is not an object.
pub(super) fn phase_data(phase: &Phase) -> Map<String, Value> {
    match phase.data.as_ref().map(Json::to_value) {
        Some(Ok(Value::Object(members))) => members,
        _ => Map::new(),
    }
}

/// Joins the ids of phases for a message.
pub(super) fn join_ids<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> String {
    phases.into_iter().map(|phase| phase.id.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imported_workflow_starts_with_the_phases_of_the_pipeline() {
        let phases = builtin("dotagent");
        assert_eq!(join_ids(&phases), "REQUIREMENTS, ARCHITECTURE, IMPLEMENTATION, VERIFICATION, REFLECTION");
        assert_eq!(phases[0].outputs[0].path, "memory/reports/demand.json");
        assert!(phases[1].approval.as_ref().unwrap().required);
        assert_eq!(position(&phases, "verification"), Some(3));
        assert_eq!(position(&phases, "deploy"), None);
        assert_eq!(builtin("nobody"), []);
    }

    #[test]
    fn a_word_for_all_done_is_not_a_phase() {
        for word in ["complete", "DONE", "Completed", "finished"] {
            assert!(is_all_done_word(word), "{word}");
        }
        for word in ["4", "REFLECTION", "verified", "implemented", "pending", "failed", ""] {
            assert!(!is_all_done_word(word), "{word}");
        }
    }
}
