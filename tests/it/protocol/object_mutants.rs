//! Takes one protection of objects away at a time, and shows that a harness notices.

use std::io;

use ckpt_store::{Access, Disk, FileKind, STORE_NAME, StagedFile, Stat};

use crate::support::audit::{content, store_on, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Honest, Step, Tap};
use ckpt::model::{self, Begun, Bounds};
use ckpt::mutants::assert_reported;
use ckpt::power_loss;
use ckpt::schedule::Role::{self, Capture, Sweep, SweepAtOnce};

const LACKS: &str = "lacks a content";

/// The directories that lead to the object, the store first.
fn path() -> [String; 3] {
    [STORE_NAME.to_owned(), "objects".to_owned(), content().sha256().to_hex()[..2].to_owned()]
}

/// Returns true for the first so many directories of the path.
fn is_at(disk: &MemoryDisk, dir: usize, depth: usize) -> bool {
    path()[..depth].iter().try_fold(0, |dir, name| disk.enter(&dir, name).ok()) == Some(dir)
}

fn is_shard(disk: &MemoryDisk, dir: usize) -> bool {
    is_at(disk, dir, 3)
}

/// Returns true if a published checkpoint refers to the object.
fn is_referred(disk: &MemoryDisk) -> bool {
    let Ok(dir) = disk.reach(&[STORE_NAME, "workflows", &workflow().directory()]) else { return false };
    let mut names = Vec::new();
    disk.list(&dir, &mut |name| names.push(name.to_owned())).unwrap();
    let hex = content().sha256().to_hex();
    names
        .iter()
        .filter(|name| name.ends_with(".json"))
        .any(|name| disk.read(&dir, name, 1 << 20).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&hex)))
}

/// Publishes an object after the checkpoint that refers to it, and before that is acknowledged.
struct ObjectsLater;

impl Tap<MemoryDisk> for ObjectsLater {
    fn publish(&self, disk: &MemoryDisk, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        if is_shard(disk, *dir) { Ok(()) } else { disk.publish(dir, staged, name) }
    }

    fn sync_dir(&self, disk: &MemoryDisk, dir: &usize) -> io::Result<()> {
        if is_referred(disk) {
            store_on(disk.clone()).store_object(&content(), "late").unwrap();
        }
        disk.sync_dir(dir)
    }
}

#[test]
fn an_object_that_is_published_after_the_checkpoint_is_noticed() {
    assert_reported(&power_loss::explore_objects(&ObjectsLater, LACKS).wrong, LACKS);
}

struct NoContentSync;

impl Tap<MemoryDisk> for NoContentSync {
    fn stage(
        &self,
        disk: &MemoryDisk,
        dir: &usize,
        name: &str,
        bytes: &[u8],
        access: Access,
    ) -> io::Result<StagedFile<()>> {
        if is_shard(disk, *dir) { disk.stage_unsynced(*dir, name, bytes) } else { disk.stage(dir, name, bytes, access) }
    }
}

#[test]
fn a_missing_sync_of_an_object_is_noticed() {
    assert_reported(&power_loss::explore_objects(&NoContentSync, LACKS).wrong, LACKS);
}

/// Never syncs one of the directories that lead to the object.
struct NoSyncAt(usize);

impl Tap<MemoryDisk> for NoSyncAt {
    fn sync_dir(&self, disk: &MemoryDisk, dir: &usize) -> io::Result<()> {
        // The store itself is synced for the workflow, before there are objects.
        let is_left_out = is_at(disk, *dir, self.0) && disk.reach(&[STORE_NAME, "objects"]).is_ok();
        if is_left_out { Ok(()) } else { disk.sync_dir(dir) }
    }
}

#[test]
fn a_missing_sync_of_any_directory_above_an_object_is_noticed() {
    for depth in 1..=3 {
        assert_reported(&power_loss::explore_objects(&NoSyncAt(depth), LACKS).wrong, LACKS);
    }
}

/// Explores one saver that keeps a content and one sweeper.
fn sweeping<T: Tap<MemoryDisk> + Sync>(mutant: &T, roles: &'static [Role]) -> Vec<String> {
    model::explore(mutant, Bounds { roles, preemptions: 1, begun: Begun::Kept }).wrong
}

#[test]
fn a_sweep_without_a_second_look_at_references_is_noticed() {
    assert_reported(&sweeping(&Honest, &[Capture, SweepAtOnce]), LACKS);
}

/// Takes an object that was there once for one that still is.
struct NoLook;

impl Tap<MemoryDisk> for NoLook {
    fn stat(&self, disk: &MemoryDisk, dir: &usize, name: &str) -> io::Result<Stat> {
        let found = disk.stat(dir, name);
        if is_shard(disk, *dir) && name.ends_with(".gz") {
            let any = disk.stat(&0, STORE_NAME)?;
            return Ok(Stat { kind: FileKind::File, ..found.unwrap_or(any) });
        }
        found
    }
}

#[test]
fn a_save_that_does_not_look_at_its_object_while_it_is_staged_is_noticed() {
    assert_reported(&sweeping(&NoLook, &[Capture, Sweep]), LACKS);
}

/// Hides temporary files from readers: a sweep then misses what is about to be published.
struct HiddenStaged;

impl Tap<MemoryDisk> for HiddenStaged {
    fn before(&self, _: &MemoryDisk, step: Step, name: &str) -> io::Result<()> {
        if step == Step::Read && name.starts_with(".tmp-") {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(())
    }
}

#[test]
fn a_sweep_that_does_not_look_at_staged_checkpoints_is_noticed() {
    assert_reported(&sweeping(&HiddenStaged, &[Capture, Sweep]), LACKS);
}
