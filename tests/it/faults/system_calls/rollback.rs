//! `ckpt rollback`

use crate::support::project::World;
use ckpt::injection::sample;
use ckpt::reversible::try_faults;

#[test]
fn faults_at_its_system_calls() {
    try_faults(&World::with_checkpoints(3), &["rollback", "042/1"], &[10, 11], sample);
}
