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
fn a_run_that_expires_with_every_fault_at_every_system_call() {
    let world = World::with_checkpoints(2);
    world.configure("[retention]\nfailed_for = \"1s\"\n[save]\nauto_cleanup = false\n");
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    try_everything(&world, &["cleanup"], &[3, 10, 11]);
}
