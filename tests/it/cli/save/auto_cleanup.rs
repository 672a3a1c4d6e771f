//! Cleaning up after a save.

use crate::support::project::World;
use crate::support::strace::{calls, strace};

fn live(world: &World, workflow: &str) -> Vec<u64> {
    let has_content = |seq: &u64| std::fs::metadata(world.checkpoint_file(workflow, *seq)).unwrap().len() > 0;
    world.numbers(workflow).into_iter().filter(has_content).collect()
}

const LAST: [&str; 4] = ["save", "042", "--phase", "c"];

fn all_but_the_last(world: &World) {
    for phase in ["a", "b"] {
        world.run(&["save", "042", "--phase", phase, "--phases", "a,b,c"]).succeeds();
    }
}

#[test]
fn the_save_that_completes_a_workflow_leaves_its_final_checkpoint() {
    let world = World::new();
    all_but_the_last(&world);
    assert_eq!(live(&world, "042"), [1, 2]);
    let outcome = world.run(&LAST).succeeds();
    assert_eq!(outcome.stdout, "042/3\n");
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines[1..], ["Archived 2 checkpoints of 042. Undo with: ckpt restore 042"], "{outcome}");
    assert_eq!(live(&world, "042"), [3]);
    assert_eq!(world.json(&["show", "042/1"])["valid"], true);
}

#[test]
fn it_can_be_switched_off() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    all_but_the_last(&world);
    assert_eq!(world.run(&LAST).succeeds().stderr.lines().count(), 1);
    assert_eq!(live(&world, "042"), [1, 2, 3]);
}

#[test]
fn a_trigger_that_has_too_many_is_cut_every_eighth_time() {
    let world = World::new();
    for _ in 1..8 {
        world.run(&["save", "042", "--trigger", "batch_complete"]).succeeds();
    }
    assert_eq!(live(&world, "042").len(), 7);
    let outcome = world.run(&["save", "042", "--trigger", "batch_complete", "--json"]).succeeds();
    assert_eq!((&outcome.document()["handle"], outcome.stderr.as_str()), (&"042/8".into(), ""));
    assert_eq!(live(&world, "042"), [6, 7, 8]);
    for _ in 9..=16 {
        world.run(&["save", "042"]).succeeds();
    }
    assert_eq!(live(&world, "042").len(), 11, "manual ones have no limit");
}

#[test]
fn a_failed_workflow_is_left_for_another_try() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b"]).succeeds();
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    assert_eq!(live(&world, "042"), [1, 2]);
}

#[test]
fn a_cleanup_that_fails_does_not_fail_the_save() {
    let world = World::new();
    all_but_the_last(&world);
    std::fs::write(world.store().join("archive"), "an obstacle").unwrap();
    let outcome = world.run(&LAST).succeeds();
    assert_eq!(outcome.stdout, "042/3\n");
    let warnings: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("warning:")).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("could not clean up"), "{outcome}");
    assert_eq!(live(&world, "042"), [1, 2, 3]);
}

#[test]
fn an_ordinary_save_does_not_look() {
    let Some(strace) = strace() else { return };
    let names = |settings: &str, args: &[&str]| -> Vec<String> {
        let world = World::with_checkpoints(7);
        world.configure(settings);
        calls(&strace, &world, args).into_iter().map(|call| call.name).collect()
    };
    for args in [&["save", "042", "--phase", "x"][..], &["save", "042"]] {
        let (on, off) = ("[save]\nauto_cleanup = true\n", "[save]\nauto_cleanup = false");
        assert_eq!(names(on, args), names(off, args), "{args:?}");
    }
}
