//! Restoring archived checkpoints, and rebuilding a directory whose files were removed by hand.

use std::collections::BTreeSet;
use std::io;

use super::append::Decision;
use super::archive::Archive;
use super::bundle::{BadBundle, Bundle};
use super::disk::Disk;
use super::error::{Error, Result};
use super::head::Head;
use super::open::Store;
use super::workflow::Workflow;
use crate::core::change::{Stamp, next_checkpoint};
use crate::core::checkpoint::Checkpoint;
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// The most tombstones that are written to rebuild a directory.
const MOST_REBUILT: u64 = 100_000;

/// How often a workflow is restored again because a cleanup archives it at the same time.
const ATTEMPTS: u32 = 16;

/// The result of restoring.
#[derive(Debug, Default)]
pub struct Restored {
    /// The checkpoints that are live again, the newest first.
    pub restored: Vec<Handle>,
    /// The checkpoint that was added above the seal, so that the workflow is live again.
    pub revived: Option<Box<Checkpoint>>,
    /// Archived numbers that no bundle holds.
    pub lost: Vec<Handle>,
    /// Bundles that cannot be used, and why.
    pub damaged: Vec<(std::path::PathBuf, BadBundle)>,
}

impl<D: Disk> Store<D> {
    /// Restores a workflow, or one checkpoint of it, byte for byte. Bundles stay where they are.
    ///
    /// If the head is a seal, restoring the whole workflow adds a checkpoint above it that continues the last one.
    ///
    /// # Errors
    /// There is no such workflow, no usable bundle holds the checkpoint, or the disk refuses. Nothing that is live is
    /// changed, and the same call completes what was begun.
    pub fn restore(&self, id: &WorkflowId, only: Option<u64>, stamp: &Stamp) -> Result<Restored> {
        let mut done = Restored::default();
        let mut workflow = self.workflow(id)?;
        let Some(head) = workflow.head_number()? else { return Err(workflow.no_such_workflow()) };
        if let Some(seq) = only.filter(|seq| !(1..=head).contains(seq)) {
            let asked = Handle::new(id, seq).to_string();
            return Err(Error::NoSuchCheckpoint { asked, newest: Handle::new(id, head) });
        }
        if workflow.highest_live()? < Some(head) {
            // Before anything is created, so that a refusal leaves no trace.
            let archive = workflow.archive()?;
            let (name, _) = archive.find(head)?;
            archive.verify(&name)?;
            workflow = self.rebuild_workflow(id, head, &stamp.save_id)?;
            done.restored.push(workflow.handle(head));
        }
        match only {
            Some(seq) => {
                if workflow.is_absent(seq)? {
                    let (_, bytes) = workflow.archive()?.find(seq)?;
                    workflow.put_back(seq, &bytes, stamp, &mut done)?;
                }
                workflow.sync()?;
            }
            None => {
                workflow.put_all_back(head, stamp, &mut done)?;
                workflow.sync()?;
                done.revived = self.revive(id, stamp)?;
            }
        }
        Ok(done)
    }

    /// Adds a checkpoint above the head if that is a seal.
    fn revive(&self, id: &WorkflowId, stamp: &Stamp) -> Result<Option<Box<Checkpoint>>> {
        let appended = self.append_at(id, &stamp.save_id, |workflow, head| {
            let Some(seq) = head else { return Ok(Decision::Keep(())) };
            let seal = match workflow.read_head(seq) {
                Ok(seal @ Head::Seal(_)) => seal,
                Ok(Head::Checkpoint(_)) | Err(Error::Damaged { .. }) => return Ok(Decision::Keep(())),
                // It may be a seal.
                Err(error) => return Err(error),
            };
            let mut next = next_checkpoint(id, Some(workflow.continued(seal)?.checkpoint), stamp);
            next.trigger = Trigger::Manual;
            Ok(Decision::Write(next))
        })?;
        Ok(match appended {
            Decision::Write(checkpoint) => Some(checkpoint),
            Decision::Keep(()) => None,
        })
    }

    /// Creates the directory of a workflow again, with an entry for every number up to `head`.
    pub(super) fn rebuild_workflow<'s>(
        &'s self,
        id: &'s WorkflowId,
        head: u64,
        save_id: &str,
    ) -> Result<Workflow<'s, D>> {
        self.make_workflow(id)?;
        self.sync_above(id)?;
        let workflow = self.workflow(id)?;
        workflow.rebuild(head, save_id)?;
        Ok(workflow)
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Creates the missing entries up to `head`: the head with its content, if a bundle holds it, the others as
    /// tombstones. Existing entries stay.
    pub(super) fn rebuild(&self, head: u64, save_id: &str) -> Result<()> {
        if head > MOST_REBUILT {
            return Err(self.damaged(head, Unusable::Missing));
        }
        let bytes = match self.archive()?.find(head) {
            Ok((_, bytes)) => bytes,
            Err(Error::Archived { .. } | Error::DamagedBundle { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        self.publish_file(head, &bytes, save_id)?;
        for seq in 1..head {
            self.publish_file(seq, b"", save_id)?;
        }
        self.sync()
    }

    fn put_all_back(&self, head: u64, stamp: &Stamp, done: &mut Restored) -> Result<()> {
        for _ in 0..ATTEMPTS {
            // Opened each time: another process may create it.
            let archive = self.archive()?;
            let listed = archive.bundles()?;
            let held = self.put_bundles_back(&archive, stamp, done)?;
            done.lost.clear();
            let mut archived_again = false;
            for seq in self.numbers()? {
                if seq < head && self.is_absent(seq)? {
                    if held.contains(&seq) {
                        archived_again = true;
                    } else {
                        done.lost.push(self.handle(seq));
                    }
                }
            }
            // A cleanup may archive a checkpoint after the bundles were listed, or one that was just restored.
            let has_moved = archived_again || (!done.lost.is_empty() && self.archive()?.bundles()? != listed);
            if !has_moved {
                break;
            }
        }
        done.restored.sort_by(|a, b| b.cmp(a));
        done.restored.dedup();
        // Nothing was restored, so there is nothing to continue from.
        if done.restored.is_empty()
            && !done.lost.is_empty()
            && let Some((path, why)) = done.damaged.pop()
        {
            return Err(Error::DamagedBundle { path, why });
        }
        Ok(())
    }

    /// Restores the absent numbers that bundles hold. Returns all numbers that they hold.
    fn put_bundles_back(
        &self,
        archive: &Archive<'_, D>,
        stamp: &Stamp,
        done: &mut Restored,
    ) -> Result<BTreeSet<u64>> {
        let mut held = BTreeSet::new();
        let mut unreadable = None;
        done.damaged.clear();
        archive.each_bundle(|name, bundle| {
            // The whole bundle is checked before any file of it is used.
            let checked = bundle.and_then(|bundle| {
                let bytes = bundle.bytes();
                bundle.verify(&mut || {})?;
                Bundle::open(bytes)
            });
            match checked {
                Ok(mut bundle) => {
                    let bad = |why| archive.damaged(name, why);
                    while let Some((entry, bytes)) = bundle.next_file().map_err(bad)? {
                        held.insert(entry.seq);
                        if self.is_absent(entry.seq)? {
                            self.put_back(entry.seq, &bytes, stamp, done)?;
                        }
                    }
                }
                // It may be undamaged, so it must not be passed over; the others can be restored.
                Err(why @ BadBundle::Unreadable(_)) => {
                    unreadable.get_or_insert_with(|| archive.damaged(name, why));
                }
                Err(why) => done.damaged.push((archive.bundle_path(name), why)),
            }
            Ok(())
        })?;
        match unreadable {
            Some(error) => Err(error),
            None => Ok(held),
        }
    }

    /// Writes the file of an absent number. Two processes that restore the same number write the same bytes.
    fn put_back(&self, seq: u64, bytes: &[u8], stamp: &Stamp, done: &mut Restored) -> Result<()> {
        self.replace_file(seq, bytes, &stamp.save_id)?;
        done.restored.push(self.handle(seq));
        Ok(())
    }

    /// Returns true if a number has a tombstone or no entry.
    fn is_absent(&self, seq: u64) -> Result<bool> {
        match self.stat(seq) {
            Ok(stat) => Ok(stat.is_empty_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(self.store.failed("read", &self.file_path(seq), error)),
        }
    }
}
