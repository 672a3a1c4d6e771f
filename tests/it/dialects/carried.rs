//! The whole checkpoint in the files of other systems, and taking over what they have changed.

use std::path::Path;

use ckpt::core::builtin;
use ckpt::core::checkpoint::{Artifact, Content, GitContext, Next, Replan};
use ckpt::core::dialects::{Dialect, DialectFiles};
use ckpt::core::json::Json;
use ckpt::core::phase::{Approval, Phase, PhaseStatus};
use ckpt::core::task::Task;
use ckpt::core::{Checkpoint, WorkflowStatus};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::support::{PROJECT, codes, enter_phase, imported, read, write};

/// The dialects whose files carry a checkpoint.
fn carriers() -> Vec<Dialect> {
    let carries = |dialect: &Dialect| write(*dialect, &full(*dialect)).main.get("ckpt").is_some();
    Dialect::writable().into_iter().filter(|dialect| *dialect != Dialect::Ckpt).filter(carries).collect()
}

/// A checkpoint of this program that says something about everything, and follows the phases of the dialect.
fn full(dialect: Dialect) -> Checkpoint {
    let mut checkpoint = imported(Dialect::ClaudePlan, &json!({"workflow_id": "w"}), None);
    let at = checkpoint.saved_at;
    let ids = match builtin::find(dialect.word()) {
        Some(builtin) if !builtin.is_numbered() => {
            builtin.pipeline(0).phases.into_iter().map(|phase| phase.id).collect()
        }
        _ => vec!["1".parse().unwrap(), "2".parse().unwrap(), "3".parse().unwrap()],
    };
    checkpoint.content.phases = ids.into_iter().map(Phase::pending).collect();
    checkpoint.content.pipeline = Some("custom".to_owned());
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
    checkpoint.content.phases[1].enter(PhaseStatus::Skipped, at);
    let next = checkpoint.content.phases[1].id.clone();
    checkpoint.content.phase = Some(id.clone());
    checkpoint.content.next =
        Some(Next { phase: Some(next), action: Some("go on".to_owned()), ..Next::default() });
    checkpoint.content.title = Some("A title".to_owned());
    checkpoint.note = Some("by hand".to_owned());
    checkpoint.content.tasks = vec![Task::pending("t1".parse().unwrap(), Some(id.clone()))];
    checkpoint.content.artifacts =
        vec![Artifact { phase: Some(id.clone()), ..Artifact::new("spec", "docs/spec.md") }];
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

fn again(dialect: Dialect, files: &DialectFiles) -> Checkpoint {
    imported(dialect, &files.main, files.companion.as_ref())
}

/// Returns the state without the files that it was imported from.
fn state(dialect: Dialect, checkpoint: &Checkpoint) -> Value {
    let mut state = checkpoint.content.state.to_value().unwrap();
    if let Value::Object(members) = &mut state {
        members.shift_remove(dialect.word());
        dialect.companion().and_then(|companion| members.shift_remove(companion.key));
    }
    state
}

fn content(dialect: Dialect, checkpoint: &Checkpoint) -> Value {
    let mut content = serde_json::to_value(&checkpoint.content).unwrap();
    content["state"] = state(dialect, checkpoint);
    content
}

#[test]
fn a_checkpoint_returns_whole_from_the_files_of_every_system() {
    assert!(carriers().len() > 5, "{:?}", carriers());
    for dialect in carriers() {
        let checkpoint = full(dialect);
        let files = write(dialect, &checkpoint);
        assert_eq!(Dialect::detect(&files.main), dialect);
        let returned = again(dialect, &files);
        assert_eq!(content(dialect, &returned), content(dialect, &checkpoint), "{dialect}");
        assert_eq!((&returned.note, returned.saved_at), (&checkpoint.note, checkpoint.saved_at), "{dialect}");
        assert_eq!(returned.context.git, checkpoint.context.git, "{dialect}");
        assert_eq!(
            write(dialect, &returned),
            files,
            "{dialect}: what was imported is written back as it was"
        );
        assert_eq!(dialect.unseen(&files, &checkpoint, Path::new("/")), [""; 0], "{dialect}");
        assert!(!files.main.to_string().contains("hostname"));
    }
}

#[test]
fn a_file_that_was_changed_is_read_itself_and_that_is_said() {
    let checkpoint = full(Dialect::ClaudePlan);
    let mut files = write(Dialect::ClaudePlan, &checkpoint);
    files.main["completed_phases"] = json!([1, 2, 3]);
    files.main["current_phase"] = json!(4);
    files.main["phase_metadata"]["3"] = json!({"status": "completed", "timestamp": "2026-12-24T00:00:00Z"});
    let reading = read(Dialect::ClaudePlan, &files.main, None);
    assert_eq!(codes(&reading), ["imported"]);
    let draft = &reading.draft;
    assert_eq!((draft.content.status, &draft.content.labels[..]), (WorkflowStatus::Complete, &[][..]));
    assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-12-24T00:00:00.000Z");
    assert_eq!(write(Dialect::ClaudePlan, &again(Dialect::ClaudePlan, &files)), files, "as it was imported");

    // A change of the second file counts too, the order of members does not, and neither does a missing second file.
    let mut files = write(Dialect::Dotagent, &full(Dialect::Dotagent));
    let reading =
        |files: &DialectFiles| codes(&read(Dialect::Dotagent, &files.main, files.companion.as_ref()));
    assert_eq!(reading(&DialectFiles { companion: None, ..files.clone() }), [""; 0]);
    let mut members = files.main.as_object().unwrap().clone();
    members.sort_keys();
    files.main = members.into();
    assert_eq!(reading(&files), [""; 0]);
    files.companion.as_mut().unwrap()["tasks"][0]["status"] = json!("complete");
    assert_eq!(reading(&files)[0], "imported");
}

#[test]
fn a_ckpt_member_of_another_program_is_left_alone() {
    let document = json!({"workflow_id": "w", "current_phase": 1, "completed_phases": [], "plan_path": "p.md",
        "ckpt": {"theirs": true}});
    let mut checkpoint = imported(Dialect::ClaudePlan, &document, None);
    checkpoint.content.labels.push("urgent".to_owned());
    let files = write(Dialect::ClaudePlan, &checkpoint);
    assert_eq!(files.main["ckpt"], json!({"theirs": true}));
    assert_eq!(Dialect::ClaudePlan.unseen(&files, &checkpoint, Path::new(PROJECT)), ["the labels"]);
}

#[test]
fn what_cannot_be_carried_is_named() {
    let checkpoint = full(Dialect::TaskMaster);
    let files = write(Dialect::TaskMaster, &checkpoint);
    let unseen = Dialect::TaskMaster.unseen(&files, &checkpoint, Path::new(PROJECT));
    assert!(unseen.contains(&"the labels") && !unseen.contains(&"the tasks"), "{unseen:?}");
}

#[test]
fn a_redaction_is_no_change() {
    let mut files = write(Dialect::Kamiflow, &full(Dialect::Kamiflow));
    let DialectFiles { main, companion } = &mut files;
    Dialect::Kamiflow.change_unnoticed(main, companion, |main, _| main["slug"] = json!("[redacted]"));
    assert_eq!(codes(&read(Dialect::Kamiflow, &files.main, None)), [""; 0]);
    files.main["slug"] = json!("changed");
    assert_eq!(codes(&read(Dialect::Kamiflow, &files.main, None))[0], "imported");
}

#[test]
fn repeated_export_to_several_dialects_does_not_grow_without_bound() {
    let mut checkpoint = full(Dialect::Kamiflow);
    let mut sizes = Vec::new();
    for round in 0..6 {
        for dialect in [Dialect::Kamiflow, Dialect::ClaudeDir, Dialect::Dotagent] {
            checkpoint.note = Some(round.to_string());
            let files = write(dialect, &checkpoint);
            checkpoint = again(dialect, &files);
        }
        sizes.push(checkpoint.content.state.to_value().unwrap().to_string().len());
    }
    assert!(sizes[5] < sizes[1] + sizes[1] / 10, "{sizes:?}");
}

#[test]
fn members_of_the_state_that_the_dialect_has_are_its_members() {
    let state = json!({
        "plan_path": "specs/plan.md",
        "team_state": {"team_id": "T1"},
        "issue_snapshot": {"body": "As a user", "labels": ["other"]},
        "artifact_registry": {"spec": "docs/spec.md"},
        "metadata": {"duration": "9s"},
    });
    for (dialect, native, place) in [
        (Dialect::Kamiflow, "/metadata/duration", "/metadata/duration"),
        (Dialect::ClaudeDir, "/plan_path", "/workflow_state/plan_path"),
        (Dialect::ClaudePlan, "/plan_path", "/plan_path"),
        (Dialect::Crunch, "/team_state", "/team_state"),
        (Dialect::Crunch, "/issue_snapshot/body", "/issue_snapshot/body"),
    ] {
        let mut checkpoint = full(dialect);
        checkpoint.content.state = Json::Given(state.clone());
        let files = write(dialect, &checkpoint);
        assert_eq!(files.main.pointer(place), state.pointer(native), "{dialect} {place}");
        // What the system changes in it is merged into the state.
        let mut theirs = files.clone();
        *theirs.main.pointer_mut(place).unwrap() = "theirs".into();
        let merged = dialect.reconcile(&checkpoint, &files, &theirs, Path::new(PROJECT));
        let merged = merged.content.state.to_value().unwrap();
        assert_eq!(merged.pointer(native), Some(&json!("theirs")), "{dialect} {native}");
    }
}

fn plan() -> Checkpoint {
    let main = json!({"workflow_id": "w", "current_phase": 2, "completed_phases": [1], "plan_path": "p.md",
        "phase_metadata": {"1": {"status": "completed", "timestamp": "2026-01-30T10:00:00Z"}}});
    let mut checkpoint = imported(Dialect::ClaudePlan, &main, None);
    checkpoint.content.state = Json::Given(json!({"k": 1}));
    checkpoint
}

#[test]
fn files_that_their_system_did_not_change_change_nothing() {
    let checkpoint = plan();
    let files = write(Dialect::ClaudePlan, &checkpoint);
    let merged = Dialect::ClaudePlan.reconcile(&checkpoint, &files, &files, Path::new(PROJECT));
    assert_eq!(state(Dialect::ClaudePlan, &merged), json!({"k": 1}));
    let without_state = |content: &Content| Content { state: Json::default(), ..content.clone() };
    assert_eq!(without_state(&merged.content), without_state(&checkpoint.content));
    assert_eq!(Dialect::ClaudePlan.conflicts(&files, &files, &files), [""; 0]);
}

#[test]
fn both_changes_are_kept_unless_they_are_of_the_same_member() {
    let (base, mut ours, mut theirs) = (plan(), plan(), plan());
    let second = "2".parse().unwrap();
    ours.content.labels.push("urgent".to_owned());
    enter_phase(&mut theirs, &second, PhaseStatus::Complete);
    let written = |checkpoint: &Checkpoint| write(Dialect::ClaudePlan, checkpoint);
    let files = [&base, &ours, &theirs].map(written);
    let merged = Dialect::ClaudePlan.reconcile(&ours, &files[0], &files[2], Path::new(PROJECT));
    assert_eq!(merged.content.labels, ["urgent"]);
    assert!(merged.content.phases[1].status.is_done());
    assert_eq!(Dialect::ClaudePlan.conflicts(&files[0], &files[1], &files[2]), [""; 0]);

    enter_phase(&mut ours, &second, PhaseStatus::Failed);
    let files = [&base, &ours, &theirs].map(written);
    let conflicts = Dialect::ClaudePlan.conflicts(&files[0], &files[1], &files[2]);
    assert!(conflicts.contains(&"/phase_metadata/2".to_owned()), "{conflicts:?}");
    let merged = Dialect::ClaudePlan.reconcile(&ours, &files[0], &files[2], Path::new(PROJECT));
    assert!(merged.content.phases[1].status.is_done(), "the file counts");
}

/// Any small JSON value, often one of a kind that occurs in checkpoints.
fn any_value() -> impl Strategy<Value = Value> {
    let words =
        ["", "complete", "failed", "pending", "odd?", "2", "a,b", "2026-02-03T10:00:00Z", "\u{1b}[0m"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..6).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(words.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 14, 4, |inner| {
        let keys = vec!["id", "phase", "status", "path", "tasks", "approved", "x"];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((select(keys), inner), 0..4).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// A state that was saved here returns as it was, whatever it has in common with the document.
    #[test]
    fn the_state_returns_as_it_was(
        dialect in select(carriers()),
        members in vec((select(vec!["k", "metadata", "plan_path", "team_state", "issue_snapshot", "ckpt"]), any_value()), 0..6),
    ) {
        let mut checkpoint = full(dialect);
        let members: Map<String, Value> =
            members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        checkpoint.content.state = Json::Given(members.clone().into());
        let files = write(dialect, &checkpoint);
        let returned = again(dialect, &files);
        prop_assert_eq!(state(dialect, &returned), Value::Object(members));
        prop_assert_eq!(write(dialect, &returned), files);
    }

    /// Whatever is said to be carried, nothing panics, and what was imported is written back as it was.
    #[test]
    fn odd_things_that_are_carried_do_no_harm(
        dialect in select(carriers()),
        member in select(vec!["sha256", "checkpoint", "companion_sha256"]),
        inner in select(vec!["phases", "tasks", "status", "state", "title", "artifacts", "saved_at"]),
        odd in any_value(),
    ) {
        let mut files = write(dialect, &full(dialect));
        let mut inside = files.clone();
        files.main["ckpt"][member] = odd.clone();
        inside.main["ckpt"]["checkpoint"][inner] = odd;
        for files in [files, inside] {
            prop_assert_eq!(write(dialect, &again(dialect, &files)), files);
        }
    }
}
