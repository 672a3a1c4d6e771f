//! A process that makes many workflows syncs what is above them once, and loses none of them for it.

use ckpt::core::change::Change;
use ckpt::core::save::Save;
use ckpt::core::store::{Disk, STORE_NAME};
use ckpt::core::{Config, Handle, Store, WorkflowId};

use crate::support::audit::{stamp, store_on};
use crate::support::memory::MemoryDisk;

fn make<D: Disk>(store: &Store<D>, id: &str) -> Handle {
    let (workflow, change, stamp, config): (WorkflowId, _, _, _) =
        (id.parse().unwrap(), Change::default(), stamp(id), Config::default());
    let save = Save {
        workflow: &workflow,
        change: &change,
        stamp: &stamp,
        config: &config,
        expect: None,
        key: None,
        if_changed: false,
    };
    save.to(store).unwrap().handle.unwrap()
}

#[track_caller]
fn all_survive(disk: &MemoryDisk, made: &[Handle]) {
    for survivor in disk.survivors() {
        let store = store_on(survivor.disk);
        for handle in made {
            assert!(store.load(handle).is_ok(), "{handle} is lost");
        }
    }
}

#[test]
fn every_workflow_of_many_survives_a_power_loss_from_its_first_number_on() {
    let disk = MemoryDisk::new();
    let store = store_on(disk.clone()).for_many();
    let mut made = Vec::new();
    for id in ["a", "b", "c", "d"] {
        made.push(make(&store, id));
        all_survive(&disk, &made);
    }
}

#[test]
fn workflows_that_were_prepared_together_survive_one_by_one() {
    let disk = MemoryDisk::new();
    let store = store_on(disk.clone()).for_many();
    let ids: Vec<WorkflowId> = ["a", "b", "c"].map(|id| id.parse().unwrap()).into();
    store.prepare(&ids).unwrap();
    let mut made = Vec::new();
    for id in ["a", "b", "c", "d"] {
        made.push(make(&store, id));
        all_survive(&disk, &made);
    }
}

#[test]
fn a_store_that_was_made_anew_behind_a_preparation_is_synced_anew() {
    let disk = MemoryDisk::new();
    let store = store_on(disk.clone()).for_many();
    store.prepare(&["a".parse().unwrap(), "b".parse().unwrap()]).unwrap();
    disk.rename_dir(disk.base().unwrap(), STORE_NAME, "moved-away");
    let made = [make(&store, "a"), make(&store, "b")];
    all_survive(&disk, &made);
}

#[test]
fn a_store_that_was_made_anew_in_between_is_synced_anew() {
    let disk = MemoryDisk::new();
    let store = store_on(disk.clone()).for_many();
    make(&store, "a");
    disk.rename_dir(disk.base().unwrap(), STORE_NAME, "moved-away");
    let made = [make(&store, "b"), make(&store, "c")];
    all_survive(&disk, &made);
}
