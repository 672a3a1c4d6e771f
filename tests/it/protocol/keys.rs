//! A save that is repeated under its key is recognised, however many saves with other keys came between.

use ckpt_model::Config;
use ckpt_model::change::Change;
use ckpt_store::Disk;
use ckpt_store::save::{LISTED_KEYS, Outcome, Save};
use ckpt_store::{Error, Result, Store};

use crate::support::audit::{archive, handle, stamp, store_on, workflow};
use crate::support::fault::{Fault, FaultKind, Moment};
use crate::support::memory::MemoryDisk;
use crate::support::proof::amount;
use crate::support::tap::Tapped;

fn save<D: Disk>(store: &Store<D>, key: &str, note: &str) -> Result<Outcome> {
    let change = Change { note: Some(note.to_owned()), ..Change::default() };
    let (workflow, stamp, config) = (workflow(), stamp(&format!("{key} {note}")), Config::default());
    Save::new(&workflow, &change, &stamp, &config).key(key).to(store)
}

/// A disk with this many saves, each under a key of its own: `key 1` and so on.
fn keyed(count: u64) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for number in 1..=count {
        let saved = save(&store_on(disk.clone()), &format!("key {number}"), "first").unwrap();
        assert_eq!(saved.seq(), Some(number));
    }
    disk
}

#[track_caller]
fn assert_repeated<D: Disk>(store: &Store<D>, number: u64) {
    let saved = save(store, &format!("key {number}"), "first").unwrap();
    assert!(matches!(saved, Outcome::Repeated(seq) if seq == number), "{number}: {saved:?}");
}

#[test]
fn a_repeated_save_is_recognised_after_hundreds_of_others() {
    let many = amount(200, 1000) as u64;
    let store = store_on(keyed(many));
    for number in [1, 2, 63, 64, 65, many / 2, many - 65, many - 64, many - 63, many - 1, many] {
        assert_repeated(&store, number);
        let reused = save(&store, &format!("key {number}"), "another");
        assert!(matches!(reused, Err(Error::KeyReused { handle, .. }) if handle.seq == number), "{number}");
    }
    assert_eq!(store.head_number(&workflow()).unwrap(), Some(many));
    let head = store.load(&handle(many)).unwrap().checkpoint;
    assert_eq!(head.keys.len(), LISTED_KEYS);
    assert!(store.verify(&[], &mut |_| {}).unwrap().is_ok());
}

#[test]
fn so_it_is_after_the_workflow_was_archived() {
    let store = store_on(keyed(200));
    archive(&store);
    for number in [1, 64, 100, 200] {
        assert_repeated(&store, number);
    }
    assert_eq!(save(&store, "new", "first").unwrap().seq(), Some(202));
    assert_repeated(&store, 1);
}

/// The same work, done again, is saved again.
#[test]
fn a_workflow_that_is_started_over_knows_no_keys() {
    let store = store_on(keyed(200));
    let restarted = store.restart(&workflow(), &stamp("restart")).unwrap();
    assert_eq!(save(&store, "key 1", "first").unwrap().seq(), Some(restarted.seq + 1));
    assert_eq!(save(&store, "key 1", "first").unwrap().seq(), Some(restarted.seq + 1));
}

/// The power fails after every step of the save with which the first key leaves the list.
#[test]
fn a_key_that_leaves_the_list_survives_a_power_failure() {
    let disk = keyed(LISTED_KEYS as u64);
    for step in 1.. {
        let (disk, fault) = (disk.fork(), Fault::new(step, FaultKind::Crash, Moment::After));
        let result = save(&store_on(Tapped { disk: disk.clone(), tap: &fault }), "next", "first");
        for survivor in disk.survivors().into_iter().filter(|survivor| survivor.ordered) {
            assert_repeated(&store_on(survivor.disk), 1);
        }
        if !fault.fired() {
            assert_eq!(result.unwrap().seq(), Some(LISTED_KEYS as u64 + 1));
            break;
        }
    }
}
