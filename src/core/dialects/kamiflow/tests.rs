use proptest::prelude::*;

use serde_json::{Value, json};

use super::*;
use crate::core::checkpoint::{Artifact, Checkpoint, WorkflowStatus};
use crate::core::dialects::testing::{
    self, any_value, codes, enter_phase, imported, objects, one_of, read, round_trip,
};
use crate::core::dialects::{Dialect, Draft};
use crate::core::finding::Severity;
use crate::core::json::Json;
use crate::core::phase::PhaseStatus;
use crate::core::schema;
use crate::core::time::Timestamp;

fn document() -> Value {
    json!({
        "version": "1.0",
        "taskId": "117",
        "slug": "faceted-search",
        "phase": "2",
        "phaseName": "Strategic Synthesis",
        "timestamp": "2026-03-04T09:15:00+01:00",
        "command": "/kamiflow:dev:lazy",
        "status": "complete",
        "artifacts": {"s1": "tasks/117-S1-IDEA-faceted-search.md", "s2": null, "s3": null, "s4": null},
        "phaseData": {
            "options": [{"id": "A", "name": "Index per facet", "ratings": {"stackAlignment": 4.50}}],
            "selectedOption": "A",
            "projectContext": {"goal": "A shop"}
        },
        "validation": null,
        "reflection": null,
        "nextPhase": "3A",
        "nextAction": "Write the specification of the index",
        "metadata": {"duration": "95s", "userInteractions": 1}
    })
}

fn with(members: Value) -> Value {
    testing::with(document(), members)
}

fn without(key: &str) -> Value {
    testing::without(document(), key)
}

fn draft(document: &Value) -> Draft {
    read(Dialect::Kamiflow, document, None).draft
}

/// Returns the ids of the phases with a status.
fn with_status(draft: &Draft, status: PhaseStatus) -> Vec<&str> {
    draft
        .content
        .phases
        .iter()
        .filter(|phase| phase.status == status)
        .map(|phase| phase.id.as_str())
        .collect()
}

/// The exported file after a save about `phase`.
fn saved(document: &Value, phase: &str, status: PhaseStatus) -> (Checkpoint, Value) {
    let mut checkpoint = imported(Dialect::Kamiflow, document, None);
    enter_phase(&mut checkpoint, phase, status);
    let written = Dialect::Kamiflow.write(&checkpoint, "/project".as_ref()).unwrap().main;
    (checkpoint, written)
}

#[test]
fn a_file_is_recognised_by_its_members() {
    assert_eq!(Dialect::detect(&document()), Dialect::Kamiflow);
    assert_eq!(Dialect::detect(&with(json!({"taskId": 117, "phase": 2}))), Dialect::Kamiflow);
    assert_eq!(
        Dialect::detect(&json!({"taskId": "1", "phase": "2", "phaseData": {}, "slug": "x"})),
        Dialect::Kamiflow
    );
    for other in [
        json!({"taskId": "1", "phase": "2", "status": "running"}),
        json!({"phase": "2", "phaseName": "x", "phaseData": {}}),
        json!({"taskId": {}, "phase": "2", "phaseName": "x", "phaseData": {}}),
        json!(["taskId", "phase", "phaseName", "phaseData"]),
        json!(null),
    ] {
        assert!(!recognises(&other), "{other}");
    }
}

#[test]
fn it_goes_on_like_a_workflow_that_follows_the_pipeline() {
    let reading = read(Dialect::Kamiflow, &document(), None);
    let draft = &reading.draft;
    assert_eq!(draft.workflow.as_deref(), Some("117"));
    assert_eq!(draft.content.title.as_deref(), Some("faceted-search"));
    assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-03-04T08:15:00.000Z");
    assert_eq!(draft.content.pipeline.as_deref(), Some("kamiflow"));
    assert_eq!(with_status(draft, PhaseStatus::Complete), ["0", "0.5", "1", "2"]);
    assert_eq!(with_status(draft, PhaseStatus::Pending), ["3A", "3B", "4"]);
    assert_eq!(draft.content.phase.as_ref().unwrap().as_str(), "2");
    let next = draft.content.next.as_ref().unwrap();
    assert_eq!(next.phase.as_ref().unwrap().as_str(), "3A");
    assert_eq!(next.action.as_deref(), Some("Write the specification of the index"));
    assert_eq!(draft.content.status, WorkflowStatus::InProgress);
    assert_eq!(draft.content.phases[3].completed_at, draft.recorded_at);
    assert_eq!(draft.content.phases[3].data, Some(Json::Given(document()["phaseData"].clone())));
    assert_eq!(draft.content.phases[4].name.as_deref(), Some("Artifact Generation"));
    assert!(draft.content.phases[3].approval.as_ref().unwrap().required);
    let from: Vec<_> =
        reading.origins.iter().map(|origin| (origin.fact.as_str(), origin.from.as_str())).collect();
    assert!(from.contains(&("phases/2/status", "/status")), "{from:?}");
    assert!(from.contains(&("artifact", "/artifacts/s1")), "{from:?}");
}

#[test]
fn what_is_imported_has_the_form_of_a_checkpoint() {
    for document in
        [document(), with(json!({"phase": "a,b", "phaseData": [1], "validation": "x", "status": "failed"}))]
    {
        let checkpoint = serde_json::to_value(imported(Dialect::Kamiflow, &document, None)).unwrap();
        assert_eq!(schema::violations(schema::CHECKPOINT, &checkpoint), []);
    }
}

#[test]
fn earlier_phases_are_taken_as_complete_and_that_is_said_once() {
    let reading = read(Dialect::Kamiflow, &document(), None);
    assert_eq!(codes(&reading), ["phases_implied"]);
    assert_eq!(reading.findings[0].severity, Severity::Info);
    assert_eq!(reading.findings[0].message, "/phase: phases before 2 are taken as complete: 0, 0.5, 1");
    assert_eq!(reading.draft.content.phases[0].completed_at, None);
    assert_eq!(reading.draft.content.phases[0].data, None);
    let first = read(Dialect::Kamiflow, &with(json!({"phase": "0", "phaseName": "Logical Guard"})), None);
    assert_eq!(codes(&first), [""; 0]);
}

#[test]
fn phases_are_recognised_in_any_spelling() {
    for (spelled, meant) in [
        (json!("2"), "2"),
        (json!(2), "2"),
        (json!(2.0), "2"),
        (json!(0.5), "0.5"),
        (json!("phase0.5"), "0.5"),
        (json!("Phase 3a"), "3A"),
        (json!("3b"), "3B"),
        (json!("PHASE_4"), "4"),
        (json!("complete"), "4"),
    ] {
        let document = with(json!({"phase": spelled, "phaseName": null}));
        let draft = draft(&document);
        assert_eq!(draft.content.phase.as_ref().unwrap().as_str(), meant, "{spelled}");
        assert_eq!(draft.content.phases.len(), 7, "{spelled}");
        round_trip(Dialect::Kamiflow, &document, None);
    }
}

#[test]
fn the_name_of_a_phase_is_used_if_the_id_is_missing() {
    assert_eq!(draft(&without("phase")).content.phase.unwrap().as_str(), "2");
    let contradiction = read(Dialect::Kamiflow, &with(json!({"phaseName": "validation loop"})), None);
    assert_eq!(contradiction.draft.content.phase.as_ref().unwrap().as_str(), "2");
    assert_eq!(codes(&contradiction), ["records_disagree", "phases_implied"]);
    let nowhere = read(Dialect::Kamiflow, &with(json!({"phase": null, "phaseName": null})), None);
    assert_eq!(codes(&nowhere), ["phases_unknown"]);
    assert_eq!(with_status(&nowhere.draft, PhaseStatus::Pending).len(), 7);
}

#[test]
fn a_phase_that_kamiflow_does_not_have_is_one_of_its_own() {
    let document = with(json!({"phase": "1B", "phaseName": "Second Interview", "nextPhase": "phase2"}));
    let reading = read(Dialect::Kamiflow, &document, None);
    assert_eq!(codes(&reading), ["imported", "phases_implied"]);
    assert_eq!(with_status(&reading.draft, PhaseStatus::Complete), ["0", "0.5", "1", "1B"]);
    assert_eq!(reading.draft.content.phases[3].name.as_deref(), Some("Second Interview"));
    round_trip(Dialect::Kamiflow, &document, None);

    let number = read(Dialect::Kamiflow, &with(json!({"phase": "1.5", "phaseName": null})), None);
    assert_eq!(codes(&number), ["phase_unreadable", "phases_unknown"], "a number is not");
    assert_eq!(number.draft.content.phases.len(), 7);

    let lost = read(
        Dialect::Kamiflow,
        &with(json!({"phase": "deploy", "phaseName": null, "nextPhase": "celebrate"})),
        None,
    );
    assert_eq!(codes(&lost), ["imported"]);
    assert_eq!(with_status(&lost.draft, PhaseStatus::Complete), ["deploy"]);
    assert_eq!(lost.draft.content.phases[7].id.as_str(), "deploy");
}

#[test]
fn a_failed_phase_is_never_done_and_its_error_is_kept() {
    let document = with(json!({"phase": "3A", "phaseName": null, "status": "error", "nextPhase": "3B",
        "error": {"message": "the template is gone"}}));
    let draft = draft(&document);
    assert_eq!(with_status(&draft, PhaseStatus::Failed), ["3A"]);
    assert_eq!(with_status(&draft, PhaseStatus::Complete), ["0", "0.5", "1", "2"]);
    assert_eq!(draft.content.phases[4].completed_at, None);
    let error = draft.content.last_error.unwrap();
    assert_eq!((error.message.as_str(), error.phase.unwrap().as_str()), ("the template is gone", "3A"));
    round_trip(Dialect::Kamiflow, &document, None);
    let undated = self::draft(&with(json!({"status": "failed", "error": "no disk", "timestamp": null})));
    assert_eq!((undated.content.last_error, undated.undated_error.as_deref()), (None, Some("no disk")));
    let last = self::draft(&with(json!({"phase": "complete", "status": "failed"})));
    assert_eq!(with_status(&last, PhaseStatus::Failed), ["4"]);
    assert_eq!(last.content.status, WorkflowStatus::InProgress);
}

#[test]
fn the_last_file_completes_the_workflow() {
    for phase in ["4", "complete"] {
        let document = with(json!({"phase": phase, "phaseName": "Strategic Exit", "nextPhase": "complete",
            "nextAction": null}));
        let draft = draft(&document);
        assert_eq!(draft.content.status, WorkflowStatus::Complete);
        assert_eq!(with_status(&draft, PhaseStatus::Complete).len(), 7);
        assert_eq!(draft.content.next, None);
        round_trip(Dialect::Kamiflow, &document, None);
    }
}

#[test]
fn a_file_without_a_status_is_of_a_finished_phase_if_it_names_a_later_one() {
    let silent = without("status");
    let reading = read(Dialect::Kamiflow, &silent, None);
    assert_eq!(with_status(&reading.draft, PhaseStatus::Complete), ["0", "0.5", "1", "2"]);
    assert_eq!(codes(&reading), ["phases_implied", "phases_implied"]);
    for next in [json!(null), json!("2"), json!("1"), json!("none")] {
        let mut document = silent.clone();
        document["nextPhase"] = next;
        let reading = read(Dialect::Kamiflow, &document, None);
        assert_eq!(with_status(&reading.draft, PhaseStatus::InProgress), ["2"], "{document}");
        assert_eq!(codes(&reading), ["phases_implied", "status_unknown"]);
        round_trip(Dialect::Kamiflow, &document, None);
    }
    let mut last = silent;
    last["phase"] = json!("complete");
    last["nextPhase"] = json!(null);
    assert_eq!(draft(&last).content.status, WorkflowStatus::Complete);
}

#[test]
fn with_an_unknown_status_the_phase_is_in_progress() {
    for status in [json!("half-way"), json!(7), json!({})] {
        let document = with(json!({ "status": status }));
        let reading = read(Dialect::Kamiflow, &document, None);
        assert_eq!(with_status(&reading.draft, PhaseStatus::InProgress), ["2"]);
        assert_eq!(codes(&reading), ["phases_implied", "status_unknown"]);
    }
}

#[test]
fn validation_and_reflection_belong_to_the_data_of_the_phase() {
    let document = with(json!({"validation": {"gate": "PASS"}, "reflection": "went well"}));
    let data = draft(&document).content.phases[3].data.clone().unwrap().to_value().unwrap();
    assert_eq!(data["validation"], json!({"gate": "PASS"}));
    assert_eq!(data["reflection"], json!("went well"));
    assert_eq!(data["selectedOption"], json!("A"));
    round_trip(Dialect::Kamiflow, &document, None);

    let both = with(json!({"reflection": "outer", "phaseData": {"reflection": "inner"}}));
    let reading = read(Dialect::Kamiflow, &both, None);
    let data = reading.draft.content.phases[3].data.clone().unwrap().to_value().unwrap();
    assert_eq!(data["reflection"], json!("inner"));
    assert_eq!(codes(&reading), ["phases_implied", "records_disagree"]);
    round_trip(Dialect::Kamiflow, &both, None);
}

#[test]
fn data_that_is_no_object_keeps_its_name() {
    let document = with(json!({"phaseData": ["a", 1]}));
    assert_eq!(draft(&document).content.phases[3].data, Some(Json::Given(json!({"phaseData": ["a", 1]}))));
    round_trip(Dialect::Kamiflow, &document, None);
    assert_eq!(draft(&with(json!({"phaseData": null}))).content.phases[3].data, None);
}

#[test]
fn files_that_do_not_exist_yet_are_not_artifacts() {
    let document =
        with(json!({"artifacts": {"s2": "/project/tasks/spec.md", "s3": "", "s4": {"path": "h.md"},
        "logs": ["1.log", "2.log"]}}));
    let expected = [
        Artifact::new("s1", "tasks/117-S1-IDEA-faceted-search.md"),
        Artifact::new("s2", "/project/tasks/spec.md"),
        Artifact::new("s4", "h.md"),
        Artifact::new("1.log", "1.log"),
        Artifact::new("2.log", "2.log"),
    ];
    assert_eq!(draft(&document).content.artifacts, expected);
    round_trip(Dialect::Kamiflow, &document, None);
    let list = with(json!({"artifacts": ["a.md", null, "b.md"]}));
    assert_eq!(
        draft(&list).content.artifacts,
        [Artifact::new("a.md", "a.md"), Artifact::new("b.md", "b.md")]
    );
    round_trip(Dialect::Kamiflow, &list, None);
}

#[test]
fn versions_1_are_read_and_newer_ones_block() {
    for version in
        [json!("1.0"), json!(1), json!("1.0.0"), json!(1.0), json!("1.9"), json!(null), json!("draft")]
    {
        assert_eq!(
            codes(&read(Dialect::Kamiflow, &with(json!({ "version": version })), None)),
            ["phases_implied"]
        );
    }
    let newer = read(Dialect::Kamiflow, &with(json!({"version": "2.0"})), None);
    assert_eq!((codes(&newer)[0], newer.findings[0].severity), ("format_newer", Severity::Blocker));
}

#[test]
fn an_import_without_changes_is_written_back_unchanged() {
    round_trip(Dialect::Kamiflow, &document(), None);
    let odd = with(json!({"taskId": 117, "status": "SUCCESS", "phase": 2, "timestamp": 1_772_612_100,
        "mine": {"deep": [null, 0, "", false]}, "artifacts": null}));
    round_trip(Dialect::Kamiflow, &odd, None);
    round_trip(Dialect::Kamiflow, &json!({}), None);
    round_trip(Dialect::Kamiflow, &json!([1]), None);
}

#[test]
fn a_later_save_is_written() {
    let mut checkpoint = imported(Dialect::Kamiflow, &document(), None);
    checkpoint.saved_at = Timestamp::parse("2026-12-01T12:00:00Z").unwrap();
    checkpoint.content.phases[4].enter(PhaseStatus::Complete, checkpoint.saved_at);
    checkpoint.content.phases[4].data = Some(Json::Given(json!({"spec": {"userStories": 3}})));
    checkpoint.content.phase = Some("3A".parse().unwrap());
    checkpoint.content.next = None;
    let spec = "tasks/117-S2-SPEC-faceted-search.md";
    checkpoint.content.artifacts.push(Artifact {
        name: spec.to_owned(),
        path: spec.to_owned(),
        ..checkpoint.content.artifacts[0].clone()
    });
    let written = Dialect::Kamiflow.write(&checkpoint, "/project".as_ref()).unwrap().main;
    assert_eq!(
        written,
        json!({
            "version": "1.0",
            "taskId": "117",
            "slug": "faceted-search",
            "phase": "3A",
            "phaseName": "Artifact Generation",
            "timestamp": "2026-12-01T12:00:00.000Z",
            "command": "/kamiflow:dev:lazy",
            "status": "complete",
            "artifacts": {"s1": "tasks/117-S1-IDEA-faceted-search.md", "s2": spec, "s3": null, "s4": null},
            "phaseData": {"spec": {"userStories": 3}},
            "validation": null,
            "reflection": null,
            "nextPhase": "3B",
            "nextAction": "Validate the artifacts and pass the gate",
            "metadata": {"duration": "95s", "userInteractions": 1}
        })
    );
}

#[test]
fn a_changed_reflection_is_written_in_both_places() {
    let document = with(json!({"reflection": {"techDebt": "Minor"}}));
    let mut checkpoint = imported(Dialect::Kamiflow, &document, None);
    checkpoint.content.phases[3].data = Some(Json::Given(json!({"reflection": {"techDebt": "None"}})));
    let written = Dialect::Kamiflow.write(&checkpoint, "/project".as_ref()).unwrap().main;
    assert_eq!(written["reflection"], json!({"techDebt": "None"}));
    assert_eq!(written["phaseData"]["reflection"], json!({"techDebt": "None"}));
}

#[test]
fn a_repaired_error_is_removed() {
    let failed = with(json!({"phase": "3A", "phaseName": null, "status": "failed", "error": "no disk"}));
    let (_, written) = saved(&failed, "3A", PhaseStatus::Complete);
    assert_eq!((&written["status"], written.get("error")), (&json!("complete"), None));
    let (mut checkpoint, _) = saved(&document(), "3A", PhaseStatus::Failed);
    checkpoint.content.phases[4].error = Some("no disk".to_owned());
    let written = Dialect::Kamiflow.write(&checkpoint, "/project".as_ref()).unwrap().main;
    assert_eq!((&written["status"], &written["error"]), (&json!("failed"), &json!("no disk")));
    assert_eq!(written["nextPhase"], json!("3A"));
}

#[test]
fn a_workflow_of_the_program_is_written_as_a_whole_file() {
    let mut checkpoint = imported(Dialect::Kamiflow, &document(), None);
    checkpoint.content.state = Json::Given(json!({"command": "/mine", "metadata": {"duration": "1s"}}));
    let written = Dialect::Kamiflow.write(&checkpoint, "/project".as_ref()).unwrap().main;
    assert!(recognises(&written));
    let mut expected = with(json!({"command": "/mine", "timestamp": "2026-03-04T08:15:00.000Z"}));
    let ckpt = json!({"saved_at": "2026-03-04T08:15:00.000Z", "native_state": [["command"], ["metadata"]]});
    expected["metadata"] = json!({"duration": "1s", "ckpt": ckpt});
    assert_eq!(written, expected);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&written), keys(&document()));
}

fn documents() -> BoxedStrategy<Value> {
    let phases = || {
        prop_oneof![
            one_of(&["0", "0.5", "1", "2", "3A", "3b", "4", "phase2", "complete", "9", "deploy"]),
            (-1_i64..6).prop_map(Value::from),
        ]
    };
    objects(vec![
        ("version", one_of(&["1.0", "1.0.0", "2"])),
        ("taskId", prop_oneof![one_of(&["042", "x y"]), (0_i64..9).prop_map(Value::from)].boxed()),
        ("slug", one_of(&["faceted-search"])),
        ("phase", phases().boxed()),
        ("phaseName", one_of(&["Logical Guard", "Validation Loop", "Mine"])),
        ("timestamp", one_of(&["2026-02-03T10:00:00Z", "2026-02-03 10:00", "soon"])),
        ("command", one_of(&["/x"])),
        ("status", one_of(&["complete", "SUCCESS", "in_progress", "failed", "\u{274c}", "skipped", "odd?"])),
        ("artifacts", objects(vec![("s1", one_of(&["a.md"])), ("s2", Just(Value::Null).boxed())])),
        ("phaseData", objects(vec![("reflection", any_value().boxed()), ("error", one_of(&["broke"]))])),
        ("validation", any_value().boxed()),
        ("reflection", any_value().boxed()),
        ("nextPhase", phases().boxed()),
        ("nextAction", one_of(&["Go on"])),
        ("metadata", any_value().boxed()),
        ("error", one_of(&["broke"])),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_is_read_and_written_back(document in documents()) {
        let draft = draft(&document);
        let failed = ["failed", "\u{274c}"].iter().any(|word| document["status"] == **word);
        let about = draft.content.phase.as_ref().and_then(|id| draft.content.phases.iter().find(|phase| phase.id == *id));
        if failed && let Some(phase) = about {
            prop_assert_eq!(phase.status, PhaseStatus::Failed);
            prop_assert_ne!(draft.content.status, WorkflowStatus::Complete);
        }
        round_trip(Dialect::Kamiflow, &document, None);
    }

    #[test]
    fn any_later_save_is_read_back_from_the_written_file(document in documents(), at in 0_usize..7, done in any::<bool>()) {
        let before = draft(&document);
        let id = before.content.phases[at].id.clone();
        let status = if done { PhaseStatus::Complete } else { PhaseStatus::InProgress };
        let (checkpoint, written) = saved(&document, id.as_str(), status);
        let after = draft(&written);
        prop_assert_eq!(after.content.phase, Some(id.clone()));
        let found = after.content.phases.iter().find(|phase| phase.id == id).unwrap();
        prop_assert_eq!(found.status, status);
        prop_assert_eq!(&found.data, &checkpoint.content.phases[at].data.clone().or(found.data.clone()));
        prop_assert!(after.recorded_at == Some(checkpoint.saved_at) || written == document);
    }
}
