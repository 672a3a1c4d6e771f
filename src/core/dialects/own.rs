//! The `ckpt` dialect: a checkpoint of this program, from another store or from `ckpt export --as ckpt`.

use serde_json::Value;

use super::reading::{Draft, Notes, Watch};
use crate::core::checkpoint::{Checkpoint, WatchedFile};

pub(super) fn recognises(main: &Value) -> bool {
    ["version", "sha256", "workflow", "seq", "save_id"].iter().all(|key| main.get(key).is_some())
}

/// The number, the parent and the writer are those of another store and are not taken over.
pub(super) fn read(main: &Value, notes: &mut Notes<'_>) -> Draft {
    let Ok(whole) = serde_json::from_value::<Checkpoint>(main.clone()) else { return Draft::default() };
    notes.found("workflow", &whole.workflow, "/workflow");
    notes.found("status", whole.content.status.word(), "/status");
    let watch = |file: WatchedFile| Watch { path: file.path, modified_at: None };
    Draft {
        workflow: Some(whole.workflow.to_string()),
        recorded_at: Some(whole.saved_at),
        trigger: Some(whole.trigger),
        content: whole.content,
        watched: whole.context.watched.into_iter().map(watch).collect(),
        git: whole.context.git,
        note: whole.note,
        ..Draft::default()
    }
}

pub(super) fn write(checkpoint: &Checkpoint) -> Option<Value> {
    serde_json::to_value(checkpoint).ok()
}
