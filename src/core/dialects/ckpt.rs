//! The `ckpt` dialect: a checkpoint of this program, from another store or from `ckpt export --as ckpt`.

use serde_json::Value;

use super::draft::{Draft, WatchedPath};
use super::format::Format;
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use crate::core::checkpoint::{Checkpoint, WatchedFile};

pub(super) static FORMAT: Format = Format {
    word: "ckpt",
    text: "a checkpoint of ckpt",
    places: &[],
    recognises,
    read,
    write,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    ["version", "sha256", "workflow", "seq", "save_id"].iter().all(|key| main.get(key).is_some())
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    match serde_json::from_value::<Checkpoint>(main.clone()) {
        Ok(checkpoint) => draft(checkpoint, "", log),
        Err(_) => Draft::default(),
    }
}

fn write(checkpoint: &Checkpoint, _: Option<&DialectFiles>) -> Option<DialectFiles> {
    Some(DialectFiles { main: serde_json::to_value(checkpoint).ok()?, companion: None })
}

/// Returns the content of a checkpoint. The number, the parent and the writer belong to the other store.
pub(super) fn draft(checkpoint: Checkpoint, place: &str, log: &mut ReadLog<'_>) -> Draft {
    log.origin("workflow", &checkpoint.workflow, &format!("{place}/workflow"));
    log.origin("status", checkpoint.content.status.word(), &format!("{place}/status"));
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
