//! Bringing back what was archived.

use std::io;

use super::append::Decision;
use super::bundle::{BadBundle, Bundle};
use super::bundles::Visited;
use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::layout;
use super::open::Store;
use super::read::Entry;
use crate::core::change::{Stamp, successor};
use crate::core::checkpoint::Checkpoint;
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// The most tombstones that are written to rebuild a directory.
const MOST_REBUILT: u64 = 100_000;

/// What restoring did.
#[derive(Debug)]
pub struct Restored {
    /// The checkpoints that are live again, the newest first.
    pub restored: Vec<Handle>,
    /// The checkpoint that was added above the seal, so that the workflow goes on.
    pub revived: Option<Box<Checkpoint>>,
    /// Numbers that are archived and that no bundle holds.
    pub lost: Vec<Handle>,
    /// Bundles that cannot be used, and why.
    pub damaged: Vec<(std::path::PathBuf, BadBundle)>,
}

impl<D: Disk> Store<D> {
    /// Brings a workflow back, or one checkpoint of it, byte for byte. Bundles stay where they are.
    ///
    /// A whole workflow that is closed by a seal gets a checkpoint above it that continues the last one. Restoring one
    /// checkpoint does only that.
    ///
    /// # Errors
    /// There is no such workflow, the checkpoint asked for is in no bundle that can be used, or the disk refuses.
    /// Nothing that is live is touched, and the same call completes what was begun.
    pub fn restore(&self, workflow: &WorkflowId, only: Option<u64>, stamp: &Stamp) -> Result<Restored> {
        let mut done =
            Restored { restored: Vec::new(), revived: None, lost: Vec::new(), damaged: Vec::new() };
        let newest = self
            .newest_number(workflow)?
            .ok_or_else(|| Error::NoSuchWorkflow { given: workflow.clone(), similar: Vec::new() })?;
        if let Some(seq) = only.filter(|seq| !(1..=newest).contains(seq)) {
            let asked = Handle::new(workflow, seq).to_string();
            return Err(Error::NoSuchCheckpoint { asked, newest: Handle::new(workflow, newest) });
        }
        let dir = self.open_workflow(workflow)?;
        let dir = match dir {
            Some(dir) if self.newest_in(&dir, workflow)? >= Some(newest) => dir,
            _ => self.rebuild_from_archive(workflow, newest, stamp)?,
        };
        match only {
            Some(seq) => {
                let handle = Handle::new(workflow, seq);
                if self.is_absent(&dir, &handle)? {
                    let (_, bytes) = self.find_archived(&handle)?;
                    self.put_back(&dir, &handle, &bytes, stamp, &mut done)?;
                }
            }
            None => self.put_all_back(&dir, workflow, newest, stamp, &mut done)?,
        }
        self.sync_workflow(&dir, workflow)?;
        if only.is_none() {
            done.revived = self.revive(workflow, stamp)?;
        }
        Ok(done)
    }

    /// Makes the directory of a workflow again that was removed by hand.
    pub(super) fn rebuild_from_archive(
        &self,
        workflow: &WorkflowId,
        newest: u64,
        stamp: &Stamp,
    ) -> Result<D::Dir> {
        // Before anything is made, so that a refusal leaves no trace.
        let (name, _) = self.find_archived(&Handle::new(workflow, newest))?;
        self.verify_bundle(workflow, &name)?;
        self.create()?;
        self.make_workflow(workflow)?;
        let gone = || self.failed("open", &self.workflow_dir(workflow), io::ErrorKind::NotFound.into());
        let dir = self.open_workflow(workflow)?.ok_or_else(gone)?;
        self.sync_above(workflow)?;
        self.rebuild(&dir, workflow, newest, &stamp.save_id)?;
        Ok(dir)
    }

    /// Gives every number up to `newest` a file again, where files were removed by hand: the newest its content, if a
    /// bundle holds it, the others a tombstone. What is there stays.
    pub(super) fn rebuild(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        newest: u64,
        save_id: &str,
    ) -> Result<()> {
        let top = Handle::new(workflow, newest);
        if newest > MOST_REBUILT {
            return Err(self.damaged(&top, Unusable::Missing));
        }
        let bytes = match self.find_archived(&top) {
            Ok((_, bytes)) => bytes,
            Err(Error::Archived { .. } | Error::DamagedBundle { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        self.publish_file(dir, &top, &bytes, save_id)?;
        for seq in 1..newest {
            self.publish_file(dir, &Handle::new(workflow, seq), b"", save_id)?;
        }
        self.sync_workflow(dir, workflow)
    }

    fn put_all_back(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        newest: u64,
        stamp: &Stamp,
        done: &mut Restored,
    ) -> Result<()> {
        let mut unreadable = None;
        self.each_bundle(workflow, &|_| true, &mut |name| {
            let mut refused = None;
            let put_back = &mut |mut bundle: Bundle<'_>| {
                while let Some((entry, bytes)) = bundle.next_file()? {
                    let handle = Handle::new(workflow, entry.seq);
                    let put = self.is_absent(dir, &handle).and_then(|absent| {
                        if absent { self.put_back(dir, &handle, &bytes, stamp, done) } else { Ok(()) }
                    });
                    if let Err(error) = put {
                        refused = Some(error);
                        break;
                    }
                }
                Ok(())
            };
            // All of it is read before anything of it is used.
            let checked = self.verify_bundle(workflow, name);
            let read = checked.and_then(|_| self.with_bundle(workflow, name, put_back));
            match refused.map_or(read, Err) {
                Ok(None) => return Ok(Visited::Vanished),
                Ok(Some(())) => {}
                // It may be as whole as ever, so nobody is to go on without it; the others can be brought back.
                Err(error @ Error::DamagedBundle { why: BadBundle::Unreadable(_), .. }) => {
                    unreadable = unreadable.take().or(Some(error));
                }
                Err(Error::DamagedBundle { path, why }) => done.damaged.push((path, why)),
                Err(error) => return Err(error),
            }
            Ok(Visited::Read)
        })?;
        if let Some(error) = unreadable {
            return Err(error);
        }
        // The bundles come in an order of their own.
        done.restored.sort_by(|a, b| b.cmp(a));
        for seq in self.numbers(workflow)? {
            let handle = Handle::new(workflow, seq);
            if seq < newest && self.is_absent(dir, &handle)? {
                done.lost.push(handle);
            }
        }
        // Nothing was done of what was asked for, so there is nothing to go on from either.
        if done.restored.is_empty()
            && !done.lost.is_empty()
            && let Some((path, why)) = done.damaged.pop()
        {
            return Err(Error::DamagedBundle { path, why });
        }
        Ok(())
    }

    /// Returns true if there is a tombstone or no entry at all in the place of a checkpoint.
    fn is_absent(&self, dir: &D::Dir, handle: &Handle) -> Result<bool> {
        match self.disk().stat(dir, &layout::checkpoint_file(handle.seq)) {
            Ok(stat) => Ok(stat.is_empty_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(self.failed("read", &self.checkpoint_path(handle), error)),
        }
    }

    /// Puts the file of an absent checkpoint in its place.
    fn put_back(
        &self,
        dir: &D::Dir,
        handle: &Handle,
        bytes: &[u8],
        stamp: &Stamp,
        done: &mut Restored,
    ) -> Result<()> {
        match self.disk().stat(dir, &layout::checkpoint_file(handle.seq)) {
            Ok(_) => self.overwrite(dir, handle, bytes, &stamp.save_id)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.publish_file(dir, handle, bytes, &stamp.save_id)?;
            }
            Err(error) => return Err(self.failed("read", &self.checkpoint_path(handle), error)),
        }
        done.restored.push(handle.clone());
        Ok(())
    }

    /// Puts a file under a number that has none; one that is there stays.
    pub(super) fn publish_file(
        &self,
        dir: &D::Dir,
        handle: &Handle,
        bytes: &[u8],
        save_id: &str,
    ) -> Result<()> {
        let staged = layout::staged_file(&format!("{save_id}-{}", handle.seq), 0);
        let published = self
            .disk()
            .stage(dir, &staged, bytes, Access::ReadOnly)
            .and_then(|_| self.disk().publish(dir, &staged, &layout::checkpoint_file(handle.seq)));
        let _ = self.disk().remove(dir, &staged);
        match published {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.failed("write", &self.checkpoint_path(handle), error))
            }
            _ => Ok(()),
        }
    }

    /// Adds a checkpoint above the seal, if a seal is the newest.
    fn revive(&self, workflow: &WorkflowId, stamp: &Stamp) -> Result<Option<Box<Checkpoint>>> {
        let appended = self.append_at(workflow, &stamp.save_id, |dir, newest| {
            let Some(seq) = newest else { return Ok(Decision::Keep(())) };
            match self.read_newest(dir, workflow, seq)? {
                (_, Ok(Entry::Sealed(_))) => {}
                // It may be a seal.
                (newest, Err(why @ Unusable::Unreadable(_))) => return Err(self.damaged(&newest, why)),
                _ => return Ok(Decision::Keep(())),
            }
            let Some(base) = self.base(dir, workflow, newest)? else { return Ok(Decision::Keep(())) };
            let base = Some(base.checkpoint);
            let mut next = successor(workflow, base, stamp);
            next.trigger = Trigger::Manual;
            Ok(Decision::Write(next))
        })?;
        Ok(match appended {
            Decision::Write(checkpoint) => Some(checkpoint),
            Decision::Keep(()) => None,
        })
    }
}
