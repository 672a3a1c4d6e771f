//! The index of a large store: a cache that never changes an answer.

mod command;
mod properties;
mod untrusted;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ckpt_model::change::Change;
use ckpt_model::format::Unusable;
use ckpt_model::{Config, Timestamp, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::save::Save;
use ckpt_store::{Disk, HeadSummary, STORE_NAME, WorkflowSummary};

use crate::support::audit::{stamp, store_on};
use crate::support::memory::MemoryDisk;

/// A store of this size has an index.
const LARGE: usize = 520;
const INDEX: &str = "index";

type Summaries = BTreeMap<WorkflowId, Summary>;

/// A copy of a [`WorkflowSummary`].
#[derive(Debug, PartialEq)]
struct Summary {
    seq: u64,
    archived: bool,
    head: Result<Head, Unusable>,
}

type Head = (Timestamp, WorkflowStatus, Option<String>, Option<String>, Vec<String>);

impl From<&WorkflowSummary<'_>> for Summary {
    fn from(summary: &WorkflowSummary<'_>) -> Self {
        let WorkflowSummary { seq, archived, .. } = *summary;
        let head = |head: &HeadSummary<'_>| {
            let HeadSummary { saved_at, status, phase, pipeline, labels } = head.clone();
            let labels = labels.into_iter().map(String::from).collect();
            (saved_at, status, phase.map(String::from), pipeline.map(String::from), labels)
        };
        let head = summary.head.as_ref().map(head).map_err(|why| Unusable::clone(why));
        Self { seq, archived, head }
    }
}

/// A disk with a large store, whose last change was a tick ago.
fn large_store() -> MemoryDisk {
    static MODEL: OnceLock<MemoryDisk> = OnceLock::new();
    MODEL.get_or_init(|| workflows(LARGE)).fork()
}

/// A disk with this many workflows of one checkpoint each, whose last change was a tick ago.
fn workflows(count: usize) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for number in 0..count {
        save(&store_on(disk.clone()), number, 0);
    }
    disk.tick();
    disk
}

fn id(number: usize) -> WorkflowId {
    format!("w{number}").parse().unwrap()
}

/// Saves to a workflow; `round` makes the id of the save a new one.
fn save<D: Disk>(store: &Store<D>, number: usize, round: usize) {
    let stamp = stamp(&format!("{number}x{round}"));
    Save::new(&id(number), &Change::default(), &stamp, &Config::default()).to(store).unwrap();
}

/// The summaries of all workflows, from the index as far as it is valid.
fn summaries<D: Disk<Dir: Sync> + Sync>(store: &Store<D>) -> Summaries {
    let mut summaries = Summaries::new();
    let mut visit = |summary: &WorkflowSummary<'_>| {
        assert!(summaries.insert(summary.workflow.to_id(), summary.into()).is_none(), "twice");
    };
    store.visit_summaries(&mut |_| {}, &mut visit).unwrap();
    summaries
}

/// The summaries of all workflows, from their files.
fn without_index(disk: &MemoryDisk) -> Summaries {
    let disk = disk.fork();
    remove_index(&disk);
    summaries(&store_on(disk))
}

fn root(disk: &MemoryDisk) -> usize {
    disk.reach(&[STORE_NAME]).unwrap()
}

fn read_index(disk: &MemoryDisk) -> Option<Vec<u8>> {
    disk.read(&root(disk), INDEX, u64::MAX).ok()
}

fn remove_index(disk: &MemoryDisk) {
    let _ = disk.remove(&root(disk), INDEX);
}

/// Puts other bytes in the place of the index.
fn write_index(disk: &MemoryDisk, bytes: &[u8]) {
    disk.stage_unsynced(root(disk), ".tmp-test", bytes).unwrap();
    disk.replace(&root(disk), ".tmp-test", INDEX).unwrap();
}
