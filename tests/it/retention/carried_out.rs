//! A plan that is carried out on a store.

use std::time::{Duration, SystemTime};

use ckpt_model::change::{Change, Edit};
use ckpt_model::retention::{CleanupPlan, Policy, RetentionSettings, Rules, plan};
use ckpt_model::span::Span;
use ckpt_model::{ArchiveReason, Timestamp, Trigger, WorkflowStatus};
use ckpt_store::{Cleaned, Disk, RestoreScope};
use ckpt_store::{Error, Store};
use serde_json::json;

use crate::support::store::{World, handle, id, state};

/// With `042/1` to `042/n`, each after a batch; three of them may stay.
pub(crate) fn batches(n: u64) -> World {
    let world = World::new();
    (1..=n).for_each(|n| batch(&world, n));
    world
}

pub(crate) fn batch(world: &World, n: u64) {
    let change = Change {
        trigger: Some(Trigger::BatchComplete),
        state: vec![Edit::Merge(json!({"n": n}))],
        ..Change::default()
    };
    world.save_change(&change).unwrap();
}

pub(crate) fn end(world: &World, status: WorkflowStatus) {
    let change = Change { workflow_status: Some(status), ..Change::default() };
    world.save_change(&change).unwrap();
}

pub(crate) fn later() -> Timestamp {
    Timestamp::parse("2026-01-16T22:00:00Z").unwrap()
}

pub(crate) fn decide<D: Disk<Dir: Sync> + Sync>(store: &Store<D>, policy: &Policy) -> ckpt_store::Result<CleanupPlan> {
    Ok(plan(&store.cleanup_facts(&mut |_| {})?, policy, later()).unwrap())
}

pub(crate) fn standing() -> Policy {
    RetentionSettings::default().policy()
}

fn clean(world: &World, policy: &Policy) -> Cleaned {
    let plan = decide(&world.store(), policy).unwrap();
    let cleaned = world.store().clean_up(&plan, &world.stamp(), &mut |_| {});
    assert!(cleaned.failures.is_empty(), "{:?}", cleaned.failures);
    assert!(decide(&world.store(), policy).unwrap().is_empty(), "once is enough");
    cleaned
}

/// The numbers that have content in the live store.
pub(crate) fn live(world: &World) -> Vec<u64> {
    let numbers = world.store().numbers(&id("042")).unwrap();
    numbers.into_iter().filter(|seq| !world.bytes(*seq).is_empty()).collect()
}

#[test]
fn single_checkpoints_leave_a_tombstone_and_stay_readable() {
    let world = batches(6);
    let before: Vec<Vec<u8>> = (1..=6).map(|seq| world.bytes(seq)).collect();
    let cleaned = clean(&world, &standing());
    assert_eq!(cleaned.workflows[0].removed, [handle(1), handle(2), handle(3)]);
    assert_eq!(live(&world), [4, 5, 6]);
    let bundles = world.store().bundles(&id("042")).unwrap();
    assert_eq!((bundles.len(), &bundles[0].reason), (1, &ArchiveReason::Cleanup));
    for seq in 1..=6 {
        let found = world.store().load(&handle(seq)).unwrap();
        assert_eq!(found.bytes, before[usize::try_from(seq).unwrap() - 1]);
    }
    world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(live(&world), [1, 2, 3, 4, 5, 6]);
    assert_eq!((1..=6).map(|seq| world.bytes(seq)).collect::<Vec<_>>(), before);
}

#[test]
fn a_failed_workflow_is_archived_and_goes_on_with_its_state() {
    let world = batches(2);
    end(&world, WorkflowStatus::Failed);
    let cleaned = clean(&world, &standing());
    assert_eq!(cleaned.workflows[0].whole, Some(ArchiveReason::Failed));
    assert_eq!(live(&world), [4], "only the seal");
    let next = world.save(json!({"more": 1}));
    assert_eq!((next.seq, state(&next)), (5, json!({"n": 2, "more": 1})));
}

#[test]
fn a_finished_workflow_that_somebody_saved_to_meanwhile_stays() {
    let world = batches(2);
    end(&world, WorkflowStatus::Failed);
    let plan = decide(&world.store(), &standing()).unwrap();
    world.save(json!({"more": 1}));
    let cleaned = world.store().clean_up(&plan, &world.stamp(), &mut |_| {});
    assert_eq!((cleaned.overtaken.len(), cleaned.failures.len()), (1, 0));
    assert_eq!(live(&world), [1, 2, 3, 4]);
}

#[test]
fn a_purged_workflow_is_gone_but_its_numbers_are_not() {
    let purge = Policy { purge: true, ..standing() };
    let world = batches(5);
    let cleaned = clean(&world, &purge);
    assert_eq!(cleaned.workflows[0].removed.len(), 2);
    assert_eq!(live(&world), [3, 4, 5]);
    assert!(world.store().bundles(&id("042")).unwrap().is_empty());
    assert!(matches!(world.store().load(&handle(1)), Err(Error::Archived { .. })));

    end(&world, WorkflowStatus::Abandoned);
    clean(&world, &purge);
    assert_eq!(live(&world), [7], "only the seal");
    let next = world.save(json!({"fresh": 1}));
    assert_eq!((next.seq, state(&next)), (8, json!({"fresh": 1})));
}

#[test]
fn a_daily_cleanup_that_has_no_time_left_is_continued_by_the_next_saves() {
    let world = batches(70);
    let policy = RetentionSettings::default().policy_daily();
    let call = || {
        world.store().clean_up_daily(&policy, &world.stamp(), &mut || false).unwrap();
        live(&world).len()
    };
    assert_eq!([call(), call(), call(), call(), call()], [38, 6, 3, 3, 3]);
    // That was all for today.
    (71..=72).for_each(|n| batch(&world, n));
    assert_eq!(call(), 5);
}

#[test]
fn stale_files_and_old_runs_go() {
    let world = batches(3);
    let leftover = world.file(1).with_file_name(".tmp-abc-0");
    let fresh = world.file(1).with_file_name(".tmp-def-0");
    for (path, age) in [(&leftover, 25 * 3600), (&fresh, 3600)] {
        let file = std::fs::File::create(path).unwrap();
        let later: SystemTime = later().to_chrono().into();
        file.set_modified(later - Duration::from_secs(age)).unwrap();
    }
    // Each a checkpoint or three, and a seal.
    for _ in 1..=7 {
        world.store().restart(&id("042"), &world.stamp()).unwrap();
    }
    let cleaned = clean(&world, &standing());
    assert_eq!(cleaned.stale_files, [leftover.as_path()]);
    assert!(!leftover.exists() && fresh.exists());
    let left: Vec<u64> = world.store().bundles(&id("042")).unwrap().iter().map(|name| name.run).collect();
    assert!(left.iter().all(|run| *run >= 7), "{left:?}");
    assert!(world.store().load(&handle(7)).is_ok());
    assert!(matches!(world.store().load(&handle(5)), Err(Error::Archived { .. })));
    assert_eq!(world.save(json!({})).handle(), handle(18));
}

#[test]
fn a_restored_checkpoint_leaves_again_because_its_bundle_is_there() {
    let world = batches(2);
    end(&world, WorkflowStatus::Failed);
    clean(&world, &standing());
    world.store().restore(&id("042"), &RestoreScope::checkpoint(1), &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(live(&world), [1, 4]);
    let cleaned = clean(&world, &standing());
    assert_eq!(cleaned.workflows[0].removed, [handle(1)]);
    assert_eq!(world.store().bundles(&id("042")).unwrap().len(), 1);
    assert_eq!(state(&world.store().load(&handle(1)).unwrap().checkpoint), json!({"n": 1}));
}

#[test]
fn damage_stays_where_it_is() {
    let world = batches(6);
    world.damage(2, b"x");
    let cleaned = clean(&world, &standing());
    assert_eq!(cleaned.workflows[0].removed, [handle(1), handle(3)]);
    assert_eq!(live(&world), [2, 4, 5, 6]);
    world.damage(6, b"x");
    let everything = Policy { rules: Rules::MaxAge(Span::from_days(0)), ..standing() };
    assert!(clean(&world, &everything).workflows.is_empty(), "the newest cannot be read: all of it may be needed");
}

#[test]
fn a_workflow_that_is_only_in_the_archive_keeps_what_it_goes_on_from() {
    let world = batches(2);
    end(&world, WorkflowStatus::Failed);
    clean(&world, &standing());
    std::fs::remove_dir_all(world.store().workflow_dir(&id("042"))).unwrap();
    let years_later = Timestamp::parse("2029-01-01T00:00:00Z").unwrap();
    let plan = plan(&world.store().cleanup_facts(&mut |_| {}).unwrap(), &standing(), years_later).unwrap();
    assert_eq!((plan.workflows.len(), plan.is_empty()), (1, true));
    let next = world.save(json!({"more": 1}));
    assert_eq!((next.seq, state(&next)), (4, json!({"n": 2, "more": 1})));
}
