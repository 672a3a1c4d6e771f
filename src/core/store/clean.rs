//! Carrying out a cleanup that was decided.
//!
//! A workflow that leaves as a whole is archived as ever, if nobody saved to it since. Single checkpoints go into a
//! bundle with the reason `cleanup`, which is synced and read back before a tombstone takes their place; the newest
//! number is never among them. Then small bundles are merged, and old ones expire. What fails for one workflow does not keep the others from being cleaned.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::archive::Closing;
use super::bundle::BundleName;
use super::disk::Disk;
use super::error::{Error, Result};
use super::gone::EXPIRED;
use super::open::Store;
use crate::core::change::Stamp;
use crate::core::digest::Digest;
use crate::core::reason::ArchiveReason;
use crate::core::retention::{CleanupEffect, CleanupPlan, StoreDirectory, TemporaryFile, WorkflowPlan};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// What a cleanup did.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// What it did to each workflow, if it did anything.
    pub workflows: Vec<CleanedWorkflow>,
    /// Workflows that were to leave as a whole and to which somebody saved meanwhile. They stay as they are.
    pub overtaken: Vec<WorkflowId>,
    /// The files that were being written and never would be; they are gone.
    pub swept: Vec<PathBuf>,
    /// What went wrong, and where.
    pub failures: Vec<(PathBuf, Error)>,
}

/// What a cleanup did to one workflow.
#[derive(Debug)]
pub struct CleanedWorkflow {
    /// The workflow.
    pub workflow: WorkflowId,
    /// What left the live store.
    pub removed: Vec<Handle>,
    /// How many bytes that had.
    pub bytes: u64,
    /// Why it left as a whole, if it did.
    pub whole: Option<ArchiveReason>,
    /// The bundles that hold it; none if it was purged.
    pub bundles: Vec<PathBuf>,
    /// The bundles that are gone.
    pub expired: Vec<PathBuf>,
    /// The bundles that became one.
    pub merged: Vec<PathBuf>,
}

impl CleanedWorkflow {
    fn is_idle(&self) -> bool {
        self.removed.is_empty() && self.expired.is_empty() && self.merged.is_empty()
    }
}

impl<D: Disk> Store<D> {
    /// Does what a plan says. What cannot be done is reported and left as it was; the next cleanup tries again.
    pub fn clean(&self, plan: &CleanupPlan, stamp: &Stamp) -> Cleaned {
        let mut cleaned = Cleaned::default();
        for workflow in &plan.workflows {
            let stamp = Stamp { save_id: own_id(&stamp.save_id, &workflow.workflow), ..stamp.clone() };
            let mut done = CleanedWorkflow {
                workflow: workflow.workflow.clone(),
                removed: Vec::new(),
                bytes: 0,
                whole: None,
                bundles: Vec::new(),
                expired: Vec::new(),
                merged: Vec::new(),
            };
            // Bundles go last: one that was to make room for a new one stays if the new one could not be made.
            let result = self
                .clean_workflow(workflow, plan.purge, &stamp, &mut done)
                .and_then(|()| self.merge(workflow, &stamp.save_id, &mut done))
                .and_then(|()| self.expire(workflow, &stamp.save_id, &mut done));
            match result {
                Ok(()) => {}
                Err(Error::Conflict { .. }) => cleaned.overtaken.push(workflow.workflow.clone()),
                Err(error) => cleaned.failures.push((self.workflow_dir(&workflow.workflow), error)),
            }
            cleaned.workflows.push(done);
        }
        for file in &plan.stale_files {
            match self.sweep(file) {
                Ok(path) => cleaned.swept.extend(path),
                Err(error) => cleaned.failures.push((self.directory_path(&file.directory), error)),
            }
        }
        cleaned.workflows.retain(|done| !done.is_idle());
        cleaned
    }

    fn clean_workflow(
        &self,
        plan: &WorkflowPlan,
        purge: bool,
        stamp: &Stamp,
        done: &mut CleanedWorkflow,
    ) -> Result<()> {
        match &plan.effect {
            CleanupEffect::Nothing => Ok(()),
            CleanupEffect::Workflow(reason) => {
                let closing = Closing { reason, stamp, expected: Some(plan.newest), purge };
                let archived = self.close(&plan.workflow, closing)?;
                done.whole = Some(archived.reason);
                done.removed = archived.moved;
                done.removed.sort();
                done.bytes = archived.bytes;
                done.bundles.extend((!purge).then_some(archived.bundle));
                Ok(())
            }
            CleanupEffect::Checkpoints => {
                let Some(dir) = self.open_workflow(&plan.workflow)? else { return Ok(()) };
                // Whatever was decided: the newest number holds the workflow together.
                let newest = self.newest_in(&dir, &plan.workflow)?;
                let numbers: BTreeSet<u64> = plan
                    .leaving()
                    .map(|decision| decision.handle.seq)
                    .filter(|seq| Some(*seq) < newest)
                    .collect();
                if purge {
                    for (seq, bytes) in self.purge(&dir, &plan.workflow, &numbers, &stamp.save_id)? {
                        done.removed.push(Handle::new(&plan.workflow, seq));
                        done.bytes += bytes;
                    }
                    return Ok(());
                }
                self.clean_some(&dir, &numbers, stamp, done)
            }
        }
    }

    /// Archives single checkpoints. Where there is no room for all of them at once, half of them makes room.
    fn clean_some(
        &self,
        dir: &D::Dir,
        numbers: &BTreeSet<u64>,
        stamp: &Stamp,
        done: &mut CleanedWorkflow,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (numbers.first().copied(), numbers.last().copied()) else {
            return Ok(());
        };
        let workflow = done.workflow.clone();
        let name = BundleName::new(first, last, stamp.now, &ArchiveReason::Cleanup);
        let held = match self.pack(dir, &workflow, (&name, stamp.now), numbers, &stamp.save_id) {
            Err(error) if numbers.len() > 1 && is_full(&error) => {
                let upper: BTreeSet<u64> = numbers.iter().copied().skip(numbers.len() / 2).collect();
                let lower: BTreeSet<u64> = numbers.difference(&upper).copied().collect();
                self.clean_some(dir, &lower, stamp, done)?;
                return self.clean_some(dir, &upper, stamp, done);
            }
            held => held?,
        };
        let Some(held) = held else { return Ok(()) };
        for entry in self.bury(dir, &held, numbers, &stamp.save_id)? {
            done.removed.push(Handle::new(&workflow, entry.seq));
            done.bytes += entry.bytes;
        }
        done.bundles.push(self.bundle_path(&workflow, &name));
        Ok(())
    }

    /// Removes the bundles that a plan says, except those that the workflow goes on from now.
    fn expire(&self, plan: &WorkflowPlan, save_id: &str, done: &mut CleanedWorkflow) -> Result<()> {
        if plan.expired.is_empty() {
            return Ok(());
        }
        let Some(dir) = self.open_archive(&plan.workflow)? else { return Ok(()) };
        let there = self.bundles(&plan.workflow)?;
        let (highest, newest) =
            (there.iter().map(|name| name.last).max(), there.iter().map(|name| name.at).max());
        for name in there {
            let planned = plan.expired.iter().any(|bundle| bundle.name == name.to_string());
            if !planned || Some(name.last) == highest || Some(name.at) == newest {
                continue;
            }
            let path = self.bundle_path(&plan.workflow, &name);
            // The seal above the last number may be nowhere else.
            let inside = self.with_bundle(&plan.workflow, &name, &mut |bundle| Ok(bundle.manifest().clone()));
            let top = inside.ok().flatten().and_then(|manifest| Some(manifest.entries.first()?.seq));
            let range = (name.first, top.unwrap_or(name.last).max(name.last));
            self.note_gone(&plan.workflow, range, EXPIRED, save_id)?;
            self.remove(&dir, &name.to_string(), &path)?;
            done.expired.push(path);
        }
        self.disk()
            .sync_dir(&dir)
            .map_err(|error| self.failed("sync", &self.archive_dir(&plan.workflow), error))
    }

    /// Removes a file that nobody is writing any more.
    fn sweep(&self, file: &TemporaryFile) -> Result<Option<PathBuf>> {
        let dir = match &file.directory {
            StoreDirectory::Root => Some(self.open_root()?),
            StoreDirectory::Workflow(id) => self.open_workflow(id)?,
            StoreDirectory::Archive(id) => self.open_archive(id)?,
        };
        let Some(dir) = dir else { return Ok(None) };
        let path = self.directory_path(&file.directory).join(&file.name);
        Ok(self.remove(&dir, &file.name, &path)?.then_some(path))
    }

    /// Removes a name; false if somebody else did.
    pub(super) fn remove(&self, dir: &D::Dir, name: &str, path: &std::path::Path) -> Result<bool> {
        match self.disk().remove(dir, name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed("remove", path, error)),
        }
    }

    fn directory_path(&self, directory: &StoreDirectory) -> PathBuf {
        match directory {
            StoreDirectory::Root => self.root(),
            StoreDirectory::Workflow(id) => self.workflow_dir(id),
            StoreDirectory::Archive(id) => self.archive_dir(id),
        }
    }
}

/// A save id for each workflow, because one cleanup may seal many.
fn own_id(save_id: &str, workflow: &WorkflowId) -> String {
    let mut id = Digest::of(format!("{save_id}/{workflow}").as_bytes()).to_hex();
    id.truncate(32);
    id
}

fn is_full(error: &Error) -> bool {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    matches!(error, Error::Io { source, .. } if full.contains(&source.kind()))
}
