//! `--trigger`, and triggers that are switched off.

use serde_json::json;

use crate::support::project::World;

#[test]
fn the_trigger_follows_from_what_is_saved_unless_it_is_said() {
    let world = World::new();
    let cases: [(&[&str], &str); 12] = [
        (&[], "manual"),
        (&["--phase", "a"], "phase_transition"),
        (&["--task", "t=done"], "manual"),
        (&["--trigger", "batch_complete"], "batch_complete"),
        (&["--trigger", "agent-complete"], "agent_complete"),
        (&["--trigger", "conflict_start"], "conflict_start"),
        (&["--trigger", "conflict_resolved"], "conflict_resolved"),
        (&["--trigger", "user_interrupt"], "user_interrupt"),
        (&["--trigger", "pre_compact"], "pre_compact"),
        (&["--trigger", "session_end"], "session_end"),
        (&["--trigger", "phase_transition"], "phase_transition"),
        (&["--phase", "a", "--trigger", "manual"], "manual"),
    ];
    for (seq, (flags, trigger)) in (1..).zip(cases) {
        world.run(&[&["save", "042"][..], flags].concat()).succeeds();
        assert_eq!(world.stored("042", seq)["trigger"], trigger, "{flags:?}");
    }
}

#[test]
fn an_unknown_trigger_is_refused_with_the_known_ones() {
    let failure = World::new().refuses(&["save", "042", "--trigger", "lunch"], 2, "unknown_trigger");
    assert!(failure["message"].as_str().unwrap().contains("session_end"), "{failure}");
}

#[test]
fn a_trigger_that_is_switched_off_writes_nothing() {
    let world = World::with_checkpoints(1);
    world.configure("[save.triggers]\nagent_complete = false\n");
    let before = world.tree();
    let outcome = world.run(&["save", "042", "--trigger", "agent_complete"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Nothing saved: the trigger agent_complete is switched off in the configuration
    --- end
    ");
    let answer = world.json(&["save", "042", "--trigger", "agent_complete"]);
    assert_eq!((&answer["created"], &answer["handle"]), (&json!(false), &json!("042/1")));
    assert_eq!(answer["skipped_trigger"], "agent_complete");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    world.run(&["save", "042", "--trigger", "session_end"]).succeeds();
    assert_eq!(world.numbers("042"), [1, 2]);
}

#[test]
fn a_trigger_that_the_user_switched_off_does_not_even_make_a_store() {
    let world = World::new();
    world.configure_user("[save.triggers]\nphase_transition = false\n");
    let outcome = world.run(&["save", "042", "--phase", "a"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stderr
    Nothing saved: the trigger phase_transition is switched off in the configuration
    --- end
    ");
    let answer = world.json(&["save", "042", "--phase", "a"]);
    assert_eq!((&answer["handle"], &answer["seq"]), (&json!(null), &json!(null)));
    assert!(!world.store().exists());
}

#[test]
fn the_store_can_switch_on_what_the_user_switched_off() {
    let world = World::new();
    world.configure_user("[save.triggers]\nmanual = false\n");
    world.configure("[save.triggers]\nmanual = true\n");
    assert_eq!(world.json(&["save", "042"])["created"], true);
}
