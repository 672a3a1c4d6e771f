//! `ckpt restore`

use super::reversible::try_everything;
use crate::support::project::World;

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
