//! The digests of captured files: a cache, so that a file that did not change is not read again.
//!
//! An entry is valid as long as the file has the inode and the ctime of the entry. The kernel sets the ctime at every write,
//! and no call sets it to a chosen value. Two writes may share one tick of that clock, though, with the read between
//! them. So a file gets an entry only if its ctime is before that of the cache that was there before it was read: any
//! later write has a later ctime. Therefore the second save of a file that did not change still reads it, and the third
//! one does not.
//!
//! The cache may be deleted at any time, and in a copy or a clone of a store no inode and ctime match. It is written
//! after a save that read a captured file; of two such saves at once, the last one wins.
//!
//! # Limitations
//!
//! - A write through a memory map gets its ctime when the kernel notices it: a page that is dirty already may be written
//!   again at the same ctime until it was written back.
//! - On Windows there is no ctime, and every file is read.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::disk::{Disk, Stat};
use crate::file_stamp::FileStamp;
use crate::layout::OBJECTS;
use crate::open::Store;
use ckpt_model::digest::Digest;

/// The name of the cache.
pub(crate) const SEEN: &str = "seen";
/// A larger cache is not read, and begun anew.
const MAX_BYTES: u64 = 4 << 20;

/// The digests of captured files, by their paths in the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenFiles {
    entries: BTreeMap<String, (FileStamp, Digest)>,
    /// The ctime of the cache; none if there is no cache, or no ctime.
    written: Option<SystemTime>,
    /// True if a file was read.
    is_outdated: bool,
}

impl SeenFiles {
    /// Returns the digest of a file that has not changed since it was read.
    #[must_use]
    pub fn digest(&self, path: &str, stat: &Stat) -> Option<Digest> {
        let (stamp, digest) = self.entries.get(path)?;
        (FileStamp::of_file(stat)? == *stamp).then_some(*digest)
    }

    /// Notes the digest of a file that was read after `stat` was taken.
    pub fn note(&mut self, path: &str, stat: &Stat, digest: Digest) {
        self.is_outdated = true;
        self.entries.remove(path);
        if let (Some(stamp), Some(written)) = (FileStamp::of_file(stat), self.written)
            && stamp.is_before(written)
        {
            self.entries.insert(path.to_owned(), (stamp, digest));
        }
    }
}

impl<D: Disk> Store<D> {
    /// Reads the cache; an empty one if that fails.
    #[must_use]
    pub fn seen_files(&self) -> SeenFiles {
        self.read_seen().unwrap_or_default()
    }

    fn read_seen(&self) -> Option<SeenFiles> {
        let objects = self.open_below(&[self.name(), OBJECTS]).ok()??;
        // Before its content: a cache that is replaced meanwhile is newer.
        let written = self.disk().stat(&objects, SEEN).ok()?.changed;
        let bytes = self.disk().read(&objects, SEEN, MAX_BYTES).ok()?;
        let entries = serde_json::from_slice(&bytes).unwrap_or_default();
        Some(SeenFiles { entries, written, is_outdated: false })
    }

    /// Writes the cache if it is outdated, after the contents were stored. A failure is none of the save. `id` tells this
    /// call from all others.
    pub fn write_seen(&self, seen: &SeenFiles, id: &str) {
        if !seen.is_outdated {
            return;
        }
        let Ok(Some(objects)) = self.open_below(&[self.name(), OBJECTS]) else { return };
        let Ok(bytes) = serde_json::to_vec(&seen.entries) else { return };
        let bytes = if bytes.len() as u64 > MAX_BYTES { b"{}".as_slice() } else { &bytes };
        self.replace_cache(&objects, SEEN, bytes, id);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::disk::{FileId, FileKind};

    fn stat(inode: u64, changed: u64) -> Stat {
        let time = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        Stat {
            kind: FileKind::File,
            mode: 0o600,
            owner: 0,
            bytes: 1,
            id: FileId(1, inode),
            links: 1,
            modified: time(1),
            changed: Some(time(changed)),
        }
    }

    #[test]
    fn only_a_file_that_is_older_than_the_cache_gets_an_entry() {
        let digest = Digest::of(b"x");
        let mut seen = SeenFiles { written: stat(1, 20).changed, ..SeenFiles::default() };
        for (path, changed) in [("older", 19), ("same-tick", 20), ("newer", 21)] {
            seen.note(path, &stat(7, changed), digest);
        }
        assert_eq!(seen.entries.keys().collect::<Vec<_>>(), ["older"]);
        assert_eq!(seen.digest("older", &stat(7, 19)), Some(digest));
        assert_eq!(seen.digest("older", &stat(7, 20)), None, "written since");
        assert_eq!(seen.digest("older", &stat(8, 19)), None, "another file");
        seen.note("older", &stat(7, 22), digest);
        assert_eq!(seen.digest("older", &stat(7, 22)), None, "it may be written again at the same time");
    }

    #[test]
    fn without_a_cache_before_the_read_no_file_gets_an_entry() {
        let mut seen = SeenFiles::default();
        seen.note("a", &stat(7, 1), Digest::of(b"x"));
        assert_eq!((seen.entries.len(), seen.is_outdated), (0, true));
    }
}
