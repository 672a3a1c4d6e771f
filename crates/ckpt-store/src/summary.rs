//! Summaries of workflows, to select and order them.

use std::borrow::Cow;

use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::scan_workflows::{Extent, Scanned, WorkflowRow};
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::format::{Header, Unusable};
use ckpt_model::selector::Handle;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::{WorkflowId, WorkflowIdRef};

/// The part of a [`WorkflowRow`] that workflows are selected and ordered by. It is borrowed from the row or from a line of
/// the index: few of many workflows are selected, and only those are worth copying.
#[derive(Debug, Clone)]
pub struct WorkflowSummary<'a> {
    /// The workflow.
    pub workflow: WorkflowIdRef<'a>,
    /// The number of the head.
    pub seq: u64,
    /// Its summary, or why it cannot be used.
    pub head: Result<HeadSummary<'a>, &'a Unusable>,
    /// True if the workflow is archived: its head is a seal.
    pub archived: bool,
    /// The whole row, unless the summary is from the index.
    pub row: Option<&'a WorkflowRow>,
}

/// The part of a header that workflows are selected and ordered by.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the same fields as in `Checkpoint`")]
pub struct HeadSummary<'a> {
    pub saved_at: Timestamp,
    pub status: WorkflowStatus,
    pub phase: Option<Cow<'a, str>>,
    pub pipeline: Option<Cow<'a, str>>,
    pub labels: Vec<Cow<'a, str>>,
}

/// A workflow that was selected by its summary.
#[derive(Debug, Clone)]
pub struct SelectedWorkflow {
    /// The head.
    pub newest: Handle,
    /// The time of the head, or why it cannot be used.
    pub saved_at: Result<Timestamp, Unusable>,
    /// True if the workflow is archived.
    pub archived: bool,
    /// The whole row, if somebody kept it.
    pub row: Option<Box<WorkflowRow>>,
}

impl<'a> From<&'a WorkflowRow> for WorkflowSummary<'a> {
    fn from(row: &'a WorkflowRow) -> Self {
        let head = |header: &'a Header| HeadSummary {
            saved_at: header.saved_at,
            status: header.status,
            phase: header.phase.as_ref().map(|phase| phase.as_str().into()),
            pipeline: header.pipeline.as_deref().map(Cow::from),
            labels: header.labels.iter().map(Cow::from).collect(),
        };
        Self {
            workflow: (&row.newest.workflow).into(),
            seq: row.newest.seq,
            head: row.header.as_ref().map(head),
            archived: row.archived,
            row: Some(row),
        }
    }
}

impl From<&WorkflowSummary<'_>> for SelectedWorkflow {
    fn from(summary: &WorkflowSummary<'_>) -> Self {
        Self {
            newest: Handle::new(&summary.workflow.to_id(), summary.seq),
            saved_at: summary.head.as_ref().map(|head| head.saved_at).map_err(|why| (*why).clone()),
            archived: summary.archived,
            row: None,
        }
    }
}

impl<D: Disk> Store<D> {
    /// Scans a workflow. Returns its row, and true if that depends on nothing but the directory of the workflow.
    pub(super) fn scan_newest_of(&self, workflows: Option<&D::Dir>, id: &WorkflowId) -> Option<(WorkflowRow, bool)> {
        let scan = |workflows| self.scan_directory(workflows, id, Extent::Newest);
        match workflows.map_or(Scanned::NoHead, scan) {
            Scanned::Row(row) => Some((*row, true)),
            Scanned::NoHead => Some((self.scan_archived(id)?, false)),
        }
    }
}
