//! The directory of an archived workflow goes a day after it was sealed, whoever does what meanwhile.

use std::rc::Rc;

use ckpt::core::change::Change;
use ckpt::core::retention::{Policy, RetentionSettings, plan};
use ckpt::core::store::Store;
use ckpt::core::{ArchiveReason, Error, Timestamp};
use serde_json::json;

use crate::support::store::{Fault, FaultyDisk, World, handle, id, state};

/// `042` with three checkpoints, archived, and the files of those and of the seal.
fn archived() -> (World, Vec<Vec<u8>>) {
    let world = World::with(3);
    let mut files: Vec<_> = (1..=3).map(|seq| world.bytes(seq)).collect();
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp()).unwrap();
    files.push(world.bytes(4));
    (world, files)
}

/// What was archived can be read, under its number, as it was.
fn assert_kept(world: &World, files: &[Vec<u8>], why: &str) {
    assert!(world.store().newest_number(&id("042")).unwrap() >= Some(4), "{why}");
    for (seq, file) in (1..).zip(files) {
        let found = world.store().load(&handle(seq)).unwrap_or_else(|error| panic!("{why}: {seq}: {error}"));
        assert_eq!(found.bytes, *file, "{why}");
    }
}

/// The next save continues the seal, or what stands above it.
fn assert_goes_on(world: &World, next: u64, why: &str) {
    let saved = world.save(json!({"more": 1})).checkpoint.unwrap();
    assert_eq!(
        (saved.seq, &state(&saved)["n"], &state(&saved)["more"]),
        (next, &json!(3), &json!(1)),
        "{why}"
    );
    assert_eq!(world.findings(), [""; 0], "{why}");
}

#[test]
fn a_day_is_not_enough_and_a_second_more_is() {
    let (world, files) = archived();
    let sealed_at = world.store().load(&handle(4)).unwrap().checkpoint.saved_at;
    let policy = RetentionSettings::default().policy();
    let after = |seconds| {
        let now = Timestamp::new(sealed_at.to_chrono() + chrono::TimeDelta::seconds(seconds));
        plan(&world.store().survey().unwrap(), &policy, now).unwrap()
    };
    assert!(after(24 * 3600).is_empty());
    let due = after(24 * 3600 + 1);
    assert!(due.workflows[0].compact && !due.is_empty());
    let tree = world.tree();
    assert_eq!(world.store().survey().unwrap().workflows.len(), 1);
    assert_eq!(world.tree(), tree, "deciding changes nothing");
    assert!(world.store().clean(&due, &world.stamp()).workflows[0].compacted);
    assert!(!world.has_directory());
    assert_kept(&world, &files, "");
    assert!(world.plan_days_later(&world.store()).unwrap().is_empty(), "once is enough");
    assert_goes_on(&world, 5, "");
}

#[test]
fn what_somebody_may_need_keeps_the_directory() {
    let stays = |prepare: &dyn Fn(&World), why: &str| {
        let (world, _) = archived();
        prepare(&world);
        let before = world.tree();
        assert!(world.clean_days_later().workflows.is_empty(), "{why}");
        assert_eq!(world.tree(), before, "{why}");
    };
    let path = |world: &World, name: &str| world.file(1).with_file_name(name);
    stays(&|world| std::fs::write(path(world, "README"), "mine").unwrap(), "a file of a person");
    stays(&|world| std::fs::write(path(world, ".tmp-abc-0"), "").unwrap(), "somebody is saving");
    stays(&|world| drop(world.save(json!({}))), "it goes on");
}

#[test]
fn a_checkpoint_that_came_back_leaves_again_and_the_directory_with_it() {
    let (world, files) = archived();
    world.store().restore(&id("042"), Some(2), &world.stamp()).unwrap();
    let cleaned = world.clean_days_later();
    assert_eq!((&cleaned.workflows[0].removed[..], cleaned.workflows[0].compacted), (&[handle(2)][..], true));
    assert!(!world.has_directory() && world.plan_days_later(&world.store()).unwrap().is_empty());
    assert_kept(&world, &files, "");
    // One that somebody pinned stays, and so does the directory.
    let world = World::with(2);
    world.save_change(&Change { pin: true, ..Change::default() }).unwrap();
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp()).unwrap();
    world.store().restore(&id("042"), Some(3), &world.stamp()).unwrap();
    assert!(world.clean_days_later().workflows.is_empty() && world.has_directory());
}

#[test]
fn a_purged_workflow_leaves_its_seal_in_the_archive_and_nothing_else() {
    let world = World::with(2);
    let failed = Change {
        workflow_status: Some(ckpt::core::WorkflowStatus::Failed),
        title: Some("the title".to_owned()),
        ..Change::default()
    };
    world.save_change(&failed).unwrap();
    let purge = Policy { purge: true, ..RetentionSettings::default().policy() };
    let now = Timestamp::parse("2026-01-16T22:00:00Z").unwrap();
    let due = plan(&world.store().survey().unwrap(), &purge, now).unwrap();
    world.store().clean(&due, &world.stamp());
    let seal = world.bytes(4);
    for fault in [Fault::None, Fault::Fail, Fault::DieBefore, Fault::DieAfter] {
        for at in (1..).step_by(3) {
            let world = world.copy();
            let why = format!("{fault:?} at {at}");
            let store = world.faulty(FaultyDisk::new(&world, fault, at));
            store.clean(&world.plan_days_later(&world.store()).unwrap(), &world.stamp());
            world.clean_days_later();
            assert!(
                !world.has_directory() && world.plan_days_later(&world.store()).unwrap().is_empty(),
                "{why}"
            );
            assert_eq!(world.store().load(&handle(4)).unwrap().bytes, seal, "{why}");
            assert!(matches!(world.store().load(&handle(2)), Err(Error::Archived { .. })), "{why}");
            assert_eq!(world.findings(), [""; 0], "{why}");
            let next = world.save(json!({"fresh": 1})).checkpoint.unwrap();
            assert_eq!((next.seq, state(&next)), (5, json!({"fresh": 1})), "{why}");
            assert_eq!(next.content.title.as_deref(), Some("the title"), "{why}");
            assert_eq!(world.findings(), [""; 0], "{why}");
            if !store.disk().reached() || fault == Fault::None {
                break;
            }
        }
    }
}

#[test]
fn nothing_goes_without_a_bundle_that_holds_the_seal() {
    let (world, _) = archived();
    let bundle = world.bundle();
    let mut bytes = std::fs::read(&bundle).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::remove_file(&bundle).unwrap();
    std::fs::write(&bundle, bytes).unwrap();
    let before = world.tree();
    let due = world.plan_days_later(&world.store()).unwrap();
    let cleaned = world.store().clean(&due, &world.stamp());
    assert_eq!((cleaned.failures.len(), cleaned.workflows.len()), (1, 0));
    assert_eq!(world.tree(), before);
}

#[test]
fn a_failure_or_death_at_any_step_loses_nothing_and_doing_it_again_completes_it() {
    let (before, files) = archived();
    for fault in [Fault::Fail, Fault::DieBefore, Fault::DieAfter] {
        for at in 1.. {
            let world = before.copy();
            let due = world.plan_days_later(&world.store()).unwrap();
            let store = world.faulty(FaultyDisk::new(&world, fault, at));
            let cleaned = store.clean(&due, &world.stamp());
            let why = format!("{fault:?} at {at}");
            assert_kept(&world, &files, &why);
            assert_eq!(world.findings(), [""; 0], "{why}");
            if at % 2 == 0 {
                // A save meanwhile: it goes on above the seal, and there is nothing to compact any more.
                assert_goes_on(&world, 5, &why);
                assert!(world.has_directory());
                world.clean_days_later();
                assert_eq!(world.findings(), [""; 0], "{why}");
            } else {
                world.clean_days_later();
                assert!(!world.has_directory(), "{why}");
                assert!(world.plan_days_later(&world.store()).unwrap().is_empty(), "{why}");
                assert_goes_on(&world, 5, &why);
            }
            assert_kept(&world, &files, &why);
            if !store.disk().reached() {
                assert!(cleaned.failures.is_empty() && at > 30, "{why}");
                break;
            }
        }
    }
}

/// Compacts with an interruption at step 1, 2, ... until there are no more steps.
fn interrupted_at_every_step(
    other: impl Fn(&World) + Copy + 'static,
    check: impl Fn(&World, &[Vec<u8>], &str),
) {
    let (before, files) = archived();
    for at in 1.. {
        let world = Rc::new(before.copy());
        let shared = Rc::clone(&world);
        let store = world.faulty(FaultyDisk::interrupted(&world, at, move || other(&shared)));
        let due = world.plan_days_later(&world.store()).unwrap();
        let cleaned = store.clean(&due, &world.stamp());
        let why = format!("step {at}");
        assert!(cleaned.failures.is_empty(), "{why}: {:?}", cleaned.failures);
        if !store.disk().reached() {
            assert!(at > 30, "{at}");
            break;
        }
        check(&world, &files, &why);
        assert_kept(&world, &files, &why);
        assert_eq!(world.findings(), [""; 0], "{why}");
    }
}

#[test]
fn a_save_at_any_moment_goes_on_above_the_seal() {
    interrupted_at_every_step(
        |world| drop(world.save(json!({"racer": 1}))),
        |world, _, why| {
            let racer = world.store().load(&handle(5)).unwrap().checkpoint;
            assert_eq!(state(&racer), json!({"n": 3, "racer": 1}), "{why}");
            assert!(!world.store().scan().unwrap()[0].archived, "{why}");
            assert_goes_on(world, 6, why);
        },
    );
}

#[test]
fn restoring_at_any_moment_brings_everything_back() {
    interrupted_at_every_step(
        |world| {
            world.store().restore(&id("042"), None, &world.stamp()).unwrap();
        },
        |world, files, why| {
            assert_eq!(world.store().newest_number(&id("042")).unwrap(), Some(5), "{why}");
            for (seq, file) in (1..=3).zip(files) {
                assert_eq!(world.bytes(seq), *file, "{why}: what was restored stays");
            }
            assert_goes_on(world, 6, why);
        },
    );
}

#[test]
fn restoring_one_checkpoint_at_any_moment_makes_it_never_the_newest() {
    interrupted_at_every_step(
        |world| {
            world.store().restore(&id("042"), Some(1), &world.stamp()).unwrap();
        },
        |world, files, why| {
            assert_eq!(world.bytes(1), files[0], "{why}");
            assert_eq!(world.store().newest_number(&id("042")).unwrap(), Some(4), "{why}");
            world.clean_days_later();
            assert!(!world.has_directory(), "{why}");
            assert_goes_on(world, 5, why);
        },
    );
}

#[test]
fn reading_at_any_moment_finds_everything() {
    interrupted_at_every_step(
        |world| {
            let store = world.store();
            for seq in 1..=4 {
                assert_eq!(store.load(&handle(seq)).unwrap().checkpoint.seq, seq);
            }
            assert_eq!(store.resolve(&"42".parse().unwrap()).unwrap(), handle(4));
            let rows = store.scan_all().unwrap();
            assert_eq!((rows.len(), &rows[0].newest, rows[0].archived), (1, &handle(4), true));
            let rows = store.scan_checkpoints(&id("042")).unwrap();
            assert!(rows.len() == 4 && rows.iter().all(|row| row.entry.is_ok()), "{rows:?}");
            assert_eq!(world.findings(), [""; 0]);
        },
        |world, _, why| assert!(!world.has_directory(), "{why}"),
    );
}

#[test]
fn archiving_and_compacting_at_any_moment_change_nothing() {
    interrupted_at_every_step(
        |world| {
            world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp()).unwrap();
        },
        |world, _, why| assert!(!world.has_directory(), "{why}"),
    );
    interrupted_at_every_step(
        |world| drop(world.clean_days_later()),
        |world, _, why| assert!(!world.has_directory(), "{why}"),
    );
}

/// Runs `act` with a whole compaction between any two of its steps.
fn compacted_at_every_step<T>(
    steps: usize,
    act: impl Fn(&Store<FaultyDisk>, &World) -> T,
    check: impl Fn(&World, T, &str),
) {
    let (before, files) = archived();
    for at in 1.. {
        let world = Rc::new(before.copy());
        let shared = Rc::clone(&world);
        let store =
            world.faulty(FaultyDisk::interrupted(&world, at, move || drop(shared.clean_days_later())));
        let done = act(&store, &world);
        if !store.disk().reached() {
            assert!(at > steps, "{at}");
            break;
        }
        let why = format!("step {at}");
        check(&world, done, &why);
        assert_kept(&world, &files, &why);
        assert_eq!(world.findings(), [""; 0], "{why}");
    }
}

#[test]
fn a_saver_whose_directory_goes_begins_again() {
    compacted_at_every_step(
        15,
        |store, world| world.save_to(store, json!({"racer": 1})).unwrap().handle.unwrap(),
        |world, saved, why| {
            assert_eq!(saved, handle(5), "{why}");
            let saved = world.store().load(&saved).unwrap().checkpoint;
            assert_eq!(state(&saved), json!({"n": 3, "racer": 1}), "{why}");
        },
    );
}

#[test]
fn whoever_restores_while_the_directory_goes_makes_it_again() {
    compacted_at_every_step(
        30,
        |store, world| store.restore(&id("042"), None, &world.stamp()).unwrap(),
        |world, _, why| {
            assert_eq!(world.store().newest_number(&id("042")).unwrap(), Some(5), "{why}");
            assert_goes_on(world, 6, why);
        },
    );
    compacted_at_every_step(
        15,
        |store, world| store.restore(&id("042"), Some(2), &world.stamp()).unwrap(),
        |world, _, why| assert_eq!(world.store().newest_number(&id("042")).unwrap(), Some(4), "{why}"),
    );
}

#[test]
fn a_reader_whose_directory_goes_sees_the_same() {
    compacted_at_every_step(
        3,
        |store, _| store.load(&handle(2)).unwrap(),
        |_, found, why| assert_eq!(state(&found.checkpoint), json!({"n": 2}), "{why}"),
    );
    compacted_at_every_step(
        3,
        |store, _| store.load(&handle(4)).unwrap(),
        |_, found, why| assert!(found.checkpoint.sealed.is_some(), "{why}"),
    );
    compacted_at_every_step(
        5,
        |store, _| store.scan_checkpoints(&id("042")).unwrap(),
        |_, rows, why| {
            assert!(rows.len() == 4 && rows.iter().all(|row| row.entry.is_ok()), "{why}: {rows:?}");
        },
    );
    compacted_at_every_step(
        20,
        |store, _| store.verify(&[], &mut |_| {}).unwrap(),
        |_, found, why| assert!(found.is_ok(), "{why}: {:?}", found.findings),
    );
    compacted_at_every_step(
        20,
        |store, _| store.survey().unwrap(),
        |_, found, why| assert!(found.workflows.len() == 1 && found.skipped.is_empty(), "{why}: {found:?}"),
    );
}

#[test]
fn the_history_of_a_compacted_workflow_may_expire_and_its_numbers_stay_known() {
    let (world, _) = archived();
    world.clean_days_later();
    for n in 0..6 {
        world.save(json!({"later": n}));
        world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp()).unwrap();
        world.clean_days_later();
    }
    assert_eq!(world.store().bundles(&id("042")).unwrap().len(), 5);
    assert!(!world.has_directory());
    assert_eq!(world.findings(), [""; 0], "what expired is noted, the seal too");
    assert_eq!(world.save(json!({})).handle.unwrap(), handle(17));
    assert_eq!(world.findings(), [""; 0]);
    let rows = world.store().scan_checkpoints(&id("042")).unwrap();
    assert!(rows.iter().all(|row| row.entry.is_ok()), "{rows:?}");
    assert!(matches!(world.store().load(&handle(2)), Err(Error::Archived { .. })), "no damage");
}

#[test]
fn a_loss_in_the_archive_of_a_compacted_workflow_is_found_and_noted() {
    let (world, _) = archived();
    world.clean_days_later();
    world.save(json!({"later": 1}));
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp()).unwrap();
    world.clean_days_later();
    let oldest = world.store().bundles(&id("042")).unwrap().pop().unwrap();
    std::fs::remove_file(world.store().bundle_path(&id("042"), &oldest)).unwrap();
    assert!(world.findings().iter().any(|finding| finding.contains("is missing")), "{:?}", world.findings());
    world.store().repair(&[], &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(world.findings(), [""; 0]);
    assert_eq!(world.save(json!({})).handle.unwrap(), handle(7));
}

#[test]
fn a_compacted_workflow_whose_only_bundle_is_damaged_goes_on_above_its_numbers() {
    let (world, _) = archived();
    world.clean_days_later();
    let bundle = world.bundle();
    std::fs::remove_file(&bundle).unwrap();
    std::fs::write(&bundle, "damaged").unwrap();
    assert!(world.try_save(json!({})).is_err(), "nobody knows what to continue");
    world.store().repair(&[], &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(world.findings(), [""; 0]);
    assert!(world.save(json!({})).handle.unwrap() > handle(5));
}
