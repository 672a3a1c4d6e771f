//! `ckpt import` without a path, and what `init` says about files of other systems.

use serde_json::json;

use crate::support::project::World;
use crate::support::terminal::Terminal;

const STORIES: &str = r#"{"project": "well", "userStories": [
    {"id": "US-1", "title": "Dig", "passes": true}, {"id": "US-2", "title": "Line it", "passes": false}]}"#;

fn world() -> World {
    let world = World::new();
    world.write("prd.json", STORIES);
    world.write("specs/one/tasks.md", "# Tasks\n\n## Phase 1: Dig\n\n- [x] T001 a\n- [ ] T002 b\n");
    world.write("features.json", r#"{"features": ["is the list of a shop"]}"#);
    world
}

#[test]
fn files_of_known_systems_are_listed_and_nothing_is_imported() {
    let world = world();
    let outcome = world.run(&["import"]).succeeds();
    let expected = "prd.json  ralph  Ralph, user stories that pass or do not\n\
        specs/one/tasks.md  spec-kit  Spec Kit, tasks with check boxes\n";
    assert_eq!(outcome.stdout, expected);
    assert_eq!(outcome.stderr, "Nothing is imported yet. All of them: ckpt import --all\n");
    assert!(!world.store().exists());
    let report = world.json(&["import"]);
    assert_eq!(report["found"][0], json!({"path": "prd.json", "dialect": "ralph", "files": 1, "workflow": "well"}));
    let said = world.run(&["init"]).succeeds();
    assert!(said.stderr.contains("Found prd.json  ralph"), "{said}");
    assert!(said.stderr.contains("To go on with what is there: ckpt import --all\n"), "{said}");
}

#[test]
fn all_of_them_are_imported_where_that_is_wanted() {
    let world = world();
    let report = world.json(&["import", "--all"]);
    assert_eq!(report["imported"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(world.run(&["resume", "well", "--json"]).exits(7).document()["phase"], "US-2");
    assert_eq!(world.run(&["resume", "one", "--json"]).exits(7).document()["tasks"]["ready"], json!(["T002"]));
    world.run(&["done", "well", "--phase", "US-2"]).succeeds();
    world.run(&["export", "well", "--as", "ralph", "--force"]).succeeds();
    let written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.project().join("prd.json")).unwrap()).unwrap();
    assert_eq!(written["userStories"][1]["passes"], true);
    assert_eq!(World::new().run(&["import", "--all"]).exits(4).stdout, "");
}

#[test]
fn files_with_one_name_for_all_are_named_after_their_directories() {
    let world = world();
    world.write("specs/two/tasks.md", "# Tasks\n\n## Phase 1: Line\n\n- [ ] T001 a\n- [ ] T002 b\n");
    world.write("notes/tasks.md", "# Tasks\n\n## Phase 1: Sing\n\n- [ ] T001 a\n- [ ] T002 b\n");
    let names = |paths: &[&str]| {
        let report = world.json(&[&["import", "--dry-run"], paths].concat());
        let imported = report["imported"].as_array().unwrap().iter();
        imported.map(|file| file["workflow"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["specs/one/tasks.md", "specs/two/tasks.md"]), ["one", "two"]);
    assert_eq!(names(&["notes/tasks.md"]), ["tasks"], "it lies elsewhere");
    assert_eq!(world.run(&["resume", "--file", "specs/two/tasks.md", "--json"]).exits(7).document()["workflow"], "two");
}

#[test]
fn two_files_of_one_project_or_feature_are_two_workflows() {
    let world = World::new();
    world.write("docs/sprint-status.yaml", "project: well\ndevelopment_status:\n  1-1-dig: in-progress\n");
    let documents = "project: well\nselected_track: method\nworkflow_status:\n  prd: docs/prd.md\n  design: required\n";
    world.write("docs/bmm-workflow-status.yaml", documents);
    let approvals = r#"{"feature_name": "pump", "phase": "tasks-generated", "approvals": {
        "requirements": {"generated": true, "approved": true}, "design": {"generated": true, "approved": true}}}"#;
    world.write(".kiro/specs/pump/spec.json", approvals);
    world.write(".kiro/specs/pump/tasks.md", "# Implementation Plan\n\n- [x] 1. Buy it\n- [ ] 2. Fit it\n");
    world.run(&["import", "--all"]).succeeds();
    let phases = ["well", "well-planning", "pump", "pump-tasks"]
        .map(|id| world.run(&["resume", id, "--json"]).exits(7).document()["phase"].clone());
    assert_eq!(phases, ["1-1-dig", "design", "implementation", "2"]);
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    for (answer, imported) in [("y\n", true), ("\n", false)] {
        let world = world();
        let mut terminal = Terminal::open(&world, &["import"], &[]);
        terminal.expect("Import all of them? [y/N]: ", 1);
        terminal.answer(answer);
        let (code, screen) = terminal.exit();
        assert_eq!((code, world.store().exists()), (0, imported), "{screen}");
    }
}

#[test]
fn a_link_is_not_followed_and_the_plan_of_a_boulder_lies_below_its_directory() {
    let world = World::new();
    world.write(".sisyphus/plans/dig.md", "# Dig\n\n- [x] 1. Find water\n- [ ] 2. Dig\n");
    let boulder = |plan: &str| {
        json!({"active_plan": plan, "plan_name": "dig", "session_ids": ["s"], "started_at": "2026-01-30T10:00:00Z"})
            .to_string()
    };
    let judged = |plan: &str| {
        world.write(".sisyphus/boulder.json", boulder(plan));
        let outcome = world.run(&["resume", "--file", ".sisyphus/boulder.json", "--json"]);
        outcome.document()["phase"].clone()
    };
    assert_eq!(judged("/home/kim/well/.sisyphus/plans/dig.md"), "2");
    world.write("elsewhere.md", "- [ ] 7. no\n");
    std::os::unix::fs::symlink(world.project().join("elsewhere.md"), world.project().join(".sisyphus/plans/link.md"))
        .unwrap();
    for plan in [".sisyphus/plans/link.md", ".sisyphus/../elsewhere.md", "/etc/passwd", ".sisyphus/plans/none.md"] {
        assert_eq!(judged(plan), json!(null), "{plan}");
    }
}

#[test]
fn what_lies_in_an_archive_is_archived_and_never_open() {
    let world = World::new();
    let state = |id: &str, at: &str| {
        json!({"workflow_id": id, "started_at": at, "last_updated": at, "current_phase": "IMPLEMENTATION",
            "phase_status": "in_progress", "completed_phases": [], "user_checkpoints": [], "interruption_safe": true})
        .to_string()
    };
    world.write("memory/state/phase.json", state("open", "2026-01-30T10:00:00Z"));
    world.write("memory/state/execution.json", r#"{"workflow_id": "other", "tasks": [{"id": "t"}]}"#);
    world.write("memory/state/.archive/old_1/phase.json", state("old", "2026-01-29T10:00:00Z"));
    let report = world.json(&["import", "memory/state"]);
    assert_eq!(report["archived"], json!(["old"]), "{report}");
    let list = world.json(&["list"]);
    let ids: Vec<_> = list["workflows"].as_array().unwrap().iter().map(|row| &row["workflow"]).collect();
    assert_eq!(ids, ["open"], "{list}");
    assert_eq!(world.stored("open", 1)["tasks"], json!([]), "the tasks are of another workflow");
    let again = world.json(&["import", "memory/state"]);
    assert_eq!((&again["imported"], &again["archived"]), (&json!([]), &json!([])), "{again}");
}
