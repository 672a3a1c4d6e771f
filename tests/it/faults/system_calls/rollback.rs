//! `ckpt rollback`

use super::injection::sample;
use super::reversible::try_faults;
use crate::support::project::World;

#[test]
fn faults_at_its_system_calls() {
    try_faults(&World::with_checkpoints(3), &["rollback", "042/1"], &[10, 11], sample);
}
