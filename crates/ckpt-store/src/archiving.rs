//! Archiving a whole workflow.
//!
//! 1. Every live file is written into bundles. They are synced and read back, and each file in them is hashed again.
//! 2. A **seal** claims the next number, as any checkpoint does. If a saver was faster, its checkpoint is packed too and
//!    the seal claims the number after it. Nothing below the seal changes any more: a later save finds the seal and
//!    continues above it, with the content of the last checkpoint.
//! 3. Each file that a bundle holds is replaced by a tombstone, in one step, so that its number stays taken.
//!
//! A failure or a crash before the seal leaves the workflow open, with bundles that the next attempt finds again. After
//! the seal, archiving again replaces the rest.
//!
//! If content is deleted, the seal comes first and records it, so that no save continues what is about to be deleted.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::append::Decision;
use super::bundle::Manifest;
use super::deletion::{Range, contains};
use super::disk::Disk;
use super::error::{Error, Result};
use super::head::{Head, writable};
use super::open::Store;
use super::pack::{ClosedRun, MAX_CONTENT_BYTES, Packing};
use super::progress::{ArchiveProgress, ProgressCounter};
use super::workflow::{Entry, MAX_LOOKBACK, Workflow};
use ckpt_model::change::{Stamp, next_checkpoint};
use ckpt_model::checkpoint::{Checkpoint, CheckpointRef, Content, Context, Sealed, WorkflowStatus};
use ckpt_model::format::Unusable;
use ckpt_model::phase::Phase;
use ckpt_model::reason::{ArchiveReason, DeletionReason};
use ckpt_model::selector::Handle;
use ckpt_model::trigger::Trigger;
use ckpt_model::workflow_id::WorkflowId;

/// How a workflow is closed.
#[derive(Clone, Copy)]
pub(super) struct Closing<'a> {
    pub(super) reason: &'a ArchiveReason,
    pub(super) stamp: &'a Stamp,
    /// The number that must be the head.
    pub(super) expected: Option<u64>,
    /// The numbers whose content is deleted; the others are archived.
    pub(super) deletion: &'a Deletion,
    /// The most bytes of files in one bundle.
    pub(super) max_content_bytes: u64,
    /// True if a head of a newer format is archived too, as it is. Only a person decides that.
    pub(super) any_format: bool,
}

/// The numbers whose content is deleted instead of archived.
#[derive(Debug, Clone)]
pub(super) struct Deletion {
    pub(super) ranges: Vec<Range>,
    pub(super) reason: DeletionReason,
}

impl Deletion {
    /// Deletes nothing.
    pub(super) const NONE: Self = Self { ranges: Vec::new(), reason: DeletionReason::Expired };

    pub(super) fn deletes(&self, seq: u64) -> bool {
        self.ranges.iter().any(|range| contains(range, seq))
    }
}

/// The result of archiving a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The seal: the head of the archived workflow.
    pub seal: Handle,
    /// Why it is archived.
    pub reason: ArchiveReason,
    /// The bundles of its run, the highest numbers first.
    pub bundles: Vec<PathBuf>,
    /// The checkpoints that left the live store; none if it was archived before.
    pub moved: Vec<Handle>,
    /// Their size in bytes.
    pub bytes: u64,
    /// The files that were left in place, because they cannot be read or no bundle holds them.
    pub left: Vec<Handle>,
    /// True if the seal was there before.
    pub sealed_before: bool,
}

/// A plan of the archiving of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchivePlan {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The number of its head.
    pub head: u64,
    /// Why it would be archived.
    pub reason: ArchiveReason,
    /// True if it is archived already, and only what is live below its seal would leave.
    pub is_archived: bool,
    /// The checkpoints that would leave the live store.
    pub checkpoints: Vec<Handle>,
    /// Their size in bytes.
    pub bytes: u64,
    /// The files that would be left in place, because they cannot be read.
    pub left: Vec<Handle>,
}

/// The head that a seal is put on.
struct Closed {
    last: u64,
    /// The checkpoint whose title and phases the seal repeats.
    model: Option<Box<Checkpoint>>,
    /// None if the head is damaged.
    parent: Option<CheckpointRef>,
}

impl<D: Disk> Store<D> {
    /// Plans to archive a workflow, without writing. `progress` is called for every checkpoint.
    ///
    /// # Errors
    /// There is no such workflow, its head cannot be archived, or the store cannot be read.
    pub fn plan_archive(
        &self,
        id: &WorkflowId,
        reason: &ArchiveReason,
        progress: &mut dyn FnMut(&ArchiveProgress),
    ) -> Result<ArchivePlan> {
        let workflow = self.workflow(id)?;
        let Some(number) = workflow.head_number()? else { return Err(workflow.no_such_workflow()) };
        let (head, seal) = workflow.archivable_head(number)?;
        let live = workflow.live_below(if seal.is_some() { head } else { head.saturating_add(1) })?;
        let files = workflow.describe(&live, &[], &mut ProgressCounter::new(progress))?;
        let archived: BTreeSet<u64> = files.iter().map(|file| file.entry.seq).collect();
        let handles = |numbers: &mut dyn Iterator<Item = &u64>| -> Vec<Handle> {
            numbers.map(|seq| workflow.handle(*seq)).collect()
        };
        Ok(ArchivePlan {
            workflow: id.clone(),
            head,
            is_archived: seal.is_some(),
            reason: seal.unwrap_or_else(|| reason.clone()),
            checkpoints: handles(&mut archived.iter()),
            bytes: files.iter().map(|file| file.entry.bytes).sum(),
            left: handles(&mut live.difference(&archived)),
        })
    }

    /// Archives a workflow: its checkpoints go into bundles, its numbers stay taken. `progress` is called for every
    /// checkpoint of every step.
    ///
    /// An archived workflow stays as it is, except that what was left undone is completed.
    ///
    /// # Errors
    /// There is no such workflow, its head cannot be archived, or the disk refuses. Nothing has left the live store
    /// that is not in a bundle, and the same call completes what was begun. If the seal is missing, the workflow is open.
    pub fn archive(
        &self,
        workflow: &WorkflowId,
        reason: &ArchiveReason,
        stamp: &Stamp,
        progress: &mut dyn FnMut(&ArchiveProgress),
    ) -> Result<Archived> {
        let closing = Closing {
            reason,
            stamp,
            expected: None,
            deletion: &Deletion::NONE,
            max_content_bytes: MAX_CONTENT_BYTES,
            any_format: true,
        };
        self.close(workflow, closing, &mut ProgressCounter::new(progress))
    }

    /// Archives a workflow, or deletes its content.
    pub(super) fn close(
        &self,
        id: &WorkflowId,
        closing: Closing<'_>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Archived> {
        let mut held = Vec::new();
        let workflow = self.workflow(id)?;
        let Some(head) = workflow.head_number()? else { return Err(workflow.no_such_workflow()) };
        // Packing takes long, so most of it is done before savers have to wait for the lock.
        workflow.seal(head, closing, &mut held, progress)?;
        // Not the temporary name of a save, because the same stamp may save afterwards.
        let staged = format!("{}-seal", closing.stamp.save_id);
        let sealed = self.append_at(id, &staged, |workflow, head| match head {
            Some(head) => workflow.seal(head, closing, &mut held, progress),
            None => Err(workflow.no_such_workflow()),
        })?;
        let workflow = self.workflow(id)?;
        match sealed {
            Decision::Write(seal) => workflow.complete(&seal, closing, &mut held, progress),
            Decision::Keep(seq) => {
                let seal = workflow.load(seq)?.checkpoint;
                let archived = workflow.complete(&seal, closing, &mut held, progress)?;
                Ok(Archived { sealed_before: true, ..archived })
            }
        }
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Returns the number of the head, if it can be archived; and the reason in it, if it is a seal.
    fn archivable_head(&self, number: u64) -> Result<(u64, Option<ArchiveReason>)> {
        let (head, seal) = match self.read_head(number) {
            Ok(Head::Seal(seal)) => (seal.seq, seal.sealed.map(|sealed| sealed.reason)),
            Ok(Head::Checkpoint(checkpoint)) => (checkpoint.seq, None),
            Err(Error::Damaged { handle, why, .. }) if is_archivable(&why, true) => (handle.seq, None),
            Err(error) => return Err(error),
        };
        // The directory was removed by hand: there is nothing to archive.
        if seal.is_none() && self.dir().is_none() {
            return Err(self.damaged(head, Unusable::Missing));
        }
        Ok((head, seal))
    }

    /// Packs everything up to `head` and decides on the seal above it. A seal that is the head is kept, unless its
    /// content is to be deleted now.
    fn seal(
        &self,
        head: u64,
        closing: Closing<'_>,
        held: &mut Vec<Manifest>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Decision<u64>> {
        let Closing { reason, stamp, expected, deletion, max_content_bytes, any_format } = closing;
        let check = |head: u64| match expected {
            Some(expected) if expected != head => {
                let newest = Some(self.handle(head));
                Err(Error::Conflict { expected: self.handle(expected), newest })
            }
            _ => Ok(()),
        };
        check(head)?;
        let Closed { last, model, parent } = match self.read_head(head) {
            Ok(Head::Seal(seal)) => {
                check(seal.seq)?;
                let is_deleted = seal.sealed.as_ref().is_some_and(|sealed| sealed.deleted.is_some());
                if is_deleted || !deletion.deletes(seal.seq) {
                    return Ok(Decision::Keep(seal.seq));
                }
                Closed::new(writable(seal)?)
            }
            Ok(Head::Checkpoint(checkpoint)) if any_format && !checkpoint.version.is_writable() => {
                self.closed_unread(checkpoint.seq)
            }
            Ok(Head::Checkpoint(checkpoint)) => Closed::new(writable(checkpoint)?),
            Err(Error::Damaged { handle, why, .. }) if is_archivable(&why, any_format) => {
                self.closed_unread(handle.seq)
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
            return Err(Error::LastNumber { handle: self.handle(last), path: self.file_path(last) });
        };
        let mut seal = Box::new(reduced(*next_checkpoint(self.id, model.clone(), stamp), reason));
        seal.seq = seq;
        seal.parent = parent;
        let deleted = if deletion.deletes(last) { Some(deletion.reason) } else { None };
        seal.sealed = Some(Sealed { last, reason: reason.clone(), deleted, extra: Default::default() });
        let ended = model.is_none_or(|model| model.content.status != seal.content.status);
        let ended_at = if ended { Some(stamp.now) } else { None };
        let packing = Packing {
            closed_run: Some(ClosedRun { first: seal.first_of_run(), reason, ended_at }),
            now: stamp.now,
            max_content_bytes,
            save_id: &stamp.save_id,
        };
        let mut numbers = self.live_below(seq)?;
        numbers.retain(|seq| !deletion.deletes(*seq));
        self.pack(&numbers, packing, held, progress)?;
        Ok(Decision::Write(seal))
    }

    /// Closes a workflow whose head cannot be used. The newest usable entry below has its title and phases.
    fn closed_unread(&self, last: u64) -> Closed {
        let model = (1..last).rev().take(MAX_LOOKBACK).find_map(|seq| match self.read_entry(seq) {
            Ok(Entry::Checkpoint(stored) | Entry::Seal(stored)) => writable(stored.checkpoint).ok(),
            _ => None,
        });
        Closed { last, model, parent: None }
    }

    /// Replaces what is live below a seal by tombstones, after it was packed or its deletion was recorded.
    fn complete(
        &self,
        seal: &Checkpoint,
        closing: Closing<'_>,
        held: &mut Vec<Manifest>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Archived> {
        let save_id = &closing.stamp.save_id;
        let Some(Sealed { reason, .. }) = &seal.sealed else {
            return Err(Error::Archived { handle: seal.handle(), deleted: None });
        };
        let mut archived = Archived {
            seal: seal.handle(),
            reason: reason.clone(),
            bundles: Vec::new(),
            moved: Vec::new(),
            bytes: 0,
            left: Vec::new(),
            sealed_before: false,
        };
        let live = self.live_below(seal.seq)?;
        let (deleted, kept): (BTreeSet<u64>, BTreeSet<u64>) =
            live.iter().partition(|seq| closing.deletion.deletes(**seq));
        if !kept.is_empty() {
            // Everything was packed before the seal. What no bundle holds was put there by hand, and stays.
            self.find_packed(&kept, held, progress)?;
            for entry in self.replace_archived(held, &kept, save_id, progress)? {
                archived.moved.push(self.handle(entry.seq));
                archived.bytes += entry.bytes;
            }
        }
        if !deleted.is_empty() {
            for (seq, bytes) in self.delete(&deleted, closing.deletion.reason, save_id)? {
                archived.moved.push(self.handle(seq));
                archived.bytes += bytes;
            }
        }
        if !live.is_empty() {
            // What was moved, or was not live before, was restored by another process.
            let mut left = self.live_below(seal.seq)?;
            left.retain(|seq| live.contains(seq) && !archived.moved.iter().any(|moved| moved.seq == *seq));
            archived.left = left.into_iter().map(|seq| self.handle(seq)).collect();
        }
        let mut bundles = self.archive()?.bundles()?;
        bundles.retain(|name| name.run == seal.first_of_run());
        archived.bundles = bundles.iter().map(|name| self.store.bundle_path(self.id, name)).collect();
        Ok(archived)
    }
}

impl Closed {
    fn new(head: Box<Checkpoint>) -> Self {
        Self { last: head.seq, parent: Some(CheckpointRef::from(&*head)), model: Some(head) }
    }
}

/// Returns true if an unusable file can be archived as it is: its bytes can be read.
fn is_archivable(why: &Unusable, any_format: bool) -> bool {
    match why {
        Unusable::Newer(_) | Unusable::Older(_) => any_format,
        Unusable::Checksum
        | Unusable::NoChecksum
        | Unusable::BadVersion
        | Unusable::Syntax(_)
        | Unusable::Misplaced { .. } => true,
        Unusable::Empty | Unusable::TooLarge | Unusable::NotAFile | Unusable::Unreadable(_) | Unusable::Missing => {
            false
        }
    }
}

/// Reduces a checkpoint to the seal that closes the workflow: what a list shows of it, and nothing else.
fn reduced(newest: Checkpoint, reason: &ArchiveReason) -> Checkpoint {
    let Content { status, phase, title, labels, pipeline, phases, .. } = newest.content;
    let line = |phase: Phase| Phase { name: phase.name, status: phase.status, ..Phase::pending(phase.id) };
    Checkpoint {
        trigger: Trigger::Archive,
        note: None,
        content: Content {
            status: WorkflowStatus::archived_as(reason).unwrap_or(status),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OsDisk, RestoreScope, STORE_NAME};
    use ckpt_model::checkpoint::Writer;
    use ckpt_model::time::Timestamp;

    fn stamp(save_id: &str) -> Stamp {
        Stamp {
            now: Timestamp::parse("2026-01-16T20:15:00Z").unwrap(),
            save_id: save_id.to_owned(),
            writer: Writer::default(),
            git: None,
            watched: Vec::new(),
        }
    }

    /// A workflow that is larger than a bundle may be is split over several, and comes back from them.
    #[test]
    fn a_large_workflow_is_archived_in_several_bundles() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::on(OsDisk::new(dir.path()), dir.path(), STORE_NAME, dir.path());
        let id: WorkflowId = "042".parse().unwrap();
        let mut files = Vec::new();
        for seq in 1..=5 {
            let save_id = format!("save{seq}");
            let saved = store.append(&id, &save_id, |head, _| {
                Ok(Decision::<()>::Write(next_checkpoint(&id, head, &stamp(&save_id))))
            });
            assert!(matches!(saved, Ok(Decision::Write(_))));
            files.push(store.load(&Handle::new(&id, seq)).unwrap().bytes);
        }
        let two = files.iter().map(|file| file.len() as u64).max().unwrap() * 2;
        for (limit, bundles) in [(two, 3), (1, 5), (MAX_CONTENT_BYTES, 1)] {
            let copy = tempfile::tempdir().unwrap();
            let store = Store::on(OsDisk::new(copy.path()), copy.path(), STORE_NAME, copy.path());
            for (seq, file) in (1..).zip(&files) {
                store.make_workflow(&id).unwrap();
                store.workflow(&id).unwrap().publish_file(seq, file, "copy").unwrap();
            }
            let (reason, stamp) = (&ArchiveReason::Completed, &stamp("archive"));
            let deletion = &Deletion::NONE;
            let closing =
                Closing { reason, stamp, expected: None, deletion, max_content_bytes: limit, any_format: true };
            let archived = store.close(&id, closing, &mut ProgressCounter::new(&mut |_| {})).unwrap();
            assert_eq!((archived.bundles.len(), archived.moved.len()), (bundles, 5), "{limit}");
            assert!(store.verify(&[], &mut |_| {}).unwrap().findings.is_empty(), "{limit}");
            for (seq, file) in (1..).zip(&files) {
                assert_eq!(store.load(&Handle::new(&id, seq)).unwrap().bytes, *file, "{limit}");
            }
            let restored =
                store.restore(&id, &RestoreScope::Workflow, &super::tests::stamp("restore"), &mut |_| {}).unwrap();
            assert_eq!((restored.restored.len(), restored.lost.len()), (5, 0), "{limit}");
        }
    }
}
