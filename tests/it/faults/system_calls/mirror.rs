//! The files for another system: a kill between two writes is not taken for an edit by that system.

use std::collections::BTreeSet;
use std::sync::Mutex;

use ckpt::core::dialects::Dialect;

use super::injection::{kills, try_all};
use crate::mirror::{files, mirroring, projected};
use crate::support::files::state_of;
use crate::support::strace::strace;

const SAVE: [&str; 8] =
    ["save", "43", "--pipeline", "dotagent", "--phase", "ARCHITECTURE", "--next", "go on"];

#[test]
fn kills_at_its_system_calls() {
    let Some(strace) = strace() else { return };
    for dialect in [Dialect::Dotagent, Dialect::Crunch] {
        let model = mirroring(dialect);
        for id in ["43", "42"] {
            model.run(&["save", id, "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
        }
        let continued = Mutex::new(BTreeSet::new());
        try_all(
            &strace,
            &SAVE,
            &kills(&strace, &model.copy(), &SAVE),
            || model.copy(),
            |world, outcome, fault| {
                // A kill before a sync leaves what one before the next step leaves.
                if !continued.lock().unwrap().insert(state_of(world.temp())) {
                    return;
                }
                let next = world.run(&SAVE).succeeds();
                assert!(!next.stderr.contains("copy"), "{fault}\n{outcome}\nthen {next}");
                let mut present = files(world, dialect);
                present.retain(|path, _| !path.contains("/.ckpt-"));
                assert_eq!(present, projected(world, dialect, &["43", "42"]), "{fault}");
            },
        );
    }
}
