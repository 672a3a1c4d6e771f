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
fn no_trigger_ever_has_more_than_its_limit() {
    let world = World::new();
    for round in 1..=12_usize {
        world.run(&["save", "042", "--trigger", "batch_complete"]).succeeds();
        world.run(&["save", "042"]).succeeds();
        // Manual ones have no limit.
        assert_eq!(live(&world, "042").len(), round + round.min(3));
    }
    let outcome = world.run(&["save", "042", "--trigger", "batch_complete", "--json"]).succeeds();
    assert_eq!((&outcome.document()["handle"], outcome.stderr.as_str()), (&"042/25".into(), ""));
    assert_eq!(live(&world, "042").len(), 15);
}

#[test]
fn a_limit_of_each_phase_counts_each_phase() {
    let world = World::new();
    for phase in ["a", "b", "a", "b", "a", "b"] {
        let args = ["save", "042", "--phase", phase, "--status", "in_progress"];
        world.run(&[&args[..], &["--trigger", "agent_complete"]].concat()).succeeds();
    }
    assert_eq!(live(&world, "042"), [5, 6]);
}

#[test]
fn a_limit_that_the_settings_name_holds_for_a_complete_workflow() {
    let world = World::new();
    world.configure("[retention]\ntriggers = { phase_transition = -1, manual = 2 }\n");
    all_but_the_last(&world);
    for trigger in ["manual", "manual", "manual", "session_end"] {
        world.run(&["save", "042", "--trigger", trigger]).succeeds();
    }
    world.run(&LAST).succeeds();
    assert_eq!(live(&world, "042"), [1, 2, 4, 5, 7]);
    let policy = &world.json(&["cleanup", "--dry-run"])["policy"]["words"];
    let words = "complete ones keep their final checkpoint, the newest 2 manual and all phase_transition; \
                 failed and abandoned ones go";
    assert!(policy.as_array().unwrap().contains(&words.into()), "{policy}");
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
    let (on, off) = ("[save]\nauto_cleanup = true\n", "[save]\nauto_cleanup = false");
    assert_eq!(names(on, &["save", "042"]), names(off, &["save", "042"]));
}

const LATER: &str = "2026-03-30T12:00:00Z";

/// `failed` and `idle`, which were left weeks ago, with settings.
fn left(settings: &str) -> World {
    let world = World::new();
    world.configure(settings);
    for id in ["failed", "idle"] {
        world.run(&["save", id, "--note", "one"]).succeeds();
    }
    world.run(&["save", "failed", "--workflow-status", "failed"]).succeeds();
    world
}

fn start_later(world: &World, id: &str) -> crate::support::project::Outcome {
    world.ckpt(&["start", id, "--phases", "a,b", "--phase", "a"]).env("CKPT_NOW", LATER).run().succeeds()
}

#[test]
fn what_is_too_old_goes_with_a_save_of_another_workflow() {
    let world = left("[retention]\nabandon_idle = \"20d\"\n");
    let outcome = start_later(&world, "new");
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    let deleted = "warning: deleted for good: failed/1 to failed/2, failed, and last saved more than 30d ago";
    let archived = "Archived 1 checkpoint of idle by age. Undo with: ckpt restore idle";
    assert!(lines.contains(&deleted) && lines.contains(&archived), "{outcome}");
    world.refuses(&["show", "failed/1"], 4, "archived");
    assert_eq!(live(&world, "idle"), [2], "the seal");
    world.run(&["verify"]).succeeds();
}

#[test]
fn that_happens_once_a_day_and_not_if_switched_off() {
    let world = left("[retention]\nabandon_idle = \"20d\"\n");
    let off = left("[save]\nauto_cleanup = false\n[retention]\nabandon_idle = \"20d\"\n");
    start_later(&off, "new");
    assert_eq!((live(&off, "idle"), live(&off, "failed")), (vec![1], vec![1, 2]));
    assert!(!off.store().join("cleaned").exists());
    start_later(&world, "new");
    world.run(&["restore", "idle"]).succeeds();
    start_later(&world, "newer");
    assert_eq!(live(&world, "idle"), [1, 2, 3]);
    world.ckpt(&["save", "newer", "--phase", "a"]).env("CKPT_NOW", "2026-04-30T12:00:01Z").run().succeeds();
    assert_eq!(live(&world, "idle"), [4]);
}

#[test]
fn the_policy_of_a_system_is_offered_and_can_be_adopted() {
    let world = World::new();
    let start = ["save", "w", "--pipeline", "claude-dir", "--total", "2", "--phase", "1"];
    let outcome = world.run(&start).succeeds();
    let offer = "To clean up as claude-dir does: ckpt init --retention claude-dir";
    assert!(outcome.stderr.lines().any(|line| line == offer), "{outcome}");
    let adopted = world.run(&["init", "--retention", "claude-dir"]).succeeds();
    assert!(adopted.stderr.contains("Set retention.max_age = \"7d\""), "{adopted}");
    let policy = &world.json(&["cleanup", "--dry-run"])["policy"];
    assert_eq!([&policy["max_age_seconds"], &policy["abandon_idle_seconds"]], [604_800, 604_800]);
    assert!(!world.run(&["save", "x", "--pipeline", "claude-dir", "--total", "2"]).stderr.contains(offer));
}
