//! The steps of choosing among all workflows, in stores that are large enough for an index.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use ckpt::core::change::Change;
use ckpt::core::save::Save;
use ckpt::core::store::{Disk, Extent};
use ckpt::core::{Config, WorkflowId};

use crate::support::audit::{save, stamp, store_on};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// Counts what is read and all other steps.
#[derive(Default)]
struct Counter {
    checkpoints: AtomicUsize,
    steps: AtomicUsize,
    listed: AtomicUsize,
}

impl<D: Disk> Tap<D> for Counter {
    fn before(&self, _: &D, step: Step, name: &str) -> io::Result<()> {
        let read = step == Step::Read && name.ends_with(".json");
        let count = if read { &self.checkpoints } else { &self.steps };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn listed(&self, _: &str) {
        self.listed.fetch_add(1, Ordering::Relaxed);
    }
}

/// A disk with this many workflows of one checkpoint each, whose last change was a tick ago.
fn workflows(count: usize) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for number in 0..count {
        let (id, stamp) = (format!("w{number}").parse::<WorkflowId>().unwrap(), stamp(&number.to_string()));
        Save::new(&id, &Change::default(), &stamp, &Config::default()).to(&store_on(disk.clone())).unwrap();
    }
    disk.tick();
    disk
}

/// The checkpoints that are read and the other steps that are taken to visit all workflows.
fn visit(disk: &MemoryDisk, extent: Extent) -> (usize, usize) {
    let counter = Counter::default();
    let store = store_on(Tapped { disk: disk.clone(), tap: &counter });
    store.visit_summaries(extent, &mut |_| {}, &mut |_| {}).unwrap();
    (counter.checkpoints.into_inner(), counter.steps.into_inner())
}

#[test]
fn with_an_index_no_checkpoint_is_read_and_a_directory_takes_one_step() {
    let [few, many] = [520, 1040].map(|count| {
        let disk = workflows(count);
        assert_eq!(visit(&disk, Extent::Live).0, count);
        let (checkpoints, steps) = visit(&disk, Extent::Newest);
        assert_eq!((checkpoints, steps), visit(&disk, Extent::Live));
        assert_eq!(checkpoints, 0);
        steps
    });
    assert_eq!(many - few, 520);
}

#[test]
fn names_are_listed_only_after_a_workflow_was_added() {
    let disk = workflows(520);
    let listed = || {
        let counter = Counter::default();
        let store = store_on(Tapped { disk: disk.clone(), tap: &counter });
        store.visit_summaries(Extent::Newest, &mut |_| {}, &mut |_| {}).unwrap();
        counter.listed.into_inner()
    };
    assert!(listed() >= 520);
    assert_eq!(listed(), 0);
    save(&store_on(disk.clone()), "a new workflow").unwrap();
    disk.tick();
    assert!(listed() >= 521);
    assert_eq!(listed(), 0);
    save(&store_on(disk.clone()), "the same workflow").unwrap();
    // Its only entry, to find the newest: no other directory.
    assert!(listed() < 5);
}

#[test]
fn only_changed_workflows_are_read_again() {
    let disk = workflows(520);
    visit(&disk, Extent::Newest);
    save(&store_on(disk.clone()), "another").unwrap();
    assert_eq!(visit(&disk, Extent::Newest).0, 1);
}

#[test]
fn a_save_takes_the_same_steps_in_a_small_store_and_in_an_indexed_one() {
    let [small, large] = [10, 520].map(|count| {
        let disk = workflows(count);
        visit(&disk, Extent::Newest);
        let counter = Counter::default();
        save(&store_on(Tapped { disk, tap: &counter }), "next").unwrap();
        counter.steps.into_inner()
    });
    assert_eq!(small, large);
}
