//! Where a fault is let in, which one, and trying all of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::project::{Outcome, World};
use crate::support::proof::{amount, figure};
use crate::support::strace::{Call, calls, was_killed, with_fault};

/// System calls that change what is on the disk, or make it durable.
const CHANGES: [&str; 10] =
    ["mkdir", "mkdirat", "write", "fsync", "link", "linkat", "unlinkat", "renameat", "renameat2", "ftruncate"];
/// System calls that open something; with `O_CREAT` they change the disk too.
const OPENS: [&str; 3] = ["open", "openat", "openat2"];
/// System calls that read; memory and streams are not the store's business.
const READS: [&str; 6] = ["read", "fstat", "newfstatat", "statx", "getdents64", "flock"];

/// Errors of a call that writes, by a disk, a quota, a mount, a permission, a limit or a signal; in the short form, one
/// of them by turns.
const ERRORS_OF_CHANGES: [&str; 7] = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE", "EINTR"];
/// Errors of a call that opens an existing file; by turns, because there are so many of them.
const ERRORS_OF_OPENS: [&str; 4] = ["EIO", "EACCES", "EMFILE", "EINTR"];
const ERRORS_OF_READS: [&str; 1] = ["EIO"];

/// How often the same call with the same result is tried as long as nothing has changed: once for the code that asks
/// first, and once for code that asks again.
const REPETITIONS: usize = 2;

/// After the last change there is only a look at what was done, so one in so many of those calls is enough.
const SAMPLE_AT_THE_END: usize = 4;

/// A fault at one call of a command.
pub(super) struct Fault {
    call: Call,
    /// In the words of `strace`.
    what: String,
}

impl Fault {
    fn is_kill(&self) -> bool {
        self.what.contains("KILL")
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {} number {}, {}", self.what, self.call.name, self.call.nth, self.call.line)
    }
}

/// True if a call changes the disk or makes a change durable, streams left out.
fn is_change(call: &Call) -> bool {
    let on_a_stream = call.line.contains("write(1,") || call.line.contains("write(2,");
    let creates = OPENS.contains(&call.name.as_str()) && call.line.contains("O_CREAT");
    creates || CHANGES.contains(&call.name.as_str()) && !on_a_stream
}

/// Which errors a call is given.
fn errors(call: &Call) -> Vec<&'static str> {
    let name = call.name.as_str();
    let (errors, count): (&[&'static str], usize) = if is_change(call) {
        (&ERRORS_OF_CHANGES, amount(1, ERRORS_OF_CHANGES.len()))
    } else if OPENS.contains(&name) {
        (&ERRORS_OF_OPENS, 1)
    } else if READS.contains(&name) {
        (&ERRORS_OF_READS, 1)
    } else {
        (&[], 0)
    };
    (0..count).map(|turn| errors[(call.nth * count + turn) % errors.len()]).collect()
}

/// A kill just before each call that changes something: between two of them the disk stays as it is.
pub(super) fn kills(strace: &Path, world: &World, args: &[&str]) -> Vec<Fault> {
    let calls = calls(strace, world, args).into_iter().filter(is_change);
    calls.map(|call| Fault { call, what: "signal=KILL".to_owned() }).collect()
}

/// Every error at each call, except for calls that repeat another one in the same state of the disk. In the short form,
/// every fourth call that only reads.
pub(super) fn failures(strace: &Path, world: &World, args: &[&str]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let calls = calls(strace, world, args);
    let last_change = calls.iter().rposition(is_change);
    let mut repetitions = BTreeMap::<String, usize>::new();
    for (index, call) in calls.into_iter().enumerate() {
        let every = if Some(index) > last_change {
            SAMPLE_AT_THE_END
        } else if is_change(&call) {
            1
        } else {
            amount(4, 1)
        };
        if !index.is_multiple_of(every) {
            continue;
        }
        if is_change(&call) {
            repetitions.clear();
        } else {
            let count = repetitions.entry(without_descriptors(&call.line)).or_default();
            *count += 1;
            if *count > REPETITIONS {
                continue;
            }
        }
        let each = |error| Fault { call: call.clone(), what: format!("error={error}") };
        faults.extend(errors(&call).into_iter().map(each));
    }
    faults
}

/// A part of the faults, for a command that takes most of its steps in common with another one that is tried whole.
pub(super) fn sample(faults: Vec<Fault>) -> Vec<Fault> {
    faults.into_iter().step_by(amount(3, 1)).collect()
}

/// The call and its result without the process id in front, and without numbers of descriptors, which tell nothing.
fn without_descriptors(line: &str) -> String {
    let (_, call) = line.split_once(' ').unwrap();
    let (name, rest) = call.trim_start().split_once('(').unwrap();
    format!("{name}({}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Runs a command in a new world for each fault, and checks what it left behind.
pub(super) fn try_all(
    strace: &Path,
    args: &[&str],
    faults: &[Fault],
    arrange: impl Fn() -> World + Sync,
    check: impl Fn(&World, &Outcome, &Fault) + Sync,
) {
    figure(&format!("`ckpt {}`: {} kills and errors at its system calls", args.join(" "), faults.len()));
    assert!(faults.len() > 5, "only {} faults", faults.len());
    let (next, noticed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        // Two workers, because the machine may have two processors.
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let world = arrange();
                    let outcome = with_fault(world.ckpt(args), strace, &fault.call, &fault.what).run();
                    let fired = was_killed(&outcome) || !fault.is_kill();
                    assert!(fired, "{fault}: it did not fire\n{outcome}");
                    noticed.fetch_add(usize::from(!outcome.status.success()), Ordering::Relaxed);
                    check(&world, &outcome, fault);
                }
            });
        }
    });
    assert!(noticed.into_inner() > faults.len() / 3, "hardly any fault was noticed");
}
