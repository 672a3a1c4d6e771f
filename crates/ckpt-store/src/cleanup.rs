//! Applying a cleanup plan.
//!
//! A whole workflow is archived by a seal, if it was not saved to since. Single checkpoints go into a bundle with the
//! reason `cleanup`, which is synced and read back before tombstones replace them; the head is never among them. Then
//! expired runs are deleted. A failure of one workflow does not keep the others from being cleaned up.
//!
//! At last, the objects that nothing refers to are removed: see `objects`.
//!
//! An expired run that is the newest one is deleted under a seal that records it: a save before the seal keeps the run,
//! and a save after it does not continue what is deleted.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::archiving::{Closing, Deletion};
use super::disk::Disk;
use super::error::{Error, Result};
use super::layout::OBJECTS;
use super::open::Store;
use super::pack::{MAX_CONTENT_BYTES, Packing};
use super::progress::{ArchiveProgress, ProgressCounter};
use super::workflow::Workflow;
use ckpt_model::change::Stamp;
use ckpt_model::digest::Digest;
use ckpt_model::reason::{ArchiveReason, DeletionReason};
use ckpt_model::retention::{CleanupEffect, CleanupPlan, TemporaryFile, UnreferredObject, WorkflowPlan};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// The result of a cleanup.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// The workflows that it changed.
    pub workflows: Vec<CleanedWorkflow>,
    /// Workflows that were to be archived as a whole, but were saved to after the plan was made. They stay as they are.
    pub overtaken: Vec<WorkflowId>,
    /// The stale temporary files that were removed.
    pub stale_files: Vec<PathBuf>,
    /// The objects that were removed.
    pub objects: Vec<UnreferredObject>,
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
    /// The bundles that hold them; none if they were deleted.
    pub bundles: Vec<PathBuf>,
    /// The runs that were deleted, each by the number of its first checkpoint.
    pub deleted_runs: Vec<u64>,
}

/// The progress of a cleanup.
#[derive(Debug)]
pub struct CleanupProgress<'a> {
    /// The workflow that is being cleaned up.
    pub workflow: &'a WorkflowId,
    /// The number of workflows before it that were cleaned up.
    pub done: usize,
    /// The number of workflows to clean up.
    pub total: usize,
    /// The progress in it.
    pub step: &'a ArchiveProgress,
}

impl CleanedWorkflow {
    fn is_idle(&self) -> bool {
        self.removed.is_empty() && self.deleted_runs.is_empty()
    }
}

impl<D: Disk> Store<D> {
    /// Applies a plan. What fails is reported and left as it was; the next cleanup tries again. `progress` is called for
    /// every checkpoint of every step.
    pub fn clean_up(
        &self,
        plan: &CleanupPlan,
        stamp: &Stamp,
        progress: &mut dyn FnMut(&CleanupProgress<'_>),
    ) -> Cleaned {
        let mut cleaned = Cleaned::default();
        let due = plan.workflows.iter().filter(|workflow| !workflow.is_idle());
        let total = due.clone().count();
        for (done, workflow) in due.enumerate() {
            let id = &workflow.workflow;
            let mut tell = |step: &ArchiveProgress| progress(&CleanupProgress { workflow: id, done, total, step });
            let progress = &mut ProgressCounter::new(&mut tell);
            let stamp = Stamp { save_id: own_id(&stamp.save_id, &workflow.workflow), ..stamp.clone() };
            let mut done = CleanedWorkflow {
                workflow: workflow.workflow.clone(),
                removed: Vec::new(),
                bytes: 0,
                whole: None,
                bundles: Vec::new(),
                deleted_runs: Vec::new(),
            };
            // Runs are deleted last: if a new bundle could not be written, the old ones stay.
            let result = self
                .clean_up_workflow(workflow, plan.purge, &stamp, &mut done, progress)
                .and_then(|()| self.delete_runs(workflow, &stamp, &mut done, progress));
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
        match self.sweep_objects(&plan.objects, &stamp.save_id) {
            Ok(removed) => cleaned.objects = removed,
            Err(error) => cleaned.failures.push((self.root().join(OBJECTS), error)),
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
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        let deletion =
            if purge { Deletion { ranges: vec![(1, u64::MAX)], reason: DeletionReason::Purged } } else { expiry(plan) };
        match &plan.effect {
            CleanupEffect::Nothing => Ok(()),
            CleanupEffect::Workflow(reason) => self.close_planned(plan, (reason, &deletion), stamp, done, progress),
            CleanupEffect::Checkpoints => {
                let workflow = self.workflow(&plan.workflow)?;
                // The head stays even if planned: the next number follows from it.
                let head = workflow.highest_live()?;
                let planned = plan.leaving().map(|decision| decision.handle.seq);
                let (deleted, archived): (BTreeSet<u64>, BTreeSet<u64>) =
                    planned.filter(|seq| Some(*seq) < head).partition(|seq| deletion.deletes(*seq));
                if !deleted.is_empty() {
                    for (seq, bytes) in workflow.delete(&deleted, deletion.reason, &stamp.save_id)? {
                        done.removed.push(workflow.handle(seq));
                        done.bytes += bytes;
                    }
                }
                workflow.archive_some(&archived, stamp, done, progress)
            }
        }
    }

    /// Closes a workflow that is still as the plan saw it.
    fn close_planned(
        &self,
        plan: &WorkflowPlan,
        (reason, deletion): (&ArchiveReason, &Deletion),
        stamp: &Stamp,
        done: &mut CleanedWorkflow,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        let expected = Some(plan.newest);
        let closing =
            Closing { reason, stamp, expected, deletion, max_content_bytes: MAX_CONTENT_BYTES, any_format: false };
        let archived = self.close(&plan.workflow, closing, progress)?;
        done.whole = Some(archived.reason);
        // Older seals leave too, but are no checkpoints.
        let moved: BTreeSet<&Handle> = archived.moved.iter().collect();
        for decision in plan.leaving().filter(|decision| moved.contains(&decision.handle)) {
            done.removed.push(decision.handle.clone());
            done.bytes += decision.bytes;
        }
        if !deletion.deletes(plan.newest) {
            done.bundles = archived.bundles;
        }
        Ok(())
    }

    /// Deletes the bundles of the runs that a plan names.
    fn delete_runs(
        &self,
        plan: &WorkflowPlan,
        stamp: &Stamp,
        done: &mut CleanedWorkflow,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        let newest = plan.expired.iter().find(|run| run.last == plan.newest);
        let is_closed = matches!(plan.effect, CleanupEffect::Workflow(_));
        if let (Some(run), false) = (newest, is_closed) {
            let reason = run.outcome.archive_reason().unwrap_or(ArchiveReason::Cleanup);
            self.close_planned(plan, (&reason, &expiry(plan)), stamp, done, progress)?;
        }
        for run in &plan.expired {
            let archive = self.archive_of(&plan.workflow)?;
            let mut bundles = archive.bundles()?;
            bundles.retain(|name| run.bundles.contains(&name.to_string()));
            self.delete_bundles(&archive, &bundles, DeletionReason::Expired, stamp)?;
            done.deleted_runs.push(run.first);
        }
        Ok(())
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
    fn archive_some(
        &self,
        numbers: &BTreeSet<u64>,
        stamp: &Stamp,
        done: &mut CleanedWorkflow,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let packing =
            Packing { closed_run: None, now: stamp.now, max_content_bytes: MAX_CONTENT_BYTES, save_id: &stamp.save_id };
        let mut held = Vec::new();
        match self.pack(numbers, packing, &mut held, progress) {
            Err(error) if numbers.len() > 1 && is_full(&error) => {
                let upper: BTreeSet<u64> = numbers.iter().copied().skip(numbers.len() / 2).collect();
                let lower: BTreeSet<u64> = numbers.difference(&upper).copied().collect();
                self.archive_some(&lower, stamp, done, progress)?;
                return self.archive_some(&upper, stamp, done, progress);
            }
            packed => packed?,
        }
        for entry in self.replace_archived(&held, numbers, &stamp.save_id, progress)? {
            done.removed.push(self.handle(entry.seq));
            done.bytes += entry.bytes;
        }
        done.bundles.extend(held.iter().map(|manifest| self.store.bundle_path(self.id, &manifest.name())));
        Ok(())
    }
}

/// Returns the deletion of the runs that a plan names.
fn expiry(plan: &WorkflowPlan) -> Deletion {
    let ranges = plan.expired.iter().map(|run| (run.first, run.last)).collect();
    Deletion { ranges, reason: DeletionReason::Expired }
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
