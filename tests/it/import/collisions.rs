//! A file never continues what it does not belong to.

use crate::support::project::World;
use ckpt::command::state;

fn refused(world: &World, args: &[&str]) -> String {
    world.refuses(args, 8, "collision")["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_workflow_with_checkpoints_of_its_own_is_left_alone() {
    let world = World::with_checkpoints(2);
    world.write("s.json", state("042", "2027-01-30T10:00:00Z"));
    let why = refused(&world, &["import", "s.json"]);
    assert_eq!(why, "`s.json` belongs to `042`, which has checkpoints of its own up to `042/2`");
    refused(&world, &["import", "s.json", "--dry-run"]);
    world.run(&["import", "s.json", "--into", "042-imported"]).succeeds();
}

#[test]
fn a_workflow_that_went_on_after_an_import_is_its_own() {
    let world = World::new();
    world.write("s.json", state("w", "2026-01-30T10:00:00Z"));
    world.run(&["import", "s.json"]).succeeds();
    world.run(&["save", "w", "--phase", "plant"]).succeeds();
    world.write("t.json", state("w", "2027-01-30T11:00:00Z"));
    refused(&world, &["import", "t.json"]);
    // What it was made from is still known.
    world.run(&["import", "s.json"]).succeeds();
}

#[test]
fn an_older_file_does_not_follow_a_newer_one() {
    let world = World::new();
    world.write("new.json", state("w", "2026-01-30T10:00:00Z"));
    world.write("old.json", state("w", "2026-01-29T10:00:00Z"));
    world.run(&["import", "new.json"]).succeeds();
    let why = refused(&world, &["import", "old.json"]);
    assert!(why.ends_with("whose newest checkpoint `w/1` was saved later"), "{why}");
}

#[test]
fn one_workflow_is_written_in_one_dialect() {
    let world = World::new();
    world.write("s.json", state("w", "2026-01-30T10:00:00Z"));
    let plan = "{\"workflow_id\": \"w\", \"current_phase\": 2, \"completed_phases\": [1], \"plan_path\": \"p.md\"}";
    world.write("plan.json", plan);
    world.run(&["import", "s.json"]).succeeds();
    let why = refused(&world, &["import", "plan.json"]);
    assert!(why.ends_with("which was imported from generic files"), "{why}");
    let both = World::new();
    both.write("s.json", state("w", "2026-01-30T10:00:00Z"));
    both.write("plan.json", plan);
    both.run(&["import", "s.json", "plan.json"]).exits(3);
    assert_eq!(both.numbers("w").len(), 1);
}
