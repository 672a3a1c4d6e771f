//! The steps that operations ask of the disk, counted.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use ckpt::core::change::Change;
use ckpt::core::retention::{RetentionSettings, plan};
use ckpt::core::save::Save;
use ckpt::core::store::Disk;
use ckpt::core::{Config, Store, WorkflowId};

use crate::support::audit::{save, stamp, store_on};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// Counts steps.
#[derive(Default)]
struct Counter(AtomicUsize);

impl<D: Disk> Tap<D> for Counter {
    fn before(&self, _: &D, _: Step, _: &str) -> io::Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns the number of steps that `run` takes on a disk.
fn steps(disk: &MemoryDisk, run: impl FnOnce(&Store<Tapped<'_, MemoryDisk, Counter>>)) -> usize {
    let counter = Counter::default();
    run(&store_on(Tapped { disk: disk.clone(), tap: &counter }));
    counter.0.into_inner()
}

/// A disk with this many checkpoints of one workflow.
fn history(length: usize) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for number in 0..length {
        save(&store_on(disk.clone()), &format!("saver {number}")).unwrap();
    }
    disk
}

/// A disk with this many workflows of one checkpoint each.
fn workflows(count: usize) -> MemoryDisk {
    let disk = MemoryDisk::new();
    let (change, config) = (Change::default(), Config::default());
    for number in 0..count {
        let id = format!("w{number}");
        let (workflow, stamp): (WorkflowId, _) = (id.parse().unwrap(), stamp(&id));
        Save::new(&workflow, &change, &stamp, &config).to(&store_on(disk.clone())).unwrap();
    }
    disk
}

#[test]
fn a_save_takes_the_same_steps_after_ten_and_forty_checkpoints() {
    let saving = |length| steps(&history(length), |store| drop(save(store, "next").unwrap()));
    assert_eq!(saving(10), saving(40));
}

#[test]
fn reading_the_newest_takes_the_same_steps_after_ten_and_forty_checkpoints() {
    let reading = |length: usize| {
        steps(&history(length), |store| {
            let newest = store.resolve(&"w".parse().unwrap()).unwrap();
            assert_eq!(store.load(&newest).unwrap().checkpoint.seq, length as u64);
        })
    };
    assert_eq!(reading(10), reading(40));
}

/// Asserts that each workflow costs the same number of steps, however many there are.
#[track_caller]
fn assert_steady(run: impl Fn(&Store<Tapped<'_, MemoryDisk, Counter>>), make: impl Fn(usize) -> MemoryDisk) {
    let [few, more, many] = [10, 20, 40].map(|count| steps(&make(count), &run));
    assert!(few < more, "{few} steps for 10, {more} for 20");
    assert_eq!(many - more, 2 * (more - few), "{few} steps for 10, {more} for 20, {many} for 40");
}

#[test]
fn listing_takes_linear_steps() {
    assert_steady(|store| drop(store.scan().unwrap()), workflows);
    assert_steady(|store| drop(store.scan_checkpoints(&"w".parse().unwrap()).unwrap()), history);
}

#[test]
fn verifying_takes_linear_steps() {
    for make in [workflows, history] {
        assert_steady(|store| assert!(store.verify(&[], &mut |_| {}).unwrap().is_ok()), make);
    }
}

#[test]
fn planning_a_cleanup_takes_linear_steps() {
    let policy = RetentionSettings::default().policy();
    let survey = |store: &Store<Tapped<'_, MemoryDisk, Counter>>| {
        plan(&store.cleanup_facts().unwrap(), &policy, stamp("cleanup").now).unwrap();
    };
    assert_steady(survey, workflows);
    assert_steady(survey, history);
}
