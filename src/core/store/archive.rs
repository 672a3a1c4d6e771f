//! Taking a workflow out of the live store.
//!
//! 1. A **seal** claims the next number, as any checkpoint would. What is below it can no longer grow: a saver that
//!    comes later finds the seal and goes on above it, with the content of the last checkpoint.
//! 2. Everything below, and the seal itself, is written into a bundle. The bundle is synced, and read back from the
//!    top: each file in it is hashed again.
//! 3. Each file that the bundle was found to hold is replaced by a tombstone, in one step, so that its number stays
//!    taken.
//!
//! Whoever archives an archived workflow completes what a crash left undone: the seal says which bundle was meant, and
//! until that bundle has been read back, nothing below has been touched.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::append::{Appended, Decision};
use super::base::writable;
use super::bundle::{BundleName, Manifest, ManifestEntry, Writer};
use super::disk::{Access, Disk};
use super::layout::{self, ARCHIVE};
use super::open::Store;
use super::read::Entry;
use crate::core::change::{Stamp, successor};
use crate::core::checkpoint::{Checkpoint, Context, Parent, Sealed, WorkflowStatus};
use crate::core::error::{Error, Result};
use crate::core::format::Unusable;
use crate::core::json::Json;
use crate::core::phase::Phase;
use crate::core::reason::ArchiveReason;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// How far below a damaged checkpoint one that can be used is looked for.
const FALL_BACK: u64 = 64;

/// What archiving a workflow did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The seal: the newest number of the archived workflow.
    pub seal: Handle,
    /// Why it is archived.
    pub reason: ArchiveReason,
    /// The bundle that holds it.
    pub bundle: PathBuf,
    /// The checkpoints that left the live store now; none if it was archived before.
    pub moved: Vec<Handle>,
    /// How many bytes they had.
    pub bytes: u64,
    /// What could not be read or is in no bundle, and so was left where it is.
    pub left: Vec<Handle>,
    /// Whether the seal was there before.
    pub sealed_before: bool,
}

impl<D: Disk> Store<D> {
    /// Archives a workflow: its checkpoints go into a bundle, its numbers stay taken.
    ///
    /// An archived workflow stays as it is, except that what was left undone is completed.
    ///
    /// # Errors
    /// There is no such workflow, its newest checkpoint cannot be archived, or the disk refuses. Nothing has left the
    /// live store that is not in a bundle, and the same call completes what was begun.
    pub fn archive(&self, workflow: &WorkflowId, reason: &ArchiveReason, stamp: &Stamp) -> Result<Archived> {
        // Another name than that of a save, because the same stamp may save afterwards.
        let staged = format!("{}-seal", stamp.save_id);
        let sealed = self.append_at(workflow, &staged, &mut |dir, newest| match (dir, newest) {
            (Some(dir), Some(newest)) => self.seal(dir, &Handle::new(workflow, newest), reason, stamp),
            _ => self
                .newest_archived(workflow)?
                .map(Decision::Keep)
                .ok_or_else(|| Error::NoSuchWorkflow { given: workflow.clone(), similar: Vec::new() }),
        })?;
        match sealed {
            Appended::Written(seal) => self.complete(&seal, stamp),
            Appended::Kept(seq) => {
                let archived = match self.load(&Handle::new(workflow, seq)) {
                    Ok(seal) => self.complete(&seal.checkpoint, stamp)?,
                    // Bundles without a seal, of a directory that somebody removed.
                    Err(Error::Damaged { handle, .. }) => self.only_archived(handle)?,
                    Err(error) => return Err(error),
                };
                Ok(Archived { sealed_before: true, ..archived })
            }
            Appended::Nothing => Err(Error::NoSuchWorkflow { given: workflow.clone(), similar: Vec::new() }),
        }
    }

    /// Archives a workflow that nobody wants any more.
    ///
    /// # Errors
    /// As [`archive`](Self::archive).
    pub fn discard(&self, workflow: &WorkflowId, stamp: &Stamp) -> Result<Archived> {
        self.archive(workflow, &ArchiveReason::Abandoned, stamp)
    }

    /// Decides on the seal above `newest`; keeps the one that is there.
    fn seal(&self, dir: &D::Dir, newest: &Handle, reason: &ArchiveReason, stamp: &Stamp) -> Result<Decision> {
        // Numbers end somewhere; a file that somebody named so is not sealed.
        let Some(seq) = newest.seq.checked_add(1).filter(|seq| *seq < u64::MAX) else {
            return Err(self.damaged(newest, Unusable::NotAFile));
        };
        let (model, parent) = match self.read_checkpoint(dir, newest) {
            Ok(Entry::Sealed(_)) => return Ok(Decision::Keep(newest.seq)),
            Ok(Entry::Live(stored)) => {
                let model = writable(stored.checkpoint)?;
                let parent = Parent { seq: model.seq, sha256: model.sha256, extra: Default::default() };
                (Some(model), Some(parent))
            }
            Ok(Entry::Tombstone) => return Err(self.damaged(newest, Unusable::Empty)),
            Err(why) if is_archivable(&why) => (self.usable_below(dir, newest), None),
            Err(why) => return Err(self.damaged(newest, why)),
        };
        let first = self.live_below(dir, &newest.workflow, seq)?.first().copied();
        let name = BundleName::new(first.unwrap_or(newest.seq), newest.seq, stamp.now, reason);
        let mut seal = closing(successor(&newest.workflow, model, stamp), reason);
        seal.seq = seq;
        seal.parent = parent;
        seal.sealed = Some(Sealed {
            bundle: name.to_string(),
            last: newest.seq,
            reason: reason.clone(),
            extra: Default::default(),
        });
        Ok(Decision::Write(Box::new(seal)))
    }

    /// The newest checkpoint below a damaged one that can be used: it knows what the workflow is about.
    fn usable_below(&self, dir: &D::Dir, damaged: &Handle) -> Option<Checkpoint> {
        let numbers = (1..damaged.seq).rev().take(usize::try_from(FALL_BACK).unwrap_or_default());
        numbers.map(|seq| Handle::new(&damaged.workflow, seq)).find_map(|handle| {
            match self.read_checkpoint(dir, &handle) {
                Ok(Entry::Live(stored) | Entry::Sealed(stored)) => Some(stored.checkpoint),
                _ => None,
            }
        })
    }

    /// Steps 2 and 3, from wherever they were left.
    fn complete(&self, seal: &Checkpoint, stamp: &Stamp) -> Result<Archived> {
        let workflow = &seal.workflow;
        let Some(Sealed { bundle, last, reason, .. }) = &seal.sealed else {
            return Err(Error::Archived { handle: seal.handle() });
        };
        let path = self.archive_dir(workflow).join(bundle);
        let mut archived = Archived {
            seal: seal.handle(),
            reason: reason.clone(),
            bundle: path.clone(),
            moved: Vec::new(),
            bytes: 0,
            left: Vec::new(),
            sealed_before: false,
        };
        // Without a directory there is nothing below: the workflow is only in the archive.
        let Some(dir) = self.open_workflow(workflow)? else { return Ok(archived) };
        let mut live = self.live_below(&dir, workflow, seal.seq)?;
        if live.is_empty() {
            return Ok(archived);
        }
        let bad_seal = || self.damaged(&seal.handle(), Unusable::NotAFile);
        let name = BundleName::parse(bundle).filter(|name| name.last == *last).ok_or_else(bad_seal)?;
        let manifest = match self.verify_bundle(workflow, &name)? {
            Some(manifest) => Some(manifest),
            None => self.bundle_up(&dir, seal, &name, stamp)?,
        };
        if let Some(manifest) = manifest {
            // Whoever published the bundle may have died before this.
            self.sync_archive(workflow)?;
            self.bury(&dir, &manifest, &mut live, stamp, &mut archived)?;
        }
        // What is still there may have been restored from an older bundle.
        for older in self.bundles(workflow)?.into_iter().filter(|older| *older != name) {
            if live.iter().any(|seq| older.covers(*seq))
                && let Ok(Some(manifest)) = self.verify_bundle(workflow, &older)
            {
                self.bury(&dir, &manifest, &mut live, stamp, &mut archived)?;
            }
        }
        archived.left = live.into_iter().map(|seq| Handle::new(workflow, seq)).collect();
        Ok(archived)
    }

    /// Writes the bundle of everything below a seal and of the seal, and reads it back; none if nothing below can be
    /// read.
    fn bundle_up(
        &self,
        dir: &D::Dir,
        seal: &Checkpoint,
        name: &BundleName,
        stamp: &Stamp,
    ) -> Result<Option<Manifest>> {
        let workflow = &seal.workflow;
        let path = self.bundle_path(workflow, name);
        let failed = |error: io::Error| self.failed("write", &path, error);
        let read = |seq: u64| self.read_bytes(dir, &Handle::new(workflow, seq));
        let mut entries = Vec::new();
        for seq in self.live_below(dir, workflow, seal.seq.saturating_add(1))?.into_iter().rev() {
            if let Ok(bytes) = read(seq)
                && !bytes.is_empty()
                && name.covers(seq)
            {
                entries.push(ManifestEntry::of(seq, &bytes));
            }
        }
        if entries.iter().all(|entry| entry.seq == seal.seq) {
            return Ok(None);
        }
        let range = (name.first, name.last);
        let manifest = Manifest::new(workflow, range, &name.reason, seal.saved_at, entries);
        let mut writer = Writer::new(&manifest).map_err(failed)?;
        for entry in &manifest.entries {
            let bytes =
                read(entry.seq).map_err(|why| self.damaged(&Handle::new(workflow, entry.seq), why))?;
            writer.add(entry.seq, &bytes).map_err(failed)?;
        }
        let bytes = writer.finish().map_err(failed)?;
        self.publish_bundle(workflow, name, &bytes, &stamp.save_id)?;
        self.sync_archive(workflow)?;
        self.verify_bundle(workflow, name)?.map(Some).ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// Puts a bundle into the archive, unless another process has done so: it wrote the same.
    fn publish_bundle(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        bytes: &[u8],
        save_id: &str,
    ) -> Result<()> {
        let [root, path] = [self.root(), self.archive_dir(workflow)];
        let store = self.open_root()?;
        self.make(&store, ARCHIVE, &root.join(ARCHIVE))?;
        let archive = self.enter(&store, ARCHIVE, &root.join(ARCHIVE))?;
        self.make(&archive, &workflow.directory(), &path)?;
        let dir = self.enter(&archive, &workflow.directory(), &path)?;
        let staged = layout::staged_file(save_id, 0);
        let published = self
            .disk()
            .stage(&dir, &staged, bytes, Access::Sealed)
            .and_then(|_| self.disk().publish(&dir, &staged, &name.to_string()));
        let _ = self.disk().discard(&dir, &staged);
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
    fn sync_archive(&self, workflow: &WorkflowId) -> Result<()> {
        let [root, path] = [self.root(), self.archive_dir(workflow)];
        let store = self.open_root()?;
        let archive = self.enter(&store, ARCHIVE, &root.join(ARCHIVE))?;
        let dir = self.enter(&archive, &workflow.directory(), &path)?;
        for (dir, path) in [(&dir, path), (&archive, root.join(ARCHIVE)), (&store, root)] {
            self.disk().sync_dir(dir).map_err(|error| self.failed("sync", &path, error))?;
        }
        Ok(())
    }

    /// Replaces what a bundle was found to hold by tombstones. A file that differs from its copy stays.
    fn bury(
        &self,
        dir: &D::Dir,
        held: &Manifest,
        live: &mut BTreeSet<u64>,
        stamp: &Stamp,
        archived: &mut Archived,
    ) -> Result<()> {
        let workflow = &held.workflow;
        for entry in held.entries.iter().rev().filter(|entry| entry.seq < archived.seal.seq) {
            let handle = Handle::new(workflow, entry.seq);
            let same = |bytes: Vec<u8>| ManifestEntry::of(entry.seq, &bytes) == *entry;
            if !live.contains(&entry.seq) || !self.read_bytes(dir, &handle).is_ok_and(same) {
                continue;
            }
            self.overwrite(dir, &handle, b"", &stamp.save_id)?;
            live.remove(&entry.seq);
            archived.moved.push(handle);
            archived.bytes += entry.bytes;
        }
        self.disk().sync_dir(dir).map_err(|error| self.failed("sync", &self.workflow_dir(workflow), error))
    }

    /// Puts other bytes under the number of a checkpoint, in one step. The caller knows that they stand for the same.
    pub(super) fn overwrite(&self, dir: &D::Dir, handle: &Handle, bytes: &[u8], save_id: &str) -> Result<()> {
        let staged = layout::staged_file(&format!("{save_id}-{}", handle.seq), 0);
        let name = layout::checkpoint_file(handle.seq);
        let staging = self.disk().stage(dir, &staged, bytes, Access::Sealed);
        staging.and_then(|_| self.disk().replace(dir, &staged, &name)).map_err(|error| {
            let _ = self.disk().discard(dir, &staged);
            self.failed("write", &self.checkpoint_path(handle), error)
        })
    }

    /// The numbers below `end` whose files are not tombstones.
    pub(super) fn live_below(&self, dir: &D::Dir, workflow: &WorkflowId, end: u64) -> Result<BTreeSet<u64>> {
        let mut live = BTreeSet::new();
        self.each_number(dir, workflow, &mut |seq| live.extend((seq < end).then_some(seq)))?;
        live.retain(|seq| !matches!(self.disk().size(dir, &layout::checkpoint_file(*seq)), Ok(0)));
        Ok(live)
    }

    fn open_root(&self) -> Result<D::Dir> {
        let root = self.root();
        let base = self.disk().base().map_err(|error| self.failed("open", &root, error))?;
        self.enter(&base, self.name(), &root)
    }

    /// The report on a workflow of which there are only bundles.
    fn only_archived(&self, seal: Handle) -> Result<Archived> {
        let newest = self.bundles(&seal.workflow)?.into_iter().next();
        let newest = newest.ok_or_else(|| Error::Archived { handle: seal.clone() })?;
        Ok(Archived {
            bundle: self.bundle_path(&seal.workflow, &newest),
            reason: newest.reason,
            seal,
            moved: Vec::new(),
            bytes: 0,
            left: Vec::new(),
            sealed_before: true,
        })
    }
}

/// Whether a damaged file can be archived as it is: its bytes are there.
fn is_archivable(why: &Unusable) -> bool {
    match why {
        Unusable::Checksum
        | Unusable::NoChecksum
        | Unusable::BadVersion
        | Unusable::Syntax(_)
        | Unusable::Misplaced { .. } => true,
        Unusable::Empty
        | Unusable::Newer(_)
        | Unusable::TooLarge
        | Unusable::NotAFile
        | Unusable::Unreadable(_)
        | Unusable::Missing => false,
    }
}

/// What a list shows of a workflow, and nothing else: the seal that closes it.
fn closing(newest: Checkpoint, reason: &ArchiveReason) -> Checkpoint {
    let labels = newest.context.labels;
    let line = |phase: Phase| Phase { name: phase.name, status: phase.status, ..Phase::pending(phase.id) };
    Checkpoint {
        trigger: Trigger::Manual,
        status: match reason {
            ArchiveReason::Abandoned => WorkflowStatus::Abandoned,
            _ => newest.status,
        },
        next: None,
        note: None,
        phases: newest.phases.into_iter().map(line).collect(),
        tasks: Vec::new(),
        artifacts: Vec::new(),
        replans: Vec::new(),
        context: Context { labels, git: newest.context.git, ..Context::default() },
        last_error: None,
        pinned: false,
        keys: Vec::new(),
        state: Json::default(),
        extra: Default::default(),
        ..newest
    }
}
