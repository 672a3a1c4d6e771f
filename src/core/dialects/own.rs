//! The `ckpt` dialect: a checkpoint of this program, from another store or from `ckpt export --as ckpt`.

use serde_json::Value;

use super::reading::{Draft, Mention, Notes, Watch};
use crate::core::checkpoint::{Artifact, Checkpoint};

pub(super) fn recognises(main: &Value) -> bool {
    ["version", "sha256", "workflow", "seq", "save_id"].iter().all(|key| main.get(key).is_some())
}

/// The number, the parent and the writer are those of another store and are not taken over.
pub(super) fn read(main: &Value, notes: &mut Notes<'_>) -> Draft {
    let Ok(whole) = serde_json::from_value::<Checkpoint>(main.clone()) else { return Draft::default() };
    notes.found("workflow", &whole.workflow, "/workflow");
    notes.found("status", whole.status.word(), "/status");
    let mention = |artifact: &Artifact| Mention {
        recorded: artifact.size.zip(artifact.sha256),
        ..Mention::new(&artifact.name, &artifact.path)
    };
    Draft {
        workflow: Some(whole.workflow.to_string()),
        recorded_at: Some(whole.saved_at),
        trigger: Some(whole.trigger),
        status: whole.status,
        phase: whole.phase,
        next: whole.next,
        title: whole.title,
        pipeline: whole.pipeline,
        phases: whole.phases,
        tasks: whole.tasks,
        artifacts: whole.artifacts.iter().map(mention).collect(),
        watched: whole
            .context
            .watched
            .iter()
            .map(|file| Watch { path: file.path.clone(), modified_at: None })
            .collect(),
        replans: whole.replans,
        git: whole.context.git,
        labels: whole.context.labels,
        last_error: whole.last_error,
        note: whole.note,
        state: whole.state.to_value().ok(),
        extra: whole.extra,
        ..Draft::default()
    }
}

pub(super) fn write(checkpoint: &Checkpoint) -> Option<Value> {
    serde_json::to_value(checkpoint).ok()
}
