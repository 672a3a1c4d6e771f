//! Expiry deletes a whole run and nothing else, whatever happens at the same time.

use std::collections::BTreeSet;
use std::sync::Arc;

use ckpt_model::change::Change;
use ckpt_model::reason::DeletionReason;
use ckpt_model::retention::{CleanupPlan, Policy, RetentionSettings, plan};
use ckpt_model::{ArchiveReason, Timestamp, WorkflowStatus};
use ckpt_store::Error;
use ckpt_store::{Cleaned, Head, RestoreScope, Store};
use serde_json::json;

use crate::support::store::{FaultyDisk, World, handle, id, state};

fn standing() -> Policy {
    RetentionSettings::default().policy()
}

fn decide(world: &World, now: &str) -> CleanupPlan {
    let now = Timestamp::parse(now).unwrap();
    plan(&world.store().cleanup_facts(&mut |_| {}).unwrap(), &standing(), now).unwrap()
}

/// Less than 30 days after every save of these tests.
const SOON: &str = "2026-01-17T00:00:00Z";
/// More than 30 days after them.
const LATER: &str = "2026-02-16T00:00:00Z";

fn clean(world: &World, now: &str) -> Cleaned {
    let cleaned = world.store().clean_up(&decide(world, now), &world.stamp(), &mut |_| {});
    assert!(cleaned.failures.is_empty(), "{:?}", cleaned.failures);
    cleaned
}

fn archive(world: &World, reason: &ArchiveReason) {
    world.store().archive(&id("042"), reason, &world.stamp(), &mut |_| {}).unwrap();
}

fn end(world: &World, status: WorkflowStatus) {
    world.save_change(&Change { workflow_status: Some(status), ..Change::default() }).unwrap();
}

fn restart(world: &World) -> u64 {
    world.store().restart(&id("042"), &world.stamp()).unwrap().seq
}

fn is_expired(world: &World, seq: u64) -> bool {
    let loaded = world.store().load(&handle(seq));
    matches!(loaded, Err(Error::Archived { deleted: Some(DeletionReason::Expired), .. }))
}

/// The numbers whose content is there.
fn readable(world: &World) -> Vec<u64> {
    let head = world.store().head_number(&id("042")).unwrap().unwrap();
    (1..=head).filter(|seq| world.store().load(&handle(*seq)).is_ok()).collect()
}

/// A workflow with this many finished runs, each a checkpoint and a seal, and an open one: `042/1`, `042/3` and so on.
fn restarted(runs: u64) -> World {
    let world = World::with(1);
    for _ in 0..runs {
        restart(&world);
    }
    assert_eq!(world.store().head_number(&id("042")).unwrap(), Some(2 * runs + 1));
    world
}

#[test]
fn archiving_one_run_over_and_over_loses_nothing() {
    let world = World::new();
    for n in 1..=7 {
        world.save(json!({"n": n}));
        archive(&world, &ArchiveReason::Completed);
    }
    for now in [SOON, LATER] {
        assert!(clean(&world, now).workflows.is_empty());
    }
    assert_eq!(readable(&world), (1..=14).collect::<Vec<_>>());
    for n in 1..=7 {
        assert_eq!(state(&world.store().load(&handle(2 * n - 1)).unwrap().checkpoint), json!({"n": n}));
    }
    assert_eq!(world.findings(), [""; 0]);
}

#[test]
fn the_sixth_previous_run_goes_for_good_and_all_others_stay() {
    let world = restarted(5);
    assert!(decide(&world, LATER).is_empty(), "five previous runs");
    let world = restarted(7);
    let due = decide(&world, SOON);
    let runs: Vec<_> = due.expired_runs().map(|(_, run)| (run.first, run.last)).collect();
    assert_eq!(runs, [(1, 2), (3, 4)]);
    let cleaned = world.store().clean_up(&due, &world.stamp(), &mut |_| {});
    assert_eq!(cleaned.workflows[0].deleted_runs, [1, 3]);
    assert!(is_expired(&world, 1) && is_expired(&world, 3));
    assert_eq!(readable(&world), [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], "the seals go with their runs");
    assert!(decide(&world, SOON).is_empty(), "once is enough");
    assert_eq!(world.findings(), [""; 0]);
    archive(&world, &ArchiveReason::Completed);
    assert!(clean(&world, SOON).workflows.is_empty());
    let lost = world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap().lost;
    assert_eq!(lost, [handle(1), handle(2), handle(3), handle(4)]);
}

#[test]
fn a_run_that_was_archived_in_pieces_goes_in_one() {
    let world = World::new();
    for n in 1..=3 {
        world.save(json!({"n": n}));
        archive(&world, &ArchiveReason::Completed);
    }
    for _ in 0..6 {
        restart(&world);
    }
    clean(&world, SOON);
    assert_eq!((1..=5).filter(|seq| !is_expired(&world, *seq)).collect::<Vec<_>>(), [0; 0]);
    assert!(readable(&world).contains(&7), "the next run");
    assert_eq!(world.findings(), [""; 0]);
}

#[test]
fn a_failed_run_goes_thirty_days_after_its_last_save_live_or_archived() {
    for archived in [false, true] {
        let world = World::with(2);
        end(&world, WorkflowStatus::Failed);
        if archived {
            clean(&world, SOON);
            assert_eq!(readable(&world), [1, 2, 3, 4], "archived, in the only bundle there is");
        }
        let cleaned = clean(&world, LATER);
        assert_eq!(cleaned.workflows[0].deleted_runs, [1], "{archived}");
        assert!((1..=3).all(|seq| is_expired(&world, seq)), "{archived}");
        assert!(world.store().bundles(&id("042")).unwrap().is_empty());
        assert!(decide(&world, LATER).is_empty(), "{archived}: once is enough");
        assert_eq!(world.findings(), [""; 0], "{archived}");
        let Some(Head::Seal(seal)) = world.store().head(&id("042")).unwrap() else { panic!("no seal") };
        assert_eq!(seal.sealed.unwrap().deleted, Some(DeletionReason::Expired));
        // The number stays taken, and the next save begins without the content.
        let next = world.save(json!({"fresh": 1}));
        assert_eq!((next.seq, state(&next)), (if archived { 6 } else { 5 }, json!({"fresh": 1})));
        assert_eq!(world.findings(), [""; 0], "{archived}");
    }
}

#[test]
fn work_that_archiving_ended_counts_from_then() {
    let world = World::with(1);
    let mut stamp = world.stamp();
    stamp.now = Timestamp::parse("2026-02-10T00:00:00Z").unwrap();
    world.store().archive(&id("042"), &ArchiveReason::Abandoned, &stamp, &mut |_| {}).unwrap();
    assert!(decide(&world, LATER).is_empty());
    assert!(!decide(&world, "2026-03-20T00:00:00Z").is_empty());
    // Work that had failed before counts from its last save.
    let world = World::with(1);
    end(&world, WorkflowStatus::Failed);
    world.store().archive(&id("042"), &ArchiveReason::Failed, &stamp, &mut |_| {}).unwrap();
    assert!(!decide(&world, LATER).is_empty());
}

#[test]
fn a_run_that_failed_and_was_started_over_goes_after_thirty_days() {
    let world = World::with(1);
    end(&world, WorkflowStatus::Failed);
    let fresh = restart(&world);
    assert!(decide(&world, SOON).is_empty());
    let due = decide(&world, LATER);
    assert_eq!(
        due.expired_runs().map(|(_, run)| (run.first, run.outcome)).collect::<Vec<_>>(),
        [(1, WorkflowStatus::Failed)]
    );
    clean(&world, LATER);
    assert!(is_expired(&world, 1) && is_expired(&world, 2));
    assert!(world.store().load(&handle(fresh)).is_ok());
    assert_eq!(world.findings(), [""; 0]);
}

/// With an expired run of two bundles below one that stays; and with a failed one, archived.
fn due() -> [World; 2] {
    let previous = restarted(6);
    let failed = World::with(2);
    archive(&failed, &ArchiveReason::Completed);
    end(&failed, WorkflowStatus::Failed);
    clean(&failed, SOON);
    [previous, failed]
}

#[test]
fn a_failure_or_death_at_any_step_loses_nothing_else_and_doing_it_again_completes_it() {
    for model in due() {
        let kept: Vec<(u64, Vec<u8>)> = {
            let after = model.copy();
            clean(&after, LATER);
            let loaded = |seq| (seq, after.store().load(&handle(seq)).unwrap().bytes);
            let head = model.store().head_number(&id("042")).unwrap().unwrap();
            readable(&after).into_iter().filter(|seq| *seq <= head).map(loaded).collect()
        };
        let delete = |store: &Store<FaultyDisk>, world: &World| {
            let due = decide(world, LATER);
            Ok::<_, std::convert::Infallible>(store.clean_up(&due, &world.stamp(), &mut |_| {}))
        };
        let steps = model.with_every_fault(delete, |world, _, why| {
            for seq in 1..=model.store().head_number(&id("042")).unwrap().unwrap() {
                let loaded = world.store().load(&handle(seq));
                match kept.iter().find(|(kept, _)| *kept == seq) {
                    Some((_, bytes)) => assert_eq!(loaded.unwrap().bytes, *bytes, "{why}: {seq}"),
                    None => assert!(loaded.is_ok() || is_expired(world, seq), "{why}: {seq}"),
                }
            }
            assert_eq!(world.findings(), [""; 0], "{why}");
            clean(world, LATER);
            assert!(is_expired(world, 1), "{why}");
            assert!(decide(world, LATER).is_empty(), "{why}");
            assert_eq!(world.findings(), [""; 0], "{why}");
        });
        assert!(steps > 20, "{steps}");
    }
}

/// Deletes with an interruption at step 1, 2, ... until there are no more steps.
fn interrupted_at_every_step(other: impl Fn(&World) + Copy + Send + 'static, check: impl Fn(&World, &str)) {
    for model in due() {
        let mut checked = BTreeSet::new();
        for at in 1.. {
            let world = Arc::new(model.copy());
            let shared = Arc::clone(&world);
            let due = decide(&world, LATER);
            let store = world.faulty(FaultyDisk::interrupted(&world, at, move || other(&shared)));
            let cleaned = store.clean_up(&due, &world.stamp(), &mut |_| {});
            let why = format!("step {at}");
            assert!(cleaned.failures.is_empty(), "{why}: {:?}", cleaned.failures);
            if !store.disk().reached() {
                assert!(at > 20, "{at}");
                break;
            }
            if checked.insert(world.state()) {
                assert_eq!(world.findings(), [""; 0], "{why}");
                check(&world, &why);
            }
        }
    }
}

#[test]
fn a_save_at_any_moment_keeps_its_run_or_comes_after_the_deletion() {
    interrupted_at_every_step(
        |world| drop(world.save(json!({"more": 1}))),
        |world, why| {
            let head = world.store().head_number(&id("042")).unwrap().unwrap();
            let saved = (1..=head)
                .rev()
                .filter_map(|seq| world.store().load(&handle(seq)).ok())
                .find(|stored| stored.checkpoint.sealed.is_none())
                .unwrap()
                .checkpoint;
            assert_eq!(state(&saved)["more"], json!(1), "{why}");
            let below = world.store().load(&handle(saved.seq - 1)).unwrap().checkpoint;
            let after_deletion = below.sealed.is_some_and(|sealed| sealed.deleted.is_some());
            // What it continues is there to its beginning, unless the seal below it says that it is not.
            if !after_deletion {
                for seq in saved.first_of_run()..saved.seq {
                    assert!(world.store().load(&handle(seq)).is_ok(), "{why}: {seq}");
                }
            }
        },
    );
}

#[test]
fn another_cleanup_a_restore_or_an_archive_at_any_moment_does_no_harm() {
    interrupted_at_every_step(
        |world| drop(clean(world, LATER)),
        |world, why| {
            assert!(is_expired(world, 1), "{why}");
            assert!(decide(world, LATER).is_empty(), "{why}");
        },
    );
    interrupted_at_every_step(
        |world| {
            drop(world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap());
        },
        |_, _| {},
    );
    interrupted_at_every_step(|world| archive(world, &ArchiveReason::Completed), |_, _| {});
}

/// Restores with a cleanup between any two steps: what it archives is not lost.
#[test]
fn a_restore_that_is_overtaken_by_a_cleanup_finds_everything() {
    let model = World::with(3);
    for at in 1.. {
        let world = Arc::new(model.copy());
        archive(&world, &ArchiveReason::Completed);
        world.store().restore(&id("042"), &RestoreScope::checkpoint(2), &world.stamp(), &mut |_| {}).unwrap();
        let shared = Arc::clone(&world);
        let due = decide(&world, SOON);
        assert_eq!(due.leaving().count(), 1);
        let interrupt = move || drop(shared.store().clean_up(&due, &shared.stamp(), &mut |_| {}));
        let store = world.faulty(FaultyDisk::interrupted(&world, at, interrupt));
        let restored = store.restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
        assert_eq!((restored.lost, restored.damaged.len()), (vec![], 0), "step {at}");
        if !store.disk().reached() {
            assert!(at > 20, "{at}");
            break;
        }
    }
}

/// The same, where the cleanup writes the first bundle there is.
#[test]
fn a_restore_that_is_overtaken_by_the_first_cleanup_finds_everything() {
    let model = World::with(3);
    for at in 1.. {
        let world = Arc::new(model.copy());
        let shared = Arc::clone(&world);
        let interrupt = move || archive(&shared, &ArchiveReason::Completed);
        let store = world.faulty(FaultyDisk::interrupted(&world, at, interrupt));
        let restored = store.restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
        assert_eq!((restored.lost, restored.damaged.len()), (vec![], 0), "step {at}");
        if !store.disk().reached() {
            assert!(at > 10, "{at}");
            break;
        }
    }
}
