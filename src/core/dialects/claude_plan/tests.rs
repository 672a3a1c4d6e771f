use serde_json::{Value, json};

use crate::core::checkpoint::{Artifact, Checkpoint};
use crate::core::dialects::Dialect;
use crate::core::dialects::testing::{codes, imported, read, round_trip};
use crate::core::json::Json;
use crate::core::phase::PhaseStatus;

fn document() -> Value {
    json!({
        "workflow_id": "implement_031_search",
        "plan_path": "specs/031_search/plans/001.md",
        "current_phase": 3,
        "completed_phases": [1, 2],
        "phase_metadata": {
            "1": {"status": "completed", "artifacts": ["specs/031_search/log_1.md"], "duration_minutes": 12,
                "timestamp": "2026-02-03T10:30:00.123456Z"},
            "2": {"status": "completed", "artifacts": [], "duration_minutes": 60.50, "timestamp": "2026-02-03T11:45:00Z"}
        },
        "replan_history": [{"phase": 3, "reason": "complexity_exceeded", "timestamp": "2026-02-03T12:00:00Z"}],
        "replan_count": {"3": 1},
        "artifact_paths": {"implementation_dir": "specs/031_search/implementation/"},
        "context_metadata": {"research_reports": ["001.md"], "plan_metadata": {"n": 1.0}}
    })
}

#[test]
fn it_resumes_at_the_current_phase_with_its_history() {
    assert_eq!(Dialect::detect(&document()), Dialect::ClaudePlan);
    let reading = read(Dialect::ClaudePlan, &document(), None);
    let draft = reading.draft;
    assert_eq!(draft.workflow.as_deref(), Some("implement_031_search"));
    assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-02-03T12:00:00.000Z");
    let phases: Vec<_> =
        draft.content.phases.iter().map(|phase| (phase.id.as_str(), phase.status.word())).collect();
    assert_eq!(phases, [("1", "complete"), ("2", "complete"), ("3", "pending")]);
    assert_eq!(draft.content.pipeline, None);
    assert_eq!(draft.content.replans[0].phase.as_str(), "3");
    assert_eq!(
        draft.content.artifacts,
        [Artifact::new("specs/031_search/log_1.md", "specs/031_search/log_1.md")]
    );
}

#[test]
fn a_gap_stays_open() {
    let mut document = document();
    document["completed_phases"] = json!(["1", "2", 4]);
    document["current_phase"] = json!(5);
    let draft = read(Dialect::ClaudePlan, &document, None).draft;
    let open: Vec<_> =
        draft.content.phases.iter().filter(|p| !p.status.is_done()).map(|p| p.id.as_str()).collect();
    assert_eq!(open, ["3", "5"]);
}

#[test]
fn a_phase_recorded_as_failed_is_not_complete_whatever_the_list_says() {
    let mut document = document();
    document["phase_metadata"]["2"]["status"] = json!("failed");
    document["phase_metadata"]["2"]["error"] = json!("tests broke");
    let reading = read(Dialect::ClaudePlan, &document, None);
    assert_eq!(reading.draft.content.phases[1].status, PhaseStatus::Failed);
    assert_eq!(reading.draft.content.last_error.as_ref().unwrap().message, "tests broke");
    assert_eq!(codes(&reading), ["records_disagree"]);
    round_trip(Dialect::ClaudePlan, &document, None);
}

#[test]
fn an_import_without_changes_is_written_back_unchanged() {
    round_trip(Dialect::ClaudePlan, &document(), None);
    let mut odd = document();
    odd["completed_phases"] = json!([1, "2", {"x": 1}]);
    odd["phase_metadata"]["7"] = json!("later");
    odd["mine"] = json!({"deep": [null, 0, "", false]});
    round_trip(Dialect::ClaudePlan, &odd, None);
}

#[test]
fn a_later_save_is_written() {
    let mut checkpoint = imported(Dialect::ClaudePlan, &document(), None);
    checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
    checkpoint.content.next = None;
    let written = Dialect::ClaudePlan.write(&checkpoint, "/project".as_ref()).unwrap().main;
    assert_eq!(written["completed_phases"], json!([1, 2, 3]));
    assert_eq!(written["current_phase"], json!(4));
    assert_eq!(written["phase_metadata"]["3"]["status"], json!("completed"));
    assert_eq!(written["phase_metadata"]["2"], document()["phase_metadata"]["2"]);
    assert_eq!(written["context_metadata"], document()["context_metadata"]);
}

#[test]
fn members_of_the_dialect_are_not_data_of_the_phase() {
    let data = |checkpoint: &Checkpoint| {
        let data = checkpoint.content.phases.iter().map(|phase| phase.data.as_ref()?.to_value().ok());
        data.collect::<Vec<_>>()
    };
    let mut checkpoint = imported(Dialect::ClaudePlan, &document(), None);
    let found = [Some(json!({"duration_minutes": 12})), Some(json!({"duration_minutes": 60.50})), None];
    assert_eq!(data(&checkpoint), found);
    checkpoint.content.state = Json::Given(json!({}));
    checkpoint.content.phases[0].data = Some(Json::Given(json!({"status": "weird", "artifacts": 1})));
    checkpoint.content.phases[1].data = None;
    let project = "/project".as_ref();
    let files = Dialect::ClaudePlan.write(&checkpoint, project).unwrap();
    assert_eq!(Dialect::ClaudePlan.left_out(&files, &checkpoint, project), []);
    assert_eq!(data(&imported(Dialect::ClaudePlan, &files.main, None)), data(&checkpoint));
}

#[test]
fn more_phases_than_can_be_followed_are_a_finding() {
    let mut document = document();
    document["completed_phases"] = (0..40_000).map(|n| json!(format!("x{n}"))).collect();
    document["phase_metadata"] = json!({});
    let reading = read(Dialect::ClaudePlan, &document, None);
    assert_eq!((reading.draft.content.phases.len(), codes(&reading)), (10_001, vec!["phase_unreadable"]));
    round_trip(Dialect::ClaudePlan, &document, None);
}

#[test]
fn artifacts_stay_with_the_phase_that_lists_them() {
    let mut checkpoint = imported(Dialect::ClaudePlan, &document(), None);
    checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
    let extra = Default::default();
    let file = "new.md".to_owned();
    checkpoint.content.artifacts.push(Artifact {
        name: file.clone(),
        path: file,
        size: None,
        sha256: None,
        phase: None,
        extra,
    });
    let written = Dialect::ClaudePlan.write(&checkpoint, "/project".as_ref()).unwrap().main;
    assert_eq!(written["phase_metadata"]["1"], document()["phase_metadata"]["1"]);
    assert_eq!(written["phase_metadata"]["2"], document()["phase_metadata"]["2"]);
    assert_eq!(written["phase_metadata"]["3"]["artifacts"], json!(["new.md"]));
}
