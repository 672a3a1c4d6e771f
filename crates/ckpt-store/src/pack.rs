//! The two halves of archiving: bundles that are durable and were read back, then a tombstone for each file that a
//! bundle holds. Only these tombstones and a deletion take a checkpoint out of the live store.

use std::collections::BTreeSet;
use std::io;

use super::archive::Archive;
use super::bundle::{BundleName, BundleWriter, MAX_BUNDLE_FILES, Manifest, ManifestEntry};
use super::disk::{Access, Disk};
use super::error::Result;
use super::layout;
use super::progress::{ArchiveStep, ProgressCounter};
use super::publish::NewFile;
use super::undo::ranges;
use super::workflow::Workflow;
use ckpt_model::format::{self, Unusable};
use ckpt_model::reason::{ArchiveReason, DeletionReason};
use ckpt_model::run_summary::{Moment, RunSummary, Step, StepCounter};
use ckpt_model::time::Timestamp;

/// How often packing is begun again because others archived some of the same files.
const ATTEMPTS: u32 = 16;
/// The size from which the files of a run are split over several bundles. Each is compressed in memory, and reading one
/// checkpoint reads one bundle.
pub(super) const MAX_CONTENT_BYTES: u64 = 64 << 20;

/// How files are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing<'a> {
    /// The run that is closed. Files of other runs go into bundles of their own, with the reason `cleanup`.
    pub(super) closed_run: Option<ClosedRun<'a>>,
    pub(super) now: Timestamp,
    /// The most bytes of files in one bundle; a single file may be larger.
    pub(super) max_content_bytes: u64,
    pub(super) save_id: &'a str,
}

/// A run that is archived as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClosedRun<'a> {
    /// The number of its first checkpoint.
    pub(super) first: u64,
    pub(super) reason: &'a ArchiveReason,
    /// The time at which archiving ended it; none if its last save did.
    pub(super) ended_at: Option<Timestamp>,
}

/// A live file to be archived.
#[derive(Debug)]
pub(super) struct LiveFile {
    pub(super) entry: ManifestEntry,
    /// The number of the first checkpoint of its run.
    run: u64,
    /// None if it is damaged.
    saved_at: Option<Timestamp>,
    /// None if it is damaged, or a seal.
    step: Option<Step>,
}

impl<D: Disk> Workflow<'_, D> {
    /// Makes sure that durable bundles hold the live files of `numbers`, and adds the manifests of these bundles to
    /// `held`. Numbers that `held` has already are left out, and existing bundles are used before new ones are written.
    /// Files that cannot be archived are passed over.
    pub(super) fn pack(
        &self,
        numbers: &BTreeSet<u64>,
        packing: Packing<'_>,
        held: &mut Vec<Manifest>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        let mut staged = 0;
        for _ in 0..ATTEMPTS {
            let mut files = self.describe(numbers, held, progress)?;
            self.find_held(&mut files, held)?;
            let mut overtaken = false;
            for part in split(files, packing.max_content_bytes) {
                let name = part_name(&part, packing);
                let entries = part.iter().rev().map(|file| file.entry).collect();
                let summary = self.summarize_part(&part);
                let manifest = Manifest::new(self.id, &name, entries).with_summary(summary);
                let Some(bytes) = self.compress(&name, &manifest, progress)? else {
                    overtaken = true;
                    break;
                };
                staged += 1;
                let archive = self.store.create_archive(self.id)?;
                archive.publish_bundle(&name, &bytes, &layout::staged_file(packing.save_id, staged))?;
                archive.sync()?;
                let Some(manifest) = archive.check(&name, part.len(), progress)? else {
                    overtaken = true;
                    break;
                };
                held.push(manifest);
            }
            if !overtaken {
                return Ok(());
            }
        }
        let path = self.store.archive_dir(self.id);
        Err(self.store.failed("write", &path, io::ErrorKind::ResourceBusy.into()))
    }

    /// Finds the bundles that hold the live files of `numbers`, without writing new ones.
    pub(super) fn find_packed(
        &self,
        numbers: &BTreeSet<u64>,
        held: &mut Vec<Manifest>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        let mut files = self.describe(numbers, held, progress)?;
        self.find_held(&mut files, held)
    }

    /// Describes the live files of `numbers` that `held` lacks, the lowest number first, without tombstones and files
    /// that cannot be archived.
    pub(super) fn describe(
        &self,
        numbers: &BTreeSet<u64>,
        held: &[Manifest],
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Vec<LiveFile>> {
        let is_held = |seq: u64| held.iter().any(|manifest| manifest.entry(seq).is_some());
        let mut files: Vec<LiveFile> = Vec::new();
        progress.begin(ArchiveStep::Reading, numbers.len());
        for seq in numbers.iter().copied().filter(|seq| !is_held(*seq)) {
            progress.advance();
            let bytes = match self.read_bytes(seq) {
                Ok(bytes) if bytes.is_empty() => continue,
                Ok(bytes) => bytes,
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(seq, why)),
                Err(_) => continue,
            };
            let moment: Option<Moment> = format::decode_part(&bytes).ok();
            // A damaged file goes along with the one below it.
            let run = match &moment {
                Some(moment) => moment.first_of_run().min(seq),
                None => files.last().map_or(1, |file| file.run),
            };
            let saved_at = moment.as_ref().map(Moment::saved_at);
            let step = moment.filter(|moment| moment.sealed.is_none()).map(|moment| moment.step());
            files.push(LiveFile { entry: ManifestEntry::of(seq, &bytes), run, saved_at, step });
        }
        Ok(files)
    }

    /// Takes out the files that existing bundles hold, for example because they were restored. The bundles are read to
    /// their ends and synced: their writers may have been killed before that.
    fn find_held(&self, files: &mut Vec<LiveFile>, held: &mut Vec<Manifest>) -> Result<()> {
        let archive = self.archive()?;
        let mut found = Vec::new();
        for name in archive.bundles()? {
            if files.iter().any(|file| name.covers(file.entry.seq))
                && let Ok(Some(manifest)) = archive.verify(&name)
            {
                found.push(manifest);
            }
        }
        if !found.is_empty() {
            archive.sync()?;
        }
        let is_found =
            |file: &LiveFile| found.iter().any(|manifest| manifest.entry(file.entry.seq) == Some(&file.entry));
        files.retain(|file| !is_found(file));
        held.append(&mut found);
        Ok(())
    }

    /// Summarises the files of a bundle; none if all of them are damaged, or the last one has disappeared.
    fn summarize_part(&self, part: &[LiveFile]) -> Option<RunSummary> {
        let last = part.iter().rev().find(|file| file.step.is_some())?;
        let state = format::decode_part::<Moment>(&self.read_bytes(last.entry.seq).ok()?).ok()?.state();
        let mut counter = StepCounter::default();
        part.iter().filter_map(|file| file.step.clone()).for_each(|step| counter.add(step));
        counter.summary(state)
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

    /// Replaces the files of `numbers` that verified bundles hold by tombstones. A file that differs from its copy in
    /// the bundle stays. Returns the entries that were replaced.
    pub(super) fn replace_archived(
        &self,
        held: &[Manifest],
        numbers: &BTreeSet<u64>,
        save_id: &str,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Vec<ManifestEntry>> {
        let mut replaced = Vec::new();
        progress.begin(ArchiveStep::Replacing, numbers.len());
        let mut entries: Vec<&ManifestEntry> = held.iter().flat_map(|manifest| &manifest.entries).collect();
        entries.retain(|entry| numbers.contains(&entry.seq));
        entries.sort_by_key(|entry| entry.seq);
        for entry in entries {
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
    pub(super) fn delete(
        &self,
        numbers: &BTreeSet<u64>,
        reason: DeletionReason,
        save_id: &str,
    ) -> Result<Vec<(u64, u64)>> {
        for range in ranges(numbers) {
            self.store.record_deletion(self.id, range, reason, save_id)?;
        }
        let mut deleted = Vec::new();
        for seq in numbers {
            let bytes = match self.stat(*seq) {
                Ok(stat) => stat.file_bytes(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(error) => return Err(self.store.failed("look at", &self.file_path(*seq), error)),
            };
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
    fn check(&self, name: &BundleName, files: usize, progress: &mut ProgressCounter<'_>) -> Result<Option<Manifest>> {
        progress.begin(ArchiveStep::Checking, files);
        self.with_bundle(name, |bundle| bundle.verify(&mut || progress.advance()))
    }

    /// Publishes a bundle. One that is there stays.
    pub(super) fn publish_bundle(&self, name: &BundleName, bytes: &[u8], staged: &str) -> Result<()> {
        self.publish_file(&NewFile { staged, name: &name.to_string(), bytes, access: Access::ReadOnly })
    }
}

/// Splits files, the lowest number first, into the parts that become one bundle each: of one run, and no larger than
/// `limit` if they are several.
fn split(files: Vec<LiveFile>, limit: u64) -> Vec<Vec<LiveFile>> {
    let mut parts: Vec<Vec<LiveFile>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        bytes += file.entry.bytes;
        match parts.last_mut() {
            Some(part)
                if bytes <= limit
                    && part.len() < MAX_BUNDLE_FILES
                    && part.last().is_some_and(|last| last.run == file.run) =>
            {
                part.push(file);
            }
            _ => {
                bytes = file.entry.bytes;
                parts.push(vec![file]);
            }
        }
    }
    parts
}

/// Returns the name of the bundle of these files, the lowest number first. The same files have the same name, so that a
/// process that was killed finds its bundle again.
fn part_name(part: &[LiveFile], packing: Packing<'_>) -> BundleName {
    let seq = |file: Option<&LiveFile>| file.map_or(1, |file| file.entry.seq);
    let run = part.first().map_or(1, |file| file.run);
    let last_save = part.iter().rev().find_map(|file| file.saved_at).unwrap_or(packing.now);
    let (saved_at, reason) = match packing.closed_run {
        Some(closed) if closed.first == run => (closed.ended_at.unwrap_or(last_save), closed.reason),
        _ => (last_save, &ArchiveReason::Cleanup),
    };
    BundleName::new(run, (seq(part.first()), seq(part.last())), saved_at, reason)
}
