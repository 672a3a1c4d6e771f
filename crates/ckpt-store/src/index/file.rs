//! The file of the index.

use std::io;
use std::time::SystemTime;

use super::block::{IndexReader, max_bytes, write_block, write_first_block};
use crate::disk::{Access, Disk};
use crate::file_stamp::FileStamp;
use crate::layout::{self, ARCHIVE, INDEX, WORKFLOWS};
use crate::open::Store;

/// In a smaller store, heads are read faster than directories are compared with an index.
pub(crate) const LEAST_WORKFLOWS: usize = 512;
/// The index is written again if more than one line in this many is outdated.
pub(crate) const REWRITE_SHARE: usize = 100;
/// So many temporary names are tried; others belong to concurrent or killed readers.
const MAX_STALE: u32 = 10;

/// The stamps of the directories whose names are the workflows of a store: the live ones and, if there are any, the
/// archived ones.
pub(crate) type SetStamp = (FileStamp, Option<FileStamp>);

/// The directory that holds the index.
pub(crate) struct IndexFile<'s, D: Disk> {
    disk: &'s D,
    store: &'s Store<D>,
    root: D::Dir,
}

/// An index that is being written. It replaces the other one when it is finished, and is removed if it is not.
pub(crate) struct IndexWriter<'i, D: Disk> {
    index: &'i IndexFile<'i, D>,
    staged: String,
    /// None after a failure.
    file: Option<D::File>,
    /// Only what was read after this time may be written.
    pub(crate) time: SystemTime,
}

impl<'s, D: Disk> IndexFile<'s, D> {
    /// Opens the directory. Returns none if that fails, and then there is no index.
    pub(crate) fn open(store: &'s Store<D>) -> Option<Self> {
        Some(Self { disk: store.disk(), store, root: store.open_root().ok()? })
    }

    /// Opens the index, if there is one.
    pub(crate) fn read(&self) -> Option<IndexReader<D::File>> {
        IndexReader::new(self.disk.open(&self.root, INDEX).ok()?)
    }

    /// Returns the state of the directories whose names are the workflows.
    pub(crate) fn set_stamp(&self) -> Option<SetStamp> {
        let live = FileStamp::of_directory(&self.disk.stat(&self.root, WORKFLOWS).ok()?)?;
        match self.disk.stat(&self.root, ARCHIVE) {
            Ok(stat) => Some((live, Some(FileStamp::of_directory(&stat)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some((live, None)),
            Err(_) => None,
        }
    }

    /// Returns the time by the clock of the file system, which is that of a new file. Returns none if none can be
    /// created, or the directory does not get that time, because then no time of a directory can be relied on.
    pub(crate) fn time(&self) -> Option<SystemTime> {
        let create = |name: &str| self.disk.stage(&self.root, name, b"", Access::ReadWrite).map(drop);
        let (name, ()) = self.stage_under_any(create)?;
        let stat = self.disk.stat(&self.root, &name);
        let root = self.disk.base().and_then(|base| self.disk.stat(&base, self.store.name()));
        self.disk.remove(&self.root, &name).ok()?;
        let time = stat.ok()?.changed?;
        (root.ok()?.changed? >= time).then_some(time)
    }

    /// Begins an index of this many workflows, which were listed after `time`.
    pub(crate) fn begin(&'s self, time: SystemTime, count: usize, set: Option<SetStamp>) -> Option<IndexWriter<'s, D>> {
        let is_before = |stamp: &FileStamp| stamp.is_before(time);
        let set = set.filter(|(live, archived)| is_before(live) && archived.as_ref().is_none_or(is_before));
        let mut writer = self.create(time, count)?;
        writer.attempt(|file| write_first_block(file, count, set));
        Some(writer)
    }

    /// Begins an index that is the same as another one before a position, where a block begins.
    pub(crate) fn begin_with(&'s self, other: &mut IndexReader<D::File>, before: u64) -> Option<IndexWriter<'s, D>> {
        let mut writer = self.create(self.time()?, other.count)?;
        writer.attempt(|file| other.copy(before, file));
        Some(writer)
    }

    fn create(&'s self, time: SystemTime, count: usize) -> Option<IndexWriter<'s, D>> {
        let create = |name: &str| self.disk.create(&self.root, name, max_bytes(count));
        let (staged, file) = self.stage_under_any(create)?;
        Some(IndexWriter { index: self, staged, file: Some(file), time })
    }

    /// Creates a file under the first temporary name that is free, and returns the name.
    fn stage_under_any<T>(&self, create: impl Fn(&str) -> io::Result<T>) -> Option<(String, T)> {
        for attempt in 0..MAX_STALE {
            let name = layout::staged_file(INDEX, attempt);
            match create(&name) {
                Ok(file) => return Some((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
        }
        None
    }
}

impl<D: Disk> IndexWriter<'_, D> {
    /// Adds a block of lines.
    pub(crate) fn add(&mut self, lines: &str) {
        self.attempt(|file| write_block(file, lines));
    }

    /// Puts the index in its place.
    pub(crate) fn finish(mut self) {
        let IndexFile { disk, root, .. } = self.index;
        if self.file.take().is_some() && disk.replace(root, &self.staged, INDEX).is_ok() {
            self.staged.clear();
        }
    }

    fn attempt(&mut self, write: impl FnOnce(&mut D::File) -> io::Result<()>) {
        if self.file.as_mut().is_some_and(|file| write(file).is_err()) {
            self.file = None;
        }
    }
}

impl<D: Disk> Drop for IndexWriter<'_, D> {
    fn drop(&mut self) {
        if !self.staged.is_empty() {
            let _ = self.index.disk.remove(&self.index.root, &self.staged);
        }
    }
}
