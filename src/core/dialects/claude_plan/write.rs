//! Writing the file of a plan.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::read::DURATION;
use crate::core::checkpoint::{Artifact, Checkpoint, WorkflowStatus};
use crate::core::dialects::numbered_phases;
use crate::core::dialects::phase_list::{completed_word, completed_workflow_word, phase_data, phase_id};
use crate::core::dialects::replans;
use crate::core::dialects::times::duration;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};

/// Writes the members that the checkpoint determines. The caller adds the others of an imported document.
pub(super) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let plan = match imported {
        // The first watched file may be another one by now.
        Some(main) => main.get("plan_path").cloned(),
        None => checkpoint.context.watched.first().map(|plan| plan.path.as_str().into()),
    };
    let content = &checkpoint.content;
    let reported = content.phase.as_ref().and_then(|id| content.find_phase(id)).filter(has_metadata);
    let reported = reported.or_else(|| content.phases.iter().rfind(has_metadata)).map(|phase| &phase.id);
    let current = content.next.as_ref().and_then(|next| next.phase.clone());
    let current = current.or_else(|| content.remaining().next().map(|phase| phase.id.clone()));
    let current = current.or_else(|| after_last(checkpoint)).or_else(|| content.phase.clone());
    let artifacts = PhaseArtifacts::new(checkpoint, imported);
    let metadata = content.phases.iter().filter(has_metadata).map(|phase| {
        let paths = artifacts.of(phase, reported == Some(&phase.id));
        (phase.id.to_string(), write_metadata(phase, paths))
    });
    let counts = imported.and_then(|main| main.get("replan_count"));
    let mut document = json!({
        "workflow_id": checkpoint.workflow,
        "plan_path": plan,
        "current_phase": current.as_ref().map(numbered_phases::to_json),
        "completed_phases": content.done().map(|phase| numbered_phases::to_json(&phase.id)).collect::<Vec<_>>(),
        "phase_metadata": metadata.collect::<Map<_, _>>(),
        "replan_history": replans::history(&content.replans),
        "replan_count": replans::counts(&content.replans, counts, ""),
        "artifact_paths": {},
        "context_metadata": {},
    });
    let has = |key: &str| imported.is_some_and(|main| main.get(key).is_some());
    let numbered = |phase: &Phase| numbered_phases::number_of(&phase.id).is_some();
    if content.is_declared()
        && content.phases.iter().all(numbered)
        && (imported.is_none() || has("total_phases"))
    {
        document["total_phases"] = content.phases.len().into();
    }
    if has("status") || content.status != WorkflowStatus::InProgress {
        document["status"] = completed_workflow_word(content.status).into();
    }
    document
}

/// Returns the phase behind the last one: the current phase of this system when all phases are done.
fn after_last(checkpoint: &Checkpoint) -> Option<PhaseId> {
    let last =
        checkpoint.content.phases.iter().filter_map(|phase| numbered_phases::number_of(&phase.id)).max()?;
    last.checked_add(1)?.to_string().parse().ok()
}

/// True if there is anything to record about a phase.
fn has_metadata(phase: &&Phase) -> bool {
    phase.status != PhaseStatus::Pending || phase.data.is_some()
}

fn write_metadata(phase: &Phase, artifacts: Option<Value>) -> Value {
    let mut members = phase_data(phase);
    members.insert("status".to_owned(), completed_word(phase.status).into());
    if let Some(at) = phase.completed_at {
        members.insert("timestamp".to_owned(), at.to_string().into());
    }
    if let Some(minutes) = duration(phase).map(|seconds| (seconds / 0.6).round() / 100.0) {
        let whole = format!("{minutes}").parse::<u64>().ok();
        members.insert(DURATION.to_owned(), whole.map_or_else(|| json!(minutes), Value::from));
    }
    if let Some(error) = &phase.error {
        members.insert("error".to_owned(), error.as_str().into());
    }
    if let Some(artifacts) = artifacts {
        members.entry("artifacts").or_insert(artifacts);
    }
    Value::Object(members)
}

/// The paths of artifacts by the phase that lists them: the phase in the imported document, else the one that recorded
/// the artifact, else the one that the checkpoint reports on.
struct PhaseArtifacts<'c> {
    imported: HashMap<PhaseId, Vec<&'c str>>,
    new: Vec<&'c str>,
}

impl<'c> PhaseArtifacts<'c> {
    fn new(checkpoint: &'c Checkpoint, document: Option<&Value>) -> Self {
        let mut owners: HashMap<&str, PhaseId> = HashMap::new();
        let mut imported: HashMap<PhaseId, Vec<&str>> = HashMap::new();
        let metadata = document.and_then(|main| main.get("phase_metadata")).and_then(Value::as_object);
        for (key, value) in metadata.into_iter().flatten() {
            let paths = value.get("artifacts").and_then(Value::as_array);
            let (Some(id), Some(paths)) = (phase_id(&key.as_str().into()), paths) else { continue };
            imported.entry(id.clone()).or_default();
            owners.extend(paths.iter().filter_map(Value::as_str).map(|path| (path, id.clone())));
        }
        let mut new: Vec<&str> = Vec::new();
        for Artifact { name, path, phase, .. } in &checkpoint.content.artifacts {
            // The name of an imported artifact is its path as written.
            let owner = owners.get(name.as_str()).or_else(|| owners.get(path.as_str())).cloned();
            let begun = |id: &&PhaseId| checkpoint.content.find_phase(id).as_ref().is_some_and(has_metadata);
            match owner.or_else(|| phase.as_ref().filter(begun).cloned()) {
                Some(owner) => imported.entry(owner).or_default().push(path),
                None => new.push(path),
            }
        }
        Self { imported, new }
    }

    /// Returns the list of a phase; `None` if it had none and is not the one that the checkpoint reports on.
    fn of(&self, phase: &Phase, is_reported: bool) -> Option<Value> {
        let imported = self.imported.get(&phase.id);
        if imported.is_none() && !is_reported {
            return None;
        }
        let mut paths = imported.cloned().unwrap_or_default();
        if is_reported {
            paths.extend(&self.new);
        }
        Some(json!(paths))
    }
}
