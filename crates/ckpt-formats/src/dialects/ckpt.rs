//! The `ckpt` dialect: a checkpoint of this program, from another store or from `ckpt export --as ckpt`.

use serde_json::Value;

use super::draft::{Draft, WatchedPath};
use super::format::Format;
use super::read_log::ReadLog;
use ckpt_model::checkpoint::{Checkpoint, WatchedFile};

pub(super) static FORMAT: Format =
    Format { word: "ckpt", text: "a checkpoint of ckpt", places: &[], recognises, read, ..Format::ONLY_READ };

fn recognises(main: &Value) -> bool {
    ["version", "sha256", "workflow", "seq", "save_id"].iter().all(|key| main.get(key).is_some())
}

/// Reads the content of a checkpoint. The number, the parent and the writer belong to the other store.
fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let Ok(checkpoint) = serde_json::from_value::<Checkpoint>(main.clone()) else { return Draft::default() };
    log.origin("workflow", &checkpoint.workflow, "/workflow");
    log.origin("status", checkpoint.content.status.word(), "/status");
    let watched_path = |file: WatchedFile| WatchedPath { path: file.path, modified_at: None };
    Draft {
        workflow: Some(checkpoint.workflow.to_string()),
        recorded_at: Some(checkpoint.saved_at),
        trigger: Some(checkpoint.trigger),
        content: checkpoint.content,
        watched: checkpoint.context.watched.into_iter().map(watched_path).collect(),
        git: checkpoint.context.git,
        note: checkpoint.note,
        ..Draft::default()
    }
}
