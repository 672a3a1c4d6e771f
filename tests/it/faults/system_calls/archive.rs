//! `ckpt archive`

use crate::support::project::World;
use ckpt::reversible::try_everything;

#[test]
fn every_fault_at_every_system_call() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 1, b"damaged\xff");
    try_everything(&world, &["archive", "042", "--as", "completed"], &[10, 11]);
}
