//! Writing the file of a phase.

use serde_json::{Map, Value, json};

use crate::dialects::times::duration;
use ckpt_model::checkpoint::{Artifact, Checkpoint};
use ckpt_model::phase::Phase;

/// The artifacts of every task; null until the file exists.
const ARTIFACT_SLOTS: [&str; 4] = ["s1", "s2", "s3", "s4"];

/// Writes the file of the current phase, else of the last one that is done, else of the first one.
pub(super) fn write(checkpoint: &Checkpoint) -> Value {
    let content = &checkpoint.content;
    let current = content.phase.as_ref().and_then(|id| content.find_phase(id));
    let phase = current.or_else(|| content.done().last()).or_else(|| content.phases.first());
    let recorded_next = content.next.as_ref();
    let next_phase = recorded_next
        .and_then(|next| next.phase.clone())
        .or_else(|| content.remaining().next().map(|phase| phase.id.clone()));
    let next_action = recorded_next
        .and_then(|next| next.action.clone())
        .or_else(|| content.find_phase(next_phase.as_ref()?)?.action.clone());
    let data = phase.and_then(|phase| phase.data.as_ref()?.to_value().ok()).unwrap_or_else(|| json!({}));
    let mut document = json!({
        "version": "1.0",
        "taskId": checkpoint.workflow,
        "slug": content.title,
        "phase": phase.map(|phase| &phase.id),
        "phaseName": phase.map(|phase| phase.name.as_deref().unwrap_or(phase.id.as_str())),
        "timestamp": checkpoint.saved_at,
        "command": null,
        "status": phase.map(|phase| phase.status.word()),
        "artifacts": write_artifacts(&content.artifacts),
        "phaseData": data,
        "validation": data.get("validation"),
        "reflection": data.get("reflection"),
        "nextPhase": next_phase,
        "nextAction": next_action,
        "metadata": {},
    });
    if let Some(seconds) = phase.and_then(duration) {
        document["metadata"]["duration"] = format!("{}s", seconds.round()).into();
    }
    if let Some(error) = phase.and_then(|phase| open_error(checkpoint, phase)) {
        document["error"] = error.into();
    }
    document
}

/// Returns the error of a phase that is not done.
fn open_error<'c>(checkpoint: &'c Checkpoint, phase: &'c Phase) -> Option<&'c str> {
    if phase.status.is_done() {
        return None;
    }
    if let Some(error) = &phase.error {
        return Some(error);
    }
    let last = checkpoint.content.last_error.as_ref()?;
    if last.phase.as_ref() == Some(&phase.id) { Some(&last.message) } else { None }
}

/// Writes the artifacts by name. One that is named by its path goes to the slot in its file name: `042-S2-SPEC-search.md`.
fn write_artifacts(artifacts: &[Artifact]) -> Map<String, Value> {
    let mut members: Map<String, Value> = ARTIFACT_SLOTS.iter().map(|slot| ((*slot).to_owned(), Value::Null)).collect();
    let (by_path, by_name): (Vec<_>, Vec<_>) = artifacts.iter().partition(|artifact| artifact.name == artifact.path);
    for artifact in by_name {
        members.insert(artifact.name.clone(), artifact.path.as_str().into());
    }
    for artifact in by_path {
        let path = artifact.path.to_ascii_lowercase();
        let slot = ARTIFACT_SLOTS.iter().find(|slot| members[**slot].is_null() && path.contains(&format!("-{slot}-")));
        let key = slot.map_or(artifact.name.as_str(), |slot| slot);
        members.insert(key.to_owned(), artifact.path.as_str().into());
    }
    members
}
