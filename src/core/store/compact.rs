//! Removing what an archived workflow leaves in the live store: a tombstone for every number, and the seal.
//!
//! # Why no number is given out again
//!
//! The bundle that the seal names holds the seal too, as its first file, and its name says the last number below it.
//! The bundle with the highest number never expires, and one that holds a seal is never merged. So the archive knows
//! the newest number of a workflow without its directory. It is made sure, by reading the whole bundle back once more,
//! that the seal is in it, byte for byte, and durable. A workflow that was purged has no such bundle; it gets one that
//! holds its seal and nothing else.
//!
//! Everybody who asks for the newest number asks the directory and the archive. Where the archive has a seal above all
//! that is in the directory, the seal is the newest. So it does not matter which part of a directory is there while it
//! is compacted, or after a crash, or because somebody restores at the same time.
//!
//! # Why nothing that was acknowledged is lost
//!
//! Nothing is moved away: the directory keeps its name and is emptied in place, and then removed by the one call that
//! removes an empty directory and nothing else. A saver works in that same directory. If its private file is there
//! first, the directory is not empty and stays; what is saved continues the seal, as after any compaction. If the
//! directory is removed first, nothing can be put into it any more, by whoever has it open; the saver notices before
//! it has written anything, and begins again. So there are never two directories in which the same number could be
//! taken.
//!
//! To move the directory aside, look again, and put it back if something is there would be simpler to read, but between
//! the two a second saver finds no directory, makes one, and takes the number that a first one was acknowledged in the
//! directory that is aside.
//!
//! # Order
//!
//! 1. The bundle is read back, and synced.
//! 2. Each tombstone gets a private name, is looked at under it, and is removed. A name can be given to other content
//!    between looking and removing, because restoring does that; a private one cannot. What is no tombstone after all
//!    gets its name back.
//! 3. The seal goes the same way, and comes back if anything else came meanwhile. Then the directory goes.
//!
//! Whoever is stopped leaves a directory that the next cleanup goes on with, and a power loss leaves any part of it. No
//! part means anything that the archive does not say better, so none of this is synced before the end.
//!
use std::io;

use super::append::LOCK_PATIENCE;
use super::bundle::{BundleName, Manifest, ManifestEntry, Writer};
use super::disk::Disk;
use super::gone::PURGED;
use super::layout::{self, EntryName, WORKFLOWS};
use super::open::Store;
use super::read::{Entry, Stored};
use crate::core::checkpoint::{Checkpoint, Sealed};
use crate::core::error::{Error, Result};
use crate::core::files::FileProblem;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// What is in the directory of a workflow that is to be compacted.
#[derive(Debug, Default)]
struct Left {
    /// The numbers, in order.
    numbers: Vec<u64>,
    /// The numbers that wait for their removal already, because somebody was stopped.
    waiting: Vec<u64>,
    /// Whether there is anything else: somebody is saving, or put something there.
    other: bool,
}

impl<D: Disk> Store<D> {
    /// Removes the directory of a workflow that is closed by the seal `seal`; false if there is more in it than
    /// tombstones and that seal.
    pub(super) fn compact(&self, workflow: &WorkflowId, seal: u64, save_id: &str) -> Result<bool> {
        let Some(dir) = self.open_workflow(workflow)? else { return Ok(false) };
        // Nothing depends on it, but savers and this one would only keep each other from their work.
        let _lock = self.disk().lock(&dir, LOCK_PATIENCE);
        for seq in self.left_in(&dir, workflow)?.waiting {
            self.settle(&dir, &Handle::new(workflow, seq))?;
        }
        let left = self.left_in(&dir, workflow)?;
        let is_shell = !left.other && left.numbers.last().is_none_or(|newest| *newest <= seal);
        if !is_shell || !self.live_below(&dir, workflow, seal)?.is_empty() {
            return Ok(false);
        }
        if !self.is_sealed(&dir, &Handle::new(workflow, seal), save_id)? {
            return Ok(false);
        }
        for seq in left.numbers.into_iter().filter(|seq| *seq != seal) {
            if !self.remove_tombstone(&dir, &Handle::new(workflow, seq))? {
                return Ok(false);
            }
        }
        match self.remove_seal(&dir, &Handle::new(workflow, seal))? {
            true => self.remove_workflow_dir(workflow),
            false => Ok(false),
        }
    }

    /// Removes the seal, unless something else is there by now: that is not to stand without it.
    fn remove_seal(&self, dir: &D::Dir, seal: &Handle) -> Result<bool> {
        let (name, private) = (layout::checkpoint_file(seal.seq), layout::compacting_file(seal.seq));
        match self.disk().move_aside(dir, &name, dir, &private) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(self.failed("move", &self.checkpoint_path(seal), error)),
        }
        let left = self.left_in(dir, &seal.workflow)?;
        if left.other || !left.numbers.is_empty() {
            return self.settle(dir, seal);
        }
        let path = self.workflow_dir(&seal.workflow).join(&private);
        self.remove(dir, &private, &path).map(|_| true)
    }

    fn left_in(&self, dir: &D::Dir, workflow: &WorkflowId) -> Result<Left> {
        let mut left = Left::default();
        let each = &mut |name: &str| match EntryName::parse(name) {
            EntryName::Checkpoint(seq) => left.numbers.push(seq),
            EntryName::Staged | EntryName::Foreign => match layout::compacting_number(name) {
                Some(seq) => left.waiting.push(seq),
                None => left.other = true,
            },
        };
        let listed = self.disk().list(dir, each);
        listed.map_err(|error| self.failed("list", &self.workflow_dir(workflow), error))?;
        left.numbers.sort_unstable();
        Ok(left)
    }

    /// Whether `seal` is a seal, and a bundle that was read back to its end and is durable holds it.
    fn is_sealed(&self, dir: &D::Dir, seal: &Handle, save_id: &str) -> Result<bool> {
        let workflow = &seal.workflow;
        let stored = match self.read_checkpoint(dir, seal) {
            Ok(Entry::Sealed(stored)) => stored,
            // Whoever was stopped here had removed it.
            Err(crate::core::format::Unusable::Missing) => self.load_archived(seal)?,
            Ok(_) => return Ok(false),
            Err(why) => return Err(self.damaged(seal, why)),
        };
        let Some(sealed) = &stored.checkpoint.sealed else { return Ok(false) };
        let name = match BundleName::parse(&sealed.bundle) {
            Some(name) => name,
            None if sealed.bundle == PURGED => self.pack_seal(&stored, sealed, save_id)?,
            None => return Ok(false),
        };
        let held = self.verify_bundle(workflow, &name)?;
        let held = held.as_ref().and_then(|manifest| manifest.entry(seal.seq));
        if held != Some(&ManifestEntry::of(seal.seq, &stored.bytes)) {
            return Err(Error::Archived { handle: seal.clone(), gone: None });
        }
        self.sync_archive(workflow)?;
        Ok(true)
    }

    /// Makes a bundle of nothing but the seal, for a workflow whose content was purged.
    fn pack_seal(&self, seal: &Stored, sealed: &Sealed, save_id: &str) -> Result<BundleName> {
        let Checkpoint { workflow, seq, saved_at, .. } = &*seal.checkpoint;
        let name = BundleName::new(sealed.last, sealed.last, *saved_at, &sealed.reason);
        let entries = vec![ManifestEntry::of(*seq, &seal.bytes)];
        let range = (name.first, name.last);
        let manifest = Manifest::new(workflow, range, &name.reason, *saved_at, entries);
        let path = self.bundle_path(workflow, &name);
        let failed = |error: io::Error| self.failed("write", &path, error);
        let mut writer = Writer::new(&manifest).map_err(failed)?;
        writer.add(*seq, &seal.bytes).map_err(failed)?;
        let bytes = writer.finish().map_err(failed)?;
        let staged = layout::staged_file(&format!("{save_id}-seal"), 0);
        self.publish_bundle(workflow, &name, &bytes, &staged)?;
        Ok(name)
    }

    /// Removes the file of a number if it is a tombstone; false if it is none.
    fn remove_tombstone(&self, dir: &D::Dir, handle: &Handle) -> Result<bool> {
        let (name, private) = (layout::checkpoint_file(handle.seq), layout::compacting_file(handle.seq));
        match self.disk().move_aside(dir, &name, dir, &private) {
            Ok(()) => self.settle(dir, handle),
            // Somebody else removes it too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(self.failed("move", &self.checkpoint_path(handle), error)),
        }
    }

    /// Removes what waits for its removal if it is a tombstone. What is none gets its name back.
    fn settle(&self, dir: &D::Dir, handle: &Handle) -> Result<bool> {
        let (name, private) = (layout::checkpoint_file(handle.seq), layout::compacting_file(handle.seq));
        let path = self.workflow_dir(&handle.workflow).join(&private);
        match self.disk().size(dir, &private) {
            Ok(0) => self.remove(dir, &private, &path).map(|_| true),
            Ok(_) | Err(FileProblem::NotAFile) => {
                match self.disk().move_aside(dir, &private, dir, &name) {
                    Ok(()) => Ok(false),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                    // It was restored once more: the same content under the same number.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        self.remove(dir, &private, &path).map(|_| false)
                    }
                    Err(error) => Err(self.failed("move", &path, error)),
                }
            }
            // Somebody else settled it.
            Err(FileProblem::Missing) => Ok(true),
            Err(_) => Err(self.failed("look at", &path, io::ErrorKind::Other.into())),
        }
    }

    /// Removes the directory of a workflow if it is empty; false if it is not, because somebody saves there.
    fn remove_workflow_dir(&self, workflow: &WorkflowId) -> Result<bool> {
        let Some(workflows) = self.open_workflows()? else { return Ok(false) };
        match self.disk().remove_dir(&workflows, &workflow.directory()) {
            Ok(()) => {
                let path = self.root().join(WORKFLOWS);
                self.disk().sync_dir(&workflows).map_err(|error| self.failed("sync", &path, error))?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed("remove", &self.workflow_dir(workflow), error)),
        }
    }
}
