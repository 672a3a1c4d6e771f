//! `ckpt export`: a file is there whole or not at all.

use crate::support::project::World;
use crate::support::strace::strace;
use ckpt::injection::{failures, kills, try_all};

const EXPORT: [&str; 6] = ["export", "042/1", "--as", "kamiflow", "-o", "exported.json"];

#[test]
fn faults_at_its_system_calls() {
    let Some(strace) = strace() else { return };
    let model = World::with_checkpoints(1);
    let exported = |world: &World| std::fs::read(world.project().join("exported.json")).ok();
    let undisturbed = model.copy();
    undisturbed.run(&EXPORT).succeeds();
    let whole = exported(&undisturbed).unwrap();
    let mut faults = kills(&strace, &model.copy(), &EXPORT);
    faults.extend(failures(&strace, &model.copy(), &EXPORT));
    try_all(
        &strace,
        &EXPORT,
        &faults,
        || model.copy(),
        |world, outcome, fault| {
            match exported(world) {
                Some(bytes) => assert!(bytes == whole, "{fault}: in part\n{outcome}"),
                None => assert!(!outcome.status.success(), "{fault}: nothing was written\n{outcome}"),
            }
            let again = world.run(&EXPORT);
            assert!(again.status.success(), "{fault}\n{outcome}\nthen once more {again}");
            assert_eq!(exported(world).as_ref(), Some(&whole), "{fault}");
        },
    );
}
