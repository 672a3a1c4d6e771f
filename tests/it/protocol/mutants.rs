//! Takes one protection away at a time, and shows that a harness notices: one that cannot see a bug proves nothing.

use std::cell::Cell;
use std::io;
use std::sync::Mutex;
use std::time::SystemTime;

use ckpt_store::{Access, Disk, FileId, FileKind, StagedFile, Stat};
use ckpt_store::{Error, Result};

use crate::support::audit::{Ack, audit, save, store_on, try_archive, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};
use ckpt::model::{self, Begun, Bounds};
use ckpt::power_loss;
use ckpt::schedule::Role::Save;

#[track_caller]
pub(super) fn assert_reported(wrong: &[String], what: &str) {
    assert!(wrong.iter().any(|violation| violation.contains(what)), "not noticed, only {wrong:?}");
}

struct NoContentSync;

impl Tap<MemoryDisk> for NoContentSync {
    fn stage(&self, disk: &MemoryDisk, dir: &usize, name: &str, bytes: &[u8], _: Access) -> io::Result<StagedFile<()>> {
        disk.stage_unsynced(*dir, name, bytes)
    }
}

#[test]
fn a_missing_sync_of_the_content_is_noticed() {
    assert_reported(&power_loss::explore(&NoContentSync, "cannot be loaded").wrong, "cannot be loaded");
}

struct NoDirSync;

impl Tap<MemoryDisk> for NoDirSync {
    fn sync_dir(&self, _: &MemoryDisk, _: &usize) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_missing_sync_of_directories_is_noticed() {
    assert_reported(&power_loss::explore(&NoDirSync, "is not there").wrong, "is not there");
}

struct NoParentSync;

impl Tap<MemoryDisk> for NoParentSync {
    fn sync_dir(&self, disk: &MemoryDisk, dir: &usize) -> io::Result<()> {
        const WORKFLOW: usize = 3;
        if disk.depth(*dir) == WORKFLOW { disk.sync_dir(dir) } else { Ok(()) }
    }
}

#[test]
fn a_missing_sync_of_the_directories_above_is_noticed() {
    assert_reported(&power_loss::explore(&NoParentSync, "is not there").wrong, "is not there");
}

/// Never syncs the directory of the bundles.
struct NoArchiveSync;

fn archive_dir(disk: &MemoryDisk) -> Option<usize> {
    let path = [".ckpt".to_owned(), "archive".to_owned(), workflow().directory()];
    path.iter().try_fold(0, |dir, name| disk.enter(&dir, name).ok())
}

impl Tap<MemoryDisk> for NoArchiveSync {
    fn sync_dir(&self, disk: &MemoryDisk, dir: &usize) -> io::Result<()> {
        if archive_dir(disk) == Some(*dir) { Ok(()) } else { disk.sync_dir(dir) }
    }
}

#[test]
fn a_missing_sync_of_the_bundles_is_noticed() {
    assert_reported(&power_loss::explore(&NoArchiveSync, "cannot be loaded").wrong, "cannot be loaded");
}

/// Loses every bundle that is published.
struct LostBundles;

impl Tap<MemoryDisk> for LostBundles {
    fn publish(&self, disk: &MemoryDisk, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        if name.ends_with(".gz") { Ok(()) } else { disk.publish(dir, staged, name) }
    }
}

#[test]
fn a_workflow_whose_bundle_is_lost_is_not_sealed() {
    let disk = MemoryDisk::new();
    let old = Ack::of("old", &save(&store_on(disk.clone()), "old").unwrap());
    let refused = try_archive(&store_on(Tapped { disk: disk.clone(), tap: &LostBundles }), "archive");
    assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    assert_eq!(store_on(disk.clone()).head_number(&workflow()).unwrap(), Some(1));
    assert_eq!(audit(&store_on(disk), &[old]), [""; 0]);
}

struct Replacing;

impl Tap<MemoryDisk> for Replacing {
    fn publish(&self, disk: &MemoryDisk, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        disk.publish_over(*dir, staged, name)
    }
}

#[test]
fn a_publish_that_replaces_is_noticed() {
    let explored = model::explore(&Replacing, Bounds { roles: &[Save, Save], preemptions: 1, begun: Begun::Live });
    assert!(!explored.wrong.is_empty());
    let losses = power_loss::explore(&Replacing, "is not there");
    assert_reported(&losses.wrong, "is not there");
}

/// Makes the first link of a save but reports that the name is taken, as a file server does when its answer is lost
/// and the request is repeated.
struct LostAnswer {
    counts_links: bool,
    answered: Cell<bool>,
}

impl Tap<MemoryDisk> for LostAnswer {
    fn publish(&self, disk: &MemoryDisk, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        disk.publish(dir, staged, name)?;
        if self.answered.replace(true) { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    fn stat(&self, disk: &MemoryDisk, dir: &usize, name: &str) -> io::Result<Stat> {
        let stat = disk.stat(dir, name)?;
        Ok(if self.counts_links { stat } else { Stat { links: 1, ..stat } })
    }
}

fn save_with_lost_answer(counts_links: bool) -> Vec<String> {
    let disk = MemoryDisk::new();
    let old = Ack::of("old", &save(&store_on(disk.clone()), "old").unwrap());
    let tap = LostAnswer { counts_links, answered: Cell::new(false) };
    let new = save(&store_on(Tapped { disk: disk.clone(), tap: &tap }), "new").unwrap();
    audit(&store_on(disk), &[old, Ack::of("new", &new)])
}

#[test]
fn a_save_whose_link_is_reported_as_taken_is_made_once_because_links_are_counted() {
    assert_eq!(save_with_lost_answer(true), [""; 0]);
    assert_reported(&save_with_lost_answer(false), "was saved twice");
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Looks {
    /// As the store does.
    Again,
    /// Takes what was written for what is found.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mover {
    /// Puts another directory in the place of the one it took.
    Replaces,
    /// Puts the directory back while the saver waits.
    PutsBack,
    /// Does neither.
    Keeps,
}

/// Takes the directory of the workflow away once a checkpoint was published in it.
struct MovedAway {
    looks: Looks,
    mover: Mover,
    published: Cell<bool>,
    staged: Mutex<Option<FileId>>,
}

const WORKFLOWS: [&str; 2] = [".ckpt", "workflows"];
const ASIDE: &str = "aside";

fn workflows(disk: &MemoryDisk) -> usize {
    WORKFLOWS.iter().fold(0, |dir, name| disk.enter(&dir, name).unwrap())
}

impl Tap<MemoryDisk> for MovedAway {
    fn before(&self, disk: &MemoryDisk, step: Step, _: &str) -> io::Result<()> {
        if step == Step::SyncDir && self.published.replace(false) {
            let name = workflow().directory();
            disk.rename_dir(workflows(disk), &name, ASIDE);
            if self.mover == Mover::Replaces {
                disk.make_dir(&workflows(disk), &name)?;
            }
        }
        Ok(())
    }

    fn after(&self, step: Step) -> io::Result<()> {
        if step == Step::Publish {
            self.published.set(true);
        }
        Ok(())
    }

    fn stage(
        &self,
        disk: &MemoryDisk,
        dir: &usize,
        name: &str,
        bytes: &[u8],
        access: Access,
    ) -> io::Result<StagedFile<()>> {
        let staged = disk.stage(dir, name, bytes, access)?;
        *self.staged.lock().unwrap() = Some(staged.id);
        Ok(staged)
    }

    fn stat(&self, disk: &MemoryDisk, dir: &usize, name: &str) -> io::Result<Stat> {
        let found = disk.stat(dir, name);
        match (self.looks, *self.staged.lock().unwrap()) {
            (Looks::Never, Some(id)) => {
                let (kind, modified) = (FileKind::File, SystemTime::UNIX_EPOCH);
                let any =
                    Stat { kind, mode: 0o400, owner: 0, bytes: 1, id, links: 1, modified, changed: Some(modified) };
                Ok(Stat { id, ..found.unwrap_or(any) })
            }
            _ => found,
        }
    }

    fn pause(&self, disk: &MemoryDisk) {
        if self.mover == Mover::PutsBack && disk.enter(&workflows(disk), ASIDE).is_ok() {
            disk.rename_dir(workflows(disk), ASIDE, &workflow().directory());
        }
    }
}

/// The answer to the saver, and the defect of the store that contradicts it.
fn save_while_moved(looks: Looks, mover: Mover) -> (Result<u64>, Vec<String>) {
    let disk = MemoryDisk::new();
    save(&store_on(disk.clone()), "old").unwrap();
    let tap = MovedAway { looks, mover, published: Cell::new(false), staged: Mutex::default() };
    let told = save(&store_on(Tapped { disk: disk.clone(), tap: &tap }), "new").map(|saved| Ack::of("new", &saved));
    let wrong = audit(&store_on(disk), &told.iter().cloned().collect::<Vec<_>>());
    (told.map(|ack| ack.seq), wrong)
}

#[test]
fn a_save_into_a_directory_that_was_moved_away_is_not_acknowledged_because_it_is_looked_up_again() {
    for mover in [Mover::Replaces, Mover::Keeps] {
        let (told, wrong) = save_while_moved(Looks::Again, mover);
        assert!(matches!(told, Err(Error::Unconfirmed { .. })), "{mover:?}: {told:?}");
        assert_eq!(wrong, [""; 0], "{mover:?}");
    }
    let (told, wrong) = save_while_moved(Looks::Never, Mover::Replaces);
    assert_eq!(told.unwrap(), 2);
    assert_reported(&wrong, "is not there");
}

#[test]
fn a_save_waits_for_a_directory_that_comes_back() {
    let (told, wrong) = save_while_moved(Looks::Again, Mover::PutsBack);
    assert_eq!((told.unwrap(), wrong), (2, Vec::new()));
}
