//! `ckpt verify --repair`

use super::reversible::try_everything;
use crate::support::project::World;

#[test]
fn every_fault_at_every_system_call() {
    let world = World::with_checkpoints(2);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    // One that a bundle holds, and the newest, which none does.
    world.replace_checkpoint("042", 2, b"damaged");
    world.replace_checkpoint("042", 4, b"{\"damaged\": ");
    try_everything(&world, &["verify", "--repair"], &[6, 10, 11]);
}
