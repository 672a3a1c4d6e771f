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
use std::path::PathBuf;

use super::append::Decision;
use super::base::writable;
use super::bundle::{BundleName, Manifest};
use super::disk::Disk;
use super::error::{Error, Result};
use super::gone::PURGED;
use super::open::Store;
use super::read::Entry;
use super::telling::{Archiving, Teller};
use crate::core::change::{Stamp, successor};
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
    /// Only if this is the highest number.
    pub(super) expected: Option<u64>,
    /// Without an archive: what is below the seal is gone.
    pub(super) purge: bool,
}

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
        self.archive_telling(workflow, reason, stamp, &mut |_| {})
    }

    /// The same, and `progress` is told how far it is.
    ///
    /// # Errors
    /// As [`archive`](Self::archive).
    pub fn archive_telling(
        &self,
        workflow: &WorkflowId,
        reason: &ArchiveReason,
        stamp: &Stamp,
        progress: &mut dyn FnMut(&Archiving),
    ) -> Result<Archived> {
        let closing = Closing { reason, stamp, expected: None, purge: false };
        self.close_telling(workflow, closing, &mut Teller::new(progress))
    }

    /// Archives a workflow, or purges it.
    pub(super) fn close(&self, workflow: &WorkflowId, closing: Closing<'_>) -> Result<Archived> {
        self.close_telling(workflow, closing, &mut Teller::silent())
    }

    fn close_telling(
        &self,
        workflow: &WorkflowId,
        closing: Closing<'_>,
        teller: &mut Teller<'_>,
    ) -> Result<Archived> {
        let stamp = closing.stamp;
        // Another name than that of a save, because the same stamp may save afterwards.
        let staged = format!("{}-seal", stamp.save_id);
        let sealed = self.append_at(workflow, &staged, |dir, newest| match newest {
            Some(newest) => self.seal(dir, workflow, newest, closing),
            None => Err(Error::NoSuchWorkflow { given: workflow.clone(), similar: Vec::new() }),
        })?;
        match sealed {
            Decision::Write(seal) => self.complete(&seal, closing, teller),
            Decision::Keep(seq) => {
                let seal = self.load(&Handle::new(workflow, seq))?;
                let archived = self.complete(&seal.checkpoint, closing, teller)?;
                Ok(Archived { sealed_before: true, ..archived })
            }
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
    fn seal(
        &self,
        dir: Option<&D::Dir>,
        workflow: &WorkflowId,
        newest: u64,
        Closing { reason, stamp, expected, purge }: Closing<'_>,
    ) -> Result<Decision<u64>> {
        let (newest, entry) = self.read_newest(dir, workflow, newest)?;
        let newest = &newest;
        if let Some(expected) = expected.filter(|expected| *expected != newest.seq) {
            let expected = Handle::new(workflow, expected);
            return Err(Error::Conflict { expected, newest: Some(newest.clone()) });
        }
        // Numbers end somewhere; a file that somebody named so is not sealed.
        let Some(seq) = newest.seq.checked_add(1).filter(|seq| *seq < u64::MAX) else {
            return Err(self.damaged(newest, Unusable::NotAFile));
        };
        let entry = match entry {
            Ok(Entry::Sealed(_)) => return Ok(Decision::Keep(newest.seq)),
            entry => entry,
        };
        // The directory was removed by hand: there is nothing to archive.
        let Some(dir) = dir else { return Err(self.damaged(newest, Unusable::Missing)) };
        let (model, parent) = match entry {
            Ok(Entry::Live(stored) | Entry::Sealed(stored)) => {
                let model = writable(stored.checkpoint)?;
                let parent = CheckpointRef::from(&*model);
                (Some(model), Some(parent))
            }
            Ok(Entry::Tombstone) => return Err(self.damaged(newest, Unusable::Empty)),
            Err(why) if is_archivable(&why) => (self.usable_below(dir, newest), None),
            Err(why) => return Err(self.damaged(newest, why)),
        };
        let first = self.live_below(dir, &newest.workflow, seq)?.first().copied();
        let name = BundleName::new(first.unwrap_or(newest.seq), newest.seq, stamp.now, reason);
        let mut seal = Box::new(closing(*successor(&newest.workflow, model, stamp), reason));
        seal.seq = seq;
        seal.parent = parent;
        seal.sealed = Some(Sealed {
            bundle: if purge { PURGED.to_owned() } else { name.to_string() },
            last: newest.seq,
            reason: reason.clone(),
            extra: Default::default(),
        });
        Ok(Decision::Write(seal))
    }

    /// The newest checkpoint below a damaged one that can be used: it knows what the workflow is about.
    fn usable_below(&self, dir: &D::Dir, damaged: &Handle) -> Option<Box<Checkpoint>> {
        let numbers = (1..damaged.seq).rev().take(usize::try_from(FALL_BACK).unwrap_or_default());
        numbers.map(|seq| Handle::new(&damaged.workflow, seq)).find_map(|handle| {
            match self.read_checkpoint(dir, &handle) {
                Ok(Entry::Live(stored) | Entry::Sealed(stored)) => Some(stored.checkpoint),
                _ => None,
            }
        })
    }

    /// Steps 2 and 3, from wherever they were left.
    fn complete(&self, seal: &Checkpoint, closing: Closing<'_>, teller: &mut Teller<'_>) -> Result<Archived> {
        let stamp = closing.stamp;
        let workflow = &seal.workflow;
        let Some(Sealed { bundle, last, reason, .. }) = &seal.sealed else {
            return Err(Error::Archived { handle: seal.handle(), gone: None });
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
        if bundle == PURGED {
            if closing.purge {
                let buried = self.purge(&dir, workflow, &live, &stamp.save_id)?;
                archived.bytes = buried.iter().map(|(_, bytes)| bytes).sum();
                archived.moved = buried.iter().map(|(seq, _)| Handle::new(workflow, *seq)).collect();
                live = self.live_below(&dir, workflow, seal.seq)?;
            }
            archived.left = live.into_iter().map(|seq| Handle::new(workflow, seq)).collect();
            return Ok(archived);
        }
        let bad_seal = || self.damaged(&seal.handle(), Unusable::NotAFile);
        let name = BundleName::parse(bundle).filter(|name| name.last == *last).ok_or_else(bad_seal)?;
        let whole: BTreeSet<u64> = live.iter().copied().chain([seal.seq]).collect();
        let packed =
            self.pack_telling(&dir, workflow, (&name, seal.saved_at), &whole, &stamp.save_id, teller);
        let mut held: Vec<Manifest> = packed?.into_iter().collect();
        // What the bundle does not hold may have been restored from an older one.
        let is_held = |seq: &u64| held.iter().any(|manifest| manifest.entry(*seq).is_some());
        if !live.iter().all(is_held) {
            let older = self.bundles(workflow)?.into_iter().filter(|older| *older != name);
            let older = older.filter(|older| live.iter().any(|seq| older.covers(*seq)));
            held.extend(older.filter_map(|older| self.verify_bundle(workflow, &older).ok().flatten()));
            if !held.is_empty() {
                // A bundle that may vanish holds nothing.
                self.sync_archive(workflow)?;
            }
        }
        for manifest in &held {
            let buried = self.bury_telling(&dir, manifest, &live, &stamp.save_id, teller)?;
            archived.bytes += buried.iter().map(|entry| entry.bytes).sum::<u64>();
            archived.moved.extend(buried.iter().map(|entry| Handle::new(workflow, entry.seq)));
        }
        live = self.live_below(&dir, workflow, seal.seq)?;
        archived.left = live.into_iter().map(|seq| Handle::new(workflow, seq)).collect();
        Ok(archived)
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
        | Unusable::Older(_)
        | Unusable::TooLarge
        | Unusable::NotAFile
        | Unusable::Unreadable(_)
        | Unusable::Missing => false,
    }
}

/// The seal that closes a workflow: what a list shows of it, and nothing else.
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
