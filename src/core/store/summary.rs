//! Summaries of all workflows, to select, order and count them.

use super::batches::{ScanProgress, in_batches};
use super::disk::Disk;
use super::error::Result;
use super::index::{DirectoryStamp, Index, IndexFile, LEAST_WORKFLOWS, REWRITE_SHARE, write_line};
use super::open::Store;
use super::scan_workflows::{Extent, Live, Scanned, WorkflowRow};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::format::{Header, Unusable};
use crate::core::phase::PhaseId;
use crate::core::selector::Handle;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// The part of a [`WorkflowRow`] that workflows are selected, ordered and counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowSummary {
    /// The head.
    pub newest: Handle,
    /// Its summary, or why it cannot be used.
    pub head: Result<HeadSummary, Unusable>,
    /// Its live checkpoints, if they were counted.
    pub live: Option<Live>,
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
            live: row.live,
            archived: row.archived,
        }
    }
}

/// A workflow without a valid line in the index.
struct Unindexed<'i> {
    id: &'i WorkflowId,
    /// The state of its directory before it is scanned.
    stamp: Option<DirectoryStamp>,
}

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Passes the summary of every workflow to `visit`, in no order. Valid summaries are taken from the index, and the
    /// index is written again if many were not.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a summary that says so.
    pub fn visit_summaries(
        &self,
        extent: Extent,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(WorkflowSummary),
    ) -> Result<()> {
        let workflows = self.open_workflows()?;
        let ids = self.workflow_ids()?;
        let mut now = ScanProgress { done: 0, total: ids.len() };
        let mut visit = |summary| {
            now.done += 1;
            progress(&now);
            visit(summary);
        };
        let scan = |id: &WorkflowId| self.summarize(workflows.as_ref(), id, extent);
        let index_file = if ids.len() < LEAST_WORKFLOWS { None } else { IndexFile::open(self) };
        let (Some(file), Some(workflows)) = (index_file, &workflows) else {
            in_batches(&ids, scan, |_, scanned| scanned.into_iter().for_each(|(summary, _)| visit(summary)));
            return Ok(());
        };

        let bytes = file.read(ids.len());
        let index = Index::parse(&bytes);
        let (mut valid, mut unindexed) = (Vec::new(), Vec::new());
        let look_up = |id: &WorkflowId| self.look_up(&index, workflows, id, extent);
        in_batches(&ids, look_up, |id, looked_up| match looked_up {
            Ok((line, summary)) => {
                valid.push(line);
                visit(summary);
            }
            Err(stamp) => unindexed.push(Unindexed { id, stamp }),
        });

        let is_worth_writing = |lines: usize| lines.saturating_mul(REWRITE_SHARE) > ids.len();
        // Before the first head is read: a directory that changes after that has another stamp.
        let time = if is_worth_writing(unindexed.len()) { file.time() } else { None };
        let (mut lines, mut count) = (String::new(), 0);
        in_batches(
            &unindexed,
            |workflow| scan(workflow.id),
            |Unindexed { id, stamp }, scanned| {
                let Some((summary, from_directory)) = scanned else { return };
                if let (true, Some(stamp), Some(time)) = (from_directory, stamp, time)
                    && stamp.is_before(time)
                {
                    count += usize::from(write_line(&mut lines, &id.directory(), stamp, &summary));
                }
                visit(summary);
            },
        );
        if is_worth_writing(count) {
            lines.extend(valid.into_iter().flat_map(|line| [line, "\n"]));
            file.write(&lines);
        }
        Ok(())
    }

    /// Returns the line of a workflow and its summary if they are valid, else the stamp of its directory.
    fn look_up<'b>(
        &self,
        index: &Index<'b>,
        workflows: &D::Dir,
        id: &WorkflowId,
        extent: Extent,
    ) -> Result<(&'b str, WorkflowSummary), Option<DirectoryStamp>> {
        let directory = id.directory();
        let stat = self.disk().stat(workflows, &directory).map_err(|_| None)?;
        let stamp = DirectoryStamp::new(&stat).ok_or(None)?;
        match index.find(id, &directory, &stamp) {
            Some((line, summary)) if extent == Extent::Newest || summary.live.is_some() => {
                Ok((line, summary))
            }
            _ => Err(Some(stamp)),
        }
    }

    /// Scans a workflow. Returns its summary, and true if that depends on nothing but the directory of the workflow.
    fn summarize(
        &self,
        workflows: Option<&D::Dir>,
        id: &WorkflowId,
        extent: Extent,
    ) -> Option<(WorkflowSummary, bool)> {
        match workflows.map_or(Scanned::NoHead, |workflows| self.scan_directory(workflows, id, extent)) {
            Scanned::Row(row) => Some((WorkflowSummary::from(&*row), true)),
            Scanned::NoHead => Some((WorkflowSummary::from(&self.scan_archived(id)?), false)),
        }
    }
}
