//! Bundles that somebody or something has changed.

use ckpt_model::ArchiveReason;
use ckpt_store::Error;
use ckpt_store::{BadBundle, RestoreScope};
use serde_json::json;

use crate::support::store::{Fault, FaultyDisk, World, handle, id, state};

fn put(path: &std::path::Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

fn why(world: &World) -> BadBundle {
    match world.store().load(&handle(2)).unwrap_err() {
        Error::DamagedBundle { path, why } => {
            assert_eq!(path, world.bundle());
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn flipped_and_truncated_bundles_are_refused_everywhere() {
    let world = World::with(2);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let bundle = world.bundle();
    let good = std::fs::read(&bundle).unwrap();
    for place in (0..good.len()).step_by(7) {
        let mut flipped = good.clone();
        flipped[place] ^= 0x10;
        put(&bundle, &flipped);
        assert!(matches!(why(&world), BadBundle::Checksum | BadBundle::NotABundle), "{place}");
        put(&bundle, &good[..place]);
        assert!(matches!(why(&world), BadBundle::Checksum | BadBundle::NotABundle), "{place}");
    }
    let tree = world.tree();
    assert!(matches!(world.try_save(json!({})), Err(Error::DamagedBundle { .. })));
    assert!(matches!(
        world.store().restore(&id("042"), &RestoreScope::checkpoint(1), &world.stamp(), &mut |_| {}),
        Err(Error::DamagedBundle { .. })
    ));
    assert_eq!(world.tree(), tree);
    put(&bundle, &good);
    world.save(json!({}));
}

#[test]
fn a_bundle_in_a_foreign_place_is_refused() {
    let world = World::with(2);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let bundle = world.bundle();
    let other = bundle.to_str().unwrap().replace("completed", "failed");
    std::fs::rename(&bundle, &other).unwrap();
    match why(&world) {
        BadBundle::Misplaced { found } => assert!(found.ends_with("completed.jsonl.gz"), "{found}"),
        other => panic!("{other:?}"),
    }
    std::fs::rename(&other, &bundle).unwrap();
    world.store().load(&handle(2)).unwrap();

    // Of another workflow.
    let elsewhere = world.store().archive_dir(&id("043"));
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::copy(&bundle, elsewhere.join(bundle.file_name().unwrap())).unwrap();
    let error = world.store().load(&ckpt_model::Handle::new(&id("043"), 1)).unwrap_err();
    assert!(matches!(error, Error::DamagedBundle { why: BadBundle::Misplaced { .. }, .. }), "{error:?}");
}

#[test]
fn what_is_no_regular_file_is_neither_followed_nor_waited_for() {
    let world = World::with(2);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let bundle = world.bundle();
    let moved = bundle.with_file_name("moved");
    std::fs::rename(&bundle, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &bundle).unwrap();
    assert_eq!(why(&world), BadBundle::NotAFile);
    std::fs::remove_file(&bundle).unwrap();
    std::fs::create_dir(&bundle).unwrap();
    assert_eq!(why(&world), BadBundle::NotAFile);
    std::fs::remove_dir(&bundle).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &bundle, rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(why(&world), BadBundle::NotAFile);
}

#[test]
fn nothing_leaves_the_live_store_for_a_bad_bundle() {
    let mut damaged = 0;
    for at in 1.. {
        let world = World::with(2);
        let store = world.faulty(FaultyDisk::new(&world, Fault::Die, at));
        let done = store.archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {});
        let bundles = world.store().bundles(&id("042")).unwrap();
        if done.is_ok() {
            break;
        }
        let live = !world.bytes(1).is_empty() && !world.bytes(2).is_empty();
        if bundles.is_empty() || !live {
            continue;
        }
        damaged += 1;
        let mut bytes = std::fs::read(world.bundle()).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        put(&world.bundle(), &bytes);
        let is_sealed = world.store().head_number(&id("042")).unwrap() == Some(3);
        let again = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
        // Under a seal they stay; otherwise they go into a bundle that is sound.
        assert_eq!(again.left.len(), if is_sealed { 2 } else { 0 });
        for seq in 1..=2 {
            assert_eq!(state(&world.store().load(&handle(seq)).unwrap().checkpoint), json!({"n": seq}));
        }
        world.save(json!({"n": 9}));
    }
    assert!(damaged > 3, "a bundle was published before anything was replaced {damaged} times");
}

#[test]
fn restoring_takes_what_it_can_and_names_what_it_cannot() {
    let world = World::with(2);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let first = world.bundle();
    world.save(json!({"n": 4}));
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    put(&first, b"gone");
    let restored = world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(restored.restored, [handle(4), handle(3)]);
    assert_eq!(restored.lost, [handle(1), handle(2)]);
    assert_eq!(restored.damaged, [(first, BadBundle::NotABundle)]);
    assert_eq!(restored.revived.unwrap().seq, 6);
}
