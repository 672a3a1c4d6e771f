//! Applying a cleanup plan.
//!
//! A whole workflow is archived by a seal, if it was not saved to since. Single checkpoints go into a bundle with the
//! reason `cleanup`, which is synced and read back before tombstones replace them; the head is never among them. Then
//! small bundles are merged, and expired ones deleted. A failure of one workflow does not keep the others from being
//! cleaned up.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::archiving::Closing;
use super::bundle::BundleName;
use super::deletion::DeletionReason;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::pack::NewBundle;
use super::progress::{ArchiveProgress, ProgressCounter};
use super::workflow::Workflow;
use crate::core::change::Stamp;
use crate::core::digest::Digest;
use crate::core::reason::ArchiveReason;
use crate::core::retention::{CleanupEffect, CleanupPlan, TemporaryFile, WorkflowPlan};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// The result of a cleanup.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// The workflows that it changed.
    pub workflows: Vec<CleanedWorkflow>,
    /// Workflows that were to be archived as a whole, but were saved to after the plan was made. They stay as they are.
    pub overtaken: Vec<WorkflowId>,
    /// The stale temporary files that were removed.
    pub stale_files: Vec<PathBuf>,
    /// Failures, and where they happened.
    pub failures: Vec<(PathBuf, Error)>,
}

/// The result of a cleanup for one workflow.
#[derive(Debug)]
pub struct CleanedWorkflow {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The checkpoints that left the live store.
    pub removed: Vec<Handle>,
    /// Their size in bytes.
    pub bytes: u64,
    /// Why it was archived as a whole, if it was.
    pub whole: Option<ArchiveReason>,
    /// The bundles that hold it; none if it was purged.
    pub bundles: Vec<PathBuf>,
    /// The bundles that were deleted.
    pub expired: Vec<PathBuf>,
    /// The bundles that were merged into one.
    pub merged: Vec<PathBuf>,
}

impl CleanedWorkflow {
    fn is_idle(&self) -> bool {
        self.removed.is_empty() && self.expired.is_empty() && self.merged.is_empty()
    }
}

impl<D: Disk> Store<D> {
    /// Applies a plan. What fails is reported and left as it was; the next cleanup tries again.
    pub fn clean_up(&self, plan: &CleanupPlan, stamp: &Stamp) -> Cleaned {
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
            // Bundles are deleted last: if a new one could not be written, the old ones stay.
            let result = self
                .clean_up_workflow(workflow, plan.purge, &stamp, &mut done)
                .and_then(|()| self.merge(workflow, &stamp.save_id, &mut done))
                .and_then(|()| self.delete_expired(workflow, &stamp.save_id, &mut done));
            match result {
                Ok(()) => {}
                Err(Error::Conflict { .. }) => cleaned.overtaken.push(workflow.workflow.clone()),
                Err(error) => cleaned.failures.push((self.workflow_dir(&workflow.workflow), error)),
            }
            cleaned.workflows.push(done);
        }
        for file in &plan.stale_files {
            match self.remove_stale(file) {
                Ok(path) => cleaned.stale_files.extend(path),
                Err(error) => cleaned.failures.push((self.directory_path(&file.directory), error)),
            }
        }
        cleaned.workflows.retain(|done| !done.is_idle());
        cleaned
    }

    fn clean_up_workflow(
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
                let archived = self.close(&plan.workflow, closing, &mut ProgressCounter::new(&mut |_| {}))?;
                done.whole = Some(archived.reason);
                done.removed = archived.moved;
                done.removed.sort();
                done.bytes = archived.bytes;
                done.bundles.extend((!purge).then_some(archived.bundle));
                Ok(())
            }
            CleanupEffect::Checkpoints => {
                let workflow = self.workflow(&plan.workflow)?;
                // The head stays even if planned: the next number follows from it.
                let head = workflow.highest_live()?;
                let planned = plan.leaving().map(|decision| decision.handle.seq);
                let numbers: BTreeSet<u64> = planned.filter(|seq| Some(*seq) < head).collect();
                if purge {
                    for (seq, bytes) in workflow.delete(&numbers, &stamp.save_id)? {
                        done.removed.push(workflow.handle(seq));
                        done.bytes += bytes;
                    }
                    return Ok(());
                }
                workflow.archive_some(&numbers, stamp, done)
            }
        }
    }

    /// Deletes the bundles that a plan names, except those that the workflow would be continued from.
    fn delete_expired(&self, plan: &WorkflowPlan, save_id: &str, done: &mut CleanedWorkflow) -> Result<()> {
        if plan.expired.is_empty() {
            return Ok(());
        }
        let archive = self.archive_of(&plan.workflow)?;
        let Some(dir) = archive.dir() else { return Ok(()) };
        let bundles = archive.bundles()?;
        let highest = bundles.iter().map(|name| name.last).max();
        let newest = bundles.iter().map(|name| name.at).max();
        for name in bundles {
            let planned = plan.expired.iter().any(|bundle| bundle.name == name.to_string());
            if !planned || Some(name.last) == highest || Some(name.at) == newest {
                continue;
            }
            // The seal above the last number may be nowhere else.
            let manifest = archive.manifest(&name).ok().flatten();
            let top = manifest.and_then(|manifest| Some(manifest.entries.first()?.seq));
            let range = (name.first, top.unwrap_or(name.last).max(name.last));
            self.record_deletion(&plan.workflow, range, DeletionReason::Expired, save_id)?;
            archive.remove(&name)?;
            done.expired.push(archive.bundle_path(&name));
        }
        self.sync(dir, &archive.path())
    }

    /// Removes a stale temporary file. Returns its path, or none if it was removed already or its writer is at work.
    fn remove_stale(&self, file: &TemporaryFile) -> Result<Option<PathBuf>> {
        let Some(dir) = self.open_directory(&file.directory)? else { return Ok(None) };
        let path = self.directory_path(&file.directory).join(&file.name);
        match self.disk().remove_stale(&dir, &file.name) {
            Ok(removed) => Ok(removed.then_some(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("remove", &path, error)),
        }
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Archives single checkpoints. If the disk has no room for all of them, archiving half of them makes room.
    fn archive_some(&self, numbers: &BTreeSet<u64>, stamp: &Stamp, done: &mut CleanedWorkflow) -> Result<()> {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Ok(()) };
        let name = &BundleName::new(*first, *last, stamp.now, &ArchiveReason::Cleanup);
        let mut ignore = |_: &ArchiveProgress| {};
        let progress = &mut ProgressCounter::new(&mut ignore);
        let bundle = NewBundle { name, created_at: stamp.now, numbers, save_id: &stamp.save_id };
        let held = match self.pack(bundle, progress) {
            Err(error) if numbers.len() > 1 && is_full(&error) => {
                let upper: BTreeSet<u64> = numbers.iter().copied().skip(numbers.len() / 2).collect();
                let lower: BTreeSet<u64> = numbers.difference(&upper).copied().collect();
                self.archive_some(&lower, stamp, done)?;
                return self.archive_some(&upper, stamp, done);
            }
            held => held?,
        };
        let Some(held) = held else { return Ok(()) };
        for entry in self.replace_archived(&held, numbers, &stamp.save_id, progress)? {
            done.removed.push(self.handle(entry.seq));
            done.bytes += entry.bytes;
        }
        done.bundles.push(self.store.bundle_path(self.id, name));
        Ok(())
    }
}

/// Derives a save id for each workflow, because one cleanup may write several seals.
fn own_id(save_id: &str, workflow: &WorkflowId) -> String {
    let mut id = Digest::of(format!("{save_id}/{workflow}").as_bytes()).to_hex();
    id.truncate(32);
    id
}

fn is_full(error: &Error) -> bool {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    matches!(error, Error::Io { source, .. } if full.contains(&source.kind()))
}
