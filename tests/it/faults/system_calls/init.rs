//! `ckpt init`

use super::reversible::try_everything;
use crate::support::project::World;

#[test]
fn every_fault_at_every_system_call() {
    try_everything(&World::new(), &["init"], &[10, 11]);
}
