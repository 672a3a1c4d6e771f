//! Takes one protection away at a time, and shows that a harness notices: one that cannot see a bug proves nothing.

use std::cell::Cell;
use std::io;
use std::sync::Mutex;

use ckpt::core::store::{Access, Disk, FileId, STORE_NAME};
use ckpt::core::{Error, Result};

use super::model::{self, Begun, Bounds};
use super::power_loss;
use super::schedule::Compactor as Way;
use crate::support::audit::{Ack, audit, save, store_on, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Honest, Step, Tap, Tapped};

#[track_caller]
fn assert_reported(wrong: &[String], what: &str) {
    assert!(wrong.iter().any(|violation| violation.contains(what)), "not noticed, only {wrong:?}");
}

struct NoContentSync;

impl Tap<MemoryDisk> for NoContentSync {
    fn stage(
        &self,
        disk: &MemoryDisk,
        dir: &usize,
        name: &str,
        bytes: &[u8],
        _: Access,
    ) -> io::Result<FileId> {
        disk.stage_unsynced(*dir, name, bytes)
    }
}

#[test]
fn a_missing_sync_of_the_content_is_noticed() {
    assert_reported(&power_loss::explore(&NoContentSync).wrong, "cannot be loaded");
}

struct NoDirSync;

impl Tap<MemoryDisk> for NoDirSync {
    fn sync_dir(&self, _: &MemoryDisk, _: &usize) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_missing_sync_of_directories_is_noticed() {
    assert_reported(&power_loss::explore(&NoDirSync).wrong, "is not there");
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
    assert_reported(&power_loss::explore(&NoParentSync).wrong, "is not there");
}

struct Replacing;

impl Tap<MemoryDisk> for Replacing {
    fn publish(&self, disk: &MemoryDisk, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        disk.publish_over(*dir, staged, name)
    }
}

#[test]
fn a_publish_that_replaces_is_noticed() {
    let explored =
        model::explore(&Replacing, Bounds { savers: 2, preemptions: 1, begun: Begun::Live, compactors: 0 });
    assert!(!explored.wrong.is_empty());
    let losses = power_loss::explore(&Replacing);
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

    fn link_count(&self, disk: &MemoryDisk, dir: &usize, name: &str) -> io::Result<u64> {
        if self.counts_links { disk.link_count(dir, name) } else { Ok(1) }
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
enum Compactor {
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
    compactor: Compactor,
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
            if self.compactor == Compactor::Replaces {
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
    ) -> io::Result<FileId> {
        let id = disk.stage(dir, name, bytes, access)?;
        *self.staged.lock().unwrap() = Some(id);
        Ok(id)
    }

    fn identify(&self, disk: &MemoryDisk, dir: &usize, name: &str) -> io::Result<FileId> {
        match (self.looks, *self.staged.lock().unwrap()) {
            (Looks::Never, Some(staged)) => Ok(staged),
            _ => disk.identify(dir, name),
        }
    }

    fn pause(&self, disk: &MemoryDisk) {
        if self.compactor == Compactor::PutsBack && disk.enter(&workflows(disk), ASIDE).is_ok() {
            disk.rename_dir(workflows(disk), ASIDE, &workflow().directory());
        }
    }
}

/// What the saver was told, and what is wrong with the store by that.
fn save_while_moved(looks: Looks, compactor: Compactor) -> (Result<u64>, Vec<String>) {
    let disk = MemoryDisk::new();
    save(&store_on(disk.clone()), "old").unwrap();
    let tap = MovedAway { looks, compactor, published: Cell::new(false), staged: Mutex::default() };
    let told =
        save(&store_on(Tapped { disk: disk.clone(), tap: &tap }), "new").map(|saved| Ack::of("new", &saved));
    let wrong = audit(&store_on(disk), &told.iter().cloned().collect::<Vec<_>>());
    (told.map(|ack| ack.seq), wrong)
}

#[test]
fn a_save_into_a_directory_that_was_moved_away_is_not_acknowledged_because_it_is_looked_up_again() {
    for compactor in [Compactor::Replaces, Compactor::Keeps] {
        let (told, wrong) = save_while_moved(Looks::Again, compactor);
        assert!(matches!(told, Err(Error::Unconfirmed { .. })), "{compactor:?}: {told:?}");
        assert_eq!(wrong, [""; 0], "{compactor:?}");
    }
    let (told, wrong) = save_while_moved(Looks::Never, Compactor::Replaces);
    assert_eq!(told.unwrap(), 2);
    assert_reported(&wrong, "is not there");
}

#[test]
fn a_save_waits_for_a_directory_that_comes_back() {
    let (told, wrong) = save_while_moved(Looks::Again, Compactor::PutsBack);
    assert_eq!((told.unwrap(), wrong), (2, Vec::new()));
}

/// Removes directories with everything that is in them.
struct RemovesAnything;

impl Tap<MemoryDisk> for RemovesAnything {
    fn remove_dir(&self, disk: &MemoryDisk, dir: &usize, name: &str) -> io::Result<()> {
        let inside = disk.enter(dir, name)?;
        let mut names = Vec::new();
        disk.list(&inside, &mut |name| names.push(name.to_owned()))?;
        names.iter().try_for_each(|name| disk.discard(&inside, name))?;
        disk.remove_dir(dir, name)
    }
}

const COMPACTED: Bounds = Bounds { savers: 1, preemptions: 2, begun: Begun::Archived, compactors: 1 };

#[test]
fn a_compaction_that_removes_what_came_after_its_last_look_is_noticed() {
    assert_reported(&model::explore(&RemovesAnything, COMPACTED).wrong, "is not there");
}

/// A compactor that moves the directory aside, looks once more, and deletes it or puts it back; if another directory has
/// taken its place, it stays aside.
pub(super) fn compact_aside<D: Disk>(disk: &D) -> io::Result<()> {
    let name = workflow().directory();
    let store = disk.enter(&disk.base()?, STORE_NAME)?;
    let workflows = disk.enter(&store, "workflows")?;
    match disk.move_aside(&workflows, &name, &workflows, ASIDE) {
        // A saver has come and gone on.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        moved => moved?,
    }
    let aside = disk.enter(&workflows, ASIDE)?;
    let mut names = Vec::new();
    disk.list(&aside, &mut |name| names.push(name.to_owned()))?;
    if names.len() == 2 {
        names.iter().try_for_each(|name| disk.discard(&aside, name))?;
        match disk.remove_dir(&workflows, ASIDE) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            removed => return removed,
        }
    }
    match disk.move_aside(&workflows, ASIDE, &workflows, &name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        back => back,
    }
}

#[test]
fn a_compaction_that_moves_the_directory_aside_hides_what_was_acknowledged() {
    let bounds = Bounds { savers: 2, preemptions: 1, ..COMPACTED };
    let explored = model::explore_with(&Honest, bounds, |_| Way::Aside);
    assert_reported(&explored.wrong, "is not there");
}
