//! Every step of a cleanup fails once, or is the last one before the process dies.
//!
//! Whatever happens, nothing that was saved is lost, nothing leaves before its bundle is whole, and the next cleanup
//! completes it.

use std::sync::Arc;

use ckpt_model::change::{Change, Edit};
use ckpt_model::retention::CleanupEffect;
use ckpt_model::{Handle, WorkflowStatus};
use ckpt_store::Store;
use serde_json::json;

use crate::retention::carried_out::{batch, batches, decide, end, later, live, standing};
use crate::support::store::{FaultyDisk, World, handle, id, state};

/// Everything that was saved can be read, and the numbers have no gap.
fn assert_whole(world: &World, saved: u64, what: &str) {
    let store = world.store();
    let newest = store.head_number(&id("042")).unwrap().unwrap();
    let numbers: Vec<u64> = store.numbers(&id("042")).unwrap().into_iter().collect();
    assert_eq!(numbers, (1..=newest).collect::<Vec<_>>(), "{what}");
    for seq in 1..=saved {
        let found = store.load(&handle(seq)).unwrap_or_else(|error| panic!("{what}: {seq}: {error}"));
        assert_eq!(state(&found.checkpoint)["n"], seq, "{what}");
    }
}

/// A cleanup with every fault, and then once more without.
fn with_every_fault(model: &World, saved: u64, left: &[u64], least_steps: usize) {
    let clean = |store: &Store<FaultyDisk>, world: &World| {
        decide(store, &standing()).map(|plan| store.clean_up(&plan, &world.stamp(), &mut |_| {}))
    };
    let steps = model.with_every_fault(clean, |world, cleaned, why| {
        let removed: Vec<Handle> =
            cleaned.into_iter().flat_map(|cleaned| cleaned.workflows).flat_map(|done| done.removed).collect();
        let there = live(world);
        assert!(removed.iter().all(|handle| !there.contains(&handle.seq)), "{why}: reported as removed, and is there");
        assert_whole(world, saved, why);
        let again = decide(&world.store(), &standing()).unwrap();
        let cleaned = world.store().clean_up(&again, &world.stamp(), &mut |_| {});
        assert!(cleaned.failures.is_empty(), "{why}: {:?}", cleaned.failures);
        assert_eq!(live(world), left, "{why}");
        assert_whole(world, saved, why);
    });
    assert!(steps > least_steps, "{steps}");
}

#[test]
fn single_checkpoints() {
    with_every_fault(&batches(6), 6, &[4, 5, 6], 60);
}

#[test]
fn a_whole_workflow() {
    let failed = || {
        let world = batches(2);
        end(&world, WorkflowStatus::Failed);
        world
    };
    with_every_fault(&failed(), 2, &[4], 60);
}

/// Runs a cleanup with `other` between any two of its steps.
fn interrupted(make: impl Fn() -> World, other: impl Fn(&World) + Copy + Send + 'static, check: impl Fn(&World, &str)) {
    for at in 1.. {
        let world = Arc::new(make());
        let shared = Arc::clone(&world);
        let disk = FaultyDisk::interrupted(&world, at, move || other(&shared));
        let store = world.faulty(disk);
        let plan = decide(&store, &standing()).unwrap();
        let cleaned = store.clean_up(&plan, &world.stamp(), &mut |_| {});
        assert!(cleaned.failures.is_empty(), "step {at}: {:?}", cleaned.failures);
        if !store.disk().reached() {
            break;
        }
        check(&world, &format!("step {at}"));
    }
}

#[test]
fn a_save_meanwhile_is_neither_lost_nor_hidden() {
    let check = |world: &World, what: &str| {
        assert_whole(world, 7, what);
        assert!(live(world).contains(&7), "{what}");
        assert_eq!(world.save(json!({"n": 8})).handle(), handle(8), "{what}");
    };
    interrupted(|| batches(6), |world| batch(world, 7), check);
}

#[test]
fn a_save_to_a_workflow_that_is_leaving_goes_on() {
    let failed = || {
        let world = batches(2);
        end(&world, WorkflowStatus::Failed);
        world
    };
    interrupted(
        failed,
        |world| {
            let open = Some(WorkflowStatus::InProgress);
            let state = vec![Edit::Merge(json!({"racer": 1}))];
            world.save_change(&Change { workflow_status: open, state, ..Change::default() }).unwrap();
        },
        |world, what| {
            assert_whole(world, 2, what);
            let newest = world.store().head_number(&id("042")).unwrap().unwrap();
            let newest = world.store().load(&handle(newest)).unwrap().checkpoint;
            assert!(newest.sealed.is_none(), "{what}: what was saved is not sealed unseen");
            assert_eq!(state(&newest), json!({"n": 2, "racer": 1}), "{what}");
        },
    );
}

#[test]
fn archiving_and_cleaning_meanwhile_lose_nothing() {
    interrupted(
        || batches(6),
        |world| {
            world
                .store()
                .archive(&id("042"), &ckpt_model::ArchiveReason::Completed, &world.stamp(), &mut |_| {})
                .unwrap();
        },
        |world, what| assert_whole(world, 6, what),
    );
    interrupted(
        || batches(6),
        |world| {
            let plan = decide(&world.store(), &standing()).unwrap();
            assert!(world.store().clean_up(&plan, &world.stamp(), &mut |_| {}).failures.is_empty());
        },
        |world, what| {
            assert_whole(world, 6, what);
            assert_eq!(live(world), [4, 5, 6], "{what}");
        },
    );
}

/// A saver that has read the newest and not yet published while a whole cleanup runs.
#[test]
fn a_stalled_saver_is_neither_lost_nor_hidden() {
    for at in 1.. {
        let world = Arc::new(batches(6));
        let other = Arc::clone(&world);
        let disk = FaultyDisk::interrupted(&world, at, move || {
            let plan = decide(&other.store(), &standing()).unwrap();
            assert_eq!(plan.workflows[0].effect, CleanupEffect::Checkpoints, "{}", later());
            assert!(other.store().clean_up(&plan, &other.stamp(), &mut |_| {}).failures.is_empty());
        });
        let store = world.faulty(disk);
        let saved = world.save_to(&store, json!({"n": 7})).unwrap().handle();
        if !store.disk().reached() {
            break;
        }
        assert_eq!(saved, handle(7), "step {at}");
        assert_whole(&world, 7, &format!("step {at}"));
    }
}
