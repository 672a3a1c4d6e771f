//! What follows every save follows an import too, once for all files of a workflow: the mirror and the cleanup.

use serde_json::{Value, json};

use super::command::handles;
use crate::support::project::World;

const MIRROR: &str = ".claude/data/checkpoints/w.json";

/// The state after `done` of three phases.
fn progress(done: usize) -> String {
    let status = |phase: usize| if phase <= done { "done" } else { "pending" };
    let phases: Vec<Value> =
        (1..=3).map(|phase| json!({"id": phase.to_string(), "status": status(phase)})).collect();
    json!({"workflow_id": "w", "timestamp": format!("2026-01-30T1{done}:00:00Z"), "phases": phases})
        .to_string()
}

fn write(world: &World, done: impl IntoIterator<Item = usize>) {
    for done in done {
        world.write(&format!("in/s{done}.json"), progress(done));
    }
}

fn mirrored_phase(world: &World) -> Value {
    let bytes = std::fs::read(world.project().join(MIRROR)).unwrap();
    serde_json::from_slice::<Value>(&bytes).unwrap()["current_phase"].clone()
}

fn live(world: &World) -> Vec<u64> {
    let has_content = |seq: &u64| std::fs::metadata(world.checkpoint_file("w", *seq)).unwrap().len() > 0;
    world.numbers("w").into_iter().filter(has_content).collect()
}

#[test]
fn the_mirror_is_current_after_an_import() {
    let world = World::new();
    world.configure("[save]\nmirror = \"claude-plan\"\n");
    write(&world, [0, 1]);
    world.run(&["import", "in", "--dry-run"]).succeeds();
    assert!(!world.project().join(MIRROR).exists());
    world.run(&["import", "in"]).succeeds();
    assert_eq!(mirrored_phase(&world), 2);
    write(&world, [2]);
    world.run(&["import", "in"]).succeeds();
    assert_eq!(mirrored_phase(&world), 3);
}

#[test]
fn the_mirror_is_replaced_after_an_import_of_many_files() {
    let world = World::new();
    world.configure("[save]\nmirror = \"claude-plan\"\n");
    write(&world, [1]);
    world.run(&["import", "in"]).succeeds();
    for number in 0..70 {
        world.write(
            &format!("in/t{number}.json"),
            progress(2).replacen('{', &format!("{{\"n\": {number}, "), 1),
        );
    }
    let shown = world.run(&["import", "in", "-q"]).succeeds();
    assert_eq!((shown.stdout.lines().count(), shown.stderr.as_str()), (70, ""));
    assert_eq!(mirrored_phase(&world), 3);
}

#[test]
fn a_mirror_that_the_user_edited_is_a_warning() {
    let world = World::new();
    world.configure("[save]\nmirror = \"claude-plan\"\n");
    write(&world, [1]);
    world.write(MIRROR, "{\"mine\": true}");
    let shown = world.run(&["import", "in", "-q"]).succeeds();
    assert_eq!(shown.stdout, "w/1\n");
    assert!(shown.stderr.starts_with("warning: the claude-plan copy was not brought up to date"), "{shown}");
    write(&world, [2]);
    let document = world.json(&["import", "in"]);
    assert_eq!(document["warnings"], json!([]), "it was named");
    assert_eq!(std::fs::read(world.project().join(MIRROR)).unwrap(), b"{\"mine\": true}");
}

#[test]
fn the_import_that_completes_a_workflow_leaves_its_final_checkpoint() {
    let world = World::new();
    write(&world, 1..=3);
    let shown = world.run(&["import", "in"]).succeeds();
    assert!(shown.stderr.ends_with("Archived 2 checkpoints of w. Undo with: ckpt restore w\n"), "{shown}");
    assert_eq!(live(&world), [3]);
    let again = world.json(&["import", "in"]);
    assert_eq!(handles(&again, "unchanged"), ["w/1", "w/2", "w/3"]);
}

#[test]
fn the_cleanup_can_be_switched_off() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    write(&world, 1..=3);
    world.run(&["import", "in"]).succeeds();
    assert_eq!(live(&world), [1, 2, 3]);
}
