//! What the tests of every dialect need.

use std::path::Path;

use serde_json::Value;

use super::Dialect;
use super::reading::{Papers, Reading};
use super::source::{Document, Notation};
use crate::core::change::{Stamp, successor};
use crate::core::checkpoint::{Checkpoint, Writer};
use crate::core::json::Json;
use crate::core::time::Timestamp;

pub(super) fn read(dialect: Dialect, main: &Value, beside: Option<&Value>) -> Reading {
    let document = Document { notation: Notation::Json, value: main.clone(), lines: Vec::new() };
    dialect.read(&document, beside)
}

/// The words of the findings, in order.
pub(super) fn codes(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.code.word()).collect()
}

/// The checkpoint that an import makes, without the disk.
pub(super) fn imported(dialect: Dialect, main: &Value, beside: Option<&Value>) -> Checkpoint {
    let stamp = Stamp {
        now: Timestamp::parse("2026-11-01T12:00:00Z").unwrap(),
        save_id: "0".repeat(32),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    };
    let draft = read(dialect, main, beside).draft;
    let id = draft.workflow.as_deref().and_then(|id| id.parse().ok()).unwrap_or_else(|| "w".parse().unwrap());
    let mut checkpoint = draft.assemble(successor(&id, None, &stamp), Path::new("/project"));
    checkpoint.state = Json::Given(dialect.keep(Papers { main: main.clone(), beside: beside.cloned() }));
    checkpoint
}

/// Demands that what is imported and not changed is written back as the same JSON value.
#[track_caller]
pub(super) fn round_trip(dialect: Dialect, main: &Value, beside: Option<&Value>) {
    let written = dialect.write(&imported(dialect, main, beside), Path::new("/project")).unwrap();
    assert_eq!(written, Papers { main: main.clone(), beside: beside.cloned() });
}
