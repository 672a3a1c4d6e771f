//! A kill, and every kind of error, at every system call of a save.
//!
//! Whatever happens: exit 0 means that the checkpoint is there, exit 10 that it is not, what was there before is
//! still there, and the next save works.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ckpt::core::store::Located;
use ckpt::core::{Handle, Store, WorkflowId};

use crate::strace::{Call, calls, strace, was_killed, with_fault};
use crate::world::{Outcome, World};

/// System calls that do something to files; memory and streams are not the store's business.
const FILE_CALLS: [&str; 17] = [
    "open",
    "openat",
    "mkdir",
    "mkdirat",
    "read",
    "write",
    "fsync",
    "fstat",
    "newfstatat",
    "statx",
    "getdents64",
    "flock",
    "link",
    "linkat",
    "unlinkat",
    "renameat2",
    "close",
];

/// Errors that a disk, a quota, a mount, a permission, a limit or a signal brings about.
const ERRORS: [&str; 7] = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE", "EINTR"];

/// How many checkpoints there are before the save.
#[derive(Clone, Copy)]
struct Before(u64);

impl Before {
    fn world(self) -> World {
        World::with_checkpoints(usize::try_from(self.0).unwrap())
    }

    /// Every call of such a save that a fault is let into, streams left out.
    fn points(self, strace: &Path) -> Vec<Call> {
        let on_a_stream = |call: &Call| call.line.contains("write(1,") || call.line.contains("write(2,");
        let mut points = calls(strace, &self.world(), &SAVE);
        points.retain(|call| FILE_CALLS.contains(&call.name.as_str()) && !on_a_stream(call));
        assert!(points.len() > 20, "{points:?}");
        points
    }
}

const SAVE: [&str; 4] = ["save", "042", "--note", "under test"];

fn store(world: &World) -> Store {
    Store::at(&Located { root: world.store(), project: world.project() }).unwrap()
}

/// What must hold after a save that met a fault.
fn assert_sound(world: &World, before: Before, outcome: &Outcome, what: &str) {
    let id: WorkflowId = "042".parse().unwrap();
    let numbers: Vec<u64> = world.numbers("042");
    for seq in &numbers {
        let loaded = store(world).load(&Handle::new(&id, *seq));
        assert!(loaded.is_ok(), "{what}: 042/{seq}: {:?}\n{outcome}", loaded.err());
    }
    let (old, new): (Vec<u64>, Vec<u64>) = ((1..=before.0).collect(), (1..=before.0 + 1).collect());
    match outcome.status.code() {
        _ if was_killed(outcome) => {
            assert!(numbers == old || numbers == new, "{what}: {numbers:?}\n{outcome}");
        }
        Some(0) => assert_eq!(numbers, new, "{what}: acknowledged and not there\n{outcome}"),
        Some(10) => assert_eq!(numbers, old, "{what}: refused and there all the same\n{outcome}"),
        Some(11) => assert_eq!(numbers, new, "{what}: written, says it\n{outcome}"),
        _ => panic!("{what}: no documented end\n{outcome}"),
    }
    let next = world.run(&["save", "042", "--phase", "next", "-q"]).succeeds();
    assert_eq!(next.stdout, format!("042/{}\n", numbers.len() + 1), "{what}: the next save");
}

/// Two workers, because the machine may have two processors.
fn try_all(strace: &Path, before: Before, faults: &[(Call, String)]) {
    let (next, fired) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((call, fault)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let world = before.world();
                    let outcome = with_fault(world.ckpt(&SAVE), strace, call, fault).run();
                    let what = format!("{fault} at {} number {}, {}", call.name, call.nth, call.line);
                    assert!(
                        was_killed(&outcome) || !fault.contains("KILL"),
                        "{what}: it did not fire\n{outcome}"
                    );
                    fired.fetch_add(usize::from(!outcome.status.success()), Ordering::Relaxed);
                    assert_sound(&world, before, &outcome, &what);
                }
            });
        }
    });
    assert!(fired.into_inner() > faults.len() / 3, "hardly any fault was noticed");
}

fn kill_everywhere(before: Before) {
    let Some(strace) = strace() else { return };
    let kill = |call| (call, "signal=KILL".to_owned());
    let faults: Vec<_> = before.points(&strace).into_iter().map(kill).collect();
    try_all(&strace, before, &faults);
}

fn fail_everywhere(before: Before) {
    let Some(strace) = strace() else { return };
    let points = before.points(&strace);
    let errors = |call: &Call| ERRORS.map(|error| (call.clone(), format!("error={error}")));
    // A close that fails has closed all the same, and its answer is not asked for.
    let points = points.iter().filter(|call| call.name != "close");
    let faults: Vec<_> = points.flat_map(errors).collect();
    try_all(&strace, before, &faults);
}

#[test]
fn a_first_save_killed_at_every_system_call() {
    kill_everywhere(Before(0));
}

#[test]
fn a_save_killed_at_every_system_call() {
    kill_everywhere(Before(2));
}

#[test]
fn a_first_save_with_every_error_at_every_system_call() {
    fail_everywhere(Before(0));
}

#[test]
fn a_save_with_every_error_at_every_system_call() {
    fail_everywhere(Before(2));
}

#[test]
fn a_directory_that_cannot_be_synced_is_said_to_be_uncertain() {
    let Some(strace) = strace() else { return };
    let before = Before(2);
    let last = before.points(&strace).into_iter().rfind(|call| call.name == "fsync").unwrap();
    let world = before.world();
    let save = [&SAVE[..], &["--json"]].concat();
    let failure = with_fault(world.ckpt(&save), &strace, &last, "error=EIO").run().exits(11).failure();
    assert_eq!((&failure["code"], &failure["context"]["handle"]), (&"unconfirmed".into(), &"042/3".into()));
}
