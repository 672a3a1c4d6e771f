//! Reading checkpoints. Nothing here writes, and nothing is used before its digest has been checked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::bundle::{BadBundle, BundleName};
use super::disk::Disk;
use super::error::{Error, Result};
use super::layout::{self, EntryName};
use super::open::Store;
use crate::core::cause::Cause;
use crate::core::checkpoint::Checkpoint;
use crate::core::files::FileProblem;
use crate::core::format::{self, Header, MAX_FILE_BYTES, Unusable};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// A checkpoint and the bytes it was read from.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The checkpoint.
    pub checkpoint: Box<Checkpoint>,
    /// Its file, byte for byte.
    pub bytes: Vec<u8>,
    /// The bundle it was read from; none if it is live.
    pub bundle: Option<PathBuf>,
}

impl Stored {
    /// Reads the file of `handle`.
    pub(super) fn decode(handle: &Handle, bytes: Vec<u8>) -> Result<Self, Unusable> {
        let checkpoint = format::decode(&bytes)?;
        belongs(handle, &checkpoint.workflow, checkpoint.seq)?;
        Ok(Self { checkpoint, bytes, bundle: None })
    }
}

/// What is in the file of a number.
#[derive(Debug, Clone)]
pub enum Entry<T> {
    /// A checkpoint.
    Live(T),
    /// A seal: what is below it is archived, or about to be.
    Sealed(T),
    /// Nothing: its content is in the archive.
    Tombstone,
}

impl Entry<Stored> {
    fn of(stored: Stored) -> Self {
        if stored.checkpoint.sealed.is_none() { Self::Live(stored) } else { Self::Sealed(stored) }
    }
}

impl<D: Disk> Store<D> {
    /// The numbers that are taken in a workflow, in order; empty if there is no such workflow.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn numbers(&self, workflow: &WorkflowId) -> Result<BTreeSet<u64>> {
        let mut numbers = BTreeSet::new();
        if let Some(dir) = self.open_workflow(workflow)? {
            self.each_number(&dir, workflow, &mut |seq| {
                numbers.insert(seq);
            })?;
        }
        Ok(numbers)
    }

    /// The highest number that is taken in a workflow, live or archived; none if there is no such workflow.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn newest_number(&self, workflow: &WorkflowId) -> Result<Option<u64>> {
        self.newest_known(self.open_workflow(workflow)?.as_ref(), workflow)
    }

    /// The highest number that is taken. A bundle is only ever published below a live number, so the directory knows
    /// it; where files were removed by hand, the bundle does, and no number that it holds is given out again.
    pub(super) fn newest_known(&self, dir: Option<&D::Dir>, workflow: &WorkflowId) -> Result<Option<u64>> {
        let live = dir.map_or(Ok(None), |dir| self.newest_in(dir, workflow))?;
        self.newest_above(live, workflow)
    }

    /// The highest number that is taken, where `live` is the highest in the directory.
    pub(super) fn newest_above(&self, live: Option<u64>, workflow: &WorkflowId) -> Result<Option<u64>> {
        let bundles = match self.bundles(workflow) {
            // Something else in the place of the archive holds no number.
            Err(Error::NotAStore { .. }) => Vec::new(),
            bundles => bundles?,
        };
        match bundles.first() {
            Some(bundle) if live.is_none_or(|live| live <= bundle.last) => {
                Ok(live.max(Some(self.highest_in(workflow, bundle)?)))
            }
            _ => Ok(live),
        }
    }

    /// The highest number that a bundle holds; if it is damaged, the highest that it can hold.
    fn highest_in(&self, workflow: &WorkflowId, bundle: &BundleName) -> Result<u64> {
        match self.with_bundle(workflow, bundle, &mut |bundle| Ok(bundle.manifest().clone())) {
            Ok(Some(manifest)) => Ok(manifest.entries.first().map_or(bundle.last, |entry| entry.seq)),
            // Merged meanwhile: the other bundle holds no more.
            Ok(None) => Ok(bundle.last),
            Err(Error::DamagedBundle { why, .. }) if !matches!(why, BadBundle::Unreadable(_)) => {
                Ok(bundle.last.saturating_add(1))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the newest checkpoint of a workflow, which may be a seal; none if there is no such workflow.
    ///
    /// # Errors
    /// It is damaged, or the store cannot be read.
    pub fn newest(&self, workflow: &WorkflowId) -> Result<Option<Stored>> {
        let dir = self.open_workflow(workflow)?;
        match self.newest_known(dir.as_ref(), workflow)? {
            Some(seq) => self.load_in(dir.as_ref(), &Handle::new(workflow, seq)).map(Some),
            None => Ok(None),
        }
    }

    /// Reads one checkpoint, out of the archive if it is there. The number of a seal gives the seal.
    ///
    /// # Errors
    /// It is missing or damaged, or the store cannot be read.
    pub fn load(&self, handle: &Handle) -> Result<Stored> {
        self.load_in(self.open_workflow(&handle.workflow)?.as_ref(), handle)
    }

    pub(super) fn load_in(&self, dir: Option<&D::Dir>, handle: &Handle) -> Result<Stored> {
        let missing = || Error::NoSuchWorkflow { given: handle.workflow.clone(), similar: Vec::new() };
        let entry = dir.map_or(Err(Unusable::Missing), |dir| self.read_checkpoint(dir, handle));
        // What is there needs no look at its neighbours; what is not may be too new, archived, or lost.
        let entry = match entry {
            Ok(Entry::Live(stored) | Entry::Sealed(stored)) if handle.seq > 0 => return Ok(stored),
            entry => entry.map(drop),
        };
        let newest = self.newest_known(dir, &handle.workflow)?.ok_or_else(missing)?;
        if handle.seq == 0 || handle.seq > newest {
            let newest = Handle::new(&handle.workflow, newest);
            return Err(Error::NoSuchCheckpoint { asked: handle.to_string(), newest });
        }
        match entry {
            // An empty file below the newest number says "archived"; the newest itself is never archived that way.
            Ok(()) if handle.seq < newest || self.is_overtaken(dir, handle)? => self.load_archived(handle),
            Ok(()) => Err(self.damaged(handle, Unusable::Empty)),
            Err(Unusable::Missing) => match self.load_archived(handle) {
                Err(Error::Archived { .. }) if !self.is_noted_gone(handle)? => {
                    Err(self.damaged(handle, Unusable::Missing))
                }
                found => found,
            },
            Err(why) => Err(self.damaged(handle, why)),
        }
    }

    /// Whether anything has been saved in a workflow.
    ///
    /// Numbers begin at 1 and are never freed, so one look at the first usually answers it, however many there are.
    pub(super) fn has_checkpoints(&self, workflow: &WorkflowId) -> Result<bool> {
        let dir = self.open_workflow(workflow)?;
        let first = dir.as_ref().map(|dir| self.disk().stat(dir, &layout::checkpoint_file(1)));
        match first {
            Some(Ok(_)) => Ok(true),
            _ => Ok(self.newest_known(dir.as_ref(), workflow)?.is_some()),
        }
    }

    /// Reads the file of a checkpoint as it is, whatever its format, and names the bundle if it is archived.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load_bytes(&self, handle: &Handle) -> Result<(Vec<u8>, Option<PathBuf>)> {
        let dir = self.open_workflow(&handle.workflow)?;
        let bytes = dir.as_ref().map_or(Err(Unusable::Missing), |dir| self.read_bytes(dir, handle));
        match bytes {
            Ok(bytes) if !bytes.is_empty() => Ok((bytes, None)),
            Ok(_) | Err(Unusable::Missing) => {
                let (name, bytes) = self.find_archived(handle)?;
                Ok((bytes, Some(self.bundle_path(&handle.workflow, &name))))
            }
            Err(why) => Err(self.damaged(handle, why)),
        }
    }

    /// Reads the newest checkpoint, which was `seq` a moment ago. A file that was removed by hand is read from the
    /// archive.
    pub(super) fn read_newest(
        &self,
        dir: Option<&D::Dir>,
        workflow: &WorkflowId,
        seq: u64,
    ) -> Result<(Handle, Result<Entry<Stored>, Unusable>)> {
        let mut newest = Handle::new(workflow, seq);
        loop {
            let entry = dir.map_or(Err(Unusable::Missing), |dir| self.read_checkpoint(dir, &newest));
            if !matches!(entry, Ok(Entry::Tombstone) | Err(Unusable::Missing)) {
                return Ok((newest, entry));
            }
            // Archived since it was listed: then there is a seal now.
            if let Some(now) = self.newest_known(dir, workflow)?.filter(|now| *now != newest.seq) {
                newest.seq = now;
                continue;
            }
            let entry = match entry {
                Err(Unusable::Missing) => match self.load_archived(&newest) {
                    Ok(stored) => Ok(Entry::of(stored)),
                    Err(Error::Archived { .. }) => Err(Unusable::Missing),
                    Err(error) => return Err(error),
                },
                entry => entry,
            };
            return Ok((newest, entry));
        }
    }

    /// Whether a number that was the newest one is so no longer.
    pub(super) fn is_overtaken(&self, dir: Option<&D::Dir>, handle: &Handle) -> Result<bool> {
        Ok(self.newest_known(dir, &handle.workflow)? > Some(handle.seq))
    }

    pub(super) fn each_number(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        visit: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let each = &mut |name: &str| {
            if let EntryName::Checkpoint(seq) = EntryName::parse(name) {
                visit(seq);
            }
        };
        self.disk().list(dir, each).map_err(|error| self.failed("list", &self.workflow_dir(workflow), error))
    }

    pub(super) fn newest_in(&self, dir: &D::Dir, workflow: &WorkflowId) -> Result<Option<u64>> {
        let mut newest = None;
        self.each_number(dir, workflow, &mut |seq| newest = newest.max(Some(seq)))?;
        Ok(newest)
    }

    pub(super) fn read_checkpoint(&self, dir: &D::Dir, handle: &Handle) -> Result<Entry<Stored>, Unusable> {
        let bytes = self.read_bytes(dir, handle)?;
        if bytes.is_empty() {
            return Ok(Entry::Tombstone);
        }
        Stored::decode(handle, bytes).map(Entry::of)
    }

    pub(super) fn read_header(
        &self,
        dir: &D::Dir,
        handle: &Handle,
    ) -> Result<Entry<(Header, u64)>, Unusable> {
        let bytes = self.read_bytes(dir, handle)?;
        if bytes.is_empty() {
            return Ok(Entry::Tombstone);
        }
        let header = format::decode_header(&bytes)?;
        belongs(handle, &header.workflow, header.seq)?;
        let sealed = header.sealed.is_some();
        let read = (header, bytes.len() as u64);
        Ok(if sealed { Entry::Sealed(read) } else { Entry::Live(read) })
    }

    pub(super) fn read_bytes(&self, dir: &D::Dir, handle: &Handle) -> Result<Vec<u8>, Unusable> {
        self.disk().read(dir, &layout::checkpoint_file(handle.seq), MAX_FILE_BYTES).map_err(|problem| {
            match problem {
                FileProblem::Missing => Unusable::Missing,
                FileProblem::NotAFile | FileProblem::Outside | FileProblem::NotUtf8 => Unusable::NotAFile,
                FileProblem::TooLarge(_) => Unusable::TooLarge,
                FileProblem::Io(error) => Unusable::Unreadable(Cause::new(error)),
            }
        })
    }

    /// An error about a file that cannot be used, with the checkpoint to fall back on.
    ///
    /// A file that the operating system does not let us read may be as whole as ever: that is trouble with the store,
    /// which may pass, and no damage.
    pub(super) fn damaged(&self, handle: &Handle, why: Unusable) -> Error {
        if let Unusable::Unreadable(cause) = why {
            return self.failed("read", &self.checkpoint_path(handle), cause.into_io());
        }
        let before = (1..handle.seq).rev().take(64).map(|seq| Handle::new(&handle.workflow, seq));
        let usable = |candidate: &Handle| {
            let dir = self.open_workflow(&candidate.workflow).ok().flatten();
            dir.is_some_and(|dir| matches!(self.read_header(&dir, candidate), Ok(Entry::Live(_))))
        };
        let before = before.into_iter().find(usable);
        Error::Damaged { handle: handle.clone(), path: self.checkpoint_path(handle), why, before }
    }
}

/// A file copied from elsewhere has a valid digest, but says who it is.
fn belongs(place: &Handle, workflow: &WorkflowId, seq: u64) -> Result<(), Unusable> {
    let found = Handle::new(workflow, seq);
    if found == *place {
        Ok(())
    } else {
        Err(Unusable::Misplaced { found: found.to_string(), expected: place.to_string() })
    }
}
