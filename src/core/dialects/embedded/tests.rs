use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::core::checkpoint::{Artifact, Checkpoint, GitContext, Next, Replan, WorkflowStatus};
use crate::core::dialects::checkpoint_part::{CheckpointPart, phase_data};
use crate::core::dialects::testing::{any_value, codes, imported, read};
use crate::core::dialects::{Dialect, DialectFiles};
use crate::core::json::Json;
use crate::core::phase::{Approval, Phase, PhaseStatus};
use crate::core::task::Task;

const CONTAINERS: [(Dialect, &str); 4] = [
    (Dialect::Kamiflow, "/metadata/ckpt"),
    (Dialect::ClaudeDir, "/workflow_state/ckpt"),
    (Dialect::ClaudePlan, "/context_metadata/ckpt"),
    (Dialect::Crunch, "/knowledge_context/ckpt"),
];

/// A checkpoint of this program that says something about everything, and follows the phases of the dialect.
fn full(dialect: Dialect) -> Checkpoint {
    let mut checkpoint = imported(Dialect::ClaudePlan, &json!({"workflow_id": "w"}), None);
    let at = checkpoint.saved_at;
    let known = crate::core::dialects::phase_list::builtin(dialect.word());
    checkpoint.content.phases = if known.is_empty() {
        (1..=3).map(|n: u8| Phase::pending(n.to_string().parse().unwrap())).collect()
    } else {
        known
    };
    checkpoint.content.pipeline = Some(dialect.word().to_owned());
    let first = &mut checkpoint.content.phases[0];
    first.enter(PhaseStatus::Complete, at);
    first.data = Some(Json::Given(json!({"answer": 42})));
    first.approval = Some(Approval {
        required: true,
        approved_at: Some(at),
        approved_by: Some("ada".to_owned()),
        ..Approval::default()
    });
    let id = first.id.clone();
    let next = checkpoint.content.phases[1].id.clone();
    checkpoint.content.phase = Some(id.clone());
    checkpoint.content.next =
        Some(Next { phase: Some(next), action: Some("go on".to_owned()), ..Next::default() });
    checkpoint.content.title = Some("A title".to_owned());
    checkpoint.note = Some("by hand".to_owned());
    checkpoint.content.tasks = vec![Task::pending("t1".parse().unwrap(), Some(id.clone()))];
    checkpoint.content.replans = vec![Replan { phase: id, reason: None, at, extra: Default::default() }];
    checkpoint.content.labels = vec!["urgent".to_owned()];
    checkpoint.context.git = Some(GitContext {
        branch: Some("main".to_owned()),
        commit: Some("c0ffee".to_owned()),
        extra: Default::default(),
    });
    checkpoint.content.state = Json::Given(json!({"k": 1, "deep": {"n": 1.50}}));
    checkpoint
}

fn write(dialect: Dialect, checkpoint: &Checkpoint) -> DialectFiles {
    dialect.write(checkpoint, Path::new("/project")).unwrap()
}

fn left_out(dialect: Dialect, checkpoint: &Checkpoint) -> Vec<CheckpointPart> {
    dialect.left_out(&write(dialect, checkpoint), checkpoint, Path::new("/project"))
}

fn imported_again(dialect: Dialect, files: &DialectFiles) -> Checkpoint {
    imported(dialect, &files.main, files.companion.as_ref())
}

#[test]
fn embedded_data_is_read_back() {
    for (dialect, place) in CONTAINERS {
        let checkpoint = full(dialect);
        let files = write(dialect, &checkpoint);
        assert!(files.main.pointer(place).is_some(), "{dialect}: {}", files.main);
        assert_eq!(left_out(dialect, &checkpoint), [], "{dialect}: {}", files.main);
        assert_eq!(Dialect::detect(&files.main), dialect);
        let again = imported_again(dialect, &files);
        let state = again.content.state.to_value().unwrap();
        assert_eq!((&state["k"], &state["deep"]), (&json!(1), &json!({"n": 1.50})), "{dialect}");
        assert_eq!(again.content.tasks[0].id.as_str(), "t1", "{dialect}");
        assert_eq!(again.content.labels, ["urgent"], "{dialect}");
        assert_eq!(
            (&again.content.title, &again.note),
            (&checkpoint.content.title, &checkpoint.note),
            "{dialect}"
        );
        assert_eq!(again.context.git, checkpoint.context.git, "{dialect}");
        assert_eq!(again.saved_at, checkpoint.saved_at, "{dialect}");
        assert_eq!(write(dialect, &again), files, "{dialect}: what was imported is written back as it was");
    }
}

#[test]
fn what_a_dialect_can_express_is_not_embedded() {
    for (dialect, place) in CONTAINERS {
        let mut checkpoint = full(dialect);
        checkpoint.content.phases[0].approval = None;
        checkpoint.content.phases[0].data = None;
        (checkpoint.content.title, checkpoint.note) = (None, None);
        (checkpoint.content.tasks, checkpoint.content.replans) = (Vec::new(), Vec::new());
        (checkpoint.context, checkpoint.content.labels) = Default::default();
        checkpoint.content.state = Json::Given(json!({}));
        if let Some(next) = &mut checkpoint.content.next {
            next.action = None;
        }
        if dialect == Dialect::ClaudePlan {
            checkpoint.content.pipeline = None;
            checkpoint.content.phases.truncate(2);
        }
        assert_eq!(write(dialect, &checkpoint).main.pointer(place), None, "{dialect}");
    }
}

#[test]
fn without_a_container_the_lost_parts_are_named() {
    let checkpoint = full(Dialect::Dotagent);
    let lost = left_out(Dialect::Dotagent, &checkpoint);
    for part in [
        CheckpointPart::State,
        CheckpointPart::Labels,
        CheckpointPart::Title,
        CheckpointPart::Note,
        CheckpointPart::Action,
        CheckpointPart::Data,
    ] {
        assert!(lost.contains(&part), "{part:?}: {lost:?}");
    }
    for part in
        [CheckpointPart::Tasks, CheckpointPart::Approvals, CheckpointPart::Phases, CheckpointPart::Artifacts]
    {
        assert!(!lost.contains(&part), "{part:?}: {lost:?}");
    }
    let mut strange = full(Dialect::Kamiflow);
    strange.content.phases = vec![Phase::pending("a".parse().unwrap()), Phase::pending("b".parse().unwrap())];
    assert!(left_out(Dialect::Kamiflow, &strange).contains(&CheckpointPart::Phases));
}

#[test]
fn a_ckpt_member_of_another_program_is_left_alone() {
    let document = json!({
        "workflow_id": "w", "plan_path": "plan.md", "current_phase": 2, "completed_phases": [1],
        "phase_metadata": {}, "context_metadata": {"ckpt": "model.ckpt"}
    });
    let mut checkpoint = imported(Dialect::ClaudePlan, &document, None);
    assert_eq!(write(Dialect::ClaudePlan, &checkpoint).main, document);
    checkpoint.content.labels = vec!["urgent".to_owned()];
    assert_eq!(
        write(Dialect::ClaudePlan, &checkpoint).main["context_metadata"],
        json!({"ckpt": "model.ckpt"})
    );
    assert_eq!(left_out(Dialect::ClaudePlan, &checkpoint), [CheckpointPart::Labels]);
}

#[test]
fn the_members_of_the_dialect_take_precedence() {
    let mut checkpoint = full(Dialect::ClaudePlan);
    checkpoint
        .content
        .phases
        .iter_mut()
        .for_each(|phase| phase.enter(PhaseStatus::Complete, checkpoint.saved_at));
    checkpoint.content.status = WorkflowStatus::Complete;
    checkpoint.content.next = None;
    let mut main = write(Dialect::ClaudePlan, &checkpoint).main;
    assert_eq!(read(Dialect::ClaudePlan, &main, None).draft.content.status, WorkflowStatus::Complete);
    // It goes on without a look at what we have put there.
    main["current_phase"] = json!(5);
    main["completed_phases"] = json!([1, 2, 3, 4]);
    main["phase_metadata"]["4"] = json!({"status": "completed", "timestamp": "2026-12-24T00:00:00Z"});
    main["phase_metadata"]["2"]["status"] = json!("failed");
    let draft = read(Dialect::ClaudePlan, &main, None).draft;
    assert_eq!((draft.content.status, draft.note.as_deref()), (WorkflowStatus::InProgress, None));
    assert_eq!(draft.git, None);
    assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-12-24T00:00:00.000Z");
    let ids: Vec<_> =
        draft.content.phases.iter().map(|phase| (phase.id.as_str(), phase.status.word())).collect();
    assert_eq!(ids, [("1", "complete"), ("2", "failed"), ("3", "complete"), ("4", "complete")]);
    assert_eq!(draft.content.labels, ["urgent"], "what it has no word for is as it was");
}

#[test]
fn all_phases_done_is_complete_although_the_dialect_has_no_total() {
    let mut checkpoint = imported(Dialect::ClaudePlan, &json!({"workflow_id": "w"}), None);
    checkpoint.content.pipeline = Some("claude-plan".to_owned());
    for number in ["1", "2", "3"] {
        let mut phase = Phase::pending(number.parse().unwrap());
        phase.enter(PhaseStatus::Complete, checkpoint.saved_at);
        checkpoint.content.phases.push(phase);
    }
    (checkpoint.content.status, checkpoint.content.title) =
        (WorkflowStatus::Complete, Some("A title".to_owned()));
    let files = write(Dialect::ClaudePlan, &checkpoint);
    assert_eq!(files.main["plan_path"], Value::Null, "a title is no path");
    let draft = read(Dialect::ClaudePlan, &files.main, None).draft;
    assert_eq!(
        (draft.content.status, draft.content.next, draft.content.phases.len()),
        (WorkflowStatus::Complete, None, 3)
    );
    assert_eq!((draft.content.title.as_deref(), draft.watched), (Some("A title"), vec![]));
}

#[test]
fn embedded_data_is_untrusted() {
    let document = |embedded: Value| {
        json!({"workflow_id": "w", "plan_path": "p.md", "current_phase": 1, "completed_phases": [],
            "phase_metadata": {}, "context_metadata": {"ckpt": embedded}})
    };
    let damaged = document(json!({
        "saved_at": "2026-01-01T00:00:00Z", "tasks": [{"id": "a,b"}], "labels": {"x": 1}, "status": "odd", "state": [1],
        "phases": ["1", "1", "2"], "approvals": [1, {"phase": "9"}], "data": {"1": "text", "x": {}}
    }));
    let reading = read(Dialect::ClaudePlan, &damaged, None);
    assert_eq!(codes(&reading), ["imported"; 4]);
    assert_eq!(reading.draft.content.phases.len(), 2);
    assert_eq!((reading.draft.content.tasks, reading.draft.content.state), (vec![], Json::default()));
    let hostile = document(json!({
        "saved_at": "2026-01-01T00:00:00Z", "labels": ["a,b", "\u{1b}[0m", "ok", "ok"],
        "tasks": [{"id": "t", "status": "pending"}, {"id": "t", "status": "complete"}],
        "phases": (0..100_000).map(|n| n.to_string()).collect::<Vec<_>>(),
        "state": {"claude-plan": "mine"}
    }));
    let checkpoint = imported(Dialect::ClaudePlan, &hostile, None);
    assert_eq!(
        (checkpoint.content.labels.len(), checkpoint.content.tasks.len(), checkpoint.content.phases.len()),
        (1, 1, 1)
    );
    assert_eq!(checkpoint.content.state.to_value().unwrap()["claude-plan"], hostile);
    for document in [damaged, hostile] {
        assert_eq!(
            write(Dialect::ClaudePlan, &imported(Dialect::ClaudePlan, &document, None)).main,
            document
        );
    }
}

#[test]
fn repeated_export_to_several_dialects_does_not_grow_without_bound() {
    let mut checkpoint = full(Dialect::ClaudePlan);
    let mut sizes = Vec::new();
    for _ in 0..6 {
        for (dialect, _) in CONTAINERS {
            let files = write(dialect, &checkpoint);
            checkpoint = imported_again(dialect, &files);
        }
        sizes.push(checkpoint.content.state.to_value().unwrap().to_string().len());
    }
    assert_eq!(sizes[3..], [sizes[3]; 3], "{sizes:?}");
    assert_eq!(checkpoint.content.state.to_value().unwrap()["k"], json!(1));
}

#[test]
fn tasks_and_data_stay_with_their_phase_if_the_document_has_one_place_for_all() {
    let mut checkpoint = full(Dialect::Crunch);
    let at = checkpoint.saved_at;
    checkpoint.content.phases[0].data =
        Some(Json::Given(json!({"a": {"z": 0}, "b": {"z": 1}, "both": {}, "plain": 1})));
    checkpoint.content.phases[1].data = Some(Json::Given(json!({"b": {"z": 2}, "both": {}})));
    checkpoint.content.phases[1].enter(PhaseStatus::Complete, at);
    let third = &mut checkpoint.content.phases[2];
    third.enter(PhaseStatus::InProgress, at);
    third.data = Some(Json::Given(json!({"c": {"z": 3}})));
    checkpoint.content.phase = Some(third.id.clone());
    checkpoint.content.next = None;
    checkpoint.content.tasks.push(Task::pending("t2".parse().unwrap(), Some(third.id.clone())));
    let files = write(Dialect::Crunch, &checkpoint);
    assert_eq!(left_out(Dialect::Crunch, &checkpoint), [], "{}", files.main);
    assert_eq!(
        files.main["knowledge_context"]["ckpt"]["phase_of"],
        json!({"tasks": {"t1": "enrich"}, "data": {"a": ["enrich"], "b": ["ready"], "both": ["enrich", "ready"]}})
    );
    let data = |checkpoint: &Checkpoint| {
        checkpoint.content.phases.iter().map(|phase| Value::from(phase_data(phase))).collect::<Vec<_>>()
    };
    let again = imported_again(Dialect::Crunch, &files);
    assert_eq!((data(&again), &again.content.tasks), (data(&checkpoint), &checkpoint.content.tasks));
    // The owner goes on: what it has done since belongs to where it stands, and what it changed is as it says.
    let mut main = files.main;
    main["created_at"] = json!("2026-12-24T00:00:00Z");
    main["workflow_state"]["current_phase"] = json!("validation");
    main["agent_outputs"]["a"] = json!({"z": 9});
    main["agent_outputs"]["new"] = json!({"z": 4});
    main["execution_graph"]["node_states"]["t1"] = json!({"status": "completed"});
    let later = imported(Dialect::Crunch, &main, files.companion.as_ref());
    assert_eq!(data(&later)[0]["a"], json!({"z": 9}));
    assert_eq!(data(&later)[3], json!({"c": {"z": 3}, "new": {"z": 4}}));
    assert_eq!(
        (later.content.tasks[0].status.word(), later.content.tasks[0].phase.as_ref()),
        ("complete", Some(&again.content.phases[0].id))
    );
    // Nobody has to believe it.
    main["knowledge_context"]["ckpt"]["phase_of"] =
        json!({"tasks": {"t1": "nowhere"}, "data": {"a": ["nowhere"]}});
    let doubtful = imported(Dialect::Crunch, &main, None);
    assert_eq!(doubtful.content.tasks[0].phase, doubtful.content.phase);
    assert_eq!(data(&doubtful)[3]["a"], json!({"z": 9}));
}

fn file(name: &str, path: &str) -> Artifact {
    let (name, path) = (name.to_owned(), path.to_owned());
    Artifact { name, path, size: None, sha256: None, phase: None, extra: Default::default() }
}

/// A checkpoint whose first phase is done, the second skipped and the third begun, with a file that has a name.
fn halfway(dialect: Dialect) -> Checkpoint {
    let mut checkpoint = full(dialect);
    let at = checkpoint.saved_at;
    checkpoint.content.phases[1].enter(PhaseStatus::Skipped, at);
    checkpoint.content.phases[2].enter(PhaseStatus::InProgress, at);
    checkpoint.content.phase = Some(checkpoint.content.phases[2].id.clone());
    checkpoint.content.next = None;
    checkpoint.content.artifacts = vec![file("spec", "docs/spec.md"), file("b.md", "b.md")];
    checkpoint
}

#[test]
fn skipped_and_started_phases_and_names_of_artifacts_are_preserved() {
    for (dialect, place) in CONTAINERS {
        let checkpoint = halfway(dialect);
        let files = write(dialect, &checkpoint);
        assert_eq!(left_out(dialect, &checkpoint), [], "{dialect}: {}", files.main);
        let again = imported_again(dialect, &files);
        let stand = |checkpoint: &Checkpoint| {
            checkpoint.content.phases[..3].iter().map(|phase| phase.status.word()).collect::<Vec<_>>()
        };
        assert_eq!(stand(&again), ["complete", "skipped", "in_progress"], "{dialect}");
        assert_eq!(again.content.artifacts, checkpoint.content.artifacts, "{dialect}");
        assert_eq!(write(dialect, &again), files, "{dialect}: what was imported is written back as it was");
        // What is carried does not make a phase done, or undone, and does not bring back files.
        let mut main = files.main;
        let carried = main.pointer_mut(place).unwrap();
        let id = |at: usize| checkpoint.content.phases[at].id.to_string();
        carried["phase_status"] = json!({id(0): "in_progress", id(2): "skipped", "x": "skipped"});
        carried["artifacts"] =
            json!([{"name": "gone", "path": "gone.md"}, {"name": "b.md", "path": "docs/spec.md"}]);
        let doubtful = imported(dialect, &main, files.companion.as_ref());
        assert_eq!(doubtful.content.phases[0].status, PhaseStatus::Complete, "{dialect}");
        assert!(!doubtful.content.phases[2].status.is_done(), "{dialect}");
        assert_eq!(doubtful.content.artifacts.len(), 2, "{dialect}");
    }
}

#[test]
fn the_owner_of_a_file_may_have_gone_on_with_a_phase_that_was_skipped() {
    let mut main = write(Dialect::ClaudeDir, &halfway(Dialect::ClaudeDir)).main;
    main["updated_at"] = json!("2026-12-24T00:00:00Z");
    let draft = read(Dialect::ClaudeDir, &main, None).draft;
    assert_eq!(draft.content.phases[1].status, PhaseStatus::Complete);
    assert_eq!(draft.content.artifacts[0].name, "spec");
}

#[test]
fn a_name_or_a_phase_without_a_place_is_named() {
    let mut checkpoint = halfway(Dialect::Dotagent);
    checkpoint.content.artifacts = vec![file("REQUIREMENTS", "docs/spec.md")];
    let lost = left_out(Dialect::Dotagent, &checkpoint);
    assert!(
        !lost.contains(&CheckpointPart::Artifacts) && !lost.contains(&CheckpointPart::PhaseStatus),
        "{lost:?}"
    );
    checkpoint.content.artifacts = vec![file("spec", "memory/reports/demand.json")];
    checkpoint.content.phases[3].enter(PhaseStatus::InProgress, checkpoint.saved_at);
    let lost = left_out(Dialect::Dotagent, &checkpoint);
    assert!(
        lost.contains(&CheckpointPart::Artifacts) && lost.contains(&CheckpointPart::PhaseStatus),
        "{lost:?}"
    );
}

#[test]
fn no_more_embedded_tasks_are_read_than_can_be_saved() {
    let tasks: Vec<_> = (0..100_001).map(|n| json!({"id": format!("t{n}"), "status": "pending"})).collect();
    let document = json!({"workflow_id": "w", "plan_path": "p.md", "current_phase": 1, "completed_phases": [],
        "phase_metadata": {}, "context_metadata": {"ckpt": {"saved_at": "2026-01-01T00:00:00Z", "tasks": tasks}}});
    let reading = read(Dialect::ClaudePlan, &document, None);
    assert_eq!(reading.draft.content.tasks.len(), 100_000);
    assert_eq!(codes(&reading), ["imported"]);
}

#[test]
fn texts_that_could_not_be_saved_are_not_followed() {
    let (long, at) = ("x".repeat(70_000), "2026-01-01T00:00:00Z");
    let document = json!({"workflow_id": "w", "plan_path": "p.md", "current_phase": 1, "completed_phases": [],
        "phase_metadata": {}, "context_metadata": {"ckpt": {
            "saved_at": at, "title": &long[..2000], "note": long, "next_action": long,
            "last_error": {"message": long, "phase": null, "at": at},
            "tasks": [{"id": "a", "status": "failed", "error": long}, {"id": "b", "status": "pending"}],
    }}});
    let reading = read(Dialect::ClaudePlan, &document, None);
    assert_eq!(codes(&reading), ["imported"; 5]);
    let draft = reading.draft;
    assert_eq!(
        (draft.content.title.as_deref(), draft.note, draft.content.last_error),
        (Some("p.md"), None, None)
    );
    assert_eq!(draft.content.next.and_then(|next| next.action), None);
    assert_eq!(draft.content.tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["b"]);
    let checkpoint = imported(Dialect::ClaudePlan, &document, None);
    assert_eq!(write(Dialect::ClaudePlan, &checkpoint).main, document);
}

#[test]
fn members_of_the_state_that_the_dialect_has_are_its_members() {
    let state = json!({
        "k": 1,
        "plan_path": "specs/plan.md",
        "team_state": {"team_id": "T1"},
        "acp_state": {"pending_messages": ["MSG-1"]},
        "knowledge_context": {"captured_entries": ["KE-1"]},
        "issue_snapshot": {"body": "As a user", "labels": ["other"]},
        "artifact_registry": {"spec": "spec.md"},
        "research_results": ["r.md"],
        "artifact_paths": {"dir": "out/"},
        "command": "/lazy",
        "metadata": {"duration": "9s"},
    });
    let places: [(Dialect, &[(&str, &str)]); 4] = [
        (Dialect::Kamiflow, &[("/command", "/command"), ("/metadata/duration", "/metadata/duration")]),
        (
            Dialect::ClaudeDir,
            &[
                ("/plan_path", "/workflow_state/plan_path"),
                ("/artifact_registry/spec", "/workflow_state/artifact_registry/spec"),
                ("/research_results", "/workflow_state/research_results"),
            ],
        ),
        (Dialect::ClaudePlan, &[("/plan_path", "/plan_path"), ("/artifact_paths", "/artifact_paths")]),
        (
            Dialect::Crunch,
            &[
                ("/team_state", "/team_state"),
                ("/acp_state", "/acp_state"),
                ("/knowledge_context/captured_entries", "/knowledge_context/captured_entries"),
                ("/issue_snapshot/body", "/issue_snapshot/body"),
            ],
        ),
    ];
    for (dialect, members) in places {
        let mut checkpoint = full(dialect);
        checkpoint.content.state = Json::Given(state.clone());
        let files = write(dialect, &checkpoint);
        let container = CONTAINERS.iter().find(|(other, _)| *other == dialect).unwrap().1;
        let embedded = files.main.pointer(container).unwrap();
        for (native, place) in members {
            assert_eq!(files.main.pointer(place), state.pointer(native), "{dialect} {place}");
            assert_eq!(embedded.pointer(&format!("/state{native}")), None, "{dialect} {native}");
        }
        assert_eq!(embedded["state"]["k"], 1, "{dialect}");
        // The system goes on with its own member.
        let mut changed = files.clone();
        let (native, place) = members[0];
        *changed.main.pointer_mut(place).unwrap() = "theirs".into();
        let again = imported_again(dialect, &changed).content.state.to_value().unwrap();
        assert_eq!(again.pointer(native), Some(&json!("theirs")), "{dialect}");
    }
    // The labels of the checkpoint are those of the issue; what was saved as its snapshot is not lost.
    let mut checkpoint = full(Dialect::Crunch);
    checkpoint.content.state = Json::Given(state);
    let files = write(Dialect::Crunch, &checkpoint);
    assert_eq!(files.main["issue_snapshot"]["labels"], json!(["urgent"]));
    let again = imported_again(Dialect::Crunch, &files).content.state.to_value().unwrap();
    assert_eq!(again["issue_snapshot"], json!({"body": "As a user", "labels": ["other"]}));
}

/// Members of a state, most of which some dialect has.
const STATE: [&str; 14] = [
    "k",
    "command",
    "metadata",
    "artifact_registry",
    "plan_path",
    "project_name",
    "research_results",
    "tests_passing",
    "context_metadata",
    "artifact_paths",
    "team_state",
    "execution_graph",
    "issue_snapshot",
    "knowledge_context",
];

proptest! {
    /// A state that was saved here returns as it was, wherever the document has it.
    #[test]
    fn the_state_returns_as_it_was(
        home in select(CONTAINERS.to_vec()),
        state in vec((select(STATE.to_vec()), any_value()), 0..6),
    ) {
        let (dialect, _) = home;
        let mut checkpoint = full(dialect);
        let state: Map<String, Value> =
            state.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        checkpoint.content.state = Json::Given(state.clone().into());
        let files = write(dialect, &checkpoint);
        prop_assert_eq!(left_out(dialect, &checkpoint), []);
        let again = imported_again(dialect, &files);
        let Ok(Value::Object(mut returned)) = again.content.state.to_value() else { panic!() };
        returned.shift_remove(dialect.word());
        dialect.companion_key().map(|key| returned.shift_remove(key));
        prop_assert_eq!(&returned, &state);
        prop_assert_eq!(write(dialect, &again), files);
    }

    /// Whatever is said to be carried, nothing panics, and what was imported is written back as it was.
    #[test]
    fn odd_things_that_are_carried_do_no_harm(
        home in select(CONTAINERS.to_vec()),
        odd in vec((select(MEMBERS.to_vec()), any_value()), 1..4),
    ) {
        let (dialect, place) = home;
        let mut files = write(dialect, &halfway(dialect));
        let carried = files.main.pointer_mut(place).and_then(Value::as_object_mut).unwrap();
        carried.extend(odd.into_iter().map(|(key, value)| (key.to_owned(), value)));
        let checkpoint = imported_again(dialect, &files);
        prop_assert_eq!(write(dialect, &checkpoint), files);
    }
}

const MEMBERS: [&str; 11] = [
    "native_state",
    "phases",
    "phase_status",
    "phase_of",
    "artifacts",
    "data",
    "tasks",
    "labels",
    "watched",
    "approvals",
    "state",
];
