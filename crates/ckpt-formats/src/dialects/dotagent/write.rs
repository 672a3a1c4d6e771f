//! Writing `phase.json` and `execution.json`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::execution;
use crate::dialects::reading::DialectFiles;
use ckpt_model::checkpoint::{Artifact, Checkpoint};
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
use ckpt_model::time::Timestamp;

/// Writes both files. A phase that is done is always listed, so that `current_phase` is unambiguous.
pub(super) fn write(checkpoint: &Checkpoint) -> DialectFiles {
    let current = checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let current =
        current.or_else(|| checkpoint.content.remaining().next()).or_else(|| checkpoint.content.phases.last());
    let approved = checkpoint.content.phases.iter().filter_map(|phase| {
        let approval = phase.approval.as_ref()?;
        let mut entry = json!({"phase": phase.id, "approved_at": approval.approved_at?});
        if let Some(by) = &approval.approved_by {
            entry["approved_by"] = by.as_str().into();
        }
        Some(entry)
    });
    // The system advances to the next phase and leaves the status of the one that is done.
    let done = current.filter(|phase| phase.status.is_done());
    let pointer = done.and_then(|_| following(checkpoint)).or(current);
    let mut main = json!({
        "workflow_id": checkpoint.workflow,
        "started_at": started_at(checkpoint),
        "last_updated": checkpoint.saved_at,
        "current_phase": pointer.map(|phase| &phase.id),
        "phase_status": current.map(|phase| phase.status.word()),
        "completed_phases": write_completed(checkpoint),
        "user_checkpoints": approved.collect::<Vec<_>>(),
        "interruption_safe": true,
    });
    let failed = current.filter(|phase| phase.status == PhaseStatus::Failed);
    if let Some(error) = failed.and_then(|phase| phase.error.as_deref()) {
        main["error"] = error.into();
    }
    DialectFiles { main, companion: Some(execution::write(&checkpoint.content.tasks)) }
}

/// Returns the phase behind the last one that is done, if the work goes on there.
fn following(checkpoint: &Checkpoint) -> Option<&Phase> {
    let phases = &checkpoint.content.phases;
    let last = phases.iter().rposition(|phase| phase.status.is_done())?;
    phases.get(last + 1).filter(|phase| phase.status == PhaseStatus::Pending)
}

/// Returns the start of the work: the earliest time of a phase.
fn started_at(checkpoint: &Checkpoint) -> Timestamp {
    let times = checkpoint.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]);
    times.flatten().min().unwrap_or(checkpoint.saved_at)
}

/// Writes the phases that are done, each with the artifacts it has produced, else with the outputs of the pipeline.
fn write_completed(checkpoint: &Checkpoint) -> Vec<Value> {
    let owners = ArtifactOwners::new(checkpoint);
    let mut produced: HashMap<&PhaseId, Vec<&str>> = HashMap::new();
    for artifact in &checkpoint.content.artifacts {
        if let Some(owner) = owners.of(artifact) {
            produced.entry(owner).or_default().push(&artifact.path);
        }
    }
    let entry = |phase: &Phase| match produced.get(&phase.id) {
        Some(files) => write_entry(phase, files),
        None if phase.status == PhaseStatus::Complete => {
            let promised: Vec<&str> = phase.outputs.iter().map(|output| output.path.as_str()).collect();
            write_entry(phase, &promised)
        }
        None => write_entry(phase, &[]),
    };
    checkpoint.content.done().map(entry).collect()
}

/// The phases that are done, by their ids and the paths of their outputs.
struct ArtifactOwners<'c> {
    by_id: HashMap<&'c str, &'c PhaseId>,
    by_output: HashMap<&'c str, &'c PhaseId>,
}

impl<'c> ArtifactOwners<'c> {
    fn new(checkpoint: &'c Checkpoint) -> Self {
        let (mut by_id, mut by_output) = (HashMap::new(), HashMap::new());
        for phase in checkpoint.content.done() {
            by_id.entry(phase.id.as_str()).or_insert(&phase.id);
            for output in &phase.outputs {
                by_output.entry(output.path.as_str()).or_insert(&phase.id);
            }
        }
        Self { by_id, by_output }
    }

    /// Returns the phase that produced an artifact: the one that recorded it, the one it is named after, or the one that
    /// has it as an output.
    fn of(&self, artifact: &Artifact) -> Option<&'c PhaseId> {
        let recorded = artifact.phase.as_ref().and_then(|phase| self.by_id.get(phase.as_str()));
        let named = || self.by_id.get(artifact.name.as_str());
        recorded.or_else(named).or_else(|| self.by_output.get(artifact.path.as_str())).copied()
    }
}

/// Writes an entry of the list. One file is a text, as the system writes it; several are a list.
fn write_entry(phase: &Phase, files: &[&str]) -> Value {
    let output = match files {
        [] => Value::Null,
        [only] => (*only).into(),
        several => json!(several),
    };
    let mut entry = Map::from_iter([
        ("phase".to_owned(), json!(phase.id)),
        ("completed_at".to_owned(), json!(phase.completed_at)),
        ("output".to_owned(), output),
    ]);
    if phase.status == PhaseStatus::Skipped {
        entry.insert("status".to_owned(), phase.status.word().into());
    }
    entry.into()
}
