//! Reading many archived checkpoints, each bundle once.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::archive::Archive;
use super::bundle::{BadBundle, BundleName};
use super::deletion::Deletions;
use super::disk::Disk;
use super::error::{Error, Result};

/// The files in the bundles of a workflow, for a caller that asks for lower and lower numbers.
#[derive(Debug)]
pub(super) struct BundledFiles<'s, D: Disk> {
    archive: Archive<'s, D>,
    /// The bundles that have been read.
    visited: Vec<BundleName>,
    damaged: Vec<(BundleName, BadBundle)>,
    /// Files that have been read and not asked for yet.
    files: BTreeMap<u64, (BundleName, Vec<u8>)>,
    deletions: Option<Deletions>,
}

impl<'s, D: Disk> BundledFiles<'s, D> {
    pub(super) fn new(archive: Archive<'s, D>) -> Self {
        Self { archive, visited: Vec::new(), damaged: Vec::new(), files: BTreeMap::new(), deletions: None }
    }

    pub(super) fn archive(&self) -> &Archive<'s, D> {
        &self.archive
    }

    /// Returns the bundle that holds the file of a number, and the bytes of the file. The caller asks for at most `most`
    /// numbers from here on, so no more files of a bundle are kept in memory.
    ///
    /// # Errors
    /// No usable bundle holds it.
    pub(super) fn take(&mut self, seq: u64, most: usize) -> Result<(BundleName, Vec<u8>)> {
        self.files.retain(|kept, _| *kept <= seq);
        if !self.files.contains_key(&seq) {
            self.read_bundles(seq, most)?;
        }
        if let Some(file) = self.files.remove(&seq) {
            return Ok(file);
        }
        if let Some((name, why)) = self.damaged.iter().find(|(name, _)| name.covers(seq)) {
            return Err(self.archive.damaged(name, why.clone()));
        }
        if self.deletions.is_none() {
            self.deletions = Some(Deletions::of_records(self.archive.deletion_records()?));
        }
        let deleted = self.deletions.as_ref().and_then(|deletions| deletions.reason(seq));
        Err(Error::Archived { handle: self.archive.handle(seq), deleted })
    }

    /// Reads the bundles that may hold a number until one does.
    fn read_bundles(&mut self, seq: u64, most: usize) -> Result<()> {
        let Self { archive, visited, damaged, files, .. } = self;
        let mut fresh = Vec::new();
        archive.find_bundle(
            |name| name.covers(seq) && !visited.contains(name),
            |name, bundle| {
                fresh.push(name.clone());
                let read = bundle.and_then(|mut bundle| {
                    let mut count = 0;
                    while count < most {
                        let Some((entry, bytes)) = bundle.next_file()? else { break };
                        if entry.seq <= seq {
                            files.entry(entry.seq).or_insert_with(|| (name.clone(), bytes));
                            count += 1;
                        }
                    }
                    Ok(())
                });
                if let Err(why) = read {
                    damaged.push((name.clone(), why));
                }
                Ok(if files.contains_key(&seq) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        )?;
        visited.append(&mut fresh);
        Ok(())
    }
}
