//! A failure or the death of the process at every step of a repair: nothing is lost, and doing it again completes it.

use std::path::Path;

use ckpt_model::ArchiveReason;
use ckpt_store::{Disk, RestoreScope};
use ckpt_store::{Result, Store};
use proptest::prelude::*;
use serde_json::json;

use crate::support::store::{Fault, FaultyDisk, World, id, state};

fn repair<D: Disk>(store: &Store<D>, world: &World) -> Result<()> {
    store.repair(&[], &world.stamp(), &mut |_| {}).map(drop)
}

#[track_caller]
fn assert_clean(world: &World, why: &str) {
    let found = world.store().verify(&[], &mut |_| {}).unwrap();
    assert!(found.is_ok(), "{why}: {:#?}", found.findings);
}

/// A damaged world, and the state that the workflow must continue with.
type Damage = (fn() -> World, u64);

fn damages() -> Vec<Damage> {
    vec![
        (
            || {
                let world = World::with(4);
                world.damage(4, b"damaged newest");
                world.damage(2, b"damaged in the middle");
                world
            },
            3,
        ),
        (
            || {
                let world = World::with(3);
                world.damage(3, b"");
                std::fs::remove_file(world.file(1)).unwrap();
                world
            },
            2,
        ),
        (
            || {
                let world = World::with(3);
                world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();
                world.damage(4, b"damaged seal");
                world.damage(2, b"damaged tombstone");
                std::fs::remove_file(world.file(1)).unwrap();
                world
            },
            3,
        ),
        (
            || {
                let world = World::with(3);
                world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();
                world.save(json!({"n": 5}));
                let bundle = world.bundle();
                std::fs::remove_file(&bundle).unwrap();
                std::fs::write(&bundle, b"damaged bundle").unwrap();
                std::os::unix::fs::symlink("/", world.dir.path().join(".ckpt/quarantine")).unwrap();
                world
            },
            5,
        ),
    ]
}

/// True if a content is still somewhere.
fn is_kept(dir: &Path, content: &[u8]) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        (kind.is_dir() && is_kept(&path, content)) || (kind.is_file() && std::fs::read(&path).unwrap() == content)
    })
}

#[test]
fn at_every_step_of_mending_files() {
    at_every_step(&damages()[..2]);
}

#[test]
fn at_every_step_of_mending_an_archive() {
    at_every_step(&damages()[2..]);
}

fn at_every_step(damages: &[Damage]) {
    for (arrange, n) in damages {
        let model = arrange();
        let contents = files(&model);
        let steps = model.with_every_fault(repair, |world, _, why| {
            let root = world.dir.path().join(".ckpt");
            assert!(contents.iter().all(|content| is_kept(&root, content)), "{why}");
            repair(&world.store(), world).unwrap();
            assert!(contents.iter().all(|content| is_kept(&root, content)), "{why}");
            assert_clean(world, why);
            let newest = world.store().head_number(&id("042")).unwrap().unwrap();
            let saved = world.save(json!({"more": 1}));
            assert_eq!((saved.seq, state(&saved)), (newest + 1, json!({"n": n, "more": 1})), "{why}");
            assert_clean(world, why);
        });
        assert!(steps > 20, "{steps}");
    }
}

fn files(world: &World) -> Vec<Vec<u8>> {
    let dir = world.store().workflow_dir(&id("042"));
    let mut files: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    files.retain(|content| !content.is_empty());
    files
}

#[test]
fn the_newest_can_be_used_before_anything_is_moved() {
    let world = World::with(3);
    world.damage(3, b"damaged");
    let store = world.faulty(FaultyDisk::new(&world, Fault::None, 0));
    repair(&store, &world).unwrap();
    let log = store.disk().log();
    let published = log.iter().position(|step| step == "publish 00000004.json").unwrap();
    let moved = log.iter().position(|step| step == "move 00000003.json").unwrap();
    assert!(published < moved && log[published..moved].iter().any(|step| step == "sync"), "{log:#?}");
    assert!(log[moved..].iter().any(|step| step == "sync"));
    assert_eq!(log.iter().filter(|step| step.starts_with("replace")).count(), 0);
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Save,
    Archive,
    Restore,
    RestoreOne(u64),
    Restart,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => Just(Act::Save),
        2 => Just(Act::Archive),
        1 => Just(Act::Restore),
        1 => (1u64..8).prop_map(Act::RestoreOne),
        1 => Just(Act::Restart),
    ];
    prop::collection::vec(act, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_done_with_the_program_nothing_is_wrong_afterwards(acts in acts()) {
        let world = World::with(1);
        for act in &acts {
            let store = world.store();
            match act {
                Act::Save => drop(world.save(json!({"x": 1}))),
                Act::Archive => drop(store.archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap()),
                Act::Restore => drop(store.restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap()),
                Act::RestoreOne(seq) => drop(store.restore(&id("042"), &RestoreScope::checkpoint(*seq), &world.stamp(), &mut |_| {})),
                Act::Restart => {
                    drop(store.restart(&id("042"), &world.stamp()).unwrap());
                }
            }
            let found = store.verify(&[], &mut |_| {}).unwrap();
            prop_assert!(found.findings.is_empty(), "{:?} of {:?}: {:#?}", act, acts, found.findings);
        }
        let tree = world.tree();
        world.store().repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        prop_assert_eq!(tree, world.tree());
    }
}
