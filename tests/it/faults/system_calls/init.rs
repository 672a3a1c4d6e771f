//! `ckpt init`

use crate::support::project::World;
use ckpt::reversible::try_everything;

#[test]
fn every_fault_at_every_system_call() {
    try_everything(&World::new(), &["init"], &[10, 11]);
}
