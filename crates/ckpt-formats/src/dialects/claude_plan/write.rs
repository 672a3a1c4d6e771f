//! Writing the file of a plan.

use serde_json::{Map, Value, json};

use super::read::DURATION;
use crate::dialects::numbered_phases;
use crate::dialects::phase_list::{completed_word, completed_workflow_word, phase_data};
use crate::dialects::replans;
use crate::dialects::times::duration;
use ckpt_model::checkpoint::{Artifact, Checkpoint, WorkflowStatus};
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};

/// Writes a plan.
pub(super) fn write(checkpoint: &Checkpoint) -> Value {
    let content = &checkpoint.content;
    let reported = content.phase.as_ref().and_then(|id| content.find_phase(id)).filter(has_metadata);
    let reported = reported.or_else(|| content.phases.iter().rfind(has_metadata)).map(|phase| &phase.id);
    let current = content.next.as_ref().and_then(|next| next.phase.clone());
    let current = current.or_else(|| content.remaining().next().map(|phase| phase.id.clone()));
    let current = current.or_else(|| after_last(checkpoint)).or_else(|| content.phase.clone());
    let metadata = content.phases.iter().filter(has_metadata).map(|phase| {
        let paths = artifacts(checkpoint, phase, reported == Some(&phase.id));
        (phase.id.to_string(), write_metadata(phase, paths))
    });
    let mut document = json!({
        "workflow_id": checkpoint.workflow,
        "plan_path": checkpoint.context.watched.first().map(|plan| &plan.path),
        "current_phase": current.as_ref().map(numbered_phases::to_json),
        "completed_phases": content.done().map(|phase| numbered_phases::to_json(&phase.id)).collect::<Vec<_>>(),
        "phase_metadata": metadata.collect::<Map<_, _>>(),
        "replan_history": replans::history(&content.replans),
        "replan_count": replans::counts(&content.replans, ""),
        "artifact_paths": {},
        "context_metadata": {},
    });
    let numbered = |phase: &Phase| numbered_phases::number_of(&phase.id).is_some();
    if content.is_declared() && content.phases.iter().all(numbered) {
        document["total_phases"] = content.phases.len().into();
    }
    if content.status != WorkflowStatus::InProgress {
        document["status"] = completed_workflow_word(content.status).into();
    }
    document
}

/// Returns the phase behind the last one: the current phase of this system when all phases are done.
fn after_last(checkpoint: &Checkpoint) -> Option<PhaseId> {
    let last = checkpoint.content.phases.iter().filter_map(|phase| numbered_phases::number_of(&phase.id)).max()?;
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

/// Returns the paths of the artifacts of a phase. The phase that the checkpoint reports on has those that no phase with
/// metadata has; another phase without any has no list.
fn artifacts(checkpoint: &Checkpoint, phase: &Phase, is_reported: bool) -> Option<Value> {
    let content = &checkpoint.content;
    let owner = |artifact: &Artifact| {
        let owner = artifact.phase.as_ref().and_then(|id| content.find_phase(id));
        owner.filter(has_metadata).map(|owner| owner.id.clone())
    };
    let is_listed = |artifact: &&Artifact| owner(artifact).map_or(is_reported, |owner| owner == phase.id);
    let paths: Vec<&str> = content.artifacts.iter().filter(is_listed).map(|artifact| artifact.path.as_str()).collect();
    (is_reported || !paths.is_empty()).then(|| json!(paths))
}
