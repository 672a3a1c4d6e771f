//! The seam between the store and the file system.
//!
//! Every file operation of the store goes through [`Disk`], about one system call per method. The real implementation
//! is [`OsDisk`](super::OsDisk). Tests use others: one that fails or crashes at a chosen step, one in memory that
//! forgets what was not synced, and ones that leave a protection out.

use std::fmt;
use std::io::{self, Write as _};
use std::time::Duration;

use crate::files::FileProblem;
pub use ckpt_platform::{FileId, FileKind, Stat};

/// The permissions of a staged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Mode 0400: an immutable file, such as a checkpoint or a bundle.
    ReadOnly,
    /// Mode 0600: a file that its owner may edit, such as the settings.
    ReadWrite,
}

/// A staged file. While this value lives, [`Disk::remove_stale`] leaves the file alone.
#[derive(Debug)]
pub struct StagedFile<L> {
    /// Device and inode.
    pub id: FileId,
    /// Keeps the file open and locked.
    pub lock: Option<L>,
}

/// The file operations of a store. Names are single path components; symbolic links are never followed.
pub trait Disk {
    /// An open directory. It stays the same directory if it is renamed or its name is reused.
    type Dir: fmt::Debug + Send;
    /// Holds the advisory lock of a workflow or of a staged file until it is dropped.
    type Lock;
    /// An open cache file, which is read or written in parts.
    type File: io::Read + io::Write + io::Seek;

    /// Opens the directory that contains the store.
    ///
    /// # Errors
    /// It cannot be opened.
    fn base(&self) -> io::Result<Self::Dir>;

    /// Opens a directory inside another.
    ///
    /// # Errors
    /// It is missing, is not a directory, or cannot be opened.
    fn enter(&self, dir: &Self::Dir, name: &str) -> io::Result<Self::Dir>;

    /// Opens a directory by its path components below [`base`](Self::base).
    ///
    /// # Errors
    /// A component is missing, is not a directory, or cannot be opened.
    fn reach(&self, names: &[&str]) -> io::Result<Self::Dir> {
        names.iter().try_fold(self.base()?, |dir, name| self.enter(&dir, name))
    }

    /// Creates a directory with mode 0700.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], or it cannot be created.
    fn make_dir(&self, dir: &Self::Dir, name: &str) -> io::Result<()>;

    /// Passes each name in a directory to `visit`. A directory that was removed after it was opened is empty.
    ///
    /// # Errors
    /// It cannot be read.
    fn list(&self, dir: &Self::Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()>;

    /// Returns true if a directory is so short that listing it costs less than looking up a few dozen names.
    ///
    /// # Errors
    /// It cannot be read.
    fn is_short(&self, dir: &Self::Dir) -> io::Result<bool>;

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// # Errors
    /// It is missing, too large, not a regular file, or cannot be read.
    fn read(&self, dir: &Self::Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem>;

    /// Opens a regular file to read it in parts.
    ///
    /// # Errors
    /// It is missing, not a regular file, or cannot be opened.
    fn open(&self, dir: &Self::Dir, name: &str) -> Result<Self::File, FileProblem>;

    /// Returns the metadata of a directory entry.
    ///
    /// # Errors
    /// There is no such entry, or its metadata cannot be read.
    fn stat(&self, dir: &Self::Dir, name: &str) -> io::Result<Stat>;

    /// Returns the metadata of an open directory.
    ///
    /// # Errors
    /// It cannot be read.
    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat>;

    /// Waits up to `patience` for the advisory lock of a directory. Returns `None` if the wait was in vain or the file
    /// system has no such locks.
    fn lock(&self, dir: &Self::Dir, patience: Duration) -> Option<Self::Lock>;

    /// Creates a file under a temporary name, locks it and syncs its content.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], or it cannot be written. A file that was not written completely may remain.
    fn stage(&self, dir: &Self::Dir, name: &str, bytes: &[u8], access: Access) -> io::Result<StagedFile<Self::Lock>>;

    /// Creates a file of at most `size` bytes under a temporary name, to write it in parts and without a sync: a cache,
    /// which a power loss may damage or remove.
    ///
    /// # Errors
    /// As [`stage`](Self::stage).
    fn create(&self, dir: &Self::Dir, name: &str, size: u64) -> io::Result<Self::File>;

    /// Creates a file with this content under a temporary name, without a sync.
    ///
    /// # Errors
    /// As [`stage`](Self::stage).
    fn stage_unsynced(&self, dir: &Self::Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.create(dir, name, bytes.len() as u64)?.write_all(bytes)
    }

    /// Gives a staged file its final name, without replacing anything. The temporary name may remain.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; [`io::ErrorKind::Unsupported`] if the file system has
    /// neither hard links nor a rename that does not replace; or the operation fails.
    fn publish(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()>;

    /// Renames a staged file to its final name, replacing the file of that name atomically.
    ///
    /// # Errors
    /// The operation fails.
    fn replace(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()>;

    /// Moves an entry to another directory, without replacing anything.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the new name is taken, or the operation fails.
    fn move_aside(&self, dir: &Self::Dir, name: &str, to: &Self::Dir, new_name: &str) -> io::Result<()>;

    /// Removes a name.
    ///
    /// # Errors
    /// There is no such name, or it cannot be removed.
    fn remove(&self, dir: &Self::Dir, name: &str) -> io::Result<()>;

    /// Removes a temporary file, unless its writer is still at work. Returns false if it is.
    ///
    /// # Errors
    /// There is no such name, or it cannot be removed.
    fn remove_stale(&self, dir: &Self::Dir, name: &str) -> io::Result<bool>;

    /// Syncs a directory: the names in it survive a power loss.
    ///
    /// # Errors
    /// The sync failed; it is unknown which names are durable.
    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()>;

    /// Sleeps.
    fn pause(&self, duration: Duration);
}
