//! Counts of a store: its workflows, checkpoints, bundles and their sizes.

use serde::Serialize;

use crate::core::checkpoint::WorkflowStatus;
use crate::core::store::{BundleTotals, ObjectTotals, WorkflowFigures};
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
    /// Counts a workflow.
    pub(super) fn add(&mut self, workflow: &WorkflowFigures) {
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
    pub(super) fn add_objects(&mut self, objects: &ObjectTotals) {
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
