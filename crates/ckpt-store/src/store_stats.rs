//! The statistics of a store and of a workflow, read from the store.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{BundleTotals, Disk, Entry, ObjectTotals, Result, ScanProgress, Store, WorkflowFigures};
use ckpt_model::checkpoint::{Checkpoint, WorkflowStatus};
use ckpt_model::stats::{Analytics, CheckpointCounts, RunFilter, Totals, WorkflowStats};
use ckpt_model::time::Timestamp;

/// The statistics of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StoreStats {
    /// How many live workflows have each status.
    pub workflows: StatusCounts,
    /// How many workflows are archived.
    pub archived_workflows: usize,
    /// How many checkpoints are live.
    pub checkpoints: usize,
    /// How much room they take.
    pub live_bytes: u64,
    /// How many bundles there are.
    pub bundles: usize,
    /// How many files are in the bundles that can be read, seals included.
    pub archived_checkpoints: usize,
    /// How much room the bundles take.
    pub archived_bytes: u64,
    /// How much room what is in the bundles took before.
    pub archived_content_bytes: u64,
    /// How many objects there are: kept contents of artifacts.
    pub objects: usize,
    /// How much room the objects take.
    pub object_bytes: u64,
    /// When the oldest live checkpoint was saved that can be read.
    pub oldest: Option<Timestamp>,
    /// When anything was saved last.
    pub newest: Option<Timestamp>,
}

impl StoreStats {
    /// Counts a workflow.
    fn add(&mut self, workflow: &WorkflowFigures) {
        let WorkflowFigures { live, bundles, .. } = workflow;
        self.checkpoints += live.checkpoints;
        self.live_bytes += live.bytes;
        self.oldest = [self.oldest, live.oldest].into_iter().flatten().min();
        self.newest = self.newest.max(workflow.saved_at);
        if workflow.archived {
            self.archived_workflows += 1;
        } else {
            self.workflows.add(workflow.status);
        }
        let BundleTotals { count, bytes, files, content_bytes } = bundles;
        self.bundles += count;
        self.archived_bytes += bytes;
        self.archived_checkpoints += files;
        self.archived_content_bytes += content_bytes;
    }

    /// Counts the objects.
    fn add_objects(&mut self, objects: &ObjectTotals) {
        (self.objects, self.object_bytes) = (objects.count, objects.bytes);
    }

    /// How much smaller the archive is than what is in it, in percent.
    #[must_use]
    pub fn saved_percent(&self) -> Option<u64> {
        let saved = self.archived_content_bytes.checked_sub(self.archived_bytes)?;
        saved.checked_mul(100)?.checked_div(self.archived_content_bytes)
    }
}

/// How many there are of each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[expect(missing_docs, reason = "the words of `WorkflowStatus`, and damage")]
pub struct StatusCounts {
    pub in_progress: usize,
    pub complete: usize,
    pub failed: usize,
    pub abandoned: usize,
    pub damaged: usize,
}

impl StatusCounts {
    fn add(&mut self, status: Option<WorkflowStatus>) {
        *match status {
            Some(WorkflowStatus::InProgress) => &mut self.in_progress,
            Some(WorkflowStatus::Complete) => &mut self.complete,
            Some(WorkflowStatus::Failed) => &mut self.failed,
            Some(WorkflowStatus::Abandoned) => &mut self.abandoned,
            None => &mut self.damaged,
        } += 1;
    }
}

/// Visits every workflow of a store once, and returns the counts of the store and the figures of the runs that are wanted.
///
/// # Errors
/// The store cannot be read; what is damaged inside is counted as that.
pub fn of_store<D: Disk<Dir: Sync> + Sync>(
    store: &Store<D>,
    filter: &RunFilter,
    progress: &mut dyn FnMut(&ScanProgress),
) -> Result<(StoreStats, Analytics)> {
    let (mut stats, mut totals) = (StoreStats::default(), Totals::default());
    store.visit_figures(progress, &mut |workflow| {
        stats.add(&workflow);
        workflow.runs.iter().filter(|run| filter.selects(&run.summary)).for_each(|run| totals.add(run));
    })?;
    stats.add_objects(&store.object_totals()?);
    Ok((stats, totals.finish(filter.since)))
}

/// Counts what happened in a workflow whose newest checkpoint with content is `newest`.
///
/// Failures and triggers are recorded in each checkpoint and nowhere else, so the header of every checkpoint is read once,
/// those in the archive too.
///
/// # Errors
/// The store cannot be read; what is damaged inside is not counted.
pub fn of_workflow<D: Disk<Dir: Sync> + Sync>(store: &Store<D>, newest: &Checkpoint) -> Result<WorkflowStats> {
    let workflow = &newest.workflow;
    let (mut live_bytes, mut checkpoints) = (0, 0);
    let mut moments: BTreeMap<u64, Option<CheckpointCounts>> = BTreeMap::new();
    for row in store.scan_checkpoints(workflow)? {
        live_bytes += row.bytes;
        checkpoints = row.handle.seq.max(checkpoints);
        match row.entry {
            Ok(Entry::Checkpoint(header)) => {
                drop(moments.insert(row.handle.seq, Some(CheckpointCounts::of(header))));
            }
            Ok(Entry::Tombstone) => drop(moments.insert(row.handle.seq, None)),
            Ok(Entry::Seal(_)) | Err(_) => {}
        }
    }
    if moments.values().any(Option::is_none) {
        store.visit_archived(workflow, &mut |header| {
            if let (Some(moment), None) = (moments.get_mut(&header.seq), &header.sealed) {
                moment.get_or_insert_with(|| CheckpointCounts::of(header));
            }
        })?;
    }
    let moments: Vec<CheckpointCounts> = moments.into_values().flatten().collect();
    Ok(WorkflowStats::new(newest, &moments, checkpoints, live_bytes))
}
