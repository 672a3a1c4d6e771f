//! Files of others stay as they are, and are named once.

use ckpt::core::dialects::Dialect;
use serde_json::json;

use super::{document, files, mirroring, names, projected};
use crate::support::project::World;

const PLAN: &str = ".claude/data/checkpoints/p.json";

fn warnings(world: &World, args: &[&str]) -> Vec<String> {
    let warnings = world.json(args)["warnings"].clone();
    serde_json::from_value(warnings).unwrap()
}

#[test]
fn an_edited_file_is_kept_and_named_once() {
    let world = mirroring(Dialect::ClaudePlan);
    world.run(&["save", "p", "--total", "4", "--phase", "1"]).succeeds();
    let mut changed = document(&world, PLAN);
    changed["completed_phases"] = json!([1, 2, 3]);
    world.write(PLAN, changed.to_string());
    let first = warnings(&world, &["save", "p", "--note", "x"]);
    assert_eq!(
        first,
        [format!(
            "the claude-plan copy was not brought up to date: `{PLAN}` says something else; `ckpt import {PLAN}` takes it \
             over, `ckpt export p --as claude-plan --force` replaces it"
        )]
    );
    assert_eq!(warnings(&world, &["save", "p", "--note", "y"]), [""; 0], "it was named");
    assert_eq!(document(&world, PLAN), changed);

    world.run(&["export", "p", "--as", "claude-plan", "--force"]).succeeds();
    assert_eq!(warnings(&world, &["save", "p", "--phase", "2"]), [""; 0]);
    assert_eq!(document(&world, PLAN)["completed_phases"], json!([1, 2]), "it is a copy again");
    world.write(PLAN, changed.to_string());
    assert_eq!(warnings(&world, &["save", "p", "--note", "z"]).len(), 1, "another edit is named again");
}

#[test]
fn the_offered_commands_work_from_any_directory() {
    let world = mirroring(Dialect::ClaudePlan);
    world.run(&["save", "p", "--total", "4", "--phase", "1"]).succeeds();
    std::fs::create_dir(world.project().join("sub dir")).unwrap();
    world.write(PLAN, "{}");
    let shown = world.ckpt(&["save", "p"]).dir("sub dir").run().succeeds();
    let path = world.project().join(PLAN);
    assert!(shown.stderr.contains(&format!("`ckpt import {}`", path.display())), "{shown}");
}

#[test]
fn an_edited_file_that_is_not_needed_any_more_stays() {
    let world = mirroring(Dialect::ClaudePlan);
    world.run(&["save", "p", "--total", "4", "--phase", "1"]).succeeds();
    world.write(PLAN, "{\"mine\": true}");
    let warnings = warnings(&world, &["archive", "p", "--as", "abandoned"]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with(&format!("`{PLAN}` is no part of the claude-plan copy any more")));
    assert_eq!(document(&world, PLAN), json!({"mine": true}));
}

#[test]
fn files_beside_those_of_the_workflow_are_left_alone() {
    let world = mirroring(Dialect::Kamiflow);
    for name in ["README.md", "043-checkpoint-phase1.json", "042-checkpoint-phase9.json"] {
        world.write(&format!(".kamiflow/checkpoints/{name}"), "{}");
    }
    world.run(&["start", "042", "--pipeline", "kamiflow", "--phase", "0"]).succeeds();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    assert_eq!(
        names(&world, Dialect::Kamiflow),
        ["042-checkpoint-phase9.json", "043-checkpoint-phase1.json", "README.md"]
    );
}

#[test]
fn what_was_imported_is_replaced_by_what_the_work_became() {
    let world = World::new();
    let plan = json!({"workflow_id": "p", "plan_path": "p.md", "current_phase": 2, "completed_phases": [1], "mine": 1});
    world.write(PLAN, plan.to_string());
    world.run(&["import", PLAN]).succeeds();
    world.run(&["save", "p", "--phase", "2", "--mirror", "claude-plan"]).succeeds();
    let copy = document(&world, PLAN);
    assert_eq!((&copy["completed_phases"], &copy["mine"]), (&json!([1, 2]), &json!(1)));
}

#[test]
fn an_imported_issue_of_crunch_goes_on_in_its_directory() {
    let world = World::new();
    for phase in ["enrich", "ready"] {
        world.run(&["save", "42", "--pipeline", "crunch", "--phase", phase]).succeeds();
    }
    world.run(&["export", "42", "--as", "crunch"]).succeeds();
    std::fs::remove_dir_all(world.store()).unwrap();
    world.run(&["import", ".claude/crunch"]).succeeds();
    let save = ["save", "42", "--phase", "implementing", "--mirror", "crunch"];
    assert_eq!(warnings(&world, &save), [""; 0]);
    assert_eq!(files(&world, Dialect::Crunch).len(), 5);
    assert_eq!(files(&world, Dialect::Crunch), projected(&world, Dialect::Crunch, &["42"]));
}

/// The other system has saved a checkpoint that was not imported: its index is not replaced.
#[test]
fn an_index_with_more_entries_is_kept() {
    let world = World::new();
    let index = ".claude/crunch/42/checkpoints/index.yaml";
    world.write(
        index,
        "issue_number: 42\ncheckpoints:\n  - checkpoint_id: CP-x\nlatest: CP-x\ntotal_checkpoints: 1\n",
    );
    let save = ["save", "42", "--pipeline", "crunch", "--phase", "enrich", "--mirror", "crunch"];
    let warnings = warnings(&world, &save);
    assert!(warnings[0].contains(index), "{warnings:?}");
    assert!(
        warnings[0].contains("`ckpt import .claude/crunch/42/checkpoints/`"),
        "an index is no checkpoint"
    );
    world.run(&["import", ".claude/crunch/42/checkpoints/"]).succeeds();
    assert!(std::fs::read_to_string(world.project().join(index)).unwrap().contains("CP-x"));
}

#[test]
fn the_slot_of_an_imported_workflow_is_taken_over_and_that_of_another_is_not() {
    let world = World::new();
    let state = json!({"workflow_id": "theirs", "started_at": "2026-01-30T10:00:00Z", "current_phase": "ARCHITECTURE",
        "last_updated": "2026-01-30T14:00:00Z", "phase_status": "in_progress",
        "completed_phases": [{"phase": "REQUIREMENTS", "completed_at": "2026-01-30T12:00:00Z", "output": null}],
        "user_checkpoints": [], "interruption_safe": true});
    world.write("memory/state/phase.json", state.to_string());
    world.write("memory/state/execution.json", "{\"tasks\": []}");
    let save = ["save", "ours", "--pipeline", "dotagent", "--phase", "REQUIREMENTS", "--mirror", "dotagent"];
    let refused = warnings(&world, &save);
    assert!(refused[0].contains("`ckpt export ours --as dotagent --force`"), "{refused:?}");
    assert_eq!(document(&world, "memory/state/phase.json"), state);

    world.run(&["import", "memory/state/phase.json"]).succeeds();
    assert_eq!(warnings(&world, &save), [""; 0]);
    assert_eq!(document(&world, "memory/state/phase.json")["workflow_id"], "ours");
    assert_eq!(document(&world, "memory/state/.archive/theirs_20260130_140000/phase.json"), state);
}

#[test]
fn tasks_that_its_system_has_changed_are_taken_over_with_their_file() {
    let world = mirroring(Dialect::Dotagent);
    let save = ["save", "w", "--pipeline", "dotagent", "--phase", "IMPLEMENTATION", "--task", "t=running"];
    world.run(&save).succeeds();
    let tasks = "memory/state/execution.json";
    world.write(tasks, document(&world, tasks).to_string().replace("running", "complete"));
    let warnings = warnings(&world, &["save", "w", "--next", "x"]);
    assert!(warnings[0].contains("`ckpt import memory/state/phase.json` takes it over"), "{warnings:?}");
    world.run(&["import", "memory/state/phase.json"]).succeeds();
    assert_eq!(world.stored("w", 3)["tasks"][0]["status"], "complete");
}

#[test]
fn a_mirror_that_cannot_be_written_does_not_undo_the_save() {
    let world = World::new();
    world.write(".claude", "not a directory");
    let save = ["save", "p", "--total", "3", "--phase", "3", "--mirror", "claude-plan"];
    for _ in 0..2 {
        let saved = world.json(&save);
        assert_eq!(saved["created"], true);
        let warning = saved["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("the claude-plan copy was not brought up to date"), "{warning}");
    }
    let quiet = world.run(&["save", "p", "--mirror", "claude-plan", "-q"]).succeeds();
    assert!(quiet.stderr.starts_with("warning: the claude-plan copy was not"), "{quiet}");
    for none in ["generic", "ckpt", "nonsense"] {
        world.refuses(&["save", "x", "--mirror", none], 2, "usage");
    }
    world.configure("[save]\nmirror = \"ckpt\"\n");
    world.refuses(&["save", "x"], 2, "invalid_config");
}
