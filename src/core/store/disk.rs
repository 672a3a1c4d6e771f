//! The seam between the protocol and the disk.
//!
//! Everything durable goes through these few steps, one system call or so each. The real implementation is
//! [`OsDisk`](super::OsDisk); tests put others in its place, which fail or crash at a chosen step, forget what was not
//! synced, or leave a protection out.

use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use crate::core::files::FileProblem;

/// Identifies a file whatever its name: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub u64, pub u64);

/// Who may change a file once it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nobody: a checkpoint.
    Sealed,
    /// Its owner: a settings file.
    Editable,
}

/// What kind of thing has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// What is known of a name without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What it is.
    pub kind: Kind,
    /// Who may do what with it: the last nine bits of its mode.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
}

/// What the store asks of a disk. Names are single path components; nothing here follows a symbolic link.
pub trait Disk {
    /// An open directory. It stays the same directory when its name is given to another one.
    type Dir: fmt::Debug + Send;
    /// Held while a workflow is being written, by whoever was patient enough to get it.
    type Lock;

    /// Opens the directory that holds the store.
    ///
    /// # Errors
    /// The operating system refuses.
    fn base(&self) -> io::Result<Self::Dir>;

    /// Opens a directory inside another.
    ///
    /// # Errors
    /// It is missing, or no directory, or the operating system refuses.
    fn enter(&self, dir: &Self::Dir, name: &str) -> io::Result<Self::Dir>;

    /// Opens a directory several levels below another, by the names on the way.
    ///
    /// # Errors
    /// One of them is missing, or no directory, or the operating system refuses.
    fn descend(&self, dir: &Self::Dir, names: &[&str]) -> io::Result<Self::Dir> {
        let mut names = names.iter();
        let first = self.enter(dir, names.next().copied().unwrap_or("."))?;
        names.try_fold(first, |dir, name| self.enter(&dir, name))
    }

    /// Opens a directory by the names that lead to it from the directory that holds the store.
    ///
    /// # Errors
    /// One of them is missing, or no directory, or the operating system refuses.
    fn reach(&self, names: &[&str]) -> io::Result<Self::Dir> {
        self.descend(&self.base()?, names)
    }

    /// Makes a directory that only its owner can use.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], or the operating system refuses.
    fn make_dir(&self, dir: &Self::Dir, name: &str) -> io::Result<()>;

    /// Names everything in a directory. In one that was removed since it was opened there is nothing.
    ///
    /// # Errors
    /// The operating system refuses.
    fn list(&self, dir: &Self::Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()>;

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// # Errors
    /// Says what is in the way.
    fn read(&self, dir: &Self::Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem>;

    /// The size of a regular file.
    ///
    /// # Errors
    /// Says what is in the way.
    fn size(&self, dir: &Self::Dir, name: &str) -> Result<u64, FileProblem>;

    /// Looks at whatever has a name.
    ///
    /// # Errors
    /// Nothing has it, or the operating system refuses.
    fn look(&self, dir: &Self::Dir, name: &str) -> io::Result<Look>;

    /// When a file was last written. Only leftovers are judged by it, never checkpoints.
    ///
    /// # Errors
    /// The operating system refuses.
    fn modified(&self, dir: &Self::Dir, name: &str) -> io::Result<SystemTime>;

    /// Waits up to `patience` for the advisory lock of a directory; `None` if others kept it for so long, or if the
    /// file system has no such locks.
    fn lock(&self, dir: &Self::Dir, patience: Duration) -> Option<Self::Lock>;

    /// Writes a new file under a name nobody looks at, makes its content durable, and identifies it.
    ///
    /// # Errors
    /// The operating system refuses; the name may exist then.
    fn stage(&self, dir: &Self::Dir, name: &str, bytes: &[u8], access: Access) -> io::Result<FileId>;

    /// Gives a staged file its final name, if nothing has that name.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`]; [`io::ErrorKind::Unsupported`] if the file system cannot do it; or the
    /// operating system refuses.
    fn publish(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()>;

    /// Gives a staged file its final name in one step; what had that name is gone.
    ///
    /// # Errors
    /// The operating system refuses.
    fn replace(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()>;

    /// Gives whatever has a name another name in another directory, if nothing has that one.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], or the operating system refuses.
    fn move_aside(&self, dir: &Self::Dir, name: &str, to: &Self::Dir, new_name: &str) -> io::Result<()>;

    /// How many names a file has.
    ///
    /// # Errors
    /// The operating system refuses.
    fn link_count(&self, dir: &Self::Dir, name: &str) -> io::Result<u64>;

    /// Identifies the file that has this name now.
    ///
    /// # Errors
    /// The operating system refuses.
    fn identify(&self, dir: &Self::Dir, name: &str) -> io::Result<FileId>;

    /// Removes a name.
    ///
    /// # Errors
    /// The operating system refuses.
    fn discard(&self, dir: &Self::Dir, name: &str) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// The operating system refuses; what is durable is unknown then.
    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()>;

    /// Waits.
    fn pause(&self, duration: Duration);
}
