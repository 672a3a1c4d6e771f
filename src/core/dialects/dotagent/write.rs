//! Writing `phase.json` and `execution.json`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::execution;
use super::read::phase_name;
use crate::core::checkpoint::{Artifact, Checkpoint};
use crate::core::dialects::members::{first_member, paths, text_or_number};
use crate::core::dialects::reading::DialectFiles;
use crate::core::dialects::times::ParsedTime;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// Writes both files. A phase that is done is always listed, so that `current_phase` is unambiguous.
pub(super) fn write(checkpoint: &Checkpoint, files: Option<&DialectFiles>) -> DialectFiles {
    let imported = files.map(|files| &files.main);
    let tasks = files.and_then(|files| files.companion.as_ref());
    let current = checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let current = current
        .or_else(|| checkpoint.content.remaining().next())
        .or_else(|| checkpoint.content.phases.last());
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
        "started_at": write_start(checkpoint, imported),
        "last_updated": checkpoint.saved_at,
        "current_phase": pointer.map(|phase| &phase.id),
        "phase_status": current.map(|phase| phase.status.word()),
        "completed_phases": write_completed(checkpoint, imported),
        "user_checkpoints": approved.collect::<Vec<_>>(),
        "interruption_safe": !imported.is_some_and(|imported| is_unsafe(imported, checkpoint.saved_at)),
    });
    let failed = current.filter(|phase| phase.status == PhaseStatus::Failed);
    if let Some(error) = failed.and_then(|phase| phase.error.as_deref()) {
        main["error"] = error.into();
    }
    DialectFiles { main, companion: Some(execution::write(&checkpoint.content.tasks, tasks)) }
}

/// Returns the phase behind the last one that is done, if the work goes on there.
fn following(checkpoint: &Checkpoint) -> Option<&Phase> {
    let phases = &checkpoint.content.phases;
    let last = phases.iter().rposition(|phase| phase.status.is_done())?;
    phases.get(last + 1).filter(|phase| phase.status == PhaseStatus::Pending)
}

/// Returns the start of the work: that of the imported file, else the earliest time of a phase.
fn write_start(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    if let Some((_, start)) = imported.and_then(|imported| first_member(imported, &["started_at"])) {
        return start.clone();
    }
    let times = checkpoint.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]);
    match times.flatten().min() {
        Some(earliest) => earliest.to_string().into(),
        None if imported.is_none() => checkpoint.saved_at.to_string().into(),
        None => Value::Null,
    }
}

/// True if the imported file was being written when it was read, and nothing was saved since.
fn is_unsafe(imported: &Value, saved_at: Timestamp) -> bool {
    let recorded = ParsedTime::parse(&imported["last_updated"]).timestamp();
    let recorded = recorded.or_else(|| ParsedTime::parse(&imported["started_at"]).timestamp());
    imported["interruption_safe"] == false && recorded.is_none_or(|recorded| recorded == saved_at)
}

/// Writes the phases that are done, each with the artifacts it has produced, else with the outputs of the pipeline.
fn write_completed(checkpoint: &Checkpoint, imported: Option<&Value>) -> Vec<Value> {
    let owners = ArtifactOwners::new(checkpoint, imported);
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

/// The phases that are done, by the names and paths of their artifacts.
struct ArtifactOwners<'c> {
    by_id: HashMap<&'c str, &'c PhaseId>,
    by_imported_path: HashMap<&'c str, &'c PhaseId>,
    by_output: HashMap<&'c str, &'c PhaseId>,
}

impl<'c> ArtifactOwners<'c> {
    fn new(checkpoint: &'c Checkpoint, imported: Option<&'c Value>) -> Self {
        let (mut by_id, mut by_imported_path, mut by_output) =
            (HashMap::new(), HashMap::new(), HashMap::new());
        let mut by_lower_id = HashMap::new();
        for phase in checkpoint.content.done() {
            by_id.entry(phase.id.as_str()).or_insert(&phase.id);
            by_lower_id.entry(phase.id.as_str().to_ascii_lowercase()).or_insert(&phase.id);
            for output in &phase.outputs {
                by_output.entry(output.path.as_str()).or_insert(&phase.id);
            }
        }
        for entry in
            imported.and_then(|imported| imported["completed_phases"].as_array()).into_iter().flatten()
        {
            let phase =
                text_or_number(&phase_name(entry)).and_then(|id| by_lower_id.get(&id.to_ascii_lowercase()));
            let (Some(phase), Some((_, output))) = (phase, first_member(entry, &["output", "outputs"]))
            else {
                continue;
            };
            for path in paths(output) {
                by_imported_path.entry(path).or_insert(*phase);
            }
        }
        Self { by_id, by_imported_path, by_output }
    }

    /// Returns the phase that produced an artifact: the one it is named after, the one that listed it in the imported
    /// file, or the one that has it as an output.
    fn of(&self, artifact: &Artifact) -> Option<&'c PhaseId> {
        let (name, path) = (artifact.name.as_str(), artifact.path.as_str());
        let recorded = artifact.phase.as_ref().and_then(|phase| self.by_id.get(phase.as_str()));
        recorded
            .or_else(|| self.by_id.get(name))
            .or_else(|| self.by_imported_path.get(path))
            .or_else(|| self.by_imported_path.get(name))
            .or_else(|| self.by_output.get(path))
            .copied()
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
