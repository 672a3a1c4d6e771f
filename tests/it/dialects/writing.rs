//! What the writers of the five oldest dialects do besides keeping what they were given.

use std::path::Path;

use ckpt_formats::dialects::{Dialect, Document, Notation, to_yaml};
use ckpt_model::checkpoint::{Artifact, LastError, Replan};
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseStatus};
use ckpt_model::{Change, Checkpoint, TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use super::support::{PROJECT, enter_phase, fixture, imported, read, stamp, with, write};

const KINDS: [(Dialect, &str, Option<&str>); 6] = [
    (Dialect::Kamiflow, "kamiflow/synthesis.json", None),
    (Dialect::Dotagent, "dotagent/halfway.json", Some("dotagent/halfway.companion.json")),
    (Dialect::Crunch, "crunch/cache.json", Some("crunch/cache.companion.json")),
    (Dialect::ClaudeDir, "claude-dir/newest-version.json", None),
    (Dialect::ClaudeDir, "claude-dir/first-version.json", None),
    (Dialect::ClaudePlan, "claude-plan/search.json", None),
];

fn checkpoint(dialect: Dialect) -> Checkpoint {
    let (_, main, companion) = KINDS.into_iter().find(|(known, ..)| *known == dialect).unwrap();
    imported(dialect, &fixture(main), companion.map(fixture).as_ref())
}

fn phases(checkpoint: &Checkpoint) -> Vec<(&str, &str)> {
    checkpoint.content.phases.iter().map(|phase| (phase.id.as_str(), phase.status.word())).collect()
}

fn error(message: &str, checkpoint: &Checkpoint, phase: usize) -> Option<LastError> {
    let phase = Some(checkpoint.content.phases[phase].id.clone());
    let at = checkpoint.saved_at;
    Some(LastError { message: message.to_owned(), phase, at, extra: Default::default() })
}

#[test]
fn a_new_document_says_all_that_the_imported_one_said() {
    for (dialect, main, companion) in KINDS {
        let original = fixture(main);
        let before = imported(dialect, &original, companion.map(fixture).as_ref());
        let mut fresh = before.clone();
        fresh.content.state = Json::default();
        let files = write(dialect, &fresh);
        assert_eq!(Dialect::detect(&files.main), dialect);
        let after = imported(dialect, &files.main, files.companion.as_ref());
        assert_eq!(phases(&after), phases(&before), "{main}");
        let content = |checkpoint: &Checkpoint| {
            let content = checkpoint.content.clone();
            (checkpoint.workflow.clone(), content.title, content.tasks, content.replans, content.labels)
        };
        assert_eq!(content(&after), content(&before), "{main}");
        if matches!(dialect, Dialect::Kamiflow | Dialect::Dotagent) {
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(&files.main), keys(&original));
        }
    }
}

#[test]
fn a_failure_is_written_and_so_is_its_repair() {
    for (dialect, at) in [(Dialect::ClaudeDir, 2), (Dialect::Crunch, 2), (Dialect::Kamiflow, 4), (Dialect::Dotagent, 2)]
    {
        let mut failed = checkpoint(dialect);
        let id = failed.content.phases[at].id.clone();
        enter_phase(&mut failed, &id, PhaseStatus::Failed);
        failed.content.phases[at].error = Some("exit 2".to_owned());
        failed.content.last_error = error("exit 2", &failed, at);
        let files = write(dialect, &failed);
        let mut reread = imported(dialect, &files.main, files.companion.as_ref());
        assert_eq!(reread.content.find_phase(&id).unwrap().status, PhaseStatus::Failed, "{dialect}");
        assert!(files.main.to_string().contains("exit 2"), "{dialect}");
        enter_phase(&mut reread, &id, PhaseStatus::Complete);
        reread.content.last_error = None;
        let mended = write(dialect, &reread);
        let mended = imported(dialect, &mended.main, mended.companion.as_ref());
        assert_eq!(mended.content.find_phase(&id).unwrap().status, PhaseStatus::Complete, "{dialect}");
        assert_eq!(mended.content.last_error, None, "{dialect}");
    }
}

#[test]
fn the_end_of_the_work_is_write() {
    for (dialect, ..) in KINDS {
        let mut over = checkpoint(dialect);
        for phase in &mut over.content.phases {
            phase.enter(PhaseStatus::Complete, over.saved_at);
        }
        for task in &mut over.content.tasks {
            task.enter(TaskStatus::Complete, over.saved_at);
        }
        over.content.phase = over.content.phases.last().map(|phase| phase.id.clone());
        (over.content.status, over.content.next) = (WorkflowStatus::Complete, None);
        let files = write(dialect, &over);
        let content = read(dialect, &files.main, files.companion.as_ref()).draft.content;
        assert_eq!(content.status, WorkflowStatus::Complete, "{dialect}");
        assert!(content.remaining().next().is_none(), "{dialect}");
    }
}

#[test]
fn kamiflow_writes_a_changed_reflection_in_both_places() {
    let document = with(fixture("kamiflow/synthesis.json"), json!({"reflection": {"techDebt": "Minor"}}));
    let mut checkpoint = imported(Dialect::Kamiflow, &document, None);
    checkpoint.content.phases[3].data = Some(Json::Given(json!({"reflection": {"techDebt": "None"}})));
    let written = write(Dialect::Kamiflow, &checkpoint).main;
    assert_eq!(written["reflection"], json!({"techDebt": "None"}));
    assert_eq!(written["phaseData"]["reflection"], json!({"techDebt": "None"}));
}

#[test]
fn kamiflow_recognises_phases_in_any_spelling() {
    for (spelled, meant) in [
        (json!(2), "2"),
        (json!(2.0), "2"),
        (json!(0.5), "0.5"),
        (json!("phase0.5"), "0.5"),
        (json!("Phase 3a"), "3A"),
        (json!("3b"), "3B"),
        (json!("PHASE_4"), "4"),
        (json!("complete"), "4"),
    ] {
        let document = with(fixture("kamiflow/synthesis.json"), json!({"phase": spelled, "phaseName": null}));
        let checkpoint = imported(Dialect::Kamiflow, &document, None);
        assert_eq!(checkpoint.content.phase.as_ref().unwrap().as_str(), meant, "{spelled}");
        assert_eq!(checkpoint.content.phases.len(), 7, "{spelled}");
    }
}

#[test]
fn dotagent_knows_the_output_of_a_phase_only_where_that_is_said() {
    let mut checkpoint = checkpoint(Dialect::Dotagent);
    checkpoint.content.state = Json::default();
    for (at, status) in [PhaseStatus::Complete, PhaseStatus::Complete, PhaseStatus::Skipped].into_iter().enumerate() {
        let id = checkpoint.content.phases[at].id.clone();
        enter_phase(&mut checkpoint, &id, status);
    }
    let promised = "memory/reports/demand.json";
    checkpoint.content.artifacts =
        vec![Artifact::new("spec", "f"), Artifact::new(promised, promised), Artifact::new("ARCHITECTURE", "a.md")];
    let outputs = |checkpoint: &Checkpoint| {
        let entries = write(Dialect::Dotagent, checkpoint).main["completed_phases"].clone();
        entries.as_array().unwrap().iter().map(|entry| entry["output"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(outputs(&checkpoint), [json!(promised), json!("a.md"), Value::Null]);
    let lost = |checkpoint: &Checkpoint| {
        let files = write(Dialect::Dotagent, checkpoint);
        Dialect::Dotagent.unseen(&files, checkpoint, Path::new(PROJECT)).contains(&"the artifacts")
    };
    assert!(lost(&checkpoint));
    checkpoint.content.artifacts.remove(0);
    assert!(!lost(&checkpoint));
}

#[test]
fn dotagent_writes_an_approval_that_is_given_later() {
    let mut checkpoint = checkpoint(Dialect::Dotagent);
    checkpoint.content.phases[1].approval.as_mut().unwrap().approved_at = Some(checkpoint.saved_at);
    let written = write(Dialect::Dotagent, &checkpoint).main;
    let given = json!({"phase": "ARCHITECTURE", "approved_at": checkpoint.saved_at});
    let approvals = written["user_checkpoints"].as_array().unwrap();
    let is_given = |approval: &Value| given.as_object().unwrap().iter().all(|(key, value)| approval[key] == *value);
    assert!(approvals.iter().any(is_given), "{written:#}");
}

#[test]
fn claude_dir_counts_replans_that_the_history_lacks() {
    let counts = json!({"replan_phase_counts": {"phase_1": 3, "2": 1}, "replanning_count": 4});
    let document = with(fixture("claude-dir/newest-version.json"), counts);
    let mut checkpoint = imported(Dialect::ClaudeDir, &document, None);
    let of = |checkpoint: &Checkpoint, phase: &str| {
        checkpoint.content.replans.iter().filter(|replan| replan.phase.as_str() == phase).count()
    };
    assert_eq!((of(&checkpoint, "1"), of(&checkpoint, "2")), (3, 1));
    checkpoint.content.replans.push(Replan {
        phase: "2".parse().unwrap(),
        reason: Some("again".to_owned()),
        at: checkpoint.saved_at,
        extra: Default::default(),
    });
    let main = write(Dialect::ClaudeDir, &checkpoint).main;
    assert_eq!(main["replan_phase_counts"], json!({"phase_1": 3, "phase_2": 2}));
    assert_eq!(main["replan_history"].as_array().unwrap().len(), 2);
    assert_eq!((&main["replanning_count"], &main["last_replan_reason"]), (&json!(5), &json!("again")));
    assert_eq!(of(&imported(Dialect::ClaudeDir, &main, None), "2"), 2);

    // Replans that are only counted count for the limit too.
    let document = with(fixture("claude-dir/newest-version.json"), json!({"replan_phase_counts": {"phase_1": 2}}));
    let checkpoint = imported(Dialect::ClaudeDir, &document, None);
    let revise = |from: &str| {
        let reopen = ckpt_model::change::Reopen { from: from.parse().unwrap(), reason: None, limit: Some(2) };
        let change = Change { reopen: Some(reopen), ..Change::default() };
        change.apply(&checkpoint.workflow, Some(Box::new(checkpoint.clone())), &stamp()).is_ok()
    };
    assert_eq!((revise("1"), revise("0")), (false, true));
}

#[test]
fn claude_dir_keeps_phases_of_any_name_in_a_new_document() {
    for (ids, finished) in [(&["0", "0.5", "3A", "4"][..], 2), (&["0", "0.5"], 0), (&["PLAN", "BUILD"], 0)] {
        let mut checkpoint = checkpoint(Dialect::ClaudeDir);
        checkpoint.content.state = Json::default();
        checkpoint.content.pipeline = Some("custom".to_owned());
        checkpoint.content.phases = ids.iter().map(|id| Phase::pending(id.parse().unwrap())).collect();
        for phase in &mut checkpoint.content.phases[..finished] {
            phase.enter(PhaseStatus::Complete, checkpoint.saved_at);
        }
        checkpoint.content.next.as_mut().unwrap().phase = Some(checkpoint.content.phases[finished].id.clone());
        let after = imported(Dialect::ClaudeDir, &write(Dialect::ClaudeDir, &checkpoint).main, None);
        assert_eq!(phases(&after), phases(&checkpoint));
        assert!(after.content.pipeline.is_some());
    }
}

#[test]
fn claude_dir_updates_a_status_in_the_data_of_a_phase() {
    let running = json!({"phase_data": {"phase_2": {"status": "running", "n": 1}}});
    let document = with(fixture("claude-dir/newest-version.json"), running);
    let mut checkpoint = imported(Dialect::ClaudeDir, &document, None);
    checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
    let main = write(Dialect::ClaudeDir, &checkpoint).main;
    assert_eq!(main["phase_data"]["2"], json!({"status": "completed", "n": 1}));
}

#[test]
fn claude_plan_keeps_artifacts_and_data_with_their_phase() {
    let original = fixture("claude-plan/search.json");
    let mut checkpoint = checkpoint(Dialect::ClaudePlan);
    let began = checkpoint.content.phases[1].started_at.unwrap().to_string();
    assert_eq!(began, "2026-02-03T10:44:30.000Z", "60.50 minutes before its end");
    checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
    checkpoint.content.artifacts.push(Artifact::new("new.md", "new.md"));
    let main = write(Dialect::ClaudePlan, &checkpoint).main;
    for phase in ["1", "2"] {
        let artifacts =
            |main: &Value| main["phase_metadata"][phase]["artifacts"].as_array().cloned().unwrap_or_default();
        assert_eq!(artifacts(&main), artifacts(&original), "{phase}");
    }
    assert_eq!(main["phase_metadata"]["3"]["artifacts"], json!(["new.md"]));
    // Members of the dialect are not data of the phase, and data is not a member of the dialect.
    let odd = Some(Json::Given(json!({"status": "weird", "artifacts": 1})));
    checkpoint.content.phases[0].data = odd;
    checkpoint.content.state = Json::default();
    let files = write(Dialect::ClaudePlan, &checkpoint);
    let after = imported(Dialect::ClaudePlan, &files.main, None);
    let data: Vec<_> = after.content.phases.iter().map(|phase| phase.data.clone()).collect();
    let kept = Some(Json::Given(json!({"artifacts": 1})));
    assert_eq!(data, [kept, None, None], "a status in the data has no place beside the status of the phase");
}

#[test]
fn crunch_writes_a_moved_output_where_it_was_named_and_many_labels() {
    let mut saved = checkpoint(Dialect::Crunch);
    saved.content.artifacts[0].path = "docs/spec.md".to_owned();
    saved.content.artifacts[1].path = "src/store/cache.rs".to_owned();
    let main = write(Dialect::Crunch, &saved).main;
    assert_eq!(main["agent_outputs"]["architect"]["write_spec"]["output_location"], json!("docs/spec.md"));
    let moved = json!({"path": "src/store/cache.rs", "status": "modified", "staged": false});
    assert_eq!(main["files_modified"][0], moved);

    let names = |letter: &str| (0..10_000).map(|n| json!(format!("{letter}{n}"))).collect::<Value>();
    let mut large = fixture("crunch/cache.json");
    large["files_modified"] = names("f");
    large["issue_snapshot"]["labels"] = names("l");
    let mut saved = imported(Dialect::Crunch, &large, None);
    saved.content.labels.push("urgent".to_owned());
    let labels = write(Dialect::Crunch, &saved).main["issue_snapshot"]["labels"].as_array().map(Vec::len);
    assert_eq!(labels, Some(10_001));
}

#[test]
fn yaml_and_json_are_the_same() {
    let main = fixture("crunch/cache.json");
    let document = Document::parse(to_yaml(&main).as_bytes()).unwrap();
    assert_eq!((document.notation, &document.value), (Notation::Yaml, &main));
}

#[test]
fn a_document_that_lacks_a_telling_member_is_of_no_dialect_that_has_it() {
    for (other, dialect) in [
        (json!({"taskId": "1", "phase": "2", "status": "running"}), Dialect::Kamiflow),
        (json!({"phase": "2", "phaseName": "x", "phaseData": {}}), Dialect::Kamiflow),
        (json!({"taskId": {}, "phase": "2", "phaseName": "x", "phaseData": {}}), Dialect::Kamiflow),
        (json!({"current_phase": 3, "phase_status": "pending", "completed_phases": [1, 2]}), Dialect::Dotagent),
        (json!({"current_phase": "REQUIREMENTS", "phase_status": "pending"}), Dialect::Dotagent),
        (json!({"current_phase": "REQUIREMENTS", "completed_phases": []}), Dialect::Dotagent),
        (json!({"issue_number": 1, "workflow_state": {}}), Dialect::Crunch),
        (json!({"workflow_state": {}, "recovery_info": {}}), Dialect::Crunch),
        (json!({"issue_number": 1, "workflow_state": "x", "recovery_info": {}}), Dialect::Crunch),
        (json!({"checkpoint_id": "x", "workflow_state": {}}), Dialect::ClaudeDir),
        (json!({"workflow_type": "x", "current_phase": 1}), Dialect::ClaudeDir),
        (json!({"checkpoint_id": ["x"], "workflow_type": "y", "current_phase": 1}), Dialect::ClaudeDir),
    ] {
        assert_ne!(Dialect::detect(&other), dialect, "{other}");
    }
}
