//! Reading and writing documents as an import and an export do, without a disk.

use std::path::Path;

use ckpt_formats::dialects::{Dialect, DialectFiles, Document, Reading};
use ckpt_formats::import::{ForeignFile, Importer, ReadOptions};
use ckpt_model::change::Stamp;
use ckpt_model::json::overlay;
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::size::Size;
use ckpt_model::{Checkpoint, Timestamp};
use ckpt_store::Store;
use ckpt_store::{Located, OsDisk};
use serde_json::Value;

/// The project of all files; it is not there.
pub(super) const PROJECT: &str = "/project";

/// Reads a file of `tests/fixtures/dialects`.
pub(super) fn fixture(path: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dialects");
    serde_json::from_slice(&std::fs::read(root.join(path)).unwrap()).unwrap()
}

/// Returns the checkpoint that the import of a file makes.
pub(super) fn checkpoint_of(file: &ForeignFile) -> Checkpoint {
    let located = Located { root: Path::new(PROJECT).join(".ckpt"), project: PROJECT.into() };
    let store: Store<OsDisk> = Store::at(&located).unwrap();
    let stamp = stamp();
    let importer = Importer { store: &store, project: Path::new(PROJECT), max_file: Size(1 << 20), stamp: &stamp };
    let workflow = file.workflow().unwrap_or_else(|_| "w".parse().unwrap());
    *importer.checkpoint(file, &workflow, None)
}

pub(super) fn stamp() -> Stamp {
    let now = Timestamp::parse("2026-11-01T12:00:00Z").unwrap();
    Stamp { now, save_id: "0".repeat(32), writer: Default::default(), git: None, watched: Vec::new() }
}

pub(super) fn imported(dialect: Dialect, main: &Value, companion: Option<&Value>) -> Checkpoint {
    let options = ReadOptions { dialect: Some(dialect), list: None, allow_secrets: true };
    let parsed = ForeignFile::parse("w.json", main.to_string().as_bytes(), &options, |_, _| companion.cloned());
    checkpoint_of(&parsed.unwrap())
}

pub(super) fn read(dialect: Dialect, main: &Value, companion: Option<&Value>) -> Reading {
    dialect.read(&Document::of(main.clone()), companion)
}

pub(super) fn write(dialect: Dialect, checkpoint: &Checkpoint) -> DialectFiles {
    dialect.write(checkpoint).unwrap()
}

/// Returns a document with some members replaced or added.
pub(super) fn with(mut document: Value, changes: Value) -> Value {
    overlay(&mut document, changes);
    document
}

/// Changes a checkpoint as a later save does that enters a phase.
pub(super) fn enter_phase(checkpoint: &mut Checkpoint, id: &PhaseId, status: PhaseStatus) {
    checkpoint.saved_at = Timestamp::parse("2026-12-01T12:00:00Z").unwrap();
    let phase = checkpoint.content.phases.iter_mut().find(|phase| phase.id == *id).unwrap();
    phase.enter(status, checkpoint.saved_at);
    checkpoint.content.phase = Some(id.clone());
    checkpoint.content.next = None;
}
