//! Summaries of workflows, to select and order them.

use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::scan_workflows::{Extent, Scanned, WorkflowRow};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::format::{Header, Unusable};
use crate::core::phase::PhaseId;
use crate::core::selector::Handle;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// The part of a [`WorkflowRow`] that workflows are selected and ordered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowSummary {
    /// The head.
    pub newest: Handle,
    /// Its summary, or why it cannot be used.
    pub head: Result<HeadSummary, Unusable>,
    /// True if the workflow is archived: its head is a seal.
    pub archived: bool,
}

/// The part of a header that workflows are selected and ordered by.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "testing", expect(missing_docs, reason = "the same fields as in `Checkpoint`"))]
pub struct HeadSummary {
    pub saved_at: Timestamp,
    pub status: WorkflowStatus,
    pub phase: Option<PhaseId>,
    pub pipeline: Option<String>,
    pub labels: Vec<String>,
}

impl From<&WorkflowRow> for WorkflowSummary {
    fn from(row: &WorkflowRow) -> Self {
        let head = |header: &Header| HeadSummary {
            saved_at: header.saved_at,
            status: header.status,
            phase: header.phase.clone(),
            pipeline: header.pipeline.clone(),
            labels: header.labels.clone(),
        };
        Self {
            newest: row.newest.clone(),
            head: row.header.as_ref().map(head).map_err(Clone::clone),
            archived: row.archived,
        }
    }
}

impl<D: Disk> Store<D> {
    /// Scans a workflow. Returns its summary, and true if that depends on nothing but the directory of the workflow.
    pub(super) fn summarize(
        &self,
        workflows: Option<&D::Dir>,
        id: &WorkflowId,
    ) -> Option<(WorkflowSummary, bool)> {
        let scan = |workflows| self.scan_directory(workflows, id, Extent::Newest);
        match workflows.map_or(Scanned::NoHead, scan) {
            Scanned::Row(row) => Some((WorkflowSummary::from(&*row), true)),
            Scanned::NoHead => Some((WorkflowSummary::from(&self.scan_archived(id)?), false)),
        }
    }
}
