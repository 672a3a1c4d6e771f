use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::core::checkpoint::{Artifact, Checkpoint, WorkflowStatus};
use crate::core::dialects::phase_list;
use crate::core::dialects::testing::{
    any_value, codes, done, enter_phase, imported, objects, one_of, read, round_trip,
};
use crate::core::dialects::{CheckpointPart, Dialect, DialectFiles, Draft};
use crate::core::finding::Severity;
use crate::core::json::{Json, overlay};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::schema;
use crate::core::task::TaskStatus;

/// Requirements and architecture are done, the work goes on.
fn document() -> Value {
    json!({
        "workflow_id": "checkout-rework",
        "started_at": "2026-04-01T08:00:00Z",
        "last_updated": "2026-04-02T17:30:00Z",
        "current_phase": "IMPLEMENTATION",
        "phase_status": "in_progress",
        "completed_phases": [
            {"phase": "REQUIREMENTS", "completed_at": "2026-04-01T09:00:00Z", "output": "memory/reports/demand.json"},
            {"phase": "ARCHITECTURE", "completed_at": "2026-04-01T15:00:00Z", "output": "memory/reports/final_design.json",
                "reviewer": "kim"}
        ],
        "user_checkpoints": [
            {"phase": "REQUIREMENTS", "approved_at": "2026-04-01T09:05:00Z"},
            {"phase": "ARCHITECTURE", "approved_at": "2026-04-01T15:10:00Z", "approved_by": "kim"}
        ],
        "interruption_safe": true
    })
}

fn execution() -> Value {
    json!({
        "workflow_id": "checkout-rework",
        "tasks": [
            {"id": "task-001", "status": "completed", "attempts": 1, "output_file": "memory/out/001.json",
                "started_at": "2026-04-02T10:00:00Z", "completed_at": "2026-04-02T11:00:00Z", "agent": "executor"},
            {"id": "task-002", "status": "running", "attempts": 2, "depends_on": ["task-001"],
                "started_at": "2026-04-02T12:00:00Z"},
            {"id": "task-003", "status": "failed", "retries": 3, "error": "types do not match"},
            {"id": "task-004", "status": "pending", "dependencies": ["task-002", "task-003"]}
        ]
    })
}

/// The document at `current`, with that status and these completed phases.
fn at(current: &str, status: &str, completed: &[&str]) -> Value {
    let entry =
        |phase: &&str| json!({"phase": phase, "completed_at": "2026-04-01T09:00:00Z", "output": null});
    let mut document = document();
    document["current_phase"] = json!(current);
    document["phase_status"] = json!(status);
    document["completed_phases"] = completed.iter().map(entry).collect();
    document["user_checkpoints"] = json!([]);
    document
}

fn draft(document: &Value) -> Draft {
    read(Dialect::Dotagent, document, None).draft
}

fn status(draft: &Draft, id: &str) -> PhaseStatus {
    draft.content.phases.iter().find(|phase| phase.id.as_str() == id).unwrap().status
}

fn next(draft: &Draft) -> Option<&str> {
    draft.content.next.as_ref().and_then(|next| next.phase.as_ref()).map(PhaseId::as_str)
}

/// The checkpoint after a save about `phase`, and the files it is exported to.
fn saved(
    main: &Value,
    companion: Option<&Value>,
    phase: &str,
    status: PhaseStatus,
) -> (Checkpoint, DialectFiles) {
    let mut checkpoint = imported(Dialect::Dotagent, main, companion);
    enter_phase(&mut checkpoint, phase, status);
    let files = export(&checkpoint);
    (checkpoint, files)
}

fn export(checkpoint: &Checkpoint) -> DialectFiles {
    Dialect::Dotagent.write(checkpoint, "/project".as_ref()).unwrap()
}

#[test]
fn a_file_is_recognised_by_its_members() {
    assert_eq!(Dialect::detect(&document()), Dialect::Dotagent);
    let bare = json!({"current_phase": "verification", "phase_status": "pending", "completed_phases": []});
    assert_eq!(Dialect::detect(&bare), Dialect::Dotagent);
    for other in [
        json!({"current_phase": 3, "phase_status": "pending", "completed_phases": [1, 2]}),
        json!({"current_phase": "REQUIREMENTS", "phase_status": "pending"}),
        json!({"current_phase": "REQUIREMENTS", "completed_phases": [], "interruption_safe": true}),
        json!({"workflow_id": "x", "current_phase": 1, "phase_status": "x", "completed_phases": [], "plan_path": "p",
            "user_checkpoints": []}),
        json!([]),
    ] {
        assert!(!recognises(&other), "{other}");
    }
}

#[test]
fn it_resumes_like_a_workflow_that_follows_the_pipeline() {
    let reading = read(Dialect::Dotagent, &document(), Some(&execution()));
    let draft = &reading.draft;
    assert_eq!(draft.workflow.as_deref(), Some("checkout-rework"));
    assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-04-02T17:30:00.000Z");
    assert_eq!(draft.content.pipeline.as_deref(), Some("dotagent"));
    assert_eq!(done(draft), ["REQUIREMENTS", "ARCHITECTURE"]);
    assert_eq!(status(draft, "IMPLEMENTATION"), PhaseStatus::InProgress);
    assert_eq!(next(draft), Some("IMPLEMENTATION"));
    assert_eq!(draft.content.phases[0].completed_at.unwrap().to_string(), "2026-04-01T09:00:00.000Z");
    assert_eq!(draft.content.phases[3].outputs[0].path, "memory/reports/verification.json");
    assert_eq!(draft.content.status, WorkflowStatus::InProgress);
    assert_eq!(codes(&reading), [""; 0]);
    let from: Vec<_> =
        reading.origins.iter().map(|origin| (origin.fact.as_str(), origin.from.as_str())).collect();
    assert!(from.contains(&("phases/ARCHITECTURE/status", "/completed_phases/1")), "{from:?}");
    assert!(from.contains(&("tasks/task-002/status", "execution.json#/tasks/1/status")), "{from:?}");
}

#[test]
fn an_import_matches_the_schema_of_checkpoints() {
    let odd = json!({"tasks": {"t1": {"status": "odd?", "attempts": -1, "depends_on": [7, "x,y", {}]}}});
    for (main, companion) in [(document(), execution()), (at("DEPLOYMENT", "failed", &["x,y"]), odd)] {
        let checkpoint = serde_json::to_value(imported(Dialect::Dotagent, &main, Some(&companion))).unwrap();
        assert_eq!(schema::violations(schema::CHECKPOINT, &checkpoint), []);
    }
}

#[test]
fn outputs_of_completed_phases_are_artifacts() {
    let expected = [
        Artifact::new("REQUIREMENTS", "memory/reports/demand.json"),
        Artifact::new("ARCHITECTURE", "memory/reports/final_design.json"),
    ];
    assert_eq!(draft(&document()).content.artifacts, expected);
}

#[test]
fn a_file_is_the_output_of_a_phase_only_where_that_is_known() {
    let mut checkpoint = imported(Dialect::Dotagent, &at("IMPLEMENTATION", "complete", &[]), None);
    checkpoint.content.state = Json::Given(json!({}));
    let now = checkpoint.saved_at;
    checkpoint.content.phases[0].enter(PhaseStatus::Complete, now);
    checkpoint.content.phases[1].enter(PhaseStatus::Complete, now);
    checkpoint.content.phases[2].enter(PhaseStatus::Skipped, now);
    let file = |name: &str, path: &str| Artifact {
        name: name.to_owned(),
        path: path.to_owned(),
        size: None,
        sha256: None,
        phase: None,
        extra: Default::default(),
    };
    let promised = "memory/reports/demand.json";
    checkpoint.content.artifacts =
        vec![file("spec", "f"), file(promised, promised), file("ARCHITECTURE", "a.md")];
    let files = export(&checkpoint);
    let entries = files.main["completed_phases"].as_array().unwrap();
    let outputs: Vec<_> = entries.iter().map(|entry| &entry["output"]).collect();
    assert_eq!(outputs, [&json!(promised), &json!("a.md"), &Value::Null]);
    let lost = Dialect::Dotagent.left_out(&files, &checkpoint, "/project".as_ref());
    assert!(lost.contains(&CheckpointPart::Artifacts), "{lost:?}");
    checkpoint.content.artifacts.remove(0);
    let lost = Dialect::Dotagent.left_out(&export(&checkpoint), &checkpoint, "/project".as_ref());
    assert!(!lost.contains(&CheckpointPart::Artifacts), "{lost:?}");
}

#[test]
fn approvals_are_read_with_their_time() {
    let draft = draft(&document());
    let approval = |index: usize| draft.content.phases[index].approval.clone().unwrap();
    assert!(!approval(0).required);
    assert_eq!(approval(0).approved_at.unwrap().to_string(), "2026-04-01T09:05:00.000Z");
    assert!(approval(1).required);
    assert_eq!(approval(1).approved_by.as_deref(), Some("kim"));
    assert_eq!(approval(1).evidence.as_deref(), Some("memory/reports/designs/"));
}

#[test]
fn an_approval_without_a_time_has_that_of_the_file() {
    for (entry, approved, found) in [
        (json!("ARCHITECTURE"), true, vec!["time_assumed"]),
        (json!({"phase": "architecture", "approved": true}), true, vec!["time_assumed"]),
        (
            json!({"phase": "ARCHITECTURE", "approved": false, "approved_at": "2026-04-01T15:10:00Z"}),
            false,
            vec![],
        ),
        (json!({"phase": "ARCHITECTURE", "approved_at": null}), false, vec![]),
        (json!({"phase": "ARCHITECTURE", "approved_at": "later"}), false, vec!["time_unreadable"]),
        (json!({"phase": "ARCHITECTURE"}), false, vec![]),
        (json!(7), false, vec![]),
    ] {
        let mut document = document();
        document["user_checkpoints"] = json!([entry]);
        let reading = read(Dialect::Dotagent, &document, None);
        let approval = reading.draft.content.phases[1].approval.clone().unwrap();
        assert_eq!(approval.approved_at, reading.draft.recorded_at.filter(|_| approved), "{entry}");
        assert_eq!(codes(&reading), found, "{entry}");
        round_trip(Dialect::Dotagent, &document, None);
    }
}

#[test]
fn complete_and_listed_means_that_the_next_phase_is_due() {
    let document = at("ARCHITECTURE", "complete", &["REQUIREMENTS", "ARCHITECTURE"]);
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(done(&reading.draft), ["REQUIREMENTS", "ARCHITECTURE"]);
    assert_eq!(status(&reading.draft, "IMPLEMENTATION"), PhaseStatus::Pending);
    assert_eq!(reading.draft.content.status, WorkflowStatus::InProgress);
    assert_eq!(codes(&reading), [""; 0]);
}

#[test]
fn complete_on_the_phase_behind_the_listed_ones_means_that_the_pointer_was_advanced() {
    for document in [
        at("ARCHITECTURE", "complete", &["REQUIREMENTS"]),
        at("REFLECTION", "complete", &["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION"]),
    ] {
        let reading = read(Dialect::Dotagent, &document, None);
        let current = document["current_phase"].as_str().unwrap();
        assert_eq!(status(&reading.draft, current), PhaseStatus::Pending);
        assert_eq!(next(&reading.draft), Some(current));
        assert_eq!(codes(&reading), ["records_disagree"]);
        assert!(reading.findings[0].message.contains("the phase before"), "{:?}", reading.findings);
        assert_eq!(reading.draft.content.status, WorkflowStatus::InProgress);
        round_trip(Dialect::Dotagent, &document, None);
    }
}

#[test]
fn complete_on_the_first_phase_with_an_empty_list_means_done() {
    let reading = read(Dialect::Dotagent, &at("REQUIREMENTS", "complete", &[]), None);
    assert_eq!(done(&reading.draft), ["REQUIREMENTS"]);
    assert_eq!(codes(&reading), ["records_disagree"]);
}

#[test]
fn complete_with_a_gap_before_it_means_done_and_the_gap_stays_open() {
    let draft = draft(&at("IMPLEMENTATION", "complete", &["REQUIREMENTS"]));
    assert_eq!(done(&draft), ["REQUIREMENTS", "IMPLEMENTATION"]);
}

#[test]
fn between_two_phases_work_is_left() {
    for document in [
        at("REQUIREMENTS", "complete", &["REQUIREMENTS"]),
        at("ARCHITECTURE", "complete", &["REQUIREMENTS"]),
        at("REQUIREMENTS", "complete", &[]),
    ] {
        let draft = draft(&document);
        assert_eq!(draft.content.status, WorkflowStatus::InProgress);
        assert_eq!(done(&draft), ["REQUIREMENTS"]);
        assert!(!draft.idle);
    }
}

#[test]
fn an_open_status_of_a_listed_phase_does_not_reopen_it() {
    for word in ["in_progress", "pending"] {
        let reading = read(Dialect::Dotagent, &at("REQUIREMENTS", word, &["REQUIREMENTS"]), None);
        assert_eq!(done(&reading.draft), ["REQUIREMENTS"]);
        assert_eq!(codes(&reading), ["records_disagree"]);
        assert_eq!(next(&reading.draft), None);
    }
}

#[test]
fn a_failed_phase_is_never_done() {
    let mut document = at("ARCHITECTURE", "failed", &["REQUIREMENTS", "ARCHITECTURE"]);
    document["error"] = json!("no design was chosen");
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(done(&reading.draft), ["REQUIREMENTS"]);
    assert_eq!(status(&reading.draft, "ARCHITECTURE"), PhaseStatus::Failed);
    assert_eq!(reading.draft.content.phases[1].completed_at, None);
    assert_eq!(reading.draft.content.last_error.as_ref().unwrap().message, "no design was chosen");
    assert_eq!(codes(&reading), ["records_disagree"]);
    round_trip(Dialect::Dotagent, &document, None);

    let mut document = at("IMPLEMENTATION", "complete", &["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION"]);
    document["completed_phases"][2]["status"] = json!("failed");
    assert_eq!(status(&draft(&document), "IMPLEMENTATION"), PhaseStatus::Failed);
    document["completed_phases"].as_array_mut().unwrap().push(json!("IMPLEMENTATION"));
    assert_eq!(status(&draft(&document), "IMPLEMENTATION"), PhaseStatus::Failed);
}

#[test]
fn without_a_status_nothing_is_concluded_about_the_current_phase() {
    let mut document = at("ARCHITECTURE", "half-way", &["REQUIREMENTS"]);
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(status(&reading.draft, "ARCHITECTURE"), PhaseStatus::Pending);
    assert_eq!(codes(&reading), ["status_unknown"]);
    document["phase_status"] = json!(null);
    assert_eq!(next(&draft(&document)), Some("ARCHITECTURE"));
}

#[test]
fn without_a_list_the_current_phase_decides() {
    let mut document = at("VERIFICATION", "in_progress", &[]);
    document.as_object_mut().unwrap().shift_remove("completed_phases");
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(done(&reading.draft), ["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION"]);
    assert_eq!(codes(&reading), ["phases_implied"]);
    document["phase_status"] = json!("complete");
    assert_eq!(status(&draft(&document), "VERIFICATION"), PhaseStatus::Complete);
    round_trip(Dialect::Dotagent, &document, None);
    assert_eq!(done(&draft(&at("VERIFICATION", "in_progress", &[]))), [""; 0]);
}

#[test]
fn all_five_done_is_complete() {
    let all = ["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "REFLECTION"];
    for current in ["REFLECTION", "COMPLETE", "done"] {
        let document = at(current, "complete", &all);
        let reading = read(Dialect::Dotagent, &document, None);
        assert_eq!(reading.draft.content.status, WorkflowStatus::Complete);
        assert_eq!(next(&reading.draft), None);
        assert_eq!(codes(&reading), [""; 0]);
        round_trip(Dialect::Dotagent, &document, None);
    }
    let claimed = read(Dialect::Dotagent, &at("DONE", "complete", &all[..3]), None);
    assert_eq!(claimed.draft.content.status, WorkflowStatus::InProgress);
    assert_eq!(codes(&claimed), ["records_disagree"]);
    assert!(claimed.findings[0].message.ends_with("VERIFICATION, REFLECTION"), "{:?}", claimed.findings);
    let failed = read(Dialect::Dotagent, &at("DONE", "failed", &all), None);
    assert_eq!(codes(&failed), ["records_disagree"]);
    let listed = read(Dialect::Dotagent, &at("REQUIREMENTS", "pending", &["DONE"]), None);
    assert_eq!((codes(&listed), listed.draft.content.phases.len()), (vec!["phase_unreadable"], 5));
}

#[test]
fn a_file_that_was_being_written_needs_confirmation() {
    let mut document = document();
    document["interruption_safe"] = json!(false);
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(codes(&reading), ["incomplete_write"]);
    assert_eq!(reading.findings[0].severity, Severity::Confirm);
    round_trip(Dialect::Dotagent, &document, None);
    let (_, files) = saved(&document, None, "IMPLEMENTATION", PhaseStatus::Complete);
    assert_eq!(files.main["interruption_safe"], json!(true));
}

#[test]
fn the_start_time_is_used_if_the_time_of_the_last_change_is_missing() {
    let mut document = document();
    document["last_updated"] = json!("recently");
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(reading.draft.recorded_at.unwrap().to_string(), "2026-04-01T08:00:00.000Z");
    assert_eq!(codes(&reading), ["time_unreadable"]);
}

#[test]
fn phases_are_recognised_in_any_spelling() {
    let mut document = document();
    document["current_phase"] = json!(" implementation ");
    document["completed_phases"] = json!(["Requirements", {"name": "architecture"}, {"x": 1}, null]);
    let draft = draft(&document);
    assert_eq!(done(&draft), ["REQUIREMENTS", "ARCHITECTURE"]);
    assert_eq!((draft.content.phase.unwrap().as_str(), draft.content.phases.len()), ("IMPLEMENTATION", 5));
    round_trip(Dialect::Dotagent, &document, None);
    document["completed_phases"] =
        json!({"REQUIREMENTS": {"completed_at": 1_775_035_000, "output": ["a.json", "b.md"]}});
    let draft = self::draft(&document);
    assert_eq!(done(&draft), ["REQUIREMENTS"]);
    assert_eq!(
        draft.content.artifacts,
        [Artifact::new("REQUIREMENTS", "a.json"), Artifact::new("b.md", "b.md")]
    );
    round_trip(Dialect::Dotagent, &document, None);
}

#[test]
fn a_phase_that_dotagent_does_not_have_is_one_of_its_own() {
    let document = at("DEPLOYMENT", "in_progress", &["REQUIREMENTS", "RESEARCH"]);
    let reading = read(Dialect::Dotagent, &document, None);
    assert_eq!(codes(&reading), ["imported", "imported"]);
    assert_eq!(done(&reading.draft), ["REQUIREMENTS", "RESEARCH"]);
    assert_eq!(reading.draft.content.phases.last().unwrap().id.as_str(), "DEPLOYMENT");
    round_trip(Dialect::Dotagent, &document, None);
}

#[test]
fn tasks_belong_to_the_implementation_unless_they_name_a_phase() {
    let mut execution = execution();
    execution["tasks"][3]["phase"] = json!("verification");
    let tasks = read(Dialect::Dotagent, &document(), Some(&execution)).draft.content.tasks;
    let told: Vec<_> = tasks
        .iter()
        .map(|task| {
            (task.id.as_str(), task.phase.as_ref().unwrap().as_str(), task.status.word(), task.attempts)
        })
        .collect();
    let expected = [
        ("task-001", "IMPLEMENTATION", "complete", 1),
        ("task-002", "IMPLEMENTATION", "running", 2),
        ("task-003", "IMPLEMENTATION", "failed", 3),
        ("task-004", "VERIFICATION", "pending", 0),
    ];
    assert_eq!(told, expected);
    assert_eq!(tasks[0].output.as_deref(), Some("memory/out/001.json"));
    assert_eq!(tasks[0].completed_at.unwrap().to_string(), "2026-04-02T11:00:00.000Z");
    assert_eq!(tasks[2].error.as_deref(), Some("types do not match"));
    assert_eq!(tasks[3].depends_on, ["task-002".parse().unwrap(), "task-003".parse().unwrap()]);
}

#[test]
fn tasks_are_read_in_every_layout() {
    let by_id = json!({"t1": {"status": "done"}, "t2": {"state": "running", "dependsOn": "t1"}});
    let list = json!([{"task_id": "t1", "status": "done"}, {"name": "t2", "status": "running", "dependencies": ["t1"]}]);
    let mut itself = by_id.clone();
    itself["updated"] = json!("2026-04-02");
    itself["totals"] = json!({"done": 1});
    for execution in [json!({"tasks": by_id}), json!({ "tasks": list }), list, itself] {
        let tasks = read(Dialect::Dotagent, &document(), Some(&execution)).draft.content.tasks;
        let told: Vec<_> =
            tasks.iter().map(|task| (task.id.as_str(), task.status, task.depends_on.len())).collect();
        assert_eq!(told, [("t1", TaskStatus::Complete, 0), ("t2", TaskStatus::Running, 1)], "{execution}");
        round_trip(Dialect::Dotagent, &document(), Some(&execution));
    }
    let bare = json!({"tasks": ["t1", "t2"]});
    let tasks = read(Dialect::Dotagent, &document(), Some(&bare)).draft.content.tasks;
    assert_eq!((tasks.len(), tasks[1].status), (2, TaskStatus::Pending));
    let words = json!({"tasks": {"t1": "done", "t2": "queued"}});
    assert_eq!(
        read(Dialect::Dotagent, &document(), Some(&words)).draft.content.tasks[0].status,
        TaskStatus::Complete
    );
}

#[test]
fn tasks_that_cannot_be_followed_are_findings() {
    let execution =
        json!({"tasks": [{"id": "a"}, {"id": "a", "status": "done"}, {"id": "x,y"}, 7, {"status": "done"}]});
    let reading = read(Dialect::Dotagent, &document(), Some(&execution));
    let ids: Vec<_> =
        reading.draft.content.tasks.iter().map(|task| (task.id.as_str(), task.status.word())).collect();
    assert_eq!(ids, [("a", "pending"), ("7", "pending")]);
    assert_eq!(codes(&reading), ["records_disagree", "imported", "imported"]);
    assert!(reading.findings[0].message.starts_with("execution.json#/tasks/1: "), "{:?}", reading.findings);
    round_trip(Dialect::Dotagent, &document(), Some(&execution));
}

#[test]
fn an_import_without_changes_is_written_back_unchanged() {
    round_trip(Dialect::Dotagent, &document(), None);
    round_trip(Dialect::Dotagent, &document(), Some(&execution()));
    let mut odd = document();
    odd["mine"] = json!({"deep": [null, 0, "", false]});
    odd["last_updated"] = json!(1_775_151_000_123_u64);
    odd["phase_status"] = json!("ACTIVE");
    round_trip(Dialect::Dotagent, &odd, Some(&json!({"tasks": "none", "note": 1.50})));
    round_trip(Dialect::Dotagent, &json!({}), Some(&json!(null)));
    round_trip(Dialect::Dotagent, &json!("x"), None);
}

#[test]
fn a_later_save_is_written() {
    let (mut checkpoint, _) = saved(&document(), Some(&execution()), "IMPLEMENTATION", PhaseStatus::Complete);
    checkpoint.content.tasks[1].enter(TaskStatus::Complete, checkpoint.saved_at);
    let written = export(&checkpoint);
    let mut main = document();
    overlay(&mut main, json!({"last_updated": "2026-12-01T12:00:00.000Z", "phase_status": "complete"}));
    let implemented =
        json!({"phase": "IMPLEMENTATION", "completed_at": "2026-12-01T12:00:00.000Z", "output": null});
    main["completed_phases"].as_array_mut().unwrap().push(implemented);
    assert_eq!(written.main, main);
    let mut tasks = execution();
    overlay(
        &mut tasks["tasks"][1],
        json!({"status": "complete", "completed_at": "2026-12-01T12:00:00.000Z"}),
    );
    assert_eq!(written.companion, Some(tasks));
}

#[test]
fn tasks_by_id_keep_their_layout_when_one_of_them_changes() {
    let execution = json!({"tasks": {"t1": {"state": "running", "note": "mine"}, "t2": "done"}, "wave": 2});
    let mut checkpoint = imported(Dialect::Dotagent, &document(), Some(&execution));
    checkpoint.content.tasks[0].enter(TaskStatus::Complete, checkpoint.saved_at);
    let written = export(&checkpoint).companion.unwrap();
    assert_eq!(written["tasks"]["t2"], json!("done"));
    assert_eq!(written["tasks"]["t1"]["note"], json!("mine"));
    assert_eq!(written["wave"], json!(2));
    let tasks = read(Dialect::Dotagent, &document(), Some(&written)).draft.content.tasks;
    assert_eq!((tasks.len(), tasks[0].status), (2, TaskStatus::Complete));
}

#[test]
fn a_list_that_lacked_a_phase_is_completed_when_the_pointer_moves_on() {
    let (_, files) =
        saved(&at("REQUIREMENTS", "complete", &[]), None, "ARCHITECTURE", PhaseStatus::InProgress);
    let after = draft(&files.main);
    assert_eq!(done(&after), ["REQUIREMENTS"]);
    assert_eq!(status(&after, "ARCHITECTURE"), PhaseStatus::InProgress);
}

#[test]
fn an_approval_given_later_is_written() {
    let mut checkpoint =
        imported(Dialect::Dotagent, &at("ARCHITECTURE", "in_progress", &["REQUIREMENTS"]), None);
    checkpoint.content.phases[1].approval.as_mut().unwrap().approved_at = Some(checkpoint.saved_at);
    let written = export(&checkpoint).main;
    let expected = json!([{"phase": "ARCHITECTURE", "approved_at": checkpoint.saved_at}]);
    assert_eq!(written["user_checkpoints"], expected);
}

#[test]
fn a_workflow_of_the_program_is_written_as_whole_files() {
    let mut checkpoint = imported(Dialect::Dotagent, &document(), Some(&execution()));
    checkpoint.content.state = Json::default();
    let written = export(&checkpoint);
    assert!(recognises(&written.main));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&written.main), keys(&document()));
    assert_eq!(written.main["started_at"], json!("2026-04-01T09:00:00.000Z"));
    let again = read(Dialect::Dotagent, &written.main, written.companion.as_ref()).draft;
    assert_eq!(
        (&again.content.phases, &again.content.tasks),
        (&checkpoint.content.phases, &checkpoint.content.tasks)
    );
}

fn documents() -> BoxedStrategy<Value> {
    let phases = || {
        prop_oneof![
            8 => one_of(&["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "reflection", "DONE", "DEPLOY"]),
            1 => (0_i64..4).prop_map(Value::from),
        ]
        .boxed()
    };
    let statuses = || one_of(&["complete", "SUCCESS", "in_progress", "pending", "failed", "skipped", "odd?"]);
    let times = || one_of(&["2026-02-03T10:00:00Z", "2026-02-03", "soon"]);
    let completed = objects(vec![
        ("phase", phases()),
        ("completed_at", times()),
        ("output", one_of(&["a.json"])),
        ("status", prop_oneof![4 => Just(Value::Null), 1 => statuses()].boxed()),
    ]);
    let completed = prop_oneof![4 => completed, 1 => phases(), 1 => any_value()];
    let approved = objects(vec![
        ("phase", phases()),
        ("approved_at", times()),
        ("approved", any::<bool>().prop_map(Value::from).boxed()),
    ]);
    let list =
        |entry: BoxedStrategy<Value>| proptest::collection::vec(entry, 0..6).prop_map(Value::from).boxed();
    objects(vec![
        ("workflow_id", one_of(&["w", "x y"])),
        ("started_at", times()),
        ("last_updated", times()),
        ("current_phase", phases()),
        ("phase_status", statuses()),
        ("completed_phases", list(completed.boxed())),
        ("user_checkpoints", list(approved)),
        ("interruption_safe", any::<bool>().prop_map(Value::from).boxed()),
        ("error", one_of(&["broke"])),
    ])
}

fn executions() -> BoxedStrategy<Value> {
    let ids = || one_of(&["t1", "t2", "t3", "x,y"]);
    let several = proptest::collection::vec(ids(), 0..3).prop_map(Value::from).boxed();
    let task = objects(vec![
        ("id", prop_oneof![ids(), (0_i64..3).prop_map(Value::from)].boxed()),
        ("status", one_of(&["complete", "running", "pending", "failed", "odd?"])),
        ("attempts", (-1_i64..5).prop_map(Value::from).boxed()),
        ("depends_on", several),
        ("output_file", one_of(&["a.json"])),
        ("error", one_of(&["broke"])),
        ("completed_at", one_of(&["2026-02-03T10:00:00Z"])),
        ("phase", one_of(&["VERIFICATION", "nowhere"])),
    ]);
    let list = proptest::collection::vec(task.clone(), 0..4).prop_map(Value::from);
    let by_id = proptest::collection::btree_map("t[1-4]", prop_oneof![task, any_value()], 0..4)
        .prop_map(|members| members.into_iter().collect::<Value>());
    let tasks = prop_oneof![list, by_id].boxed();
    prop_oneof![objects(vec![("tasks", tasks.clone())]), tasks, any_value()].boxed()
}

/// The phases that the document itself records as failed.
fn recorded_as_failed(document: &Value, draft: &Draft) -> Vec<usize> {
    let entries = document["completed_phases"].as_array().into_iter().flatten();
    let entries = entries.filter(|entry| entry["status"] == "failed").map(|entry| &entry["phase"]);
    let current = Some(&document["current_phase"]).filter(|_| document["phase_status"] == "failed");
    let named = entries.chain(current).filter_map(Value::as_str);
    named.filter_map(|name| phase_list::position(&draft.content.phases, name)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_is_read_and_written_back(
        document in documents(),
        execution in proptest::option::of(executions()),
    ) {
        let draft = read(Dialect::Dotagent, &document, execution.as_ref()).draft;
        for index in recorded_as_failed(&document, &draft) {
            prop_assert_eq!(draft.content.phases[index].status, PhaseStatus::Failed);
        }
        round_trip(Dialect::Dotagent, &document, execution.as_ref());
    }

    #[test]
    fn any_later_save_is_read_back_from_the_written_files(
        document in documents(),
        execution in proptest::option::of(executions()),
        at in 0_usize..5,
        finish in any::<bool>(),
    ) {
        let phase = draft(&document).content.phases[at].id.clone();
        let moved = if finish { PhaseStatus::Complete } else { PhaseStatus::InProgress };
        let (mut checkpoint, _) = saved(&document, execution.as_ref(), phase.as_str(), moved);
        if let Some(task) = checkpoint.content.tasks.first_mut() {
            task.enter(TaskStatus::Complete, checkpoint.saved_at);
        }
        let files = export(&checkpoint);
        let after = read(Dialect::Dotagent, &files.main, files.companion.as_ref()).draft;
        prop_assert_eq!(status(&after, phase.as_str()), moved);
        let expected: Vec<&str> = checkpoint.content.done().map(|phase| phase.id.as_str()).collect();
        prop_assert_eq!(done(&after), expected);
        prop_assert_eq!(&after.content.tasks, &checkpoint.content.tasks);
    }
}
