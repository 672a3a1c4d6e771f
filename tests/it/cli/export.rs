//! `ckpt export`

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::project::World;

/// A plan as the claude-plan system leaves it.
fn plan() -> Value {
    json!({
        "workflow_id": "implement_044_tags",
        "plan_path": "specs/044/plan.md",
        "current_phase": 3,
        "completed_phases": [1, 2],
        "phase_metadata": {
            "1": {"status": "completed", "artifacts": ["log.md"], "timestamp": "2026-01-29T10:30:00.123456+01:00"},
            "2": {"status": "completed", "artifacts": [], "timestamp": "2026-01-29T11:45:00Z"}
        },
        "replan_history": [],
        "replan_count": {},
        "mine": {"ratio": 1.50, "nothing": null}
    })
}

fn imported() -> World {
    let world = World::new();
    world.write("log.md", "done\n");
    world.write("plan.json", plan().to_string());
    world.run(&["import", "plan.json"]).succeeds();
    world
}

fn document(world: &World, path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(world.project().join(path)).unwrap()).unwrap()
}

const COPY: &str = ".claude/data/checkpoints/implement_044_tags.json";

#[test]
fn what_was_imported_is_exported_under_the_name_its_system_uses() {
    let world = imported();
    let report = world.json(&["export", "implement_044_tags", "--as", "claude-plan"]);
    assert_eq!(report["dialect"], "claude-plan");
    assert_eq!(report["files"][0]["path"], world.project().join(COPY).display().to_string());
    let written = document(&world, COPY);
    for member in ["workflow_id", "plan_path", "current_phase", "completed_phases", "mine"] {
        assert_eq!(written[member], plan()[member], "{member}");
    }
    assert_eq!(written["phase_metadata"]["1"]["timestamp"], "2026-01-29T09:30:00.123Z");
    assert_eq!(written["phase_metadata"]["1"]["artifacts"], json!(["log.md"]));
    let again = world.json(&["export", "implement_044_tags", "--as", "claude-plan"]);
    assert_eq!(again["files"][0]["written"], false);
}

#[test]
fn a_file_of_another_content_is_replaced_only_by_force() {
    let world = imported();
    world.write(COPY, "{}\n");
    let arguments = ["export", "implement_044_tags", "--as", "claude-plan"];
    world.refuses(&arguments, 9, "export_exists");
    world.run(&[&arguments[..], &["--force"]].concat()).succeeds();
    assert_eq!(document(&world, COPY)["mine"], plan()["mine"]);
}

#[test]
fn the_place_is_a_directory_a_file_or_stdout() {
    let world = imported();
    let export = |output: &str| world.run(&["export", "implement_044_tags", "--as", "claude-plan", "-o", output]);
    let printed: Value = serde_json::from_str(&export("-").succeeds().stdout).unwrap();
    assert_eq!(printed["mine"], plan()["mine"]);
    export("copies/").succeeds();
    assert_eq!(document(&world, &format!("copies/{COPY}")), printed);
    export("one.json").succeeds();
    assert_eq!(document(&world, "one.json"), printed);
}

#[test]
fn nothing_is_written_through_a_link_that_lies_in_the_project() {
    let world = imported();
    let elsewhere = world.temp().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.project().join(".claude")).unwrap();
    world.refuses(&["export", "implement_044_tags", "--as", "claude-plan"], 9, "export_blocked");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_checkpoint_of_our_own_goes_to_another_store_and_is_checked_there() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--state", r#"{"n": 1.0}"#]).succeeds();
    world.run(&["export", "042/1", "--as", "ckpt", "-o", "042.json"]).succeeds();
    let stored = std::fs::read(world.checkpoint_file("042", 1)).unwrap();
    assert_eq!(std::fs::read(world.project().join("042.json")).unwrap(), stored, "byte for byte");
    world.run(&["import", "042.json", "--into", "copy"]).succeeds();
    let copy = world.stored("copy", 1);
    assert_eq!((&copy["phases"], &copy["state"]), (&world.stored("042", 1)["phases"], &json!({"n": 1.0})));
    let mut torn = stored;
    let last = torn.len() - 10;
    torn[last] ^= 1;
    world.write("042.json", torn);
    world.refuses(&["import", "042.json", "--into", "other"], 6, "damaged");
}

#[test]
fn a_seal_is_no_checkpoint_to_import_and_an_archived_workflow_is_exported_all_the_same() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world.run(&["import", &world.checkpoint_file("042", 2).display().to_string(), "--into", "x"]).exits(6);
    world.run(&["export", "042", "--as", "claude-plan", "-o", "plan.json"]).succeeds();
    assert_eq!(document(&world, "plan.json")["completed_phases"], json!(["a"]));
    world.run(&["export", "042", "--as", "kamiflow", "-o", "copies/"]).succeeds();
    assert!(world.project().join("copies/.kamiflow/checkpoints/042-checkpoint-phasea.json").is_file());
}

#[test]
fn a_file_is_known_again_when_all_that_is_left_of_its_workflow_is_a_bundle() {
    let world = imported();
    world.run(&["archive", "implement_044_tags", "--as", "abandoned"]).succeeds();
    assert_eq!(world.json(&["import", "plan.json"])["unchanged"][0]["handle"], "implement_044_tags/1");
    std::fs::remove_dir_all(world.workflow_dir("implement_044_tags")).unwrap();
    let again = world.json(&["import", "plan.json"]);
    assert_eq!((&again["imported"], &again["unchanged"][0]["handle"]), (&json!([]), &json!("implement_044_tags/1")));
    assert_eq!(world.json(&["export", "implement_044_tags", "--as", "claude-plan"])["files"][0]["written"], true);
    assert_eq!(document(&world, COPY)["mine"], plan()["mine"]);
}

/// A save with a state, a task and a label.
const TELLING: [&str; 14] = [
    "save",
    "ex",
    "--pipeline",
    "kamiflow",
    "--phase",
    "0",
    "--data",
    r#"{"requirementGroups": [], "conflictsDetected": false, "projectContext": {}}"#,
    "--state",
    r#"{"k": 1}"#,
    "--task",
    "t1=pending",
    "--label",
    "urgent",
];

#[test]
fn what_a_system_has_no_place_for_is_named() {
    let world = World::new();
    world.run(&TELLING).succeeds();
    let left_out = "left out, because task-master has no place for it: what to do next, the labels and the state";
    assert_eq!(world.json(&["export", "ex", "--as", "task-master", "-o", "copy/"])["warnings"], json!([left_out]));
    let shown = world.run(&["export", "ex", "--as", "task-master", "-o", "copy/"]).succeeds();
    assert!(shown.stderr.starts_with(&format!("warning: {left_out}\n")), "{shown}");
    let printed = world.run(&["export", "ex", "--as", "task-master", "-o", "-"]).succeeds();
    assert_eq!(printed.stderr, format!("warning: {left_out}\n"));
    let document = world.json(&["export", "ex", "--as", "task-master", "-o", "-"]);
    assert_eq!((&document["format"], &document["warnings"]), (&json!("ckpt.text.v1"), &json!([left_out])));
}

/// Its tasks have a file of their own, which one place has no room for.
#[test]
fn the_tasks_of_dotagent_are_left_out_where_one_file_is_written() {
    let world = World::new();
    let save = ["save", "da", "--pipeline", "dotagent", "--phase", "IMPLEMENTATION", "--status", "in_progress"];
    world.run(&[&save[..], &["--task", "t1=pending"]].concat()).succeeds();
    let tasks = |output: &str| {
        let exported = world.json(&["export", "da", "--as", "dotagent", "-o", output]);
        exported["warnings"].to_string().contains("the tasks")
    };
    assert!(tasks("-") && !tasks("copy/"));
}

#[test]
fn outputs_come_from_the_pipeline_until_files_of_the_phase_are_recorded() {
    let world = World::new();
    let phase = "memory/state/phase.json";
    let output = || document(&world, phase)["completed_phases"][0]["output"].clone();
    let export = || world.run(&["export", "da", "--as", "dotagent", "--force"]).succeeds();
    world.run(&["save", "da", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    export();
    assert_eq!(output(), json!("memory/reports/demand.json"));
    let verdict = |args: &[&str]| world.run(&[args, &["--json"]].concat()).exits(7).document()["verdict"].clone();
    assert_eq!(
        (verdict(&["resume", "da"]), verdict(&["resume", "--file", phase])),
        ("confirm".into(), "blocked".into())
    );
    world.write("memory/reports/demand.json", "{}");
    world.write("notes.md", "n");
    let report = "memory/reports/demand.json";
    world.run(&["save", "da", "--phase", "REQUIREMENTS", "--artifact", report]).succeeds();
    export();
    assert_eq!(output(), json!(report));
    world.run(&["save", "da", "--artifact", "notes.md"]).succeeds();
    export();
    assert_eq!(output(), json!([report, "notes.md"]), "an artifact is with its phase");
    let resumed = world.json(&["resume", "--file", phase]);
    assert_eq!((&resumed["verdict"], resumed["artifacts"].as_array().unwrap().len()), (&json!("ready"), 2));
}

#[test]
fn a_plan_that_is_done_stays_done_and_its_title_is_no_path() {
    let world = World::new();
    for phase in ["1", "2", "3"] {
        world.run(&["save", "pl", "--total", "3", "--phase", phase, "--title", "All of it"]).succeeds();
    }
    world.run(&["export", "pl", "--as", "claude-plan", "-o", "plan.json"]).succeeds();
    assert_eq!(document(&world, "plan.json")["plan_path"], Value::Null);
    let resumed = world.run(&["resume", "--file", "plan.json", "--json"]).exits(4).document();
    assert_eq!(resumed["verdict"], "complete");
    assert_eq!(resumed["findings"], json!([]));
}

#[test]
fn a_generic_file_cannot_be_written_and_that_is_said() {
    let world = World::with_checkpoints(1);
    world.refuses(&["export", "042", "--as", "generic"], 2, "usage");
    world.refuses(&["export", "nope", "--as", "kamiflow"], 4, "no_such_workflow");
}

#[test]
fn exported_files_are_as_private_as_the_store() {
    let mode =
        |world: &World, path: &str| world.project().join(path).symlink_metadata().unwrap().permissions().mode() & 0o777;
    for (store, umask, directory, file) in [
        (0o700, "022", 0o700, 0o600),
        (0o755, "022", 0o755, 0o644),
        (0o750, "022", 0o750, 0o640),
        (0o770, "002", 0o770, 0o660),
        (0o755, "077", 0o700, 0o600),
    ] {
        let world = World::with_checkpoints(1);
        std::fs::set_permissions(world.store(), std::fs::Permissions::from_mode(store)).unwrap();
        let script = format!("umask {umask}; exec \"$@\"");
        let exported = world.ckpt(&["export", "042", "--as", "claude-plan"]).in_shell(&script).json();
        let path = exported["files"][0]["path"].as_str().unwrap().to_owned();
        let above = std::path::Path::new(&path).parent().unwrap().to_str().unwrap().to_owned();
        assert_eq!((mode(&world, &above), mode(&world, &path)), (directory, file), "store {store:o}, {umask}");
        let single = ["export", "042", "--as", "ckpt", "-o", "single.json"];
        world.ckpt(&single).in_shell(&script).run().succeeds();
        assert_eq!(mode(&world, "single.json"), file, "a single file, store {store:o}, {umask}");
    }
}
