//! What each system would have after each command.

use ckpt::core::dialects::Dialect;
use serde_json::json;

use super::{document, files, mirroring, names, projected};
use crate::support::kamiflow::data;
use crate::support::project::World;

fn save(world: &World, id: &str, args: &[&str]) {
    let shown = world.run(&[&["save", id], args].concat()).succeeds();
    assert!(!shown.stderr.contains("copy"), "{shown}");
}

fn kamiflow(phases: &[&str]) -> World {
    let world = mirroring(Dialect::Kamiflow);
    for phase in phases {
        let data = data(phase).to_string();
        save(&world, "042", &["--pipeline", "kamiflow", "--phase", phase, "--data", &data]);
    }
    world
}

fn kamiflow_names(world: &World) -> Vec<String> {
    let short = |name: String| name.replace("042-checkpoint-", "").replace(".json", "");
    let mut names: Vec<String> = names(world, Dialect::Kamiflow).into_iter().map(short).collect();
    names.sort();
    names
}

#[test]
fn kamiflow_has_a_file_for_each_phase_that_has_begun() {
    let world = kamiflow(&["0", "0.5", "1"]);
    assert_eq!(kamiflow_names(&world), ["phase0", "phase0.5", "phase1"]);
    assert_eq!(files(&world, Dialect::Kamiflow), projected(&world, Dialect::Kamiflow, &["042"]));
}

#[test]
fn kamiflow_files_of_phases_that_a_rollback_undid_vanish_and_come_back() {
    let world = kamiflow(&["0", "0.5", "1", "2"]);
    let before = files(&world, Dialect::Kamiflow);
    world.run(&["rollback", "042/2"]).succeeds();
    assert_eq!(kamiflow_names(&world), ["phase0", "phase0.5"]);
    world.run(&["rollback", "042/4"]).succeeds();
    assert_eq!(kamiflow_names(&world), ["phase0", "phase0.5", "phase1", "phase2"]);
    let now = files(&world, Dialect::Kamiflow);
    let phase1 = ".kamiflow/checkpoints/042-checkpoint-phase1.json";
    assert_eq!(
        now[phase1], before[phase1],
        "the file of a phase is of the checkpoint that the work goes on from"
    );
    world.run(&["revise", "042", "--from", "0.5"]).succeeds();
    assert_eq!(kamiflow_names(&world), ["phase0", "phase0.5"]);
}

/// What was done again and undone is not what a phase said.
#[test]
fn a_phase_that_was_done_again_and_undone_says_what_it_said_before() {
    let world = kamiflow(&["0", "0.5"]);
    let data = |note: &str| json!({"note": note}).to_string();
    save(&world, "042", &["--phase", "0", "--data", &data("again")]);
    save(&world, "042", &["--phase", "0.5"]);
    let phase0 = ".kamiflow/checkpoints/042-checkpoint-phase0.json";
    assert_eq!(document(&world, phase0)["phaseData"]["note"], "again");
    world.run(&["rollback", "042/2"]).succeeds();
    assert_eq!(document(&world, phase0)["phaseData"], crate::support::kamiflow::data("0"));
}

#[test]
fn kamiflow_keeps_the_final_checkpoint_of_complete_work_only() {
    let world = kamiflow(&["0", "0.5", "1"]);
    save(&world, "042", &["--workflow-status", "complete"]);
    assert_eq!(kamiflow_names(&world), ["complete"], "the save cleans up");
    world.run(&["archive", "042"]).succeeds();
    assert_eq!(kamiflow_names(&world), [""; 0]);
    assert!(!world.store().join("mirror/kamiflow/042.json").exists(), "no manifest is left");
    world.run(&["restore", "042"]).succeeds();
    assert_eq!(kamiflow_names(&world), ["complete", "phase0", "phase0.5"]);
}

/// Old checkpoints of open work that nobody touched for a month are compressed; they are still the work's.
#[test]
fn kamiflow_keeps_all_files_of_open_work_however_long_it_is_idle() {
    let world = kamiflow(&["0", "0.5", "1"]);
    let before = files(&world, Dialect::Kamiflow);
    let late = world.ckpt(&["cleanup", "--yes"]).env("CKPT_NOW", "2026-04-30T00:00:00Z").run().succeeds();
    assert_eq!(std::fs::metadata(world.checkpoint_file("042", 1)).unwrap().len(), 0, "{late}");
    assert_eq!(files(&world, Dialect::Kamiflow), before, "{late}");
    save(&world, "042", &["--phase", "2", "--status", "in_progress"]);
    assert_eq!(kamiflow_names(&world), ["phase0", "phase0.5", "phase1", "phase2"]);
}

const ACTIVE: &str = "implement_auth_20260130_143000.json";

#[test]
fn claude_dir_deletes_on_success() {
    let world = mirroring(Dialect::ClaudeDir);
    save(&world, "implement_auth", &["--total", "2", "--phase", "1"]);
    assert_eq!(names(&world, Dialect::ClaudeDir), [ACTIVE]);
    save(&world, "implement_auth", &["--phase", "2"]);
    save(&world, "implement_auth", &["--workflow-status", "complete"]);
    assert_eq!(names(&world, Dialect::ClaudeDir), [""; 0]);
}

#[test]
fn claude_dir_keeps_what_failed_apart_until_it_expires() {
    let world = mirroring(Dialect::ClaudeDir);
    let failed = format!("failed/{ACTIVE}");
    save(&world, "implement_auth", &["--total", "2", "--phase", "1"]);
    save(&world, "implement_auth", &["--workflow-status", "failed", "--error", "no disk"]);
    assert_eq!(names(&world, Dialect::ClaudeDir), [&failed[..]], "never beside an active one");
    save(&world, "implement_auth", &["--workflow-status", "in_progress"]);
    assert_eq!(names(&world, Dialect::ClaudeDir), [ACTIVE]);
    world.run(&["archive", "implement_auth", "--as", "abandoned"]).succeeds();
    assert_eq!(names(&world, Dialect::ClaudeDir), [&failed[..]], "it is archived as one that was given up");
    let late = world.ckpt(&["cleanup", "--yes"]).env("CKPT_NOW", "2026-06-30T00:00:00Z").run().succeeds();
    assert_eq!(names(&world, Dialect::ClaudeDir), [""; 0], "{late}");
    assert!(!world.project().join(".claude/checkpoints/failed").exists(), "no empty directory is left");
}

#[test]
fn claude_plan_has_one_file_as_long_as_the_work_is_live() {
    let world = mirroring(Dialect::ClaudePlan);
    save(&world, "p", &["--total", "2", "--phase", "1"]);
    save(&world, "p", &["--phase", "2"]);
    assert_eq!(document(&world, ".claude/data/checkpoints/p.json")["completed_phases"], json!([1, 2]));
    world.run(&["archive", "p"]).succeeds();
    assert_eq!(names(&world, Dialect::ClaudePlan), [""; 0]);
}

#[test]
fn crunch_has_a_file_for_each_checkpoint_that_its_limits_admit_and_an_index_of_them() {
    let world = mirroring(Dialect::Crunch);
    for phase in ["enrich", "ready", "implementing"] {
        save(&world, "42", &["--pipeline", "crunch", "--phase", phase]);
    }
    let index =
        || std::fs::read_to_string(world.project().join(".claude/crunch/42/checkpoints/index.yaml")).unwrap();
    assert_eq!(names(&world, Dialect::Crunch).len(), 5);
    assert!(index().contains("total_checkpoints: 3"), "{}", index());
    for _ in 0..2 {
        save(&world, "42", &["--trigger", "agent_complete", "--phase", "implementing", "--note", "x"]);
    }
    assert_eq!(names(&world, Dialect::Crunch).len(), 7);
    // Of the two of an agent, crunch keeps one; of the milestones, all.
    world.run(&["cleanup", "--keep-last", "1", "--yes"]).succeeds();
    assert_eq!(names(&world, Dialect::Crunch).len(), 6);
    assert!(index().contains("total_checkpoints: 4"), "{}", index());
    world.run(&["restore", "42/4"]).succeeds();
    assert_eq!(names(&world, Dialect::Crunch).len(), 7);
    // A save after that adds its file, and leaves the others.
    save(&world, "42", &["--phase", "implementing", "--note", "y"]);
    assert_eq!(names(&world, Dialect::Crunch).len(), 8);
    assert_eq!(files(&world, Dialect::Crunch), projected(&world, Dialect::Crunch, &["42"]));
    // Content that is deleted here is deleted there.
    world.run(&["cleanup", "--keep-last", "1", "--purge", "--yes"]).succeeds();
    assert_eq!(files(&world, Dialect::Crunch), projected(&world, Dialect::Crunch, &["42"]));
}

fn dotagent(world: &World, id: &str, phase: &str) {
    save(world, id, &["--pipeline", "dotagent", "--phase", phase, "--mirror", "dotagent"]);
}

#[test]
fn dotagent_has_one_slot_and_moves_what_had_it_to_its_archive() {
    let world = World::new();
    dotagent(&world, "first", "REQUIREMENTS");
    assert_eq!(names(&world, Dialect::Dotagent), ["execution.json", "phase.json"]);
    dotagent(&world, "second", "REQUIREMENTS");
    let archived =
        ["execution.json", "phase.json"].map(|name| format!(".archive/first_20260130_143000/{name}"));
    let slot = ["execution.json".to_owned(), "phase.json".to_owned()];
    assert_eq!(names(&world, Dialect::Dotagent), [&archived[..], &slot].concat());
    assert_eq!(document(&world, "memory/state/phase.json")["workflow_id"], "second");
    let first = document(&world, "memory/state/.archive/first_20260130_143000/phase.json");
    assert_eq!(first["workflow_id"], "first");

    dotagent(&world, "first", "ARCHITECTURE");
    assert_eq!(document(&world, "memory/state/phase.json")["workflow_id"], "first");
    assert!(world.project().join("memory/state/.archive/second_20260130_143100/phase.json").is_file());
    assert!(!world.project().join("memory/state/.archive/first_20260130_143000").exists());
}

#[test]
fn dotagent_archives_complete_and_archived_work_and_keeps_five() {
    let world = World::new();
    for id in ["a", "b", "c", "d", "e", "f", "g"] {
        dotagent(&world, id, "REQUIREMENTS");
    }
    let archived = || {
        let names = names(&world, Dialect::Dotagent);
        let ids = names.iter().filter_map(|name| name.strip_prefix(".archive/")?.split_once('_'));
        ids.map(|(id, _)| id.to_owned()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(Vec::from_iter(archived()), ["b", "c", "d", "e", "f"]);
    save(&world, "g", &["--workflow-status", "complete", "--mirror", "dotagent"]);
    assert_eq!(
        document(&world, "memory/state/phase.json")["workflow_id"],
        "f",
        "the open one that was saved last"
    );
    world.run(&["archive", "f", "--as", "abandoned"]).succeeds();
    assert_eq!(document(&world, "memory/state/phase.json")["workflow_id"], "e");
    assert!(archived().contains("f") && archived().contains("g"));
    assert_eq!(
        files(&world, Dialect::Dotagent),
        projected(&world, Dialect::Dotagent, &["b", "c", "d", "e", "f", "g"])
    );
}

#[test]
fn a_save_without_the_flag_looks_at_no_mirror_and_other_commands_keep_all() {
    let world = World::new();
    save(&world, "p", &["--total", "3", "--phase", "1", "--mirror", "claude-plan"]);
    let done = || document(&world, ".claude/data/checkpoints/p.json")["completed_phases"].clone();
    save(&world, "p", &["--phase", "2"]);
    assert_eq!(done(), json!([1]), "the save names no mirror");
    world.run(&["run", "p", "--phase", "3", "--", "true"]).succeeds();
    assert_eq!(done(), json!([1, 2, 3]));
    world.run(&["revise", "p", "--from", "2"]).succeeds();
    assert_eq!(done(), json!([1]));
    world.run(&["archive", "p", "--as", "abandoned"]).succeeds();
    assert_eq!(names(&world, Dialect::ClaudePlan), [""; 0]);
}

#[test]
fn an_update_that_has_nothing_to_do_changes_nothing() {
    for dialect in Dialect::mirrored() {
        let world = mirroring(dialect);
        save(&world, "042", &["--phase", "a"]);
        let before = world.tree();
        let shown = world.run(&["save", "042", "--if-changed"]).succeeds();
        assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "{dialect}: {shown}");
    }
}
