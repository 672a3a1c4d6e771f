//! Counts of a store: its workflows, checkpoints, bundles and their sizes.

use serde::Serialize;

use crate::core::checkpoint::WorkflowStatus;
use crate::core::store::{Disk, Extent, ObjectTotals, Result, ScanProgress, Store};
use crate::core::time::Timestamp;

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
    /// How much smaller the archive is than what is in it, in percent.
    #[must_use]
    pub fn saved_percent(&self) -> Option<u64> {
        let saved = self.archived_content_bytes.checked_sub(self.archived_bytes)?;
        saved.checked_mul(100)?.checked_div(self.archived_content_bytes)
    }
}

/// How many there are of each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "testing", expect(missing_docs, reason = "the words of `WorkflowStatus`, and damage"))]
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

/// Counts what a store holds.
///
/// # Errors
/// The store cannot be read; what is damaged inside is counted as that.
pub fn of_store<D: Disk<Dir: Sync> + Sync>(
    store: &Store<D>,
    progress: &mut dyn FnMut(&ScanProgress),
) -> Result<StoreStats> {
    let mut stats = StoreStats::default();
    store.visit_summaries(Extent::Live, progress, &mut |workflow| {
        let live = workflow.live.unwrap_or_default();
        stats.checkpoints += live.checkpoints;
        stats.live_bytes += live.bytes;
        stats.oldest = [stats.oldest, live.oldest].into_iter().flatten().min();
        let head = workflow.head.ok();
        stats.newest = stats.newest.max(head.as_ref().map(|head| head.saved_at));
        if workflow.archived {
            stats.archived_workflows += 1;
        } else {
            stats.workflows.add(head.map(|head| head.status));
        }
    })?;
    store.visit_bundles(progress, &mut |bundle| {
        stats.bundles += 1;
        stats.archived_bytes += bundle.bytes;
        if let Ok(manifest) = bundle.manifest {
            stats.archived_checkpoints += manifest.entries.len();
            stats.archived_content_bytes += manifest.entries.iter().map(|entry| entry.bytes).sum::<u64>();
        }
    })?;
    let ObjectTotals { count, bytes } = store.object_totals()?;
    (stats.objects, stats.object_bytes) = (count, bytes);
    Ok(stats)
}
