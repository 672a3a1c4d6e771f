//! The power fails after every step of a save, and of the save that follows one that was killed.
//!
//! In every state that the disk may be found in, the store opens, what was acknowledged is there, nothing is torn, and
//! the next save works. Numbers are without gaps if the disk keeps the order of what was not synced, as journals do;
//! if it does not, a number that nobody was told of can be lost below one that nobody was told of.

use std::collections::HashSet;

use ckpt_store::save::Outcome;
use ckpt_store::{Disk, STORE_NAME};
use ckpt_store::{Result, Store};

use crate::support::audit::{
    Ack, audit, content, save, save_captured, save_keyed, store_on, sweep, try_archive, without_gaps,
};
use crate::support::fault::{Fault, FaultKind, Moment};
use crate::support::memory::{MemoryDisk, Survivor};
use crate::support::proof::{amount, figure};
use crate::support::tap::{Honest, Tap, Tapped};

/// The states after power failures, each once.
#[derive(Debug, Default)]
pub(super) struct Losses {
    seen: HashSet<(u64, bool, Vec<Ack>)>,
    pub(super) wrong: Vec<String>,
}

impl Losses {
    /// How many different states were looked at.
    pub(super) fn states(&self) -> usize {
        self.seen.len()
    }

    /// Lets the power fail now.
    pub(super) fn strike(&mut self, disk: &MemoryDisk, acked: &[Ack]) {
        for survivor in disk.survivors() {
            let ordered = survivor.ordered;
            if !self.seen.insert((survivor.disk.fingerprint(), ordered, acked.to_vec())) {
                continue;
            }
            let store = store_on(survivor.disk);
            let judge = |acked: &[Ack]| match audit(&store, acked) {
                wrong if ordered => wrong,
                wrong => without_gaps(wrong),
            };
            self.wrong.extend(judge(acked));
            match save(&store, "next") {
                Ok(saved) => {
                    self.wrong.extend(sweep(&store, "later").err().map(|error| format!("cannot sweep: {error}")));
                    let next = [acked, &[Ack::of("next", &saved)]].concat();
                    self.wrong.extend(judge(&next));
                }
                Err(error) => self.wrong.push(format!("the next save fails: {error}")),
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Plain(&'static str),
    Contended(&'static str),
    Keyed(&'static str),
    Archive(&'static str),
    Capture(&'static str),
    Sweep(&'static str),
}

impl Operation {
    fn saver(self) -> &'static str {
        match self {
            Self::Plain(name)
            | Self::Contended(name)
            | Self::Archive(name)
            | Self::Capture(name)
            | Self::Sweep(name) => name,
            Self::Keyed(_) => "keyed",
        }
    }

    /// Returns the save that was acknowledged; none if it is not a save.
    fn run<D: Disk>(self, store: &Store<D>) -> Result<Option<Outcome>> {
        match self {
            Self::Plain(saver) | Self::Contended(saver) => save(store, saver).map(Some),
            Self::Keyed(process) => save_keyed(store, "keyed", process).map(Some),
            Self::Archive(archiver) => try_archive(store, archiver).map(|_| None),
            Self::Capture(saver) => save_captured(store, saver).map(Some),
            Self::Sweep(sweeper) => sweep(store, sweeper).map(|()| None),
        }
    }
}

/// Ends the operation after each of its steps, and shows what is on the disk then; why it failed when left alone.
fn cut_everywhere<T: Tap<MemoryDisk>>(
    mutant: &T,
    (disk, acked): (&MemoryDisk, &[Ack]),
    operation: Operation,
    visit: &mut dyn FnMut(&MemoryDisk, &[Ack]),
) -> Option<String> {
    for step in 1.. {
        let fault = Fault::new(step, FaultKind::Crash, Moment::After);
        let fault = if matches!(operation, Operation::Contended(_)) { fault.with_rival() } else { fault };
        let disk = disk.fork();
        let machine = Tapped { disk: Tapped { disk: disk.clone(), tap: mutant }, tap: &fault };
        let result = operation.run(&store_on(machine));
        let told = result.iter().flatten().map(|saved| Ack::of(operation.saver(), saved));
        let acked: Vec<Ack> = acked.iter().cloned().chain(fault.rival_acks.take()).chain(told).collect();
        visit(&disk, &acked);
        if !fault.fired() {
            return result.err().map(|error| format!("{operation:?} fails: {error}"));
        }
    }
    None
}

type Scenario<'a> = (&'a (MemoryDisk, Vec<Ack>), Operation, Operation);

/// A disk with a checkpoint.
fn begun<T: Tap<MemoryDisk>>(mutant: &T) -> (MemoryDisk, Vec<Ack>) {
    let disk = MemoryDisk::new();
    let old = Ack::of("old", &save(&store_on(Tapped { disk: disk.clone(), tap: mutant }), "old").unwrap());
    (disk, vec![old])
}

/// All scenarios without objects, on a disk with a protection removed or not, until something `wanted` is wrong.
pub(super) fn explore<T: Tap<MemoryDisk>>(mutant: &T, wanted: &str) -> Losses {
    let (empty, some) = ((MemoryDisk::new(), Vec::new()), begun(mutant));
    let scenarios = [
        (&empty, Operation::Plain("new"), Operation::Plain("second")),
        (&some, Operation::Plain("new"), Operation::Plain("second")),
        (&some, Operation::Contended("new"), Operation::Plain("second")),
        (&empty, Operation::Keyed("process 1"), Operation::Keyed("process 2")),
        (&some, Operation::Keyed("process 1"), Operation::Keyed("process 2")),
        (&some, Operation::Archive("archiver"), Operation::Plain("second")),
        (&some, Operation::Archive("archiver"), Operation::Archive("another")),
    ];
    explore_scenarios(mutant, &scenarios, wanted)
}

/// All scenarios with objects, in the short form half of them.
pub(super) fn explore_objects<T: Tap<MemoryDisk>>(mutant: &T, wanted: &str) -> Losses {
    let (some, kept) = (begun(mutant), begun(mutant));
    store_on(Tapped { disk: kept.0.clone(), tap: mutant }).store_object(&content(), "killed").unwrap();
    let scenarios = [
        (&some, Operation::Capture("new"), Operation::Capture("second")),
        (&kept, Operation::Sweep("sweeper"), Operation::Capture("second")),
        (&some, Operation::Capture("new"), Operation::Sweep("sweeper")),
        (&kept, Operation::Sweep("sweeper"), Operation::Sweep("another")),
    ];
    explore_scenarios(mutant, &scenarios[..amount(2, 4)], wanted)
}

fn explore_scenarios<T: Tap<MemoryDisk>>(mutant: &T, scenarios: &[Scenario<'_>], wanted: &str) -> Losses {
    let mut losses = Losses::default();
    let mut killed = HashSet::new();
    for ((disk, acked), first, second) in scenarios.iter().copied() {
        let mut failed = Vec::new();
        let alone = cut_everywhere(mutant, (disk, acked), first, &mut |disk, acked| {
            if losses.wrong.iter().any(|wrong| wrong.contains(wanted)) {
                return;
            }
            losses.strike(disk, acked);
            // The first process was killed, nothing else. The second one continues, and then the power fails.
            if killed.insert((disk.fingerprint(), format!("{second:?}"), acked.to_vec())) {
                let strike = &mut |disk: &MemoryDisk, acked: &[Ack]| losses.strike(disk, acked);
                failed.extend(cut_everywhere(mutant, (disk, acked), second, strike));
            }
        });
        losses.wrong.extend(failed.into_iter().chain(alone));
    }
    losses
}

#[test]
fn what_was_acknowledged_survives_a_power_failure_after_any_step() {
    let losses = explore(&Honest, "");
    assert_eq!(losses.wrong, [""; 0]);
    figure(&format!("model: {} states after a power failure, none wrong", losses.states()));
    assert!(losses.states() > 250, "{}", losses.states());
}

#[test]
fn what_a_checkpoint_keeps_survives_a_power_failure_after_any_step() {
    let losses = explore_objects(&Honest, "");
    assert_eq!(losses.wrong, [""; 0]);
    figure(&format!("model: {} states with objects after a power failure, none wrong", losses.states()));
    assert!(losses.states() > 250, "{}", losses.states());
}

#[test]
fn an_init_that_returned_survives_and_one_that_did_not_leaves_no_half_a_file() {
    const CONFIG: &str = "# settings\n";
    let config = |disk: &MemoryDisk| {
        let store = disk.enter(&0, STORE_NAME).ok()?;
        disk.read(&store, "config.toml", 100).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    };
    for step in 1.. {
        let (disk, fault) = (MemoryDisk::new(), Fault::new(step, FaultKind::Crash, Moment::After));
        let store = store_on(Tapped { disk: disk.clone(), tap: &fault });
        let returned = store.create().and_then(|_| store.create_config(CONFIG)).is_ok();
        for Survivor { disk, .. } in disk.survivors() {
            let found = config(&disk);
            assert!(found.is_none_or(|text| text == CONFIG), "step {step}");
            assert!(!returned || config(&disk).is_some(), "step {step}");
            let again = store_on(disk.clone());
            again.create().unwrap();
            again.create_config(CONFIG).unwrap();
            assert_eq!(config(&disk).as_deref(), Some(CONFIG), "step {step}");
        }
        if !fault.fired() {
            assert!(returned);
            break;
        }
    }
}
