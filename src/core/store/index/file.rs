//! The file of the index.

use std::io;
use std::time::SystemTime;

use super::line::{index_of, max_bytes};
use crate::core::store::disk::{Access, Disk};
use crate::core::store::layout::{self, INDEX};
use crate::core::store::open::Store;

/// In a smaller store, heads are read faster than directories are compared with an index.
pub(in crate::core::store) const LEAST_WORKFLOWS: usize = 512;
/// The index is written again if more than one workflow in this many was read.
pub(in crate::core::store) const REWRITE_SHARE: usize = 100;
/// So many temporary names are tried; others belong to concurrent or killed readers.
const MAX_STALE: u32 = 10;

/// The directory that holds the index.
pub(in crate::core::store) struct IndexFile<'s, D: Disk> {
    disk: &'s D,
    root: D::Dir,
}

impl<'s, D: Disk> IndexFile<'s, D> {
    /// Opens the directory. Returns none if that fails, and then there is no index.
    pub(in crate::core::store) fn open(store: &'s Store<D>) -> Option<Self> {
        Some(Self { disk: store.disk(), root: store.open_root().ok()? })
    }

    /// Reads the index of a store with this many workflows. Returns no bytes if it cannot be read.
    pub(in crate::core::store) fn read(&self, workflows: usize) -> Vec<u8> {
        self.disk.read(&self.root, INDEX, max_bytes(workflows)).unwrap_or_default()
    }

    /// Returns the time by the clock of the file system, which is that of a new file. Returns none if none can be
    /// created, or the file system has no status change times.
    pub(in crate::core::store) fn time(&self) -> Option<SystemTime> {
        let create = |name: &str| self.disk.stage(&self.root, name, b"", Access::ReadWrite).map(drop);
        let name = self.stage_under_any(create)?;
        let stat = self.disk.stat(&self.root, &name);
        self.disk.remove(&self.root, &name).ok()?;
        stat.ok()?.changed
    }

    /// Replaces the index by one with these lines, or leaves it as it is.
    pub(in crate::core::store) fn write(&self, lines: &str) {
        let bytes = index_of(lines);
        let create = |name: &str| {
            let staged = self.disk.stage_unsynced(&self.root, name, &bytes);
            if staged.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
                let _ = self.disk.remove(&self.root, name);
            }
            staged
        };
        if let Some(name) = self.stage_under_any(create)
            && self.disk.replace(&self.root, &name, INDEX).is_err()
        {
            let _ = self.disk.remove(&self.root, &name);
        }
    }

    /// Creates a file under the first temporary name that is free, and returns the name.
    fn stage_under_any(&self, create: impl Fn(&str) -> io::Result<()>) -> Option<String> {
        for attempt in 0..MAX_STALE {
            let name = layout::staged_file(INDEX, attempt);
            match create(&name) {
                Ok(()) => return Some(name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
        }
        None
    }
}
