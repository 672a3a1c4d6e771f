//! An archived workflow whose directory was removed by hand.

use ckpt_model::ArchiveReason;
use ckpt_model::finding::Code;
use ckpt_model::format::Unusable;
use ckpt_store::Error;
use ckpt_store::{Entry, RestoreScope};
use serde_json::json;

use crate::support::store::{World, handle, id, state};

/// `042` with three checkpoints that are only in the archive; and their files. The seal is nowhere.
fn removed() -> (World, Vec<Vec<u8>>) {
    let world = World::with(3);
    let files: Vec<_> = (1..=3).map(|seq| world.bytes(seq)).collect();
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    std::fs::remove_dir_all(world.store().workflow_dir(&id("042"))).unwrap();
    (world, files)
}

#[test]
fn it_is_still_found_and_read() {
    let (world, files) = removed();
    let tree = world.tree();
    let store = world.store();
    assert_eq!(store.head_number(&id("042")).unwrap(), Some(3));
    assert_eq!(store.find_workflow(&id("42")).unwrap(), Some(id("042")));
    assert_eq!(store.resolve(&"042".parse().unwrap()).unwrap(), handle(3));
    for (seq, file) in (1..).zip(&files) {
        assert_eq!(store.load(&handle(seq)).unwrap().bytes, *file, "{seq}");
    }
    assert!(matches!(store.load(&handle(4)), Err(Error::NoSuchCheckpoint { .. })));
    let rows = store.scan().unwrap();
    assert_eq!((rows.len(), &rows[0].newest, rows[0].archived), (1, &handle(3), true));
    let rows = store.scan_checkpoints(&id("042")).unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| matches!(row.entry, Ok(Entry::Tombstone))));
    // There is nothing to archive.
    let again = store.archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {});
    assert!(matches!(again, Err(Error::Damaged { why: Unusable::Missing, .. })), "{again:?}");
    assert_eq!(world.tree(), tree, "reading changes nothing");
}

#[test]
fn a_save_continues_number_and_state() {
    for empty in [false, true] {
        let (world, files) = removed();
        if empty {
            std::fs::create_dir(world.store().workflow_dir(&id("042"))).unwrap();
        }
        world.save(json!({"more": 1}));
        let next = world.store().load(&handle(4)).unwrap().checkpoint;
        assert_eq!(state(&next), json!({"n": 3, "more": 1}));
        assert_eq!(next.parent.unwrap().sha256, world.store().load(&handle(3)).unwrap().checkpoint.sha256);
        for (seq, file) in (1..).zip(&files) {
            assert_eq!(world.store().load(&handle(seq)).unwrap().bytes, *file);
        }
        assert!(!world.store().scan().unwrap()[0].archived);
        let rows = world.store().scan_checkpoints(&id("042")).unwrap();
        assert!(rows.iter().all(|row| row.entry.is_ok()), "archived, not missing: {rows:?}");
        // And it can be archived and restored again.
        world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
        world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
        for (seq, file) in (1..).zip(&files) {
            assert_eq!(world.bytes(seq), *file, "{seq}");
        }
        assert_eq!(world.findings(), [""; 0]);
        assert_eq!(state(&world.store().load(&handle(6)).unwrap().checkpoint), json!({"n": 3, "more": 1}));
    }
}

#[test]
fn it_is_restored() {
    let (world, files) = removed();
    let restored = world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(restored.restored, [handle(3), handle(2), handle(1)]);
    for (seq, file) in (1..).zip(&files) {
        assert_eq!(world.bytes(seq), *file, "{seq}");
    }
    assert!(restored.revived.is_none(), "the newest checkpoint is live again");
    assert!(!world.store().scan().unwrap()[0].archived);
}

#[test]
fn restoring_one_checkpoint_makes_no_old_one_the_newest() {
    let (world, files) = removed();
    world.store().restore(&id("042"), &RestoreScope::checkpoint(2), &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(world.bytes(2), files[1]);
    assert_eq!(world.store().head_number(&id("042")).unwrap(), Some(3));
    world.save(json!({"more": 1}));
    assert_eq!(state(&world.store().load(&handle(4)).unwrap().checkpoint), json!({"n": 3, "more": 1}));
}

#[test]
fn verify_says_so_and_repair_takes_the_numbers_again() {
    for seal_only in [false, true] {
        let (world, files) = removed();
        if seal_only {
            // Somebody puts back a part of it: an old checkpoint is not the newest for that.
            std::fs::create_dir(world.store().workflow_dir(&id("042"))).unwrap();
            std::fs::write(world.file(1), &files[0]).unwrap();
        }
        assert_eq!(world.store().head_number(&id("042")).unwrap(), Some(3));
        let found = world.store().verify(&[], &mut |_| {}).unwrap().findings;
        assert!(found.iter().any(|finding| finding.code == Code::Removed), "{found:?}");
        world.store().repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        assert_eq!(world.bytes(3), files[2]);
        assert_eq!(world.bytes(2), b"");
        assert!(world.store().verify(&[], &mut |_| {}).unwrap().findings.iter().all(|f| f.code == Code::Mode));
        world.save(json!({"more": 1}));
        assert_eq!(state(&world.store().load(&handle(4)).unwrap().checkpoint), json!({"n": 3, "more": 1}));
    }
}

#[test]
fn the_highest_bundle_knows_the_number() {
    let world = World::with(3);
    let store = world.store();
    store.archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    world.save(json!({"more": 1}));
    let bundle = world.bundle();
    std::fs::remove_dir_all(store.workflow_dir(&id("042"))).unwrap();
    // What was above the bundle is lost; its highest number is the newest one.
    assert_eq!(store.head_number(&id("042")).unwrap(), Some(3));
    world.save(json!({"again": 1}));
    assert_eq!(state(&store.load(&handle(4)).unwrap().checkpoint), json!({"n": 3, "again": 1}));
    // The name of a damaged bundle still has the number.
    let bytes = std::fs::read(&bundle).unwrap();
    std::fs::remove_dir_all(store.workflow_dir(&id("042"))).unwrap();
    std::fs::remove_file(&bundle).unwrap();
    std::fs::write(&bundle, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(store.head_number(&id("042")).unwrap(), Some(3));
    world.store().repair(&[], &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(store.head_number(&id("042")).unwrap(), Some(4));
    assert!(store.verify(&[], &mut |_| {}).unwrap().is_ok());
}
