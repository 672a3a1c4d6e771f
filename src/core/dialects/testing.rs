//! Helpers for the tests of dialects.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::dialect::Dialect;
use super::document::{Document, Notation};
use super::draft::Draft;
use super::reading::{DialectFiles, Reading};
use crate::core::change::{Stamp, next_checkpoint};
use crate::core::checkpoint::{Checkpoint, Writer};
use crate::core::json::overlay;
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

pub(super) fn read(dialect: Dialect, main: &Value, companion: Option<&Value>) -> Reading {
    let document = Document { notation: Notation::Json, value: main.clone(), lines: BTreeMap::new() };
    dialect.read(&document, companion)
}

/// Returns the codes of the findings, in order.
pub(super) fn codes(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.code.word()).collect()
}

/// Returns the checkpoint that an import makes, without the disk.
pub(super) fn imported(dialect: Dialect, main: &Value, companion: Option<&Value>) -> Checkpoint {
    let stamp = Stamp {
        now: Timestamp::parse("2026-11-01T12:00:00Z").unwrap(),
        save_id: "0".repeat(32),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    };
    let mut draft = read(dialect, main, companion).draft;
    let files = DialectFiles { main: main.clone(), companion: companion.cloned() };
    draft.content.state = dialect.imported_state(files, &draft.content.state);
    let id = draft.workflow.as_deref().and_then(|id| id.parse().ok()).unwrap_or_else(|| "w".parse().unwrap());
    draft.assemble(*next_checkpoint(&id, None, &stamp), Path::new("/project"))
}

/// Asserts that an import without changes is written back as the same JSON value.
#[track_caller]
pub(super) fn round_trip(dialect: Dialect, main: &Value, companion: Option<&Value>) {
    let written = dialect.write(&imported(dialect, main, companion), Path::new("/project")).unwrap();
    assert_eq!(written, DialectFiles { main: main.clone(), companion: companion.cloned() });
}

/// Returns a document with some members replaced or added.
pub(super) fn with(mut document: Value, changes: Value) -> Value {
    overlay(&mut document, changes);
    document
}

/// Returns a document without a member.
pub(super) fn without(mut document: Value, key: &str) -> Value {
    document.as_object_mut().unwrap().shift_remove(key);
    document
}

/// Returns the ids of the phases that are done.
pub(super) fn done(draft: &Draft) -> Vec<&str> {
    let done = draft.content.phases.iter().filter(|phase| phase.status.is_done());
    done.map(|phase| phase.id.as_str()).collect()
}

/// Returns the ids of the phases with their statuses.
pub(super) fn phases(draft: &Draft) -> Vec<(&str, &str)> {
    draft.content.phases.iter().map(|phase| (phase.id.as_str(), phase.status.word())).collect()
}

/// Changes a checkpoint like a later save that enters a phase.
pub(super) fn enter_phase(checkpoint: &mut Checkpoint, phase: &str, status: PhaseStatus) {
    checkpoint.saved_at = Timestamp::parse("2026-12-01T12:00:00Z").unwrap();
    let id: PhaseId = phase.parse().unwrap();
    let phase = checkpoint.content.phases.iter_mut().find(|phase| phase.id == id).unwrap();
    phase.enter(status, checkpoint.saved_at);
    checkpoint.content.phase = Some(id);
    checkpoint.content.next = None;
}

/// Any small JSON value, often one of a kind that occurs in checkpoints.
pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let words = select(vec![
        "",
        " ",
        "complete",
        "DONE",
        "failed",
        "in_progress",
        "pending",
        "skipped",
        "odd?",
        "2",
        "phase 3a",
        "REFLECTION",
        "implementation",
        "task-1",
        "a,b",
        "a.md",
        "2026-02-03T10:00:00Z",
        "2026-02-03",
        "\u{1b}[0m",
        "\u{8a2d}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..6).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    nested(leaf, &["id", "phase", "status", "path", "message", "tasks", "approved", "x"])
}

/// An object with any choice of these members, each with a fitting value or any other, and an unknown one.
pub(super) fn objects(members: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let member = |(key, fitting): (&'static str, BoxedStrategy<Value>)| {
        prop_oneof![
            6 => fitting.prop_map(Some),
            1 => any_value().prop_map(Some),
            1 => Just(None),
        ]
        .prop_map(move |value| value.map(|value| (key.to_owned(), value)))
        .boxed()
    };
    let unknown = any_value().prop_map(|value| Some(("nobody_knows".to_owned(), value))).boxed();
    let members: Vec<_> = members.into_iter().map(member).chain([unknown]).collect();
    members.prop_map(|members| members.into_iter().flatten().collect()).boxed()
}

/// A nested JSON value with these words among its texts, in objects with these keys.
pub(super) fn nested_values(
    words: &'static [&'static str],
    keys: &'static [&'static str],
) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..9_u64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z_0-9]{0,8}".prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        select(words).prop_map(Value::from),
    ];
    nested(leaf, keys)
}

/// Arrays, and objects with these keys, of leaves.
fn nested(
    leaf: impl Strategy<Value = Value> + 'static,
    keys: &'static [&'static str],
) -> BoxedStrategy<Value> {
    let value = leaf.prop_recursive(3, 14, 4, move |inner| {
        let members = vec((select(keys), inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    });
    value.boxed()
}

/// One of these texts.
pub(super) fn one_of(texts: &'static [&'static str]) -> BoxedStrategy<Value> {
    select(texts).prop_map(Value::from).boxed()
}
