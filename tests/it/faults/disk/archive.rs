//! A failure or the death of the process at every step: nothing is lost, and doing it again completes it.

use std::fmt::Debug;

use ckpt_model::ArchiveReason;
use ckpt_store::Store;
use ckpt_store::{Bundle, RestoreScope, Result};
use serde_json::json;

use crate::support::store::{Fault, FaultyDisk, World, handle, id, state};

/// Three checkpoints, one of them damaged, and their files.
fn arrange() -> (World, Vec<Vec<u8>>) {
    let world = World::with(3);
    world.damage(2, b"\xff damaged");
    let files = (1..=3).map(|seq| world.bytes(seq)).collect();
    (world, files)
}

/// Every file is live, or in a bundle that can be trusted.
fn assert_kept(world: &World, files: &[Vec<u8>], why: &str) {
    for (seq, file) in (1..).zip(files) {
        let live = world.bytes(seq);
        if !live.is_empty() {
            assert_eq!(live, *file, "{why}");
            continue;
        }
        let bundle = std::fs::read(world.bundle()).unwrap();
        Bundle::open(&bundle).unwrap().verify(&mut || {}).unwrap();
        assert_eq!(Bundle::open(&bundle).unwrap().find(seq).unwrap().unwrap(), *file, "{why}");
    }
}

/// Runs `act` with every fault on three checkpoints, once they are prepared, and checks what is left each time.
fn with_every_fault<T: Debug>(
    prepare: impl Fn(&World),
    act: impl Fn(&Store<FaultyDisk>, &World) -> Result<T>,
    check: impl Fn(&World, &[Vec<u8>], &str),
) {
    let (model, files) = arrange();
    prepare(&model);
    let steps = model.with_every_fault(act, |world, _, why| {
        assert_kept(world, &files, why);
        check(world, &files, why);
    });
    assert!(steps > 20, "{steps}");
}

#[test]
fn archiving() {
    with_every_fault(
        |_| {},
        |store, world| store.archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}),
        |world, files, why| {
            // It is archived or open, and never archived without a bundle.
            let row = world.store().scan().unwrap().remove(0);
            assert!(!row.archived || !world.store().bundles(&id("042")).unwrap().is_empty(), "{why}");
            let again = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {});
            assert_eq!(again.unwrap().seal, handle(4), "{why}");
            assert_eq!(world.store().bundles(&id("042")).unwrap().len(), 1, "{why}");
            assert!((1..=3).all(|seq| world.bytes(seq).is_empty()), "{why}");
            assert_kept(world, files, why);
            world.save(json!({"more": 1}));
            let newest = world.store().load(&handle(5)).unwrap().checkpoint;
            assert_eq!(state(&newest), json!({"n": 3, "more": 1}), "{why}");
        },
    );
}

#[test]
fn saving_after_an_archive_that_was_not_completed() {
    with_every_fault(
        |_| {},
        |store, world| store.archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}),
        |world, files, why| {
            let saved = world.save(json!({"more": 1}));
            assert_eq!(state(&saved), json!({"n": 3, "more": 1}), "{why}");
            assert_kept(world, files, why);
            // Another archive takes everything that the first left behind.
            world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
            let newest = world.store().head_number(&id("042")).unwrap().unwrap();
            for seq in (1..=newest).filter(|seq| *seq != 2) {
                assert_eq!(world.store().load(&handle(seq)).unwrap().checkpoint.seq, seq, "{why}");
            }
        },
    );
}

#[test]
fn restarting() {
    with_every_fault(
        |_| {},
        |store, world| store.restart(&id("042"), &world.stamp()),
        |world, files, why| {
            let restarted = world.store().restart(&id("042"), &world.stamp()).unwrap();
            assert!(restarted.content.state.is_empty_object(), "{why}");
            let bundles = world.store().bundles(&id("042")).unwrap();
            assert!(!bundles.is_empty() && (1..=3).all(|seq| world.bytes(seq).is_empty()), "{why}");
            assert_eq!(world.store().load(&handle(3)).unwrap().bytes, files[2], "{why}");
        },
    );
}

#[test]
fn restoring() {
    with_every_fault(
        |world| {
            world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
        },
        |store, world| store.restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}),
        |world, files, why| {
            world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
            for (seq, file) in (1..).zip(files) {
                assert_eq!(world.bytes(seq), *file, "{why}");
            }
            let newest = world.store().head_number(&id("042")).unwrap().unwrap();
            let newest = world.store().load(&handle(newest)).unwrap().checkpoint;
            assert!(newest.sealed.is_none() && newest.seq == 5, "{why}");
            assert_eq!(state(&newest), json!({"n": 3}), "{why}");
        },
    );
}

#[test]
fn restoring_a_directory_that_is_gone() {
    let (model, files) = arrange();
    model.store().archive(&id("042"), &ArchiveReason::Completed, &model.stamp(), &mut |_| {}).unwrap();
    std::fs::remove_dir_all(model.store().workflow_dir(&id("042"))).unwrap();
    let steps = model.with_every_fault(
        |store, world| store.restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}),
        |world, _, why| {
            assert_eq!(world.store().head_number(&id("042")).unwrap(), Some(3), "{why}");
            world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
            for (seq, file) in (1..).zip(&files) {
                assert_eq!(world.bytes(seq), *file, "{why}");
            }
            assert_eq!(state(&world.store().load(&handle(3)).unwrap().checkpoint), json!({"n": 3}), "{why}");
        },
    );
    assert!(steps > 20, "{steps}");
}

#[test]
fn nothing_is_sealed_before_its_bundle_is_durable_and_read_back() {
    let (world, _) = arrange();
    let store = world.faulty(FaultyDisk::new(&world, Fault::None, 0));
    store.archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let log = store.disk().log();
    let place = |what: &dyn Fn(&str) -> bool| log.iter().position(|step| what(step));
    let seal = place(&|step| step == "publish 00000004.json").unwrap();
    let published = place(&|step| step.starts_with("publish") && step.ends_with("gz")).unwrap();
    let first_loss = place(&|step| step.starts_with("replace")).unwrap();
    let last_loss = log.iter().rposition(|step| step.starts_with("replace")).unwrap();
    assert!(log[seal..first_loss].iter().any(|step| step == "sync"), "the seal is durable");
    let between = &log[published..seal];
    assert!(between.iter().filter(|step| *step == "sync").count() >= 3, "the way to it is durable");
    let synced = between.iter().rposition(|step| step == "sync").unwrap();
    let read = between.iter().position(|step| step.starts_with("read") && step.ends_with("gz")).unwrap();
    assert!(read > 3 && synced > 3, "{between:?}");
    assert!(log[last_loss..].iter().any(|step| step == "sync"));
    assert_eq!(log.iter().filter(|step| step.starts_with("replace")).count(), 3);
}
