//! What follows every save follows an import too, once for all files of a workflow: the cleanup.

use serde_json::{Value, json};

use crate::support::project::World;
use ckpt::command::handles;

/// The state after `done` of three phases.
fn progress(done: usize) -> String {
    let status = |phase: usize| if phase <= done { "done" } else { "pending" };
    let phases: Vec<Value> = (1..=3).map(|phase| json!({"id": phase.to_string(), "status": status(phase)})).collect();
    json!({"workflow_id": "w", "timestamp": format!("2026-01-30T1{done}:00:00Z"), "phases": phases}).to_string()
}

fn write(world: &World, done: impl IntoIterator<Item = usize>) {
    for done in done {
        world.write(&format!("in/s{done}.json"), progress(done));
    }
}

fn live(world: &World) -> Vec<u64> {
    let has_content = |seq: &u64| std::fs::metadata(world.checkpoint_file("w", *seq)).unwrap().len() > 0;
    world.numbers("w").into_iter().filter(has_content).collect()
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
