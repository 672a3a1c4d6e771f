//! Somebody else does something between any two steps.

use std::sync::Arc;

use ckpt_model::{ArchiveReason, WorkflowStatus};
use ckpt_store::{Extent, Located, RestoreScope, Store};
use serde_json::json;

use crate::support::store::{FaultyDisk, World, act, handle, id, state};

/// Archives with an interruption at step 1, 2, ... until there are no more steps.
fn at_every_step(interrupt: impl Fn(&World) + Copy + Send + 'static, check: impl Fn(&World, usize)) {
    for at in 1.. {
        let world = Arc::new(World::with(3));
        let other = Arc::clone(&world);
        let disk = FaultyDisk::interrupted(&world, at, move || interrupt(&other));
        let store = world.faulty(disk);
        let done = store.archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
        assert_eq!(done.left, [], "step {at}: every file is sound");
        if !store.disk().reached() {
            assert!(at > 20);
            break;
        }
        check(&world, at);
    }
}

/// Every number up to the newest can be read.
fn assert_dense(world: &World, at: usize) -> u64 {
    let newest = world.store().head_number(&id("042")).unwrap().unwrap();
    for seq in 1..=newest {
        assert_eq!(world.store().load(&handle(seq)).unwrap().checkpoint.seq, seq, "step {at}");
    }
    newest
}

#[test]
fn a_saver_is_neither_lost_nor_hidden() {
    at_every_step(
        |world| drop(world.save(json!({"racer": 1}))),
        |world, at| {
            let newest = assert_dense(world, at);
            assert_eq!(newest, 5, "step {at}");
            let row = world.store().scan().unwrap().remove(0);
            let racer = if row.archived { 4 } else { 5 };
            let saved = world.store().load(&handle(racer)).unwrap().checkpoint;
            assert_eq!(state(&saved), json!({"n": 3, "racer": 1}), "step {at}");
            // Whichever came first, the next save has both.
            world.save(json!({"later": 1}));
            let later = world.store().load(&handle(6)).unwrap().checkpoint;
            assert_eq!(state(&later), json!({"n": 3, "racer": 1, "later": 1}), "step {at}");
        },
    );
}

#[test]
fn two_archives_make_one_seal() {
    at_every_step(
        |world| {
            world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();
        },
        |world, at| {
            assert_eq!(assert_dense(world, at), 4, "step {at}");
            // Both may have packed before either of them sealed.
            assert!((1..=2).contains(&world.store().bundles(&id("042")).unwrap().len()), "step {at}");
            assert!((1..=3).all(|seq| world.bytes(seq).is_empty()), "step {at}");
        },
    );
}

#[test]
fn restoring_meanwhile_loses_nothing() {
    at_every_step(
        |world| {
            world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
        },
        |world, at| {
            assert_dense(world, at);
            let next = world.save(json!({"more": 1}));
            assert_eq!(state(&next), json!({"n": 3, "more": 1}), "step {at}");
        },
    );
}

#[test]
fn reading_meanwhile_always_finds_everything() {
    at_every_step(
        |world| {
            for seq in 1..=3 {
                let found = world.store().load(&handle(seq)).unwrap().checkpoint;
                assert_eq!(state(&found), json!({"n": seq}));
            }
            let row = world.store().scan().unwrap().remove(0);
            // Archived as completed: from then on that is its outcome.
            let expected = if row.archived { WorkflowStatus::Complete } else { WorkflowStatus::InProgress };
            assert_eq!(row.header.unwrap().status, expected);
        },
        |world, at| assert_eq!(assert_dense(world, at), 4),
    );
}

/// Real threads: savers and archivers, no lock that matters.
#[test]
fn savers_and_archivers_together() {
    let world = World::with(1);
    let root = world.dir.path().to_owned();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let root = root.clone();
            std::thread::spawn(move || {
                let project = root.clone();
                let store = Store::at(&Located { root: root.join(".ckpt"), project }).unwrap();
                for round in 0..6 {
                    act(&store, thread, round);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let newest = assert_dense(&world, 0);
    let last = (1..=newest).rev().map(|seq| world.store().load(&handle(seq)).unwrap().checkpoint);
    let last = last.into_iter().find(|checkpoint| checkpoint.sealed.is_none()).unwrap();
    let state = state(&last);
    for (thread, round) in [1, 2, 3].into_iter().flat_map(|thread| (0..6).map(move |round| (thread, round))) {
        assert_eq!(state[format!("t{thread}r{round}")], 1, "{state}");
    }
}

/// Runs `act` with a whole archive between any two of its steps.
fn archived_at_every_step<T>(
    steps: usize,
    act: impl Fn(&Store<FaultyDisk>, &World) -> T,
    check: impl Fn(&World, T, usize),
) {
    for at in 1.. {
        let world = Arc::new(World::with(3));
        let other = Arc::clone(&world);
        let disk = FaultyDisk::interrupted(&world, at, move || {
            other.store().archive(&id("042"), &ArchiveReason::Completed, &other.stamp(), &mut |_| {}).unwrap();
        });
        let store = world.faulty(disk);
        let done = act(&store, &world);
        if !store.disk().reached() {
            assert!(at > steps, "{at}");
            break;
        }
        check(&world, done, at);
    }
}

#[test]
fn a_saver_that_is_overtaken_by_an_archive_goes_on_above_it() {
    archived_at_every_step(
        10,
        |store, world| world.save_to(store, json!({"racer": 1})).unwrap().handle(),
        |world, saved, at| {
            assert_eq!(assert_dense(world, at), 5, "step {at}");
            let saved = world.store().load(&saved).unwrap().checkpoint;
            assert_eq!(state(&saved), json!({"n": 3, "racer": 1}), "step {at}");
        },
    );
}

#[test]
fn a_reader_that_is_overtaken_by_an_archive_sees_old_or_new() {
    archived_at_every_step(
        3,
        |store, _| store.load(&handle(3)).unwrap(),
        |_, found, at| assert_eq!(state(&found.checkpoint), json!({"n": 3}), "step {at}"),
    );
    archived_at_every_step(
        5,
        |store, _| store.scan_these(&[id("042")], Extent::Live).unwrap().remove(0),
        |_, row, at| assert!(row.header.is_ok(), "step {at}: {row:?}"),
    );
    archived_at_every_step(
        5,
        |store, _| store.scan_checkpoints(&id("042")).unwrap(),
        |_, rows, at| {
            assert!(rows.len() >= 3 && rows.iter().all(|row| row.entry.is_ok()), "step {at}: {rows:?}");
        },
    );
}
