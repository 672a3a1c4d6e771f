//! Declaring and finding phases.

use super::error::ChangeError;
use crate::checkpoint::Content;
use crate::phase::{MAX_PHASES, Phase, PhaseId, PhaseStatus};
use crate::phase_name::{self, PhaseMatch};
use crate::pipeline::Pipeline;

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

/// Returns the index of the phase that a user named.
pub(super) fn find_phase(next: &Content, named: &PhaseId) -> Result<usize, ChangeError> {
    match phase_name::find_phase(&next.phases, named.as_str()) {
        PhaseMatch::One(index) => Ok(index),
        PhaseMatch::Several(candidates) => Err(ChangeError::AmbiguousPhase { given: named.clone(), candidates }),
        PhaseMatch::None => {
            let legal = next.phases.iter().map(|phase| phase.id.clone()).collect();
            Err(ChangeError::UnknownPhase { given: named.clone(), legal })
        }
    }
}

/// Returns the index of a phase. Without a declared pipeline, any other id is that of a new phase, added at the end.
pub(super) fn find_or_add(next: &mut Content, id: &PhaseId) -> Result<usize, ChangeError> {
    if next.is_declared() {
        return find_phase(next, id);
    }
    if let Some(index) = next.phases.iter().position(|phase| phase.id == *id) {
        return Ok(index);
    }
    if next.phases.len() >= MAX_PHASES {
        return Err(ChangeError::TooMany { what: "phases", limit: MAX_PHASES });
    }
    next.phases.push(Phase::pending(id.clone()));
    Ok(next.phases.len() - 1)
}
