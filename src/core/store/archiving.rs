//! Archiving a whole workflow.
//!
//! 1. A **seal** claims the next number, as any checkpoint does. Nothing below it changes any more: a later save finds
//!    the seal and continues above it, with the content of the last checkpoint.
//! 2. Everything below the seal, and the seal itself, is written into a bundle. The bundle is synced and read back, and
//!    each file in it is hashed again.
//! 3. Each file that the bundle holds is replaced by a tombstone, in one step, so that its number stays taken.
//!
//! Archiving an archived workflow completes what a crash left undone: the seal names the bundle, and no file below the
//! seal is touched before that bundle was read back.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::append::Decision;
use super::bundle::{BundleName, Manifest};
use super::deletion::PURGED;
use super::disk::Disk;
use super::error::{Error, Result};
use super::head::{Head, writable};
use super::open::Store;
use super::pack::NewBundle;
use super::progress::{ArchiveProgress, ProgressCounter};
use super::workflow::{Entry, MAX_LOOKBACK, Workflow};
use crate::core::change::{Stamp, next_checkpoint};
use crate::core::checkpoint::{Checkpoint, CheckpointRef, Content, Context, Sealed, WorkflowStatus};
use crate::core::format::Unusable;
use crate::core::phase::Phase;
use crate::core::reason::ArchiveReason;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// How a workflow is closed.
#[derive(Clone, Copy)]
pub(super) struct Closing<'a> {
    pub(super) reason: &'a ArchiveReason,
    pub(super) stamp: &'a Stamp,
    /// The number that must be the head.
    pub(super) expected: Option<u64>,
    /// Deletes the content instead of archiving it.
    pub(super) purge: bool,
}

/// The result of archiving a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The seal: the head of the archived workflow.
    pub seal: Handle,
    /// Why it is archived.
    pub reason: ArchiveReason,
    /// The bundle that holds it.
    pub bundle: PathBuf,
    /// The checkpoints that left the live store; none if it was archived before.
    pub moved: Vec<Handle>,
    /// Their size in bytes.
    pub bytes: u64,
    /// The files that were left in place, because they cannot be read or no bundle holds them.
    pub left: Vec<Handle>,
    /// True if the seal was there before.
    pub sealed_before: bool,
}

impl<D: Disk> Store<D> {
    /// Archives a workflow: its checkpoints go into a bundle, its numbers stay taken. `progress` is called for every
    /// checkpoint of every step.
    ///
    /// An archived workflow stays as it is, except that what was left undone is completed.
    ///
    /// # Errors
    /// There is no such workflow, its head cannot be archived, or the disk refuses. Nothing has left the live store
    /// that is not in a bundle, and the same call completes what was begun.
    pub fn archive(
        &self,
        workflow: &WorkflowId,
        reason: &ArchiveReason,
        stamp: &Stamp,
        progress: &mut dyn FnMut(&ArchiveProgress),
    ) -> Result<Archived> {
        let closing = Closing { reason, stamp, expected: None, purge: false };
        self.close(workflow, closing, &mut ProgressCounter::new(progress))
    }

    /// Archives a workflow, or deletes its content.
    pub(super) fn close(
        &self,
        id: &WorkflowId,
        closing: Closing<'_>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Archived> {
        // Not the temporary name of a save, because the same stamp may save afterwards.
        let staged = format!("{}-seal", closing.stamp.save_id);
        let sealed = self.append_at(id, &staged, |workflow, head| match head {
            Some(head) => workflow.seal(head, closing),
            None => Err(workflow.no_such_workflow()),
        })?;
        let workflow = self.workflow(id)?;
        match sealed {
            Decision::Write(seal) => workflow.complete(&seal, closing, progress),
            Decision::Keep(seq) => {
                let seal = workflow.load(seq)?.checkpoint;
                let archived = workflow.complete(&seal, closing, progress)?;
                Ok(Archived { sealed_before: true, ..archived })
            }
        }
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Decides on the seal above `head`. A seal that is the head is kept.
    fn seal(
        &self,
        head: u64,
        Closing { reason, stamp, expected, purge }: Closing<'_>,
    ) -> Result<Decision<u64>> {
        let check = |head: u64| match expected {
            Some(expected) if expected != head => {
                let newest = Some(self.handle(head));
                Err(Error::Conflict { expected: self.handle(expected), newest })
            }
            _ => Ok(()),
        };
        check(head)?;
        let (last, model, parent) = match self.read_head(head) {
            Ok(Head::Seal(seal)) => {
                check(seal.seq)?;
                return Ok(Decision::Keep(seal.seq));
            }
            Ok(Head::Checkpoint(checkpoint)) => {
                let model = writable(checkpoint)?;
                (model.seq, Some(model.clone()), Some(CheckpointRef::from(&*model)))
            }
            Err(Error::Damaged { handle, why, .. }) if is_archivable(&why) => {
                (handle.seq, self.newest_readable_below(handle.seq), None)
            }
            Err(error) => return Err(error),
        };
        check(last)?;
        // The directory was removed by hand: there is nothing to archive.
        if self.dir().is_none() {
            return Err(self.damaged(last, Unusable::Missing));
        }
        // The highest possible number cannot be sealed.
        let Some(seq) = last.checked_add(1).filter(|seq| *seq < u64::MAX) else {
            return Err(self.damaged(last, Unusable::NotAFile));
        };
        let first = self.live_below(seq)?.first().copied();
        let name = BundleName::new(first.unwrap_or(last), last, stamp.now, reason);
        let mut seal = Box::new(closing(*next_checkpoint(self.id, model, stamp), reason));
        seal.seq = seq;
        seal.parent = parent;
        seal.sealed = Some(Sealed {
            bundle: if purge { PURGED.to_owned() } else { name.to_string() },
            last,
            reason: reason.clone(),
            extra: Default::default(),
        });
        Ok(Decision::Write(seal))
    }

    /// Finds the newest entry below a damaged head that has the title and the phases of the workflow.
    fn newest_readable_below(&self, damaged: u64) -> Option<Box<Checkpoint>> {
        (1..damaged).rev().take(MAX_LOOKBACK).find_map(|seq| match self.read_entry(seq) {
            Ok(Entry::Checkpoint(stored) | Entry::Seal(stored)) => Some(stored.checkpoint),
            _ => None,
        })
    }

    /// Does steps 2 and 3, or the rest of them.
    fn complete(
        &self,
        seal: &Checkpoint,
        closing: Closing<'_>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Archived> {
        let save_id = &closing.stamp.save_id;
        let Some(Sealed { bundle, last, reason, .. }) = &seal.sealed else {
            return Err(Error::Archived { handle: seal.handle(), deleted: None });
        };
        let mut archived = Archived {
            seal: seal.handle(),
            reason: reason.clone(),
            bundle: self.store.archive_dir(self.id).join(bundle),
            moved: Vec::new(),
            bytes: 0,
            left: Vec::new(),
            sealed_before: false,
        };
        let live = self.live_below(seal.seq)?;
        if live.is_empty() {
            return Ok(archived);
        }
        if bundle != PURGED {
            let bad_seal = || self.damaged(seal.seq, Unusable::NotAFile);
            let name = BundleName::parse(bundle).filter(|name| name.last == *last).ok_or_else(bad_seal)?;
            for manifest in self.held(seal, &name, &live, save_id, progress)? {
                for entry in self.replace_archived(&manifest, &live, save_id, progress)? {
                    archived.moved.push(self.handle(entry.seq));
                    archived.bytes += entry.bytes;
                }
            }
        } else if closing.purge {
            for (seq, bytes) in self.delete(&live, save_id)? {
                archived.moved.push(self.handle(seq));
                archived.bytes += bytes;
            }
        }
        let left = self.live_below(seal.seq)?;
        archived.left = left.into_iter().map(|seq| self.handle(seq)).collect();
        Ok(archived)
    }

    /// Writes the bundle of the seal. Returns the manifests of the durable bundles that hold the live files: also of
    /// older ones, from which files may have been restored.
    fn held(
        &self,
        seal: &Checkpoint,
        name: &BundleName,
        live: &BTreeSet<u64>,
        save_id: &str,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Vec<Manifest>> {
        let numbers = live.iter().copied().chain([seal.seq]).collect();
        let bundle = NewBundle { name, created_at: seal.saved_at, numbers: &numbers, save_id };
        let mut held: Vec<Manifest> = self.pack(bundle, progress)?.into_iter().collect();
        let is_held = |seq: &u64| held.iter().any(|manifest| manifest.entry(*seq).is_some());
        if live.iter().all(is_held) {
            return Ok(held);
        }
        let archive = self.archive()?;
        for older in archive.bundles()?.into_iter().filter(|older| older != name) {
            if live.iter().any(|seq| older.covers(*seq)) {
                held.extend(archive.verify(&older).ok().flatten());
            }
        }
        if !held.is_empty() {
            // The writer of an older bundle may have been killed before the sync.
            archive.sync()?;
        }
        Ok(held)
    }
}

/// Returns true if a damaged file can be archived as it is: its bytes can be read.
fn is_archivable(why: &Unusable) -> bool {
    match why {
        Unusable::Checksum
        | Unusable::NoChecksum
        | Unusable::BadVersion
        | Unusable::Syntax(_)
        | Unusable::Misplaced { .. } => true,
        Unusable::Empty
        | Unusable::Newer(_)
        | Unusable::Older(_)
        | Unusable::TooLarge
        | Unusable::NotAFile
        | Unusable::Unreadable(_)
        | Unusable::Missing => false,
    }
}

/// Reduces a checkpoint to the seal that closes the workflow: what a list shows of it, and nothing else.
fn closing(newest: Checkpoint, reason: &ArchiveReason) -> Checkpoint {
    let Content { status, phase, title, labels, pipeline, phases, .. } = newest.content;
    let line = |phase: Phase| Phase { name: phase.name, status: phase.status, ..Phase::pending(phase.id) };
    Checkpoint {
        trigger: Trigger::Manual,
        note: None,
        content: Content {
            status: match reason {
                ArchiveReason::Abandoned => WorkflowStatus::Abandoned,
                ArchiveReason::Failed => WorkflowStatus::Failed,
                ArchiveReason::Completed => WorkflowStatus::Complete,
                ArchiveReason::Restarted | ArchiveReason::Cleanup | ArchiveReason::Other(_) => status,
            },
            phase,
            title,
            labels,
            pipeline,
            phases: phases.into_iter().map(line).collect(),
            ..Content::default()
        },
        context: Context { git: newest.context.git, ..Context::default() },
        pinned: false,
        keys: Vec::new(),
        ..newest
    }
}
