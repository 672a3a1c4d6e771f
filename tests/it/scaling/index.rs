//! The steps of choosing among all workflows, in stores that are large enough for an index.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use ckpt_model::change::Change;
use ckpt_model::stats::RunFilter;
use ckpt_model::{Config, WorkflowId};
use ckpt_store::Disk;
use ckpt_store::save::Save;
use ckpt_store::store_stats;

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
fn visit(disk: &MemoryDisk) -> (usize, usize) {
    let counter = Counter::default();
    let store = store_on(Tapped { disk: disk.clone(), tap: &counter });
    store.visit_summaries(&mut |_| {}, &mut |_| {}).unwrap();
    (counter.checkpoints.into_inner(), counter.steps.into_inner())
}

#[test]
fn with_an_index_no_checkpoint_is_read_and_a_directory_takes_one_step() {
    let [few, many] = [520, 1040].map(|count| {
        let disk = workflows(count);
        assert_eq!(visit(&disk).0, count);
        let (checkpoints, steps) = visit(&disk);
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
        store.visit_summaries(&mut |_| {}, &mut |_| {}).unwrap();
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
    visit(&disk);
    save(&store_on(disk.clone()), "another").unwrap();
    assert_eq!(visit(&disk).0, 1);
}

#[test]
fn a_save_takes_the_same_steps_in_a_small_store_and_in_an_indexed_one() {
    let [small, large] = [10, 520].map(|count| {
        let disk = workflows(count);
        visit(&disk);
        let counter = Counter::default();
        save(&store_on(Tapped { disk, tap: &counter }), "next").unwrap();
        counter.steps.into_inner()
    });
    assert_eq!(small, large);
}

/// Counts the steps of statistics, and the names that were listed for them but not looked at yet.
struct Visits {
    steps: Counter,
    workflows: usize,
    entered: AtomicUsize,
    most_waiting: AtomicUsize,
}

impl<D: Disk> Tap<D> for Visits {
    fn before(&self, disk: &D, step: Step, name: &str) -> io::Result<()> {
        if step == Step::Enter && name.starts_with('w') && name != "workflows" {
            self.entered.fetch_add(1, Ordering::Relaxed);
        }
        self.steps.before(disk, step, name)
    }

    fn listed(&self, name: &str) {
        if name.starts_with('w') {
            // They are listed once before, to count them.
            let listed = self.steps.listed.fetch_add(1, Ordering::Relaxed) + 1;
            let waiting = listed.saturating_sub(self.workflows + self.entered.load(Ordering::Relaxed));
            self.most_waiting.fetch_max(waiting, Ordering::Relaxed);
        }
    }
}

#[test]
fn statistics_take_one_visit_and_hold_a_batch_of_names_however_many_workflows_there_are() {
    let [few, many] = [520, 2080].map(|count| {
        let disk = workflows(count);
        // With an index, which does not matter.
        visit(&disk);
        let tap = Visits {
            steps: Counter::default(),
            workflows: count,
            entered: AtomicUsize::new(0),
            most_waiting: AtomicUsize::new(0),
        };
        let store = store_on(Tapped { disk, tap: &tap });
        let (stats, figures) = store_stats::of_store(&store, &RunFilter::default(), &mut |_| {}).unwrap();
        assert_eq!((stats.checkpoints, figures.runs.total()), (count, count as u64));
        assert_eq!(tap.entered.into_inner(), count);
        assert_eq!(tap.steps.checkpoints.into_inner(), count);
        assert!(tap.most_waiting.into_inner() <= 1024);
        tap.steps.steps.into_inner()
    });
    // To enter the directory and to list it.
    assert_eq!(many - few, 2 * 1560);
}
