//! The format of a file is a promise: this one was written once, and must be written and read the same for ever.

use std::io::Write;
use std::process::{Command, Stdio};

use ckpt_model::checkpoint::Sealed;
use ckpt_model::checkpoint::{
    Artifact, Checkpoint, CheckpointRef, Content, Context, Doubt, Fact, GitContext, Imported, LastError, Next, Replan,
    SaveKey, WatchedFile, Writer,
};
use ckpt_model::digest::Digest;
use ckpt_model::format::{decode, encode};
use ckpt_model::phase::{Approval, Output, Phase};
use ckpt_model::reason::{ArchiveReason, DeletionReason};
use ckpt_model::schema::{self, CHECKPOINT};
use ckpt_model::task::Task;
use ckpt_model::version::CURRENT;
use ckpt_model::{PhaseStatus, TaskStatus, Timestamp, Trigger, WorkflowStatus};
use serde_json::{Map, Value, json};

const GOLDEN: &[u8] = include_bytes!("../golden/checkpoint-1.0.json");

fn at(second: u32) -> Timestamp {
    Timestamp::parse(&format!("2026-01-16T15:15:{second:02}.123Z")).unwrap()
}

/// Values that a careless reader or writer would change.
fn odd() -> Value {
    let text = r#"{"long": 12345678901234567890123, "huge": 1e400, "exact": 0.10, "past2to53": 9007199254740993,
        "minus": -0, "null": null, "false": false, "zero": 0, "empty": "", "list": [], "object": {},
        "text": "\u00fcber \u8a2d\u8a08 \ud83e\udd80 \"\\/\b\f\n\r\t\u0001\u007f", "__proto__": {"z": 1, "a": [null, [0]]}}"#;
    serde_json::from_str(text).unwrap()
}

fn phases() -> Vec<Phase> {
    let phase = |id: &str| Phase::pending(id.parse().unwrap());
    let output = |path: &str, schema: Option<Value>| Output {
        path: path.to_owned(),
        or: Vec::new(),
        schema: schema.map(Into::into),
        extra: Default::default(),
    };
    vec![
        Phase {
            name: Some("Make the plan".to_owned()),
            status: PhaseStatus::Complete,
            started_at: Some(at(1)),
            completed_at: Some(at(2)),
            attempts: 2,
            approval: Some(Approval {
                required: true,
                approved_at: Some(at(3)),
                approved_by: Some("Zo\u{eb}".to_owned()),
                evidence: Some("drafts/".to_owned()),
                ..Approval::default()
            }),
            action: Some("Write it down".to_owned()),
            outputs: vec![output("plan.md", None), output("plan.json", Some(json!({"type": "object"})))],
            task_limit: Some(3),
            data: Some(odd().into()),
            error: None,
            ..phase("plan")
        },
        Phase {
            status: PhaseStatus::Failed,
            attempts: 1,
            error: Some("it does not\nbuild".to_owned()),
            data: Some(json!({}).into()),
            ..phase("3A")
        },
        Phase { status: PhaseStatus::Skipped, completed_at: Some(at(4)), ..phase("\u{8a2d}\u{8a08}") },
        Phase { status: PhaseStatus::InProgress, started_at: Some(at(5)), attempts: 1, ..phase("0.5") },
        phase("ship it"),
    ]
}

fn tasks() -> Vec<Task> {
    let task = |id: &str| Task::pending(id.parse().unwrap(), None);
    vec![
        Task {
            phase: Some("plan".parse().unwrap()),
            status: TaskStatus::Complete,
            depends_on: vec!["b".parse().unwrap()],
            attempts: 1,
            output: Some("out/a.md".to_owned()),
            started_at: Some(at(6)),
            completed_at: Some(at(7)),
            ..task("a")
        },
        Task { status: TaskStatus::Failed, attempts: 2, error: Some("no".to_owned()), ..task("b") },
        Task { status: TaskStatus::Running, ..task("c") },
        Task { status: TaskStatus::Skipped, ..task("d") },
        task("e"),
    ]
}

/// A checkpoint with something in every field.
fn everything() -> Checkpoint {
    let digest = Digest::of(b"content");
    let some = |text: &str| Some(text.to_owned());
    let artifact = |name: &str, size: Option<u64>, sha256| {
        let path = format!("out/{name}.md");
        let phase = size.map(|_| "plan".parse().unwrap());
        let (name, captured) = (name.to_owned(), size.is_some());
        Artifact { name, path, size, sha256, phase, captured, extra: Default::default() }
    };
    let watched = |path: &str, sha256| WatchedFile { path: path.to_owned(), sha256, extra: Default::default() };
    let replan = |reason: Option<&str>| Replan {
        phase: "plan".parse().unwrap(),
        reason: reason.map(str::to_owned),
        at: at(8),
        extra: Default::default(),
    };
    let reference = |workflow: Option<&str>, seq| CheckpointRef {
        workflow: workflow.map(|id| id.parse().unwrap()),
        seq,
        sha256: digest,
        extra: Default::default(),
    };
    let phase = Some("3A".parse().unwrap());
    Checkpoint {
        version: CURRENT,
        sha256: Digest::ZERO,
        workflow: "Auth-042".parse().unwrap(),
        seq: 7,
        saved_at: at(0),
        trigger: Trigger::PhaseTransition,
        note: some(""),
        content: Content {
            status: WorkflowStatus::InProgress,
            phase: phase.clone(),
            next: Some(Next { phase: phase.clone(), action: some("Try again"), ..Next::default() }),
            title: some("OAuth \u{1f980}"),
            labels: vec!["urgent".to_owned(), "\u{fc}ber".to_owned()],
            pipeline: some("careful"),
            phases: phases(),
            tasks: tasks(),
            artifacts: vec![artifact("a", Some(0), Some(digest)), artifact("b", None, None)],
            facts: vec![Fact::new("issue", odd())],
            replans: vec![replan(Some("the world changed")), replan(None)],
            last_error: Some(LastError {
                message: "it does not\nbuild".to_owned(),
                phase,
                at: at(9),
                extra: Default::default(),
            }),
            state: odd().into(),
            extra: Default::default(),
        },
        context: Context {
            git: Some(GitContext { branch: some("main"), commit: some(&"c".repeat(40)), extra: Default::default() }),
            touched: Vec::new(),
            watched: vec![watched("PROJECT.md", Some(digest)), watched("gone.md", None)],
            extra: Default::default(),
        },
        writer: Writer {
            agent: some("claude-code"),
            session: some("s-1"),
            host: some("host"),
            user: some("user"),
            ckpt: "0.1.0".to_owned(),
            extra: Default::default(),
        },
        save_id: "0123456789abcdef".to_owned(),
        parent: Some(reference(None, 6)),
        run: Some(4),
        pinned: true,
        copy_of: None,
        merged: Some(reference(Some("redis"), 2)),
        origin: Some(reference(Some("base"), 1)),
        keys: vec![SaveKey { key: "k 1".to_owned(), seq: 6, request: digest, extra: Default::default() }],
        sealed: Some(Sealed {
            last: 6,
            reason: ArchiveReason::Completed,
            deleted: Some(DeletionReason::Expired),
            extra: Default::default(),
        }),
        imported: Some(Imported {
            dialect: "kamiflow".to_owned(),
            source: "042-checkpoint-phase2.json".to_owned(),
            sha256: digest,
            at: at(7),
            doubts: vec![Doubt {
                code: "phases_implied".to_owned(),
                severity: "info".to_owned(),
                message: "phases 0 to 1 are taken as done".to_owned(),
                extra: Default::default(),
            }],
            extra: Default::default(),
        }),
    }
}

#[test]
fn the_same_checkpoint_is_written_as_the_same_bytes() {
    let bytes = encode(&mut everything()).unwrap();
    if bytes != GOLDEN {
        let actual = concat!(env!("CARGO_TARGET_TMPDIR"), "/checkpoint-1.0.json");
        std::fs::write(actual, &bytes).unwrap();
        panic!("the format has changed: compare {actual} with tests/it/golden/checkpoint-1.0.json");
    }
}

#[test]
fn the_file_is_read_as_what_was_written_and_written_as_what_was_read() {
    let mut written = everything();
    encode(&mut written).unwrap();
    let mut read = decode(GOLDEN).unwrap();
    assert_eq!(*read, written);
    assert_eq!(String::from_utf8(encode(&mut read).unwrap()).unwrap(), String::from_utf8_lossy(GOLDEN));
}

#[test]
fn the_file_matches_its_schema() {
    let document: Value = serde_json::from_slice(GOLDEN).unwrap();
    assert_eq!(schema::violations(CHECKPOINT, &document), []);
    let mut wrong = document;
    wrong["phases"][0]["status"] = json!("done");
    assert_eq!(schema::violations(CHECKPOINT, &wrong).len(), 1);
}

/// Adds two fields that no version has a name for to an object and to all records in it; the number of records.
fn extend(document: &mut Value) -> usize {
    const FREE_FORM: [&str; 4] = ["data", "state", "schema", "document"];
    match document {
        Value::Array(items) => items.iter_mut().map(extend).sum(),
        Value::Object(members) => {
            let inner = members.iter_mut().filter(|(name, _)| !FREE_FORM.contains(&name.as_str()));
            let count: usize = inner.map(|(_, value)| extend(value)).sum();
            let later: Map<_, _> =
                serde_json::from_str(r#"{"z_later": [1e400, {"b": null, "a": 0.10}], "a_later": ""}"#).unwrap();
            members.extend(later);
            count + 1
        }
        _ => 0,
    }
}

#[test]
fn unknown_fields_survive_at_every_level_in_their_order() {
    let mut document: Value = serde_json::from_slice(GOLDEN).unwrap();
    assert_eq!(extend(&mut document), 33, "records in the file");
    let mut read: Checkpoint = serde_json::from_str(&document.to_string()).unwrap();
    let bytes = encode(&mut read).unwrap();
    document["sha256"] = json!(read.sha256);
    // As text, because equal maps may differ in order.
    let written: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(written.to_string(), document.to_string());
    // Once they have been written, they stay as they are.
    assert_eq!(encode(&mut decode(&bytes).unwrap()).unwrap(), bytes);
}

#[test]
fn anybody_can_check_the_digest_with_the_documented_recipe() {
    let zeros = "0".repeat(64);
    let recipe = format!(r"sed '3s/[0-9a-f]\{{64\}}/{zeros}/' | sha256sum");
    let documented = include_str!("../../../src/core/format.rs");
    assert!(documented.contains(&format!(r"sed '3s/[0-9a-f]\{{64\}}/{zeros}/' 00000007.json | sha256sum")));
    let available = Command::new("sh").args(["-c", "command -v sed sha256sum"]).output();
    if !available.is_ok_and(|found| found.status.success()) {
        println!("skipped: there is no sh, sed or sha256sum here");
        return;
    }
    let mut shell =
        Command::new("sh").args(["-c", &recipe]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(GOLDEN).unwrap();
    let output = String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap();
    let expected = decode(GOLDEN).unwrap().sha256.to_hex();
    assert_eq!(output.split_whitespace().next(), Some(expected.as_str()));
}
