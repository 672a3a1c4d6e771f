//! The steps that operations ask of the disk, counted.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use ckpt_model::change::Change;
use ckpt_model::retention::{RetentionSettings, plan};
use ckpt_model::{Config, WorkflowId};
use ckpt_store::Disk;
use ckpt_store::save::Save;
use ckpt_store::{Store, store_stats};

use crate::support::audit::{save, save_keyed, stamp, store_on, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// Counts steps, and each name of a list as one more.
#[derive(Default)]
pub(super) struct Counter(AtomicUsize);

impl<D: Disk> Tap<D> for Counter {
    fn before(&self, _: &D, _: Step, _: &str) -> io::Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn listed(&self, _: &str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the number of steps that `run` takes on a disk.
pub(super) fn steps(disk: &MemoryDisk, run: impl FnOnce(&Store<Tapped<'_, MemoryDisk, Counter>>)) -> usize {
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

/// Asserts that finding the newest number among four times as many costs at most two more doublings and two more
/// halvings, and that nothing else grows.
#[track_caller]
fn assert_logarithmic(lookups: usize, run: impl Fn(&Store<Tapped<'_, MemoryDisk, Counter>>)) {
    let [few, many] = [50, 200].map(|length| steps(&history(length), &run));
    assert!(many <= few + 4 * lookups, "{few} steps for 50, {many} for 200");
}

#[test]
fn a_save_takes_as_many_steps_in_a_long_workflow_as_in_a_short_one() {
    assert_logarithmic(1, |store| drop(save(store, "next").unwrap()));
}

#[test]
fn a_repeated_save_takes_as_many_steps_in_a_long_workflow_as_in_a_short_one() {
    assert_logarithmic(2, |store| {
        save_keyed(store, "keyed", "once").unwrap();
        save_keyed(store, "keyed", "twice").unwrap();
    });
}

/// A disk with this many checkpoints of one workflow, each saved under a key of its own.
fn keyed_history(length: usize) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for number in 0..length {
        save_under(&store_on(disk.clone()), &format!("key {number}"));
    }
    disk
}

fn save_under<D: Disk>(store: &Store<D>, key: &str) {
    let (workflow, change, stamp, config) = (workflow(), Change::default(), stamp(key), Config::default());
    Save::new(&workflow, &change, &stamp, &config).key(key).to(store).unwrap();
}

#[test]
fn a_save_under_a_new_key_takes_as_many_steps_after_many_keys_as_after_few() {
    let [few, many] = [100, 400].map(|n| steps(&keyed_history(n), |store| save_under(store, "new")));
    assert!(many <= few + 4, "{few} steps after 100, {many} after 400");
}

#[test]
fn a_save_without_a_key_takes_no_step_for_the_keys_of_others() {
    let saving = |disk: MemoryDisk| steps(&disk, |store| drop(save(store, "next").unwrap()));
    assert_eq!(saving(keyed_history(50)), saving(history(50)));
}

#[test]
fn reading_the_newest_takes_as_many_steps_in_a_long_workflow_as_in_a_short_one() {
    assert_logarithmic(1, |store| {
        let newest = store.resolve(&"w".parse().unwrap()).unwrap();
        assert_eq!(store.load(&newest).unwrap().checkpoint.seq, newest.seq);
    });
    assert_logarithmic(1, |store| assert_eq!(store.scan().unwrap().len(), 1));
}

/// Asserts that each workflow or checkpoint costs the same number of steps, however many there are, apart from finding
/// the newest number.
#[track_caller]
fn assert_steady(run: impl Fn(&Store<Tapped<'_, MemoryDisk, Counter>>), make: impl Fn(usize) -> MemoryDisk) {
    let [few, more, many] = [10, 20, 40].map(|count| steps(&make(count), &run));
    assert!(few < more, "{few} steps for 10, {more} for 20");
    assert!((many - more).abs_diff(2 * (more - few)) <= 8, "{few} steps for 10, {more} for 20, {many} for 40");
}

#[test]
fn listing_takes_linear_steps() {
    assert_steady(|store| drop(store.scan().unwrap()), workflows);
    assert_steady(|store| drop(store.scan_checkpoints(&"w".parse().unwrap()).unwrap()), history);
}

#[test]
fn listing_the_newest_checkpoints_takes_as_many_steps_in_a_long_workflow_as_in_a_short_one() {
    assert_logarithmic(1, |store| {
        let rows = store.scan_newest(&"w".parse().unwrap(), 20).unwrap();
        assert_eq!(rows.len(), 20);
    });
}

#[test]
fn a_log_reads_no_more_checkpoints_than_it_shows() {
    assert_logarithmic(1, |store| {
        let workflow = "w".parse().unwrap();
        let entries: Vec<_> = store.history(&workflow, u64::MAX, 20).unwrap().collect();
        assert_eq!((entries.len(), entries[0].1.as_ref().unwrap().checkpoint.seq), (20, entries[0].0.seq));
    });
    assert_steady(|store| drop(store.load_history(&"w".parse().unwrap()).unwrap()), history);
}

#[test]
fn statistics_read_every_checkpoint_once() {
    let reading = |length| {
        steps(&history(length), |store| {
            let newest = store.load(&"w/1".parse().unwrap()).unwrap().checkpoint;
            let stats = store_stats::of_workflow(store, &newest).unwrap();
            assert_eq!((stats.checkpoints, stats.triggers["manual"]), (length as u64, length));
        })
    };
    // One read of the file and one name of a list for each.
    let (few, many) = (reading(50), reading(200));
    assert!(many <= few + 2 * 150 + 4, "{few} steps for 50, {many} for 200");
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
        plan(&store.cleanup_facts(&mut |_| {}).unwrap(), &policy, stamp("cleanup").now).unwrap();
    };
    assert_steady(survey, workflows);
    assert_steady(survey, history);
}

/// One step opens the directory of a workflow; the others list it, with its one name, read that file, and list the name
/// of the directory in the one above.
#[test]
fn planning_a_cleanup_opens_and_lists_each_workflow_once() {
    let count = |count| {
        steps(&workflows(count), |store| {
            store.cleanup_facts(&mut |_| {}).unwrap();
        })
    };
    assert_eq!((count(30) - count(10)) / 20, 5);
}
