//! Starting over, from a script.

use serde_json::json;

use crate::support::project::World;

/// A workflow with two of three phases done.
fn world() -> World {
    let world = World::new();
    for phase in ["a", "b"] {
        world.run(&["save", "042", "--title", "t", "--phases", "a,b,c", "--phase", phase]).succeeds();
    }
    world
}

#[test]
fn a_fresh_save_archives_what_there_is_and_names_the_undo() {
    let world = world();
    let outcome = world.run(&["save", "042", "--fresh", "--phase", "a", "--key", "again"]).succeeds();
    assert_eq!(outcome.stdout, "042/4\n");
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "Saved 042/4: phase a complete by default, 1 of 3 done. Next: b. Resume with: ckpt resume 042",
            "Archived what there was. Undo with: ckpt rollback 042/2"
        ]
    );
    assert_eq!(world.stored("042", 3)["sealed"]["reason"], "restarted");
    assert_eq!((&world.stored("042", 4)["title"], &world.stored("042", 4)["run"]), (&json!("t"), &json!(4)));
    // The same command again does not start over again.
    let again = world.json(&["save", "042", "--fresh", "--phase", "a", "--key", "again"]);
    assert_eq!((&again["handle"], &again["created"]), (&json!("042/4"), &json!(false)));
    world.run(&["rollback", "042/2"]).succeeds();
    assert_eq!(world.json(&["resume", "042"])["phase"], "c");
    assert_eq!(world.json(&["verify"])["ok"], true);
}

#[test]
fn a_fresh_save_that_is_refused_leaves_everything_as_it_is() {
    let world = world();
    world.refuses(&["save", "042", "--fresh", "--phase", "x"], 2, "unknown_phase");
    world.refuses(&["save", "042", "--fresh", "--expect", "042/1"], 8, "conflict");
    world.refuses(&["save", "042", "--fresh", "--if-changed"], 2, "usage");
    assert_eq!(world.numbers("042"), [1, 2]);
    let answer = world.json(&["save", "042", "--fresh", "--expect", "042/2"]);
    assert_eq!((&answer["handle"], &answer["restarted_from"]), (&json!("042/4"), &json!("042/2")));
}

#[test]
fn a_fresh_save_of_a_new_workflow_is_a_save() {
    let world = World::new();
    let answer = world.json(&["save", "new", "--fresh", "--phase", "a"]);
    assert_eq!((&answer["handle"], &answer["restarted_from"]), (&json!("new/1"), &json!(null)));
}

#[test]
fn resume_can_start_over_too() {
    let world = world();
    let outcome = world.run(&["resume", "042", "--fresh"]).succeeds();
    assert!(outcome.stdout.starts_with("042 t: resume at a (1 of 3)\n"), "{outcome}");
    let undo = "Archived what there was; 042/4 is a fresh start. Undo with: ckpt rollback 042/2\n";
    assert_eq!(outcome.stderr, undo);
    world.refuses(&["resume", "--fresh"], 2, "usage");
    world.refuses(&["resume", "none", "--fresh"], 4, "no_such_workflow");
}

#[test]
fn a_save_that_reopens_an_archived_workflow_says_so_and_names_the_alternative() {
    let world = world();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    let outcome = world.run(&["save", "042", "--phase", "c"]).succeeds();
    let told = "042 was archived, and this save takes it up again. To start over: ckpt save 042 --fresh";
    assert!(outcome.stderr.lines().any(|line| line == told), "{outcome}");
    world.run(&["save", "042", "--note", "x"]).succeeds();
    assert_eq!(world.json(&["save", "042", "--note", "y"])["taken_up"], false);
}
