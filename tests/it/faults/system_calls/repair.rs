//! `ckpt verify --repair`. In the short form, every third fault: a process that verifies takes ten times as long as one
//! that saves, and most of its calls read what another one reads as well.

use crate::support::project::World;
use ckpt::injection::sample;
use ckpt::reversible::try_faults;

#[test]
fn every_fault_at_every_system_call() {
    let world = World::with_checkpoints(2);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    // One that a bundle holds, and the newest, which none does.
    world.replace_checkpoint("042", 2, b"damaged");
    world.replace_checkpoint("042", 4, b"{\"damaged\": ");
    try_faults(&world, &["verify", "--repair"], &[6, 10, 11], sample);
}
