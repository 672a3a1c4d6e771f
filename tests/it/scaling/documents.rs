//! Reading and judging documents takes linear time, whatever they contain many of.

use ckpt_formats::import::{ForeignFile, ReadOptions};
use ckpt_model::change::SaveInput;
use ckpt_model::format;
use ckpt_model::json::parse_strict;
use ckpt_model::resume::{Facts, Limits, evaluate};
use serde_json::{Map, Value, json};

use super::cpu::assert_linear;
use crate::support::audit::{stamp, workflow};
use crate::support::project::sealed;

const SIZES: (usize, usize) = (1_000, 16_000);

fn golden() -> Value {
    serde_json::from_slice(include_bytes!("../golden/checkpoint-1.0.json")).unwrap()
}

/// Many members that no version knows.
fn unknown(size: usize) -> Map<String, Value> {
    (0..size).map(|number| (format!("unknown{number}"), number.into())).collect()
}

#[test]
fn strict_json_with_many_members() {
    let text = |size| Value::Object(unknown(size)).to_string();
    assert_linear("members", SIZES, text, |text| drop(parse_strict(text.as_bytes()).unwrap()));
}

#[test]
fn a_checkpoint_with_many_unknown_members() {
    let file = |size| {
        let mut document = golden();
        document.as_object_mut().unwrap().extend(unknown(size));
        sealed(document)
    };
    assert_linear("unknown members", SIZES, file, |file| {
        format::decode(&file).unwrap();
        format::decode_header(&file).unwrap();
    });
}

/// A save with many phases, tasks and artifacts, and the judgement about what comes of it.
#[test]
fn a_save_with_many_phases_and_tasks() {
    let document = |size: usize| {
        let id = |number: usize| format!("p{number}");
        let task = |number: usize| json!({"id": format!("t{number}"), "status": "pending", "phase": id(number)});
        json!({
            "phases": (0..size).map(id).collect::<Vec<_>>(),
            "tasks": (0..size).map(task).collect::<Vec<_>>(),
        })
    };
    assert_linear("phases and tasks", (250, 1_000), document, |document| {
        let request = SaveInput::from_json(document).unwrap();
        let checkpoint = request.change.apply(&workflow(), None, &stamp("save")).unwrap();
        let resume = evaluate(&checkpoint, &Facts::default(), &Limits::default(), stamp("resume").now);
        assert!(resume.phase.is_some());
    });
}

#[test]
fn a_foreign_document_with_many_phases() {
    let document = |size: usize| {
        let phase = |number: usize| json!({"id": format!("p{number}"), "status": "done"});
        json!({"id": "w", "phases": (0..size).map(phase).collect::<Vec<_>>()}).to_string()
    };
    assert_linear("phases", SIZES, document, |text| {
        drop(ForeignFile::parse("w.json", text.as_bytes(), &ReadOptions::default(), |_, _| None).unwrap());
    });
}
