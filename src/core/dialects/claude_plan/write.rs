//! Writing the file of a plan.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::core::checkpoint::{Artifact, Checkpoint};
use crate::core::dialects::checkpoint_part::phase_data;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::phase_list::{completed_word, phase_id};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};

/// Writes the members that the checkpoint determines. The caller adds the others of an imported document.
pub(in crate::core::dialects) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
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
    let mut counts: Map<String, Value> = Map::new();
    for replan in &content.replans {
        let before = counts.get(replan.phase.as_str()).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(replan.phase.to_string(), json!(before + 1));
    }
    let history = content.replans.iter().map(|replan| {
        json!({"phase": numbered_phases::to_json(&replan.phase), "reason": replan.reason, "timestamp": replan.at})
    });
    json!({
        "workflow_id": checkpoint.workflow,
        "plan_path": plan,
        "current_phase": current.as_ref().map(numbered_phases::to_json),
        "completed_phases": content.done().map(|phase| numbered_phases::to_json(&phase.id)).collect::<Vec<_>>(),
        "phase_metadata": metadata.collect::<Map<_, _>>(),
        "replan_history": history.collect::<Vec<_>>(),
        "replan_count": counts,
        "artifact_paths": {},
        "context_metadata": {},
    })
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
    if let Some(error) = &phase.error {
        members.insert("error".to_owned(), error.as_str().into());
    }
    if let Some(artifacts) = artifacts {
        members.entry("artifacts").or_insert(artifacts);
    }
    Value::Object(members)
}

/// The paths of artifacts by the phase that lists them: the phase in the imported document, else the one that the
/// checkpoint reports on.
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
        let mut new = Vec::new();
        for Artifact { name, path, .. } in &checkpoint.content.artifacts {
            // The name of an imported artifact is its path as written.
            let owner = owners.get(name.as_str()).or_else(|| owners.get(path.as_str()));
            owner.and_then(|id| imported.get_mut(id)).unwrap_or(&mut new).push(path);
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
