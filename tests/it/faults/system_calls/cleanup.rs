//! `ckpt cleanup`

use std::time::SystemTime;

use ckpt_store::ObjectContent;

use crate::support::project::World;
use ckpt::injection::sample;
use ckpt::reversible::{try_everything, try_faults};

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

/// A cleanup that was killed has left the name that it gave to an object.
#[test]
fn objects_that_nothing_refers_to_with_faults_at_its_system_calls() {
    let world = World::with_checkpoints(2);
    world.configure("[save]\nauto_cleanup = false\n");
    world.write("out.md", "kept");
    world.run(&["save", "042", "--artifact", "out.md", "--capture"]).succeeds();
    let other = ObjectContent::new(b"nothing refers to it".to_vec());
    world.open_store().store_object(&other, "other").unwrap();
    let hex = other.sha256().to_hex();
    let shard = world.store().join("objects").join(&hex[..2]);
    let leaving = shard.join(format!("{hex}.leaving-killed"));
    std::fs::rename(shard.join(format!("{hex}.gz")), &leaving).unwrap();
    // If it gets its name back, it is still old enough to be removed by the next one.
    std::fs::File::open(leaving).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    try_faults(&world, &["cleanup"], &[3, 10, 11], sample);
}
