//! Noticing that something was saved, archived or restored, without reading it.

use std::time::SystemTime;

use super::disk::Disk;
use super::error::Result;
use super::layout::{ARCHIVE, WORKFLOWS};
use super::open::Store;
use ckpt_model::digest::{Digest, Hasher};

impl<D: Disk> Store<D> {
    /// Returns a digest that changes when an entry of a workflow or a bundle appears or disappears: it covers the names and
    /// times of all directories of workflows, which take one stat each.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn fingerprint(&self) -> Result<Digest> {
        let mut lines = Vec::new();
        for part in [WORKFLOWS, ARCHIVE] {
            let Some(dir) = self.open_below(&[self.name(), part])? else { continue };
            let path = self.root().join(part);
            for name in self.names(&dir, &path)? {
                let time = self.disk().stat(&dir, &name).ok().map(|stat| stat.changed.unwrap_or(stat.modified));
                let time = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
                lines.push(format!("{part}/{name} {time:?}"));
            }
        }
        // A disk lists names in any order.
        lines.sort_unstable();
        let mut hasher = Hasher::default();
        lines.iter().for_each(|line| hasher.update(line.as_bytes()));
        Ok(hasher.finish())
    }
}
