//! `ckpt cleanup`

use super::reversible::try_everything;
use crate::support::project::World;

#[test]
fn single_checkpoints_and_a_whole_workflow_with_every_fault_at_every_system_call() {
    let world = World::with_checkpoints(3);
    world.configure("[save]\nauto_cleanup = false\n");
    world.run(&["save", "done", "--phases", "a", "--phase", "a"]).succeeds();
    try_everything(&world, &["cleanup", "--max-age", "30s"], &[3, 10, 11]);
}

#[test]
fn bundles_that_expire_with_every_fault_at_every_system_call() {
    let world = World::new();
    for n in 0..6 {
        world.run(&["save", "042", "--set", &format!("n={n}")]).succeeds();
        world.run(&["archive", "042", "--as", "completed"]).succeeds();
    }
    try_everything(&world, &["cleanup"], &[3, 10, 11]);
}
