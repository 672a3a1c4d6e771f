//! `ckpt restore`

use crate::support::project::World;
use ckpt::reversible::try_everything;

fn archived() -> World {
    let world = World::with_checkpoints(2);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    world
}

#[test]
fn every_fault_at_every_system_call() {
    try_everything(&archived(), &["restore", "042"], &[10, 11]);
}

#[test]
fn every_fault_where_only_the_bundle_is_left() {
    let world = archived();
    std::fs::remove_dir_all(world.workflow_dir("042")).unwrap();
    try_everything(&world, &["restore", "042"], &[10, 11]);
}
