//! The phases of a system whose whole list is known, because it is one of the pipelines that come with the program.

use crate::core::builtin;
use crate::core::phase::{Phase, PhaseStatus};

/// The phases of the built-in pipeline, as a workflow that follows it begins: named, described, not begun.
pub(super) fn of(pipeline: &str) -> Vec<Phase> {
    let specs = builtin::find(pipeline).map(|builtin| builtin.pipeline(0).phases).unwrap_or_default();
    let declared = specs.into_iter().map(|spec| {
        let mut phase = Phase::pending(spec.id.clone());
        spec.describe(&mut phase);
        phase
    });
    declared.collect()
}

/// The place of the phase with that id, whatever its case.
pub(super) fn position(phases: &[Phase], id: &str) -> Option<usize> {
    phases.iter().position(|phase| phase.id.as_str().eq_ignore_ascii_case(id))
}

/// Records where a phase stands; of one that was begun, one attempt is known.
pub(super) fn stand(phase: &mut Phase, status: PhaseStatus) {
    phase.status = status;
    phase.attempts = u32::from(!matches!(status, PhaseStatus::Pending | PhaseStatus::Skipped));
}

/// Whether a text that should name a phase says instead that all of them are done.
pub(super) fn says_all_done(text: &str) -> bool {
    let text = text.trim();
    ["complete", "completed", "done", "finished"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The ids, as a sentence lists them.
pub(super) fn listed<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> String {
    phases.into_iter().map(|phase| phase.id.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imported_workflow_begins_with_the_phases_of_the_pipeline() {
        let phases = of("dotagent");
        assert_eq!(listed(&phases), "REQUIREMENTS, ARCHITECTURE, IMPLEMENTATION, VERIFICATION, REFLECTION");
        assert_eq!(phases[0].outputs[0].path, "memory/reports/demand.json");
        assert!(phases[1].approval.as_ref().unwrap().required);
        assert_eq!(position(&phases, "verification"), Some(3));
        assert_eq!(position(&phases, "deploy"), None);
        assert_eq!(of("nobody"), []);
    }

    #[test]
    fn a_word_for_all_done_is_told_from_a_phase() {
        for word in ["complete", "DONE", "Completed", "finished"] {
            assert!(says_all_done(word), "{word}");
        }
        for word in ["4", "REFLECTION", "verified", "implemented", "pending", "failed", ""] {
            assert!(!says_all_done(word), "{word}");
        }
    }
}
