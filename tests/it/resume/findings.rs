//! Findings are a contract: their words are documented, and their help lines are commands that exist.

use std::collections::BTreeSet;
use std::collections::HashMap;

use ckpt_formats::dialects::Dialect;
use ckpt_formats::import::{ForeignFile, Importer, ReadOptions};
use ckpt_model::PhaseStatus::{Complete, Failed, InProgress};
use ckpt_model::change::{Change, Reopen};
use ckpt_model::checkpoint::{Artifact, Context, Doubt, GitContext, Imported, WatchedFile};
use ckpt_model::digest::Digest;
use ckpt_model::external::{ComparedFact, Comparison, FactChange};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::Output;
use ckpt_model::resume::{
    CommitPlace, DamagedNewest, Facts, FileCondition, GitFact, Limits, OtherHead, OutputFact, Selection, Sharing,
    evaluate,
};
use ckpt_model::selector::Handle;
use ckpt_model::session_note::SessionNote;
use ckpt_model::size::Size;
use ckpt_model::task::{Task, TaskStatus};
use ckpt_model::{Checkpoint, Timestamp, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::{Located, OsDisk};

use super::setup::{SAVED, apply, at, stamp, workflow};
use crate::support::offered::is_understood;

fn task(id: &str, status: TaskStatus, attempts: u32, output: Option<&str>, after: &[&str]) -> Task {
    let mut task = Task::pending(id.parse().unwrap(), Some("b".parse().unwrap()));
    (task.status, task.attempts, task.output) = (status, attempts, output.map(str::to_owned));
    task.depends_on = after.iter().map(|id| id.parse().unwrap()).collect();
    task
}

/// Situations that bring out every finding an own checkpoint can have.
fn situations() -> Vec<(Checkpoint, Facts, i64)> {
    let none = Facts::default();
    let base = || workflow(&["a", "b", "odd 'name'"], &[("a", Complete)]);
    let mut list = Vec::new();

    for (status, days) in [(WorkflowStatus::Failed, 8), (WorkflowStatus::Abandoned, 31), (WorkflowStatus::Complete, -1)]
    {
        list.push((
            apply(Some(base()), &Change { workflow_status: Some(status), ..Change::default() }),
            none.clone(),
            days,
        ));
    }

    let mut failing = apply(
        Some(base()),
        &Change {
            phase: Some("b".parse().unwrap()),
            status: Some(Failed),
            error: Some("boom".into()),
            ..Change::default()
        },
    );
    list.push((failing.clone(), none.clone(), 0));
    failing.content.phases[1].error = None;
    list.push((failing.clone(), none.clone(), 0));
    for _ in 0..2 {
        let reason = Some("changed".to_owned());
        let reopen = Reopen { from: "b".parse().unwrap(), reason, limit: None };
        failing = apply(Some(failing), &Change { reopen: Some(reopen), ..Change::default() });
    }
    let again = Change { phase: Some("b".parse().unwrap()), status: Some(Failed), ..Change::default() };
    list.push((apply(Some(failing), &again), none.clone(), 0));

    let mut tasks = workflow(&["a", "b"], &[("a", Complete), ("b", InProgress)]);
    tasks.content.tasks = vec![
        task("run", TaskStatus::Running, 1, None, &[]),
        task("wrote", TaskStatus::Running, 1, Some("o"), &[]),
        task("dead", TaskStatus::Failed, 3, None, &[]),
        task("waits", TaskStatus::Pending, 0, None, &["dead"]),
    ];
    let mut left = workflow(&["a"], &[("a", InProgress)]);
    left.content.phases[0].status = Complete;
    left.content.tasks = vec![task("it's", TaskStatus::Running, 1, None, &[])];
    list.push((left, none.clone(), 0));
    let mut old = workflow(&["a"], &[("a", InProgress)]);
    old.content.phases[0].outputs =
        vec![Output { path: "o".into(), or: Vec::new(), schema: None, extra: Default::default() }];
    let is_old = HashMap::from([("o".to_owned(), OutputFact::Old)]);
    list.push((old, Facts { outputs: is_old, ..Facts::default() }, 0));
    let wrote = HashMap::from([("o".to_owned(), None)]);
    list.push((tasks, Facts { task_outputs: wrote, ..Facts::default() }, 0));

    let mut world = base();
    world.version.minor = 9;
    world.writer.session = Some("theirs".into());
    let artifact = |name: &str| Artifact {
        name: name.into(),
        path: format!("{name}.md"),
        size: Some(1),
        sha256: Some(Digest::ZERO),
        phase: None,
        captured: false,
        extra: Default::default(),
    };
    world.content.artifacts = ["gone", "changed", "locked"].map(artifact).into();
    world.context = Context {
        git: Some(GitContext { branch: Some("x".into()), commit: None, extra: Default::default() }),
        watched: vec![WatchedFile { path: "W.md".into(), sha256: None, seq: None, extra: Default::default() }],
        touched: vec![WatchedFile { path: "T.md".into(), sha256: None, seq: None, extra: Default::default() }],
        ..Context::default()
    };
    for exists in [false, true] {
        let facts = Facts {
            artifacts: vec![FileCondition::Missing, FileCondition::Changed, FileCondition::Unreadable],
            watched: vec![FileCondition::Changed],
            touched: vec![FileCondition::Changed],
            sessions: vec![SessionNote { workflow: Some(world.workflow.clone()), ..SessionNote::default() }],
            git: Some(GitFact {
                branch: Some("y".into()),
                recorded_branch_exists: Some(exists),
                commit: CommitPlace::Lost,
            }),
            selection: Selection {
                damaged_newest: Some(DamagedNewest {
                    handle: "042/9".into(),
                    path: "f".into(),
                    problem: "is empty".into(),
                }),
                newest: Some("042/9".into()),
                archived: Some("cleanup".into()),
            },
            ..Facts::default()
        };
        list.push((world.clone(), facts, 0));
    }

    for (status, fact) in [
        (InProgress, None),
        (InProgress, Some(false)),
        (InProgress, Some(true)),
        (Complete, None),
        (Complete, Some(false)),
    ] {
        let mut promised = workflow(&["a", "b", "c"], &[("a", Complete), ("b", status), ("c", Complete)]);
        let spec = ckpt_model::pipeline::PhaseSpec {
            approval: true,
            outputs: vec![ckpt_model::pipeline::OutputSpec { path: "o.json".into(), or: Vec::new(), schema: None }],
            ..ckpt_model::pipeline::PhaseSpec::bare("b".parse().unwrap())
        };
        let phases = [
            ckpt_model::pipeline::PhaseSpec::bare("a".parse().unwrap()),
            spec,
            ckpt_model::pipeline::PhaseSpec::bare("c".parse().unwrap()),
        ];
        let pipeline = ckpt_model::pipeline::Pipeline::new("p".into(), phases.into()).unwrap();
        promised = apply(
            Some(promised),
            &Change { pipeline: Some(pipeline), next_phase: Some("a".parse().unwrap()), ..Change::default() },
        );
        let outputs = fact.map(|valid| {
            ("o.json".to_owned(), if valid { OutputFact::Valid } else { OutputFact::Invalid("bad".into()) })
        });
        list.push((promised, Facts { outputs: outputs.into_iter().collect(), ..Facts::default() }, 0));
    }

    for next in [None, Some("e".parse().unwrap())] {
        let gap = workflow(&["a", "b", "c", "d", "e"], &[("b", Complete), ("d", Complete)]);
        list.push((apply(Some(gap), &Change { next_phase: next, ..Change::default() }), Facts::default(), 0));
    }
    let dotagent = ckpt_model::builtin::find("dotagent").unwrap().pipeline(0);
    let designed =
        Change { pipeline: Some(dotagent), phase: Some("ARCHITECTURE".parse().unwrap()), ..Change::default() };
    let design = ("memory/reports/final_design.json".to_owned(), OutputFact::Valid);
    list.push((apply(None, &designed), Facts { outputs: HashMap::from([design]), ..Facts::default() }, 0));
    let comparisons = [
        Comparison::NotCompared,
        Comparison::Compared {
            changes: vec![FactChange {
                pointer: "/body".into(),
                change: "1 is now 2".into(),
                severity: Severity::Confirm,
            }],
            left_out: 1,
        },
    ];
    let external = comparisons.map(|comparison| ComparedFact { name: "issue".into(), comparison }).into();
    list.push((base(), Facts { external, ..Facts::default() }, 0));

    list.push((apply(None, &Change { phase: Some("x".parse().unwrap()), ..Change::default() }), none, 0));
    list.extend(FOREIGN.iter().map(|text| (imported(text), Facts::default(), 0)));
    let mut doubtful = base();
    let doubt = |code: &str| Doubt {
        code: code.into(),
        severity: "confirm".into(),
        message: "doubtful".into(),
        extra: Default::default(),
    };
    // Dialects of their own say these; the last is a word that only a newer version knows.
    let doubts = ["tests_failing", "cannot_resume", "incomplete_write", "a_word_of_tomorrow"].map(doubt).into();
    doubtful.imported = Some(Imported {
        dialect: "generic".into(),
        source: "s.json".into(),
        sha256: Digest::ZERO,
        at: doubtful.saved_at,
        doubts,
        extra: Default::default(),
    });
    list.push((doubtful, Facts::default(), 0));

    let elsewhere = |number: u64| OtherHead {
        handle: Handle::new(&base().workflow, number),
        saved_at: at(SAVED),
        writer: Some("vm".to_owned()),
        progress: "1 of 3 done".to_owned(),
        differs: "they differ in phases/a".to_owned(),
    };
    let sharing = Sharing {
        heads: vec![elsewhere(2), elsewhere(3)],
        behind: 1,
        unpushed: 2,
        unreachable: Some("no route".to_owned()),
    };
    list.push((base(), Facts { sharing, ..Facts::default() }, 0));
    list
}

/// Files of other systems that bring out the findings only such files can have.
const FOREIGN: [&str; 8] = [
    r#"{"id": "w", "timestamp": "2026-02-28", "phases": {"a": {"status": "done"}, "b": {"status": "odd"}}}"#,
    r#"{"id": "w", "updated_at": "soon", "phases": ["a", "b"], "current_phase": "b"}"#,
    r#"{"id": "w", "completed_phases": [1, null], "total_phases": 3}"#,
    r#"{"id": "w", "id": "w", "phases": {"a": "done", "b": "todo"}}"#,
    r#"{"phase": "none"}"#,
    r#"{"workflow_id": "w", "current_phase": 2, "completed_phases": [1, {}], "plan_path": "gone.md"}"#,
    r#"{"taskId": "w", "phase": "1", "slug": "s", "status": "complete", "phaseData": {"questions": 7}}"#,
    r#"{"taskId": "w", "phase": "1", "slug": "s", "status": "complete", "phaseData": {}, "nextPhase": {"id": "2"}}"#,
];

/// The checkpoint that a file is imported as.
fn imported(text: &str) -> Checkpoint {
    let parse = |options: &ReadOptions| ForeignFile::parse("s.json", text.as_bytes(), options, |_, _| None);
    let generic = ReadOptions { dialect: Some(Dialect::Generic), ..ReadOptions::default() };
    let file = parse(&ReadOptions::default()).or_else(|_| parse(&generic)).unwrap();
    let temp = tempfile::tempdir().unwrap();
    let located = Located { root: temp.path().join(".ckpt"), project: temp.path().to_owned() };
    let store: Store<OsDisk> = Store::at(&located).unwrap();
    let stamp = stamp(at(SAVED));
    let project = located.project.as_path();
    let importer = Importer { store: &store, project, max_file: Size(1024), stamp: &stamp };
    *importer.checkpoint(&file, &file.workflow().unwrap(), None)
}

#[test]
fn every_finding_occurs_and_every_help_line_is_a_command_that_exists() {
    let mut seen = BTreeSet::new();
    for (checkpoint, facts, days) in situations() {
        let now = Timestamp::new(checkpoint.saved_at.to_chrono() + chrono::TimeDelta::days(days));
        for finding in evaluate(&checkpoint, &facts, &Limits::default(), now).findings {
            seen.insert(finding.code);
            assert!(!finding.message.ends_with('.') && finding.message.is_ascii(), "{}", finding.message);
            for line in &finding.help {
                let words = shlex::split(line).unwrap_or_else(|| panic!("not a command line: {line}"));
                assert!(is_understood(&words), "{line}");
            }
        }
    }
    let missing: Vec<_> = Code::WORK.iter().filter(|code| !seen.contains(code)).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
}

#[test]
fn the_codes_are_a_contract() {
    let words: Vec<_> = Code::WORK.iter().map(|code| code.word()).collect();
    for word in [
        "stale",
        "very_stale",
        "future_time",
        "artifact_missing",
        "artifact_changed",
        "artifact_unreadable",
        "watched_changed",
        "branch_missing",
        "branch_differs",
        "damaged_newest",
        "gap",
        "reopened",
        "phases_skipped",
        "not_approved",
        "next_disagrees",
        "recent_writer",
        "at_work",
        "touched_changed",
        "awaiting_approval",
        "phase_failed",
        "last_error",
        "task_orphaned",
        "task_reconciled",
        "task_exhausted",
        "replan_limit",
        "workflow_failed",
        "workflow_abandoned",
        "format_newer",
        "phases_unknown",
        "output_missing",
        "output_invalid",
        "status_unknown",
        "tests_failing",
        "plan_changed",
        "cannot_resume",
        "time_assumed",
        "time_unreadable",
        "phase_unreadable",
        "records_disagree",
        "phases_implied",
        "idle",
        "imported",
        "incomplete_write",
    ] {
        assert!(words.contains(&word), "{word}");
    }
}
