//! One workflow of the live store, and reading its entries. Nothing is used before its digest has been checked.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::archive::Archive;
use super::disk::{Access, Disk, Stat};
use super::error::{Error, Result};
use super::layout::{self, EntryName, WORKFLOWS};
use super::open::Store;
use super::publish::NewFile;
use crate::files::FileProblem;
use ckpt_model::cause::Cause;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::format::{self, Header, MAX_FILE_BYTES, Unusable};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// The number of entries below a damaged one that are tried.
pub(super) const MAX_LOOKBACK: usize = 64;

/// A checkpoint or a seal, and the bytes it was read from.
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
    /// Decodes the file of `handle`.
    pub(super) fn decode(handle: &Handle, bytes: Vec<u8>) -> Result<Self, Unusable> {
        let checkpoint = format::decode(&bytes)?;
        belongs(handle, &checkpoint.workflow, checkpoint.seq)?;
        Ok(Self { checkpoint, bytes, bundle: None })
    }
}

/// One entry of a workflow.
#[derive(Debug, Clone)]
pub enum Entry<T> {
    /// A checkpoint.
    Checkpoint(T),
    /// A seal: everything below it is archived, or about to be.
    Seal(T),
    /// A tombstone: the content is in the archive, or was deleted.
    Tombstone,
}

/// One workflow of the live store: its id and its open directory. Without a directory it has no live entries.
#[derive(Debug)]
pub(super) struct Workflow<'s, D: Disk> {
    pub(super) store: &'s Store<D>,
    pub(super) id: &'s WorkflowId,
    dir: Option<D::Dir>,
}

impl<D: Disk> Store<D> {
    /// Opens a workflow.
    pub(super) fn workflow<'s>(&'s self, id: &'s WorkflowId) -> Result<Workflow<'s, D>> {
        let dir = self.open_below(&[self.name(), WORKFLOWS, &id.directory()])?;
        Ok(Workflow { store: self, id, dir })
    }

    /// Opens a workflow in the open directory of all workflows.
    pub(super) fn workflow_in<'s>(&'s self, workflows: Option<&D::Dir>, id: &'s WorkflowId) -> Result<Workflow<'s, D>> {
        let opened = workflows.map(|workflows| self.disk().enter(workflows, &id.directory()));
        let dir = opened.map(|opened| self.found(opened, || self.workflow_dir(id))).transpose()?.flatten();
        Ok(Workflow { store: self, id, dir })
    }

    /// Creates the directory of a workflow, and the store, if they are missing.
    pub(super) fn make_workflow(&self, id: &WorkflowId) -> Result<()> {
        self.create()?;
        let path = self.workflow_dir(id);
        let missing = || self.failed("open", &self.root().join(WORKFLOWS), io::ErrorKind::NotFound.into());
        let workflows = self.open_workflows()?.ok_or_else(missing)?;
        self.make(&workflows, &id.directory(), &path).map(drop)
    }

    /// Returns the numbers that are taken in the live store; empty if there is no such workflow.
    ///
    /// # Errors
    /// The store cannot be read.
    #[cfg(feature = "testing")]
    pub fn numbers(&self, workflow: &WorkflowId) -> Result<BTreeSet<u64>> {
        self.workflow(workflow)?.numbers()
    }

    /// Reads one checkpoint, live or archived. The number of a seal gives the seal.
    ///
    /// # Errors
    /// It is missing or damaged, or the store cannot be read.
    pub fn load(&self, handle: &Handle) -> Result<Stored> {
        match handle.side {
            Some(digest) => self.load_side(handle, digest),
            None => self.workflow(&handle.workflow)?.load(handle.seq),
        }
    }

    /// Reads the file of a checkpoint as it is, whatever its format, and returns the path of its bundle if it is
    /// archived.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load_bytes(&self, handle: &Handle) -> Result<(Vec<u8>, Option<PathBuf>)> {
        if let Some(digest) = handle.side {
            return Ok((self.side_bytes(handle, digest)?, None));
        }
        let workflow = self.workflow(&handle.workflow)?;
        match workflow.read_bytes(handle.seq) {
            Ok(bytes) if !bytes.is_empty() => Ok((bytes, None)),
            Ok(_) | Err(Unusable::Missing) => {
                let (name, bytes) = workflow.archive()?.find(handle.seq)?;
                Ok((bytes, Some(self.bundle_path(&handle.workflow, &name))))
            }
            Err(why) => Err(workflow.damaged(handle.seq, why)),
        }
    }
}

impl<'s, D: Disk> Workflow<'s, D> {
    /// Uses a directory that was opened by the caller.
    pub(super) fn with_dir(store: &'s Store<D>, id: &'s WorkflowId, dir: Option<D::Dir>) -> Self {
        Self { store, id, dir }
    }

    pub(super) fn archive(&self) -> Result<Archive<'s, D>> {
        self.store.archive_of(self.id)
    }

    pub(super) fn handle(&self, seq: u64) -> Handle {
        Handle::new(self.id, seq)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.store.workflow_dir(self.id)
    }

    pub(super) fn file_path(&self, seq: u64) -> PathBuf {
        self.store.checkpoint_path(&self.handle(seq))
    }

    /// Returns the directory, if it exists.
    pub(super) fn dir(&self) -> Option<&D::Dir> {
        self.dir.as_ref()
    }

    fn existing_dir(&self) -> io::Result<&D::Dir> {
        self.dir.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Passes each name in the directory to `visit`.
    pub(super) fn list(&self, mut visit: impl FnMut(&str)) -> Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let listed = self.store.disk().list(dir, &mut visit);
        listed.map_err(|error| self.store.failed("list", &self.path(), error))
    }

    /// Passes the number of each entry to `visit`, in no order.
    pub(super) fn each_number(&self, mut visit: impl FnMut(u64)) -> Result<()> {
        self.list(|name| visit_number(name, &mut visit))
    }

    /// Returns the numbers that are taken in the live store.
    pub(super) fn numbers(&self) -> Result<BTreeSet<u64>> {
        let mut numbers = BTreeSet::new();
        self.each_number(|seq| {
            numbers.insert(seq);
        })?;
        Ok(numbers)
    }

    /// Returns the numbers below `end` that are not tombstones.
    pub(super) fn live_below(&self, end: u64) -> Result<BTreeSet<u64>> {
        let mut numbers = self.numbers()?;
        numbers.retain(|seq| *seq < end && !self.stat(*seq).is_ok_and(|stat| stat.is_empty_file()));
        Ok(numbers)
    }

    /// Returns the names in the directory.
    pub(super) fn names(&self) -> Result<BTreeSet<String>> {
        self.dir.as_ref().map_or_else(|| Ok(BTreeSet::new()), |dir| self.store.names(dir, &self.path()))
    }

    pub(super) fn stat(&self, seq: u64) -> io::Result<Stat> {
        self.stat_name(&layout::checkpoint_file(seq))
    }

    pub(super) fn stat_name(&self, name: &str) -> io::Result<Stat> {
        self.store.disk().stat(self.existing_dir()?, name)
    }

    /// Returns the metadata of the directory, if it exists.
    pub(super) fn stat_dir(&self) -> Option<io::Result<Stat>> {
        self.dir.as_ref().map(|dir| self.store.disk().stat_dir(dir))
    }

    /// Reads the file of a number.
    pub(super) fn read_bytes(&self, seq: u64) -> Result<Vec<u8>, Unusable> {
        let dir = self.dir.as_ref().ok_or(Unusable::Missing)?;
        self.store.disk().read(dir, &layout::checkpoint_file(seq), MAX_FILE_BYTES).map_err(unusable)
    }

    /// Reads the temporary files that are there. They may be incomplete.
    pub(super) fn read_staged(&self) -> Result<Vec<Vec<u8>>> {
        let mut staged = Vec::new();
        for name in self.names()?.into_iter().filter(|name| layout::is_staged(name)) {
            let Some(dir) = &self.dir else { continue };
            match self.store.disk().read(dir, &name, MAX_FILE_BYTES) {
                Ok(bytes) => staged.push(bytes),
                Err(FileProblem::Io(error)) => {
                    return Err(self.store.failed("read", &self.path().join(&name), error));
                }
                // It is gone, or no save has written it.
                Err(_) => {}
            }
        }
        Ok(staged)
    }

    /// Reads and decodes the entry of a number.
    pub(super) fn read_entry(&self, seq: u64) -> Result<Entry<Stored>, Unusable> {
        let bytes = self.read_bytes(seq)?;
        if bytes.is_empty() {
            return Ok(Entry::Tombstone);
        }
        let stored = Stored::decode(&self.handle(seq), bytes)?;
        let sealed = stored.checkpoint.sealed.is_some();
        Ok(if sealed { Entry::Seal(stored) } else { Entry::Checkpoint(stored) })
    }

    /// Reads the header of an entry, and the size of its file.
    pub(super) fn read_header(&self, seq: u64) -> Result<Entry<(Header, u64)>, Unusable> {
        let bytes = self.read_bytes(seq)?;
        if bytes.is_empty() {
            return Ok(Entry::Tombstone);
        }
        let header = decode_header(&self.handle(seq), &bytes)?;
        let sealed = header.sealed.is_some();
        let read = (header, bytes.len() as u64);
        Ok(if sealed { Entry::Seal(read) } else { Entry::Checkpoint(read) })
    }

    /// Reads a checkpoint or a seal, live or archived.
    pub(super) fn load(&self, seq: u64) -> Result<Stored> {
        let entry = match self.read_entry(seq) {
            Ok(Entry::Checkpoint(stored) | Entry::Seal(stored)) if seq > 0 => return Ok(stored),
            Ok(_) => Ok(()),
            Err(why) => Err(why),
        };
        // Read after the entry: a seal is published above a checkpoint before a tombstone replaces it.
        let Some(head) = self.head_number()? else { return Err(self.no_such_workflow()) };
        if seq == 0 || seq > head {
            return Err(Error::NoSuchCheckpoint { asked: self.handle(seq).to_string(), newest: self.handle(head) });
        }
        match entry {
            Ok(()) if seq < head => self.archive()?.load(seq),
            // The head is never archived without a seal above it.
            Ok(()) => Err(self.damaged(seq, Unusable::Empty)),
            Err(Unusable::Missing) => match self.archive()?.load(seq) {
                Err(Error::Archived { deleted: None, .. }) => Err(self.damaged(seq, Unusable::Missing)),
                loaded => loaded,
            },
            Err(why) => Err(self.damaged(seq, why)),
        }
    }

    /// Publishes the file of a number. One that is there stays.
    pub(super) fn publish_file(&self, seq: u64, bytes: &[u8], save_id: &str) -> Result<()> {
        self.write_file(seq, bytes, save_id, |file, dir| file.publish(self.store.disk(), dir).map(drop))
    }

    /// Puts other bytes in the place of the file of a number, in one step.
    pub(super) fn replace_file(&self, seq: u64, bytes: &[u8], save_id: &str) -> Result<()> {
        self.write_file(seq, bytes, save_id, |file, dir| file.replace(self.store.disk(), dir))
    }

    fn write_file(
        &self,
        seq: u64,
        bytes: &[u8],
        save_id: &str,
        write: impl FnOnce(&NewFile<'_>, &D::Dir) -> io::Result<()>,
    ) -> Result<()> {
        let file = NewFile {
            staged: &layout::staged_file(&format!("{save_id}-{seq}"), 0),
            name: &layout::checkpoint_file(seq),
            bytes,
            access: Access::ReadOnly,
        };
        let written = self.existing_dir().and_then(|dir| write(&file, dir));
        written.map_err(|error| self.store.not_written(&self.file_path(seq), error))
    }

    /// Syncs the directory.
    pub(super) fn sync(&self) -> Result<()> {
        let synced = self.existing_dir().and_then(|dir| self.store.disk().sync_dir(dir));
        synced.map_err(|error| self.store.failed("sync", &self.path(), error))
    }

    pub(super) fn no_such_workflow(&self) -> Error {
        Error::NoSuchWorkflow { id: self.id.clone(), similar: Vec::new() }
    }

    /// The error about an entry that cannot be used, with the checkpoint to fall back on.
    ///
    /// A file that the operating system cannot read may be undamaged: that is an I/O error, which may pass.
    pub(super) fn damaged(&self, seq: u64, why: Unusable) -> Error {
        let path = self.file_path(seq);
        if let Unusable::Unreadable(cause) = why {
            return self.store.failed("read", &path, cause.into_io());
        }
        Error::Damaged { handle: self.handle(seq), path, why, before: self.usable_below(seq) }
    }

    /// Finds the newest live checkpoint below a number that can be read.
    pub(super) fn usable_below(&self, seq: u64) -> Option<Handle> {
        let mut below = (1..seq).rev().take(MAX_LOOKBACK);
        let usable = below.find(|seq| matches!(self.read_header(*seq), Ok(Entry::Checkpoint(_))));
        usable.map(|seq| self.handle(seq))
    }
}

/// Returns why a file that could not be read is no checkpoint.
pub(super) fn unusable(problem: FileProblem) -> Unusable {
    match problem {
        FileProblem::Missing => Unusable::Missing,
        FileProblem::NotAFile | FileProblem::Outside | FileProblem::NotUtf8 => Unusable::NotAFile,
        FileProblem::TooLarge(_) => Unusable::TooLarge,
        FileProblem::Io(error) => Unusable::Unreadable(Cause::new(error)),
    }
}

/// Decodes the header of the file of `handle`.
pub(super) fn decode_header(handle: &Handle, bytes: &[u8]) -> Result<Header, Unusable> {
    let header = format::decode_header(bytes)?;
    belongs(handle, &header.workflow, header.seq)?;
    Ok(header)
}

fn visit_number(name: &str, visit: &mut impl FnMut(u64)) {
    if let EntryName::Number(seq) = EntryName::parse(name) {
        visit(seq);
    }
}

/// Checks that a file stands for itself: one copied from elsewhere has a valid digest.
pub(super) fn belongs(place: &Handle, workflow: &WorkflowId, seq: u64) -> Result<(), Unusable> {
    let found = Handle::new(workflow, seq);
    if found == *place {
        Ok(())
    } else {
        Err(Unusable::Misplaced { found: found.to_string(), expected: place.to_string() })
    }
}
