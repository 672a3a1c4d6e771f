//! The two halves of archiving: a bundle that is durable and was read back, then a tombstone for each file that the
//! bundle holds. Only these tombstones and a deletion on request take a checkpoint out of the live store.

use std::collections::BTreeSet;
use std::io;

use super::archive::Archive;
use super::bundle::{BundleName, BundleWriter, Manifest, ManifestEntry};
use super::deletion::{DeletionReason, Range};
use super::disk::{Access, Disk};
use super::error::Result;
use super::layout;
use super::progress::{ArchiveStep, ProgressCounter};
use super::publish::NewFile;
use super::workflow::Workflow;
use crate::core::format::Unusable;
use crate::core::time::Timestamp;

/// How often a bundle is begun again because others archived some of the same files.
const ATTEMPTS: u32 = 16;

/// A bundle to be written.
#[derive(Clone, Copy)]
pub(super) struct NewBundle<'a> {
    pub(super) name: &'a BundleName,
    pub(super) created_at: Timestamp,
    /// The numbers to archive.
    pub(super) numbers: &'a BTreeSet<u64>,
    pub(super) save_id: &'a str,
}

impl<D: Disk> Workflow<'_, D> {
    /// Writes a bundle, makes it durable, and reads it back. Returns none if none of the numbers has content that can
    /// be archived. A bundle that exists already is read and returned.
    pub(super) fn pack(
        &self,
        bundle: NewBundle<'_>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Option<Manifest>> {
        let NewBundle { name, numbers, .. } = bundle;
        for attempt in 0..ATTEMPTS {
            let existing = self.archive()?.check(name, numbers.len(), progress)?;
            if existing.is_none() {
                let Some(manifest) = self.describe(bundle, progress)? else { return Ok(None) };
                let Some(bytes) = self.compress(name, &manifest, progress)? else { continue };
                let staged = layout::staged_file(bundle.save_id, attempt);
                self.store.create_archive(self.id)?.publish_bundle(name, &bytes, &staged)?;
            }
            let archive = self.archive()?;
            // Also for one that existed: its writer may have been killed before the sync.
            archive.sync()?;
            let manifest = match existing {
                Some(manifest) => Some(manifest),
                None => archive.check(name, numbers.len(), progress)?,
            };
            // If it vanished it was merged into another one; the live files are still there.
            if manifest.is_some() {
                return Ok(manifest);
            }
        }
        let path = self.store.bundle_path(self.id, name);
        Err(self.store.failed("write", &path, io::ErrorKind::ResourceBusy.into()))
    }

    /// Builds the manifest: the highest number first, without tombstones and files that cannot be archived. Returns
    /// none if that leaves nothing but the seal.
    fn describe(
        &self,
        NewBundle { name, created_at, numbers, .. }: NewBundle<'_>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Option<Manifest>> {
        progress.begin(ArchiveStep::Reading, numbers.len());
        let mut entries = Vec::new();
        for seq in numbers.iter().rev().copied().filter(|seq| name.covers(*seq)) {
            progress.advance();
            match self.read_bytes(seq) {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => entries.push(ManifestEntry::of(seq, &bytes)),
                // The name of the bundle is fixed, so a file that it lacks could not be added once it can be read again.
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(seq, why)),
                Err(_) => {}
            }
        }
        if entries.iter().all(|entry| entry.seq > name.last) {
            return Ok(None);
        }
        Ok(Some(Manifest::new(self.id, (name.first, name.last), &name.reason, created_at, entries)))
    }

    /// Compresses a bundle. Returns none if a file is not as the manifest describes it: it was archived meanwhile.
    fn compress(
        &self,
        name: &BundleName,
        manifest: &Manifest,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Option<Vec<u8>>> {
        progress.begin(ArchiveStep::Compressing, manifest.entries.len());
        let path = self.store.bundle_path(self.id, name);
        let failed = |error: io::Error| self.store.failed("write", &path, error);
        let mut writer = BundleWriter::new(manifest).map_err(failed)?;
        for entry in &manifest.entries {
            match self.read_bytes(entry.seq) {
                Ok(bytes) if ManifestEntry::of(entry.seq, &bytes) == *entry => {
                    writer.add(entry.seq, &bytes).map_err(failed)?;
                    progress.advance();
                }
                Ok(_) | Err(Unusable::Missing) => return Ok(None),
                Err(why) => return Err(self.damaged(entry.seq, why)),
            }
        }
        writer.finish().map(Some).map_err(failed)
    }

    /// Replaces the files of `numbers` that a verified bundle holds by tombstones. A file that differs from its copy
    /// in the bundle stays. Returns the entries that were replaced.
    pub(super) fn replace_archived(
        &self,
        held: &Manifest,
        numbers: &BTreeSet<u64>,
        save_id: &str,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Vec<ManifestEntry>> {
        let mut replaced = Vec::new();
        progress.begin(ArchiveStep::Replacing, numbers.len());
        for entry in held.entries.iter().rev().filter(|entry| numbers.contains(&entry.seq)) {
            progress.advance();
            match self.read_bytes(entry.seq) {
                Ok(bytes) if ManifestEntry::of(entry.seq, &bytes) == *entry => {
                    self.replace_file(entry.seq, b"", save_id)?;
                    replaced.push(*entry);
                }
                // It may be the same file; the next attempt will tell.
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(entry.seq, why)),
                Ok(_) | Err(_) => {}
            }
        }
        self.sync()?;
        Ok(replaced)
    }

    /// Deletes the content of `numbers` without an archive: records it, then replaces the files by tombstones. Returns
    /// the numbers and the sizes of the files.
    pub(super) fn delete(&self, numbers: &BTreeSet<u64>, save_id: &str) -> Result<Vec<(u64, u64)>> {
        for range in ranges(numbers) {
            self.store.record_deletion(self.id, range, DeletionReason::Purged, save_id)?;
        }
        let mut deleted = Vec::new();
        for seq in numbers {
            let bytes = self.stat(*seq).map_or(0, |stat| stat.file_bytes());
            if bytes > 0 {
                self.replace_file(*seq, b"", save_id)?;
                deleted.push((*seq, bytes));
            }
        }
        self.sync()?;
        Ok(deleted)
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Reads a bundle to its end. Returns none if there is no such bundle.
    fn check(
        &self,
        name: &BundleName,
        files: usize,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Option<Manifest>> {
        progress.begin(ArchiveStep::Checking, files);
        self.with_bundle(name, |bundle| bundle.verify(&mut || progress.advance()))
    }

    /// Publishes a bundle. One that is there stays.
    pub(super) fn publish_bundle(&self, name: &BundleName, bytes: &[u8], staged: &str) -> Result<()> {
        self.publish_file(&NewFile { staged, name: &name.to_string(), bytes, access: Access::ReadOnly })
    }
}

/// Returns the runs of consecutive numbers.
fn ranges(numbers: &BTreeSet<u64>) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for seq in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*seq) => *last = *seq,
            _ => ranges.push((*seq, *seq)),
        }
    }
    ranges
}
