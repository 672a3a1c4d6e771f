//! Several files of one workflow become one sequence, whatever order they are found in, and only once.

use serde_json::json;

use crate::support::project::World;
use ckpt::command::{handles, state};

fn phase_of(world: &World, workflow: &str, seq: u64) -> String {
    world.stored(workflow, seq)["phase"].as_str().unwrap().to_owned()
}

fn at(phase: &str, saved_at: &str) -> String {
    json!({"workflow_id": "w", "current_phase": phase, "phases": ["1", "2", "3"], "timestamp": saved_at}).to_string()
}

#[test]
fn the_recorded_time_decides_and_not_the_file() {
    let world = World::new();
    // The names and the times of the files say the opposite.
    for (name, phase, saved_at) in [
        ("z.json", "1", "2026-01-30T10:00:00Z"),
        ("m.json", "2", "2026-01-30T12:30:00+01:00"),
        ("a.json", "3", "2026-01-30T12:00:00Z"),
    ] {
        world.write(name, at(phase, saved_at));
    }
    world.run(&["import", "a.json", "z.json", "m.json"]).succeeds();
    assert_eq!([1, 2, 3].map(|seq| phase_of(&world, "w", seq)), ["1", "2", "3"]);
}

#[test]
fn at_one_time_the_counter_in_the_name_decides() {
    let world = World::new();
    for (name, phase) in [("cp-10.json", "3"), ("cp-9.json", "2"), ("cp-1.json", "1")] {
        world.write(name, at(phase, "2026-01-30T10:00:00Z"));
    }
    world.run(&["import", "."]).succeeds();
    assert_eq!([1, 2, 3].map(|seq| phase_of(&world, "w", seq)), ["1", "2", "3"]);
}

#[test]
fn the_same_file_again_changes_nothing() {
    let world = World::new();
    world.write("a.json", state("w", "2026-01-30T10:00:00Z"));
    world.write("copy.json", state("w", "2026-01-30T10:00:00Z"));
    let both = world.json(&["import", "a.json", "copy.json"]);
    assert_eq!((handles(&both, "imported"), handles(&both, "unchanged")), (vec!["w/1".into()], vec!["w/1".into()]));
    let before = world.tree();
    let again = world.json(&["import", "a.json"]);
    assert_eq!(handles(&again, "unchanged"), ["w/1"]);
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}

#[test]
fn a_file_stays_known_after_its_checkpoint_was_archived() {
    let world = World::new();
    for n in 1..=3 {
        world.write(&format!("s{n}.json"), at(&n.to_string(), &format!("2026-01-30T1{n}:00:00Z")));
    }
    world.run(&["import", "s1.json", "s2.json", "s3.json"]).succeeds();
    world.run(&["cleanup", "--keep-last", "1", "--yes"]).succeeds();
    let again = world.json(&["import", "."]);
    assert_eq!(handles(&again, "imported"), Vec::<String>::new());
    assert_eq!(handles(&again, "unchanged"), ["w/1", "w/2", "w/3"]);
    world.run(&["archive", "w", "--as", "abandoned"]).succeeds();
    let again = world.json(&["import", "."]);
    assert_eq!(handles(&again, "imported"), Vec::<String>::new(), "{again}");
}

#[test]
fn a_newer_file_continues_the_sequence() {
    let world = World::new();
    world.write("s.json", at("1", "2026-01-30T10:00:00Z"));
    world.run(&["import", "s.json"]).succeeds();
    world.write("s.json", at("2", "2026-01-30T11:00:00Z"));
    assert_eq!(handles(&world.json(&["import", "s.json"]), "imported"), ["w/2"]);
    assert_eq!(world.run(&["resume", "w", "--json"]).exits(7).document()["phase"], "2");
}
