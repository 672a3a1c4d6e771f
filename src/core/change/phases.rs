//! Declaring and finding phases.

use super::error::ChangeError;
use crate::core::checkpoint::Content;
use crate::core::phase::{MAX_PHASES, Phase, PhaseId, PhaseStatus};
use crate::core::pipeline::Pipeline;

/// Declares the phases of `pipeline`. A phase that is known already keeps its record.
pub(super) fn declare(next: &mut Content, pipeline: &Pipeline) -> Result<(), ChangeError> {
    if pipeline.phases.len() > MAX_PHASES {
        return Err(ChangeError::TooMany { what: "phases", limit: MAX_PHASES });
    }
    let mut known = std::mem::take(&mut next.phases);
    for spec in &pipeline.phases {
        let mut phase = match known.iter().position(|phase| phase.id == spec.id) {
            Some(index) => known.remove(index),
            None => Phase::pending(spec.id.clone()),
        };
        spec.describe(&mut phase);
        next.phases.push(phase);
    }
    if let Some(worked_on) = known.into_iter().find(|phase| phase.status != PhaseStatus::Pending) {
        return Err(ChangeError::DropsPhase { phase: worked_on.id });
    }
    next.pipeline = Some(pipeline.name.clone());
    Ok(())
}

/// Returns the index of a known phase.
pub(super) fn find_phase(next: &Content, id: &PhaseId) -> Result<usize, ChangeError> {
    next.phases.iter().position(|phase| phase.id == *id).ok_or_else(|| {
        let legal = next.phases.iter().map(|phase| phase.id.clone()).collect();
        ChangeError::UnknownPhase { given: id.clone(), legal }
    })
}

/// Returns the index of a phase. Without a declared pipeline, an unknown phase is added at the end.
pub(super) fn find_or_add(next: &mut Content, id: &PhaseId) -> Result<usize, ChangeError> {
    match find_phase(next, id) {
        Err(unknown) if next.is_declared() => return Err(unknown),
        Err(_) => {}
        found => return found,
    }
    if next.phases.len() >= MAX_PHASES {
        return Err(ChangeError::TooMany { what: "phases", limit: MAX_PHASES });
    }
    next.phases.push(Phase::pending(id.clone()));
    Ok(next.phases.len() - 1)
}
