//! `status`: progress, durations and the estimate.

use serde_json::json;

use crate::support::project::World;

/// Finishes a workflow of two phases; each command is a minute after the one before.
fn finish(world: &World, id: &str) {
    let save = |args: &[&str]| drop(world.run(&[&["save", id, "--phase"], args].concat()).succeeds());
    save(&["a", "--status", "in_progress", "--phases", "a,b"]);
    save(&["a"]);
    save(&["b", "--status", "in_progress"]);
    save(&["b"]);
}

#[test]
fn durations_position_and_tasks_are_shown() {
    let world = World::new();
    world
        .run(&["save", "042", "--phases", "a,b,c", "--phase", "a", "--status", "in_progress", "--title", "Login"])
        .succeeds();
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    world
        .run(&[
            "save",
            "042",
            "--phase",
            "b",
            "--status",
            "in_progress",
            "--task",
            "x=complete",
            "--task",
            "y=pending,after=z",
            "--task",
            "z=running",
        ])
        .succeeds();
    insta::assert_snapshot!(world.run(&["status", "042"]).succeeds(), @r"
    exit 0
    --- stdout
    042 Login                                              1 of 3, 33%
      a  done         1m 00s
    > b  in progress  1m 00s, 1 of 3 tasks
          x  done   y  waiting   z  running
      c  to do
    elapsed 3m 00s, no estimate: it needs 3 finished workflows of this pipeline, there are 0
    --- end
    ");
    assert_eq!(world.run(&["status", "-q"]).succeeds().stdout, "1/3\n");
}

#[test]
fn the_estimate_needs_three_finished_workflows_of_the_same_phases() {
    let world = World::new();
    world.run(&["save", "now", "--phases", "a,b", "--phase", "a"]).succeeds();
    for (n, id) in ["one", "two", "three"].iter().enumerate() {
        let answer = world.json(&["status", "now"]);
        assert_eq!((&answer["estimate"], &answer["samples"]), (&json!(null), &json!(n)));
        finish(&world, id);
    }
    world.run(&["save", "other", "--phases", "a,c", "--phase", "a", "--workflow-status", "complete"]).succeeds();
    let answer = world.json(&["status", "now"]);
    assert_eq!(answer["estimate"], json!({"low_seconds": 60, "high_seconds": 60, "samples": 3}));
    let text = world.run(&["status", "now"]).succeeds().stdout;
    assert!(text.contains("about 60 seconds left (from 3 finished workflows)"), "{text}");
}

#[test]
fn watch_off_a_terminal_shows_it_once() {
    let world = World::with_checkpoints(1);
    assert_eq!(world.run(&["status", "042", "--watch"]).succeeds().stdout.lines().count(), 3);
}

#[test]
fn the_estimate_reads_the_archive_too() {
    let world = World::new();
    world.run(&["save", "now", "--phases", "a,b", "--phase", "a"]).succeeds();
    for id in ["one", "two", "three"] {
        finish(&world, id);
        world.run(&["archive", id]).succeeds();
    }
    assert_eq!(world.json(&["status", "now"])["estimate"]["samples"], 3);
    // Completed phases stay samples when the workflow is reopened.
    for id in ["one", "two", "three"] {
        world.run(&["start", id, "--phase", "a"]).succeeds();
    }
    assert_eq!(world.json(&["status", "now"])["estimate"]["samples"], 3);
}
