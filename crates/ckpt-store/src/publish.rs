//! Writing one file of the store: stage it, then publish it or let it replace another.
//!
//! Callers sync the directory afterwards, once for all files that they wrote.

use std::io;

use super::disk::{Access, Disk, StagedFile};

/// A file to be written.
pub(super) struct NewFile<'a> {
    /// The temporary name.
    pub(super) staged: &'a str,
    /// The final name.
    pub(super) name: &'a str,
    /// The content.
    pub(super) bytes: &'a [u8],
    /// The permissions.
    pub(super) access: Access,
}

impl NewFile<'_> {
    /// Publishes the file. Returns false if the name is taken; the file that has it stays.
    pub(super) fn publish<D: Disk>(&self, disk: &D, dir: &D::Dir) -> io::Result<bool> {
        let _staged = self.stage(disk, dir)?;
        let published = disk.publish(dir, self.staged, self.name);
        self.remove_staged(disk, dir);
        match published {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts the file in the place of the one that has its name, in one step.
    pub(super) fn replace<D: Disk>(&self, disk: &D, dir: &D::Dir) -> io::Result<()> {
        let _staged = self.stage(disk, dir)?;
        disk.replace(dir, self.staged, self.name).inspect_err(|_| self.remove_staged(disk, dir))
    }

    /// Writes and syncs the temporary file. The value has to live until the file has its final name.
    pub(super) fn stage<D: Disk>(&self, disk: &D, dir: &D::Dir) -> io::Result<StagedFile<D::Lock>> {
        disk.stage(dir, self.staged, self.bytes, self.access).inspect_err(|error| {
            // A file that was there before belongs to another writer.
            if error.kind() != io::ErrorKind::AlreadyExists {
                self.remove_staged(disk, dir);
            }
        })
    }

    /// Removes the temporary name. If that fails, a later cleanup removes it; nothing depends on it.
    pub(super) fn remove_staged<D: Disk>(&self, disk: &D, dir: &D::Dir) {
        let _ = disk.remove(dir, self.staged);
    }
}
