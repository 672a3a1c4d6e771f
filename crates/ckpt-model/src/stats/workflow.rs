//! Statistics of one workflow.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::checkpoint::{Checkpoint, WorkflowStatus};
use crate::format::{Header, PhaseLine};
use crate::next_phase::{PhaseState, RunState};
use crate::phase::{PhaseId, PhaseStatus};
use crate::progress::durations;
use crate::selector::Handle;
use crate::time::Timestamp;
use crate::trigger::Trigger;
use crate::workflow_id::WorkflowId;

/// The statistics of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkflowStats {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The checkpoint that these numbers were taken from.
    pub handle: Handle,
    /// Where it stands.
    pub status: WorkflowStatus,
    /// Its phases, in order.
    pub phases: Vec<PhaseStats>,
    /// The phase that took longest.
    pub longest: Option<PhaseId>,
    /// How often phases were begun, all together.
    pub attempts: u64,
    /// How often a phase was saved as failed.
    pub failures: usize,
    /// How often phases were reopened.
    pub replans: usize,
    /// How many checkpoints were taken, by why, as far as they can be read.
    pub triggers: BTreeMap<String, usize>,
    /// How many numbers are taken, live or archived.
    pub checkpoints: u64,
    /// How much room the live ones take.
    pub live_bytes: u64,
    /// When it was first saved, as far as that can be read.
    pub first_saved_at: Option<Timestamp>,
    /// When it was last saved.
    pub last_saved_at: Timestamp,
}

/// The statistics of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseStats {
    /// The phase.
    pub id: PhaseId,
    /// Its name.
    pub name: Option<String>,
    /// Where it stands.
    pub status: PhaseStatus,
    /// How long it took; none if it is not done, or that was not recorded.
    pub seconds: Option<u64>,
    /// How often it was begun.
    pub attempts: u32,
    /// How often it was saved as failed.
    pub failures: usize,
    /// How often it was reopened.
    pub replans: usize,
}

impl WorkflowStats {
    /// Counts what happened in a workflow whose newest checkpoint with content is `newest`, by the moments of its checkpoints
    /// in their order.
    #[must_use]
    pub fn new(newest: &Checkpoint, moments: &[CheckpointCounts], checkpoints: u64, live_bytes: u64) -> Self {
        let mut triggers: BTreeMap<String, usize> = BTreeMap::new();
        let mut failures: BTreeMap<PhaseId, usize> = BTreeMap::new();
        for moment in moments {
            *triggers.entry(moment.trigger.word().to_owned()).or_default() += 1;
            if let Some(phase) = &moment.failed {
                *failures.entry(phase.clone()).or_default() += 1;
            }
        }
        let run = RunState::recorded(&newest.content);
        let phase = |(phase, seconds): (&crate::phase::Phase, Option<u64>)| PhaseStats {
            id: phase.id.clone(),
            name: phase.name.clone(),
            // As everywhere: what is not part of the run is not left to do.
            status: match run.state(&phase.id) {
                Some(PhaseState::SkippedByInference) => PhaseStatus::Skipped,
                _ => phase.status,
            },
            seconds,
            attempts: phase.attempts,
            failures: failures.get(&phase.id).copied().unwrap_or_default(),
            replans: newest.content.replans.iter().filter(|replan| replan.phase == phase.id).count(),
        };
        let phases: Vec<PhaseStats> = newest.content.phases.iter().zip(durations(newest)).map(phase).collect();
        let longest = phases.iter().filter(|phase| phase.seconds.is_some()).max_by_key(|phase| phase.seconds);
        Self {
            workflow: newest.workflow.clone(),
            handle: newest.handle(),
            status: newest.content.status,
            longest: longest.map(|phase| phase.id.clone()),
            attempts: phases.iter().map(|phase| u64::from(phase.attempts)).sum(),
            failures: failures.values().sum(),
            replans: newest.content.replans.len(),
            phases,
            triggers,
            checkpoints,
            live_bytes,
            first_saved_at: moments.first().map(|moment| moment.saved_at),
            last_saved_at: newest.saved_at,
        }
    }
}

/// The counts that one checkpoint adds.
#[derive(Debug)]
pub struct CheckpointCounts {
    saved_at: Timestamp,
    trigger: Trigger,
    /// The phase that it says has failed.
    failed: Option<PhaseId>,
}

impl CheckpointCounts {
    /// Returns the counts that the checkpoint of this header adds.
    #[must_use]
    pub fn of(header: Header) -> Self {
        let is_failed =
            |phase: &PhaseLine| phase.status == PhaseStatus::Failed && header.phase.as_ref() == Some(&phase.id);
        let failed = header.phases.iter().any(is_failed);
        Self { saved_at: header.saved_at, trigger: header.trigger, failed: if failed { header.phase } else { None } }
    }
}
