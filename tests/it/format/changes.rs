//! Whatever is saved, one change after the other, is a valid checkpoint and is read back as what it was.

use std::sync::LazyLock;

use ckpt_model::change::{Change, Edit, TaskChange};
use ckpt_model::checkpoint::{Artifact, Checkpoint};
use ckpt_model::digest::Digest;
use ckpt_model::format::{decode, decode_header, encode};
use ckpt_model::pipeline::Pipeline;
use ckpt_model::schema::{self, CHECKPOINT};
use ckpt_model::{PhaseStatus, TaskStatus, Trigger, WorkflowStatus};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

use crate::support::audit::{stamp, workflow};

const NAMES: [&str; 5] = ["plan", "0.5", "3A", "design review", "\u{8a2d}\u{8a08}"];

/// Compiling it costs more than all the rest.
static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = schema::find(CHECKPOINT).unwrap();
    jsonschema::validator_for(&serde_json::from_str(schema.text).unwrap()).unwrap()
});

fn name<T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    select(&NAMES).prop_map(|name| name.parse().unwrap())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), any::<String>(), "[a-z]{1,8}"]
}

fn json() -> impl Strategy<Value = Value> {
    let number = select(&["0", "-0", "0.10", "1e400", "12345678901234567890123", "9007199254740993", "-1.5e-300"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(|digits| serde_json::from_str(digits).unwrap()),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let members = vec((text(), inner.clone()), 0..4).prop_map(Map::from_iter).prop_map(Value::Object);
        prop_oneof![vec(inner, 0..4).prop_map(Value::Array), members]
    })
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let object = || vec(("[a-c]", json()), 0..3).prop_map(Map::from_iter).prop_map(Value::Object);
    let key = || prop_oneof!["[a-c]", "/[a-c]/[a-c]", Just("/".to_owned())];
    let edit = prop_oneof![
        object().prop_map(Edit::Merge),
        object().prop_map(Edit::Overlay),
        (key(), json()).prop_map(|(key, value)| Edit::Set(key, value)),
        (key(), json()).prop_map(|(key, value)| Edit::Add(key, value)),
    ];
    vec(edit, 0..3)
}

fn tasks() -> impl Strategy<Value = Vec<TaskChange>> {
    use TaskStatus::{Complete, Failed, Pending, Running, Skipped};
    let status = select(&[Pending, Running, Complete, Failed, Skipped]);
    let task = (name(), status, option::of(text()), option::of(vec(name(), 0..3)), option::of(text()));
    vec(task.prop_map(|(id, status, output, after, error)| TaskChange { id, status, output, after, error }), 0..3)
}

fn artifacts() -> impl Strategy<Value = Vec<Artifact>> {
    let artifact = ("[a-c]", "[a-z]{1,8}", option::of(any::<u64>())).prop_map(|(name, path, size)| Artifact {
        sha256: size.map(|size| Digest::of(&size.to_le_bytes())),
        name,
        path,
        size,
        phase: None,
        captured: size.is_some_and(|size| size % 2 == 0),
        extra: Default::default(),
    });
    vec(artifact, 0..2)
}

fn change() -> impl Strategy<Value = Change> {
    use PhaseStatus::{Complete, Failed, InProgress, Pending, Skipped};
    let status = select(&[Pending, InProgress, Complete, Failed, Skipped]);
    let pipeline = vec(name(), 1..5).prop_filter_map("phases differ", |ids| Pipeline::custom(ids).ok());
    let phases = (option::weighted(0.8, name()), option::of(status), option::weighted(0.2, pipeline));
    let texts = (option::of(text()), option::of(text()), option::of(text()), option::of(text()));
    let about = (
        option::of(name()),
        option::of(select(&Trigger::OF_SAVES)),
        option::of(select(&WorkflowStatus::ALL)),
        any::<bool>(),
        vec("[a-z]{1,8}", 0..2),
    );
    (phases, texts, about, edits(), edits(), tasks(), artifacts()).prop_map(
        |((phase, status, pipeline), (title, next_action, error, note), about, data, state, tasks, artifacts)| {
            let (next_phase, trigger, workflow_status, pin, labels) = about;
            Change {
                phase,
                status,
                pipeline,
                title,
                next_action,
                next_phase,
                data,
                state,
                artifacts,
                tasks,
                error,
                note,
                trigger,
                workflow_status,
                pin,
                labels,
                ..Change::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_sequence_of_changes_makes_valid_checkpoints(changes in vec(change(), 1..8)) {
        let mut newest: Option<Box<Checkpoint>> = None;
        for (index, change) in changes.iter().enumerate() {
            // A change that does not fit is refused, and the next one is tried.
            let stamp = stamp(&format!("save {index}"));
            let Ok(mut next) = change.apply(&workflow(), newest.clone(), &stamp) else { continue };
            let bytes = encode(&mut next).unwrap();
            let document: Value = serde_json::from_slice(&bytes).unwrap();
            let violations: Vec<_> = VALIDATOR.iter_errors(&document).map(|error| error.to_string()).collect();
            prop_assert_eq!(violations, Vec::<String>::new());
            let mut read = decode(&bytes).unwrap();
            prop_assert_eq!(&read, &next);
            prop_assert_eq!(encode(&mut read).unwrap(), bytes.clone());
            prop_assert_eq!(decode_header(&bytes).unwrap().seq, next.seq);
            newest = Some(read);
        }
    }
}
