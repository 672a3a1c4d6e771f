//! The two halves of every removal: into a bundle that is durable and was read back, then a tombstone for each file
//! that the bundle was found to hold. Nothing else takes a checkpoint out of the live store.

use std::collections::BTreeSet;
use std::io;

use super::bundle::{BundleName, Manifest, ManifestEntry, Writer};
use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::gone::PURGED;
use super::layout::{self, ARCHIVE};
use super::open::Store;
use super::telling::{ArchiveStep, Teller};
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// How often a bundle is begun again because others archived some of the same files meanwhile.
const ATTEMPTS: u32 = 16;

impl<D: Disk> Store<D> {
    /// Writes a bundle of the files of `numbers`, makes it durable, and reads it back from the top; none if none of
    /// them has content that can be archived. Where the bundle is there already, that one is read and returned.
    pub(super) fn pack(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        named: (&BundleName, Timestamp),
        numbers: &BTreeSet<u64>,
        save_id: &str,
    ) -> Result<Option<Manifest>> {
        self.pack_telling(dir, workflow, named, numbers, save_id, &mut Teller::silent())
    }

    /// The same, saying how far it is.
    pub(super) fn pack_telling(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        (name, created_at): (&BundleName, Timestamp),
        numbers: &BTreeSet<u64>,
        save_id: &str,
        teller: &mut Teller<'_>,
    ) -> Result<Option<Manifest>> {
        let path = self.bundle_path(workflow, name);
        for attempt in 0..ATTEMPTS {
            let manifest = match self.check_bundle(workflow, name, numbers.len(), teller)? {
                Some(manifest) => Some(manifest),
                None => {
                    teller.begin(ArchiveStep::Reading, numbers.len());
                    let entries = self.describe(dir, workflow, name, numbers, teller)?;
                    if entries.iter().all(|entry| entry.seq > name.last) {
                        return Ok(None);
                    }
                    let range = (name.first, name.last);
                    let manifest = Manifest::new(workflow, range, &name.reason, created_at, entries);
                    let Some(bytes) = self.compress(dir, name, &manifest, teller)? else { continue };
                    self.publish_bundle(workflow, name, &bytes, &layout::staged_file(save_id, attempt))?;
                    None
                }
            };
            // Whoever published it may have died before this, and a bundle that may vanish holds nothing.
            self.sync_archive(workflow)?;
            let manifest = match manifest {
                Some(manifest) => Some(manifest),
                None => self.check_bundle(workflow, name, numbers.len(), teller)?,
            };
            // Where it is gone already it was merged into another one; the live files are still there.
            if manifest.is_some() {
                return Ok(manifest);
            }
        }
        Err(self.failed("write", &path, io::ErrorKind::ResourceBusy.into()))
    }

    /// Reads a bundle to its end; none if it is not there.
    fn check_bundle(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        files: usize,
        teller: &mut Teller<'_>,
    ) -> Result<Option<Manifest>> {
        teller.begin(ArchiveStep::Checking, files);
        self.with_bundle(workflow, name, &mut |bundle| bundle.verify_each(&mut || teller.advance()))
    }

    /// What the manifest says about the files of `numbers`, the highest first. Tombstones, and what is no file of a
    /// checkpoint, are left out.
    fn describe(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        name: &BundleName,
        numbers: &BTreeSet<u64>,
        teller: &mut Teller<'_>,
    ) -> Result<Vec<ManifestEntry>> {
        let mut entries = Vec::new();
        for seq in numbers.iter().rev().copied().filter(|seq| name.covers(*seq)) {
            teller.advance();
            let handle = Handle::new(workflow, seq);
            match self.read_bytes(dir, &handle) {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => entries.push(ManifestEntry::of(seq, &bytes)),
                // It may be readable the next time, and there is one bundle for all.
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(&handle, why)),
                Err(_) => {}
            }
        }
        Ok(entries)
    }

    /// The bytes of a bundle; none if a file is not as it was described: somebody else archived it meanwhile.
    fn compress(
        &self,
        dir: &D::Dir,
        name: &BundleName,
        manifest: &Manifest,
        teller: &mut Teller<'_>,
    ) -> Result<Option<Vec<u8>>> {
        teller.begin(ArchiveStep::Compressing, manifest.entries.len());
        let path = self.bundle_path(&manifest.workflow, name);
        let failed = |error: io::Error| self.failed("write", &path, error);
        let mut writer = Writer::new(manifest).map_err(failed)?;
        for entry in &manifest.entries {
            let handle = Handle::new(&manifest.workflow, entry.seq);
            match self.read_bytes(dir, &handle) {
                Ok(bytes) if ManifestEntry::of(entry.seq, &bytes) == *entry => {
                    writer.add(entry.seq, &bytes).map_err(failed)?;
                    teller.advance();
                }
                Ok(_) | Err(Unusable::Missing) => return Ok(None),
                Err(why) => return Err(self.damaged(&handle, why)),
            }
        }
        writer.finish().map(Some).map_err(failed)
    }

    /// Opens the archive of a workflow, and makes it if need be.
    pub(super) fn make_archive(&self, workflow: &WorkflowId) -> Result<D::Dir> {
        let [root, path] = [self.root(), self.archive_dir(workflow)];
        let store = self.open_root()?;
        self.make(&store, ARCHIVE, &root.join(ARCHIVE))?;
        let archive = self.enter(&store, ARCHIVE, &root.join(ARCHIVE))?;
        self.make(&archive, &workflow.directory(), &path)?;
        self.enter(&archive, &workflow.directory(), &path)
    }

    /// Puts a bundle into the archive, unless another process has done so.
    pub(super) fn publish_bundle(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        bytes: &[u8],
        staged: &str,
    ) -> Result<()> {
        let (dir, path) = (self.make_archive(workflow)?, self.archive_dir(workflow));
        let published = self
            .disk()
            .stage(&dir, staged, bytes, Access::ReadOnly)
            .and_then(|_| self.disk().publish(&dir, staged, &name.to_string()));
        let _ = self.disk().remove(&dir, staged);
        match published {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Err(Error::UnsupportedFileSystem { path })
            }
            Err(error) => Err(self.failed("write", &path.join(name.to_string()), error)),
        }
    }

    /// Makes the bundles of a workflow, and the way to them, durable.
    pub(super) fn sync_archive(&self, workflow: &WorkflowId) -> Result<()> {
        let [root, path] = [self.root(), self.archive_dir(workflow)];
        let store = self.open_root()?;
        let archive = self.enter(&store, ARCHIVE, &root.join(ARCHIVE))?;
        let dir = self.enter(&archive, &workflow.directory(), &path)?;
        for (dir, path) in [(&dir, path), (&archive, root.join(ARCHIVE)), (&store, root)] {
            self.disk().sync_dir(dir).map_err(|error| self.failed("sync", &path, error))?;
        }
        Ok(())
    }

    /// Replaces by tombstones the files of `numbers` that `held`, a bundle that [`pack`](Self::pack) returned, holds.
    /// A file that differs from its copy stays. Returns what left.
    pub(super) fn bury(
        &self,
        dir: &D::Dir,
        held: &Manifest,
        numbers: &BTreeSet<u64>,
        save_id: &str,
    ) -> Result<Vec<ManifestEntry>> {
        self.bury_telling(dir, held, numbers, save_id, &mut Teller::silent())
    }

    /// The same, saying how far it is.
    pub(super) fn bury_telling(
        &self,
        dir: &D::Dir,
        held: &Manifest,
        numbers: &BTreeSet<u64>,
        save_id: &str,
        teller: &mut Teller<'_>,
    ) -> Result<Vec<ManifestEntry>> {
        let mut buried = Vec::new();
        teller.begin(ArchiveStep::Replacing, numbers.len());
        for entry in held.entries.iter().rev().filter(|entry| numbers.contains(&entry.seq)) {
            let handle = Handle::new(&held.workflow, entry.seq);
            teller.advance();
            match self.read_bytes(dir, &handle) {
                Ok(bytes) if ManifestEntry::of(entry.seq, &bytes) == *entry => {
                    self.overwrite(dir, &handle, b"", save_id)?;
                    buried.push(*entry);
                }
                // It may be the same; whoever asks again will know.
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(&handle, why)),
                Ok(_) | Err(_) => {}
            }
        }
        self.sync_workflow(dir, &held.workflow)?;
        Ok(buried)
    }

    /// Replaces the files of `numbers` by tombstones, whether or not a bundle holds them. Returns numbers and sizes.
    pub(super) fn purge(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        numbers: &BTreeSet<u64>,
        save_id: &str,
    ) -> Result<Vec<(u64, u64)>> {
        let mut buried = Vec::new();
        for (first, last) in runs(numbers) {
            self.note_gone(workflow, (first, last), PURGED, save_id)?;
        }
        for seq in numbers {
            let stat = self.disk().stat(dir, &layout::checkpoint_file(*seq));
            let bytes = stat.map_or(0, |stat| stat.file_bytes());
            if bytes > 0 {
                self.overwrite(dir, &Handle::new(workflow, *seq), b"", save_id)?;
                buried.push((*seq, bytes));
            }
        }
        self.sync_workflow(dir, workflow)?;
        Ok(buried)
    }

    /// Puts other bytes under the number of a checkpoint, in one step. The caller knows that they stand for the same.
    pub(super) fn overwrite(&self, dir: &D::Dir, handle: &Handle, bytes: &[u8], save_id: &str) -> Result<()> {
        let staged = layout::staged_file(&format!("{save_id}-{}", handle.seq), 0);
        let name = layout::checkpoint_file(handle.seq);
        let staging = self.disk().stage(dir, &staged, bytes, Access::ReadOnly);
        staging.and_then(|_| self.disk().replace(dir, &staged, &name)).map_err(|error| {
            let _ = self.disk().remove(dir, &staged);
            self.failed("write", &self.checkpoint_path(handle), error)
        })
    }

    /// The numbers below `end` whose files are not tombstones.
    pub(super) fn live_below(&self, dir: &D::Dir, workflow: &WorkflowId, end: u64) -> Result<BTreeSet<u64>> {
        let mut live = BTreeSet::new();
        self.each_number(dir, workflow, &mut |seq| live.extend((seq < end).then_some(seq)))?;
        let is_tombstone = |seq: &u64| {
            let stat = self.disk().stat(dir, &layout::checkpoint_file(*seq));
            stat.is_ok_and(|stat| stat.is_empty_file())
        };
        live.retain(|seq| !is_tombstone(seq));
        Ok(live)
    }

    /// Makes the names in a workflow's directory durable.
    pub(super) fn sync_workflow(&self, dir: &D::Dir, workflow: &WorkflowId) -> Result<()> {
        self.disk().sync_dir(dir).map_err(|error| self.failed("sync", &self.workflow_dir(workflow), error))
    }

    pub(super) fn open_root(&self) -> Result<D::Dir> {
        let root = self.root();
        let base = self.disk().base().map_err(|error| self.failed("open", &root, error))?;
        self.enter(&base, self.name(), &root)
    }
}

/// The runs of neighbouring numbers, first to last.
fn runs(numbers: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for seq in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*seq) => *last = *seq,
            _ => runs.push((*seq, *seq)),
        }
    }
    runs
}
