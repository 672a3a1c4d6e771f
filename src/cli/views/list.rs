//! The answers of `ckpt list`.

use serde::Serialize;

use super::failed::DamagedFile;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::table::{Cell, render};
use crate::cli::words::{FIRST_COMMAND, count, verb};
use crate::core::format::{Header, Unusable};
use crate::core::size::Size;
use crate::core::store::{
    CheckpointRow, DeletionReason, Deletions, Entry, Live, WorkflowRow, WorkflowSummary,
};
use crate::core::{Handle, Store, Timestamp, WorkflowId};

/// The status of whatever cannot be read.
const DAMAGED: &str = "damaged";

/// A list of workflows.
#[derive(Debug, Serialize)]
pub(crate) struct WorkflowsReport {
    workflows: Vec<ListedWorkflow>,
    damaged: Vec<DamagedFile>,
    total: usize,
    truncated: bool,
    warnings: Vec<String>,
    /// The number of archived workflows that were left out.
    #[serde(skip)]
    archived: usize,
}

#[derive(Debug, Serialize)]
struct ListedWorkflow {
    workflow: WorkflowId,
    title: Option<String>,
    status: &'static str,
    handle: Option<Handle>,
    phase: Option<String>,
    done: usize,
    total: Option<usize>,
    saved_at: Option<Timestamp>,
    checkpoints: usize,
    bytes: u64,
    pipeline: Option<String>,
    labels: Vec<String>,
    archived: bool,
    /// The reason why the content is nowhere, if it was deleted.
    deleted: Option<DeletionReason>,
}

/// The workflows beside the listed ones.
#[derive(Debug)]
pub(crate) struct Unlisted<'a> {
    /// The number of all selected workflows, with the listed ones.
    pub(crate) total: usize,
    /// The damaged ones beyond the limit.
    pub(crate) damaged: &'a [WorkflowSummary],
    /// The number of archived workflows that were left out.
    pub(crate) archived: usize,
}

impl WorkflowsReport {
    pub(crate) fn new(rows: Vec<WorkflowRow>, rest: &Unlisted<'_>, store: &Store) -> Self {
        let listed_damage = rows.iter().filter_map(|row| Some((&row.newest, row.header.as_ref().err()?)));
        let damaged = damaged_files(listed_damage, rest, store);
        Self::with(rows.into_iter().map(ListedWorkflow::new).collect(), damaged, rest)
    }

    /// The report of the ids alone, for `--quiet`.
    pub(crate) fn of_ids(workflows: &[WorkflowSummary], rest: &Unlisted<'_>, store: &Store) -> Self {
        let damaged = damaged_files(workflows.iter().filter_map(damage), rest, store);
        let unread = |workflow: &WorkflowSummary| {
            ListedWorkflow::unread(workflow.newest.clone(), workflow.live, workflow.archived)
        };
        Self::with(workflows.iter().map(unread).collect(), damaged, rest)
    }

    fn with(workflows: Vec<ListedWorkflow>, damaged: Vec<DamagedFile>, rest: &Unlisted<'_>) -> Self {
        Self {
            truncated: workflows.len() < rest.total,
            workflows,
            damaged,
            total: rest.total,
            warnings: Vec::new(),
            archived: rest.archived,
        }
    }
}

fn damage(workflow: &WorkflowSummary) -> Option<(&Handle, &Unusable)> {
    Some((&workflow.newest, workflow.head.as_ref().err()?))
}

fn damaged_files<'a>(
    listed: impl Iterator<Item = (&'a Handle, &'a Unusable)>,
    rest: &Unlisted<'a>,
    store: &Store,
) -> Vec<DamagedFile> {
    let all = listed.chain(rest.damaged.iter().filter_map(damage));
    all.map(|(handle, why)| damaged(handle, why, store)).collect()
}

impl ListedWorkflow {
    fn unread(newest: Handle, live: Option<Live>, archived: bool) -> Self {
        let Live { checkpoints, bytes, .. } = live.unwrap_or_default();
        Self {
            workflow: newest.workflow.clone(),
            title: None,
            status: DAMAGED,
            handle: (newest.seq > 0).then_some(newest),
            phase: None,
            done: 0,
            total: None,
            saved_at: None,
            checkpoints,
            bytes,
            pipeline: None,
            labels: Vec::new(),
            archived,
            deleted: None,
        }
    }

    fn new(row: WorkflowRow) -> Self {
        let unread = Self::unread(row.newest, row.live, row.archived);
        let Ok(header) = row.header else { return unread };
        Self {
            status: header.status.word(),
            phase: header.phase.as_ref().map(ToString::to_string),
            done: header.done(),
            total: header.pipeline.is_some().then_some(header.phases.len()),
            saved_at: Some(header.saved_at),
            deleted: deleted(&header),
            title: header.title,
            pipeline: header.pipeline,
            labels: header.labels,
            ..unread
        }
    }

    fn cells(&self, page: &Page) -> Vec<Cell> {
        let newest = self.handle.as_ref().map_or_else(|| self.workflow.to_string(), ToString::to_string);
        let done = match self.total {
            Some(total) => format!("{} of {total}", self.done),
            None => self.done.to_string(),
        };
        vec![
            Cell::styled(newest, Style::Bold),
            if self.archived { archived_cell(self.deleted) } else { status_cell(self.status) },
            Cell::or_hyphen(self.phase.as_deref().map(|phase| page.escape(phase))),
            Cell::or_hyphen(self.saved_at.map(|_| done)),
            Cell::or_hyphen(self.saved_at.map(|time| page.time(time))),
            Cell::new(page.escape(self.title.as_deref().unwrap_or_default())),
        ]
    }
}

impl Report for WorkflowsReport {
    const FORMAT: &'static str = "ckpt.list.v1";

    fn essential(&self) -> String {
        self.workflows.iter().map(|row| format!("{}\n", row.workflow)).collect()
    }

    fn answer(&self, page: &mut Page) {
        if self.workflows.is_empty() {
            return;
        }
        let rows: Vec<_> = self.workflows.iter().map(|row| row.cells(page)).collect();
        render(page, &["NEWEST", "STATUS", "PHASE", "DONE", "SAVED", "TITLE"], &rows);
    }

    fn failures(&self, page: &mut Page) {
        DamagedFile::render(&self.damaged, page);
    }

    fn remarks(&self, page: &mut Page) {
        if self.total == 0 {
            page.line(format!("No workflows. `{FIRST_COMMAND}` begins one."));
        }
        announce_rest(page, self.workflows.len(), self.total, "workflow");
        if self.archived > 0 {
            let archived = count(self.archived, "archived workflow");
            let them = verb(self.archived, "it", "them");
            page.line(format!("{archived} not shown; `--archived` shows {them}."));
        }
    }
}

/// A list of the checkpoints of one workflow.
#[derive(Debug, Serialize)]
pub(crate) struct CheckpointsReport {
    workflow: WorkflowId,
    checkpoints: Vec<ListedCheckpoint>,
    damaged: Vec<DamagedFile>,
    total: usize,
    truncated: bool,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListedCheckpoint {
    handle: Handle,
    phase: Option<String>,
    trigger: Option<String>,
    /// `None` for a seal or a tombstone.
    status: Option<&'static str>,
    saved_at: Option<Timestamp>,
    bytes: u64,
    archived: bool,
    /// The reason why the content is nowhere, if it was deleted.
    deleted: Option<DeletionReason>,
    pinned: bool,
    done: usize,
}

impl CheckpointsReport {
    /// Reports the newest `rows` of `total` checkpoints.
    pub(crate) fn new(
        workflow: &WorkflowId,
        rows: Vec<CheckpointRow>,
        total: usize,
        deletions: &Deletions,
        store: &Store,
    ) -> Self {
        let truncated = rows.len() < total;
        let damaged =
            rows.iter().filter_map(|row| Some(damaged(&row.handle, row.entry.as_ref().err()?, store)));
        Self {
            workflow: workflow.clone(),
            damaged: damaged.collect(),
            checkpoints: rows.into_iter().map(|row| ListedCheckpoint::new(row, deletions)).collect(),
            total,
            truncated,
            warnings: Vec::new(),
        }
    }
}

impl ListedCheckpoint {
    fn new(row: CheckpointRow, deletions: &Deletions) -> Self {
        let (header, status, deleted) = match &row.entry {
            Ok(Entry::Checkpoint(header)) => (Some(header), Some(header.status.word()), None),
            Ok(Entry::Seal(header)) => (Some(header), None, deleted(header)),
            Ok(Entry::Tombstone) => (None, None, deletions.reason(row.handle.seq)),
            Err(_) => (None, Some(DAMAGED), None),
        };
        Self {
            phase: header.and_then(|header| header.phase.as_ref()).map(ToString::to_string),
            trigger: header.map(|header| header.trigger.to_string()),
            status,
            saved_at: header.map(|header| header.saved_at),
            bytes: row.bytes,
            archived: status.is_none(),
            deleted,
            pinned: header.is_some_and(|header| header.pinned),
            done: header.map_or(0, Header::done),
            handle: row.handle,
        }
    }

    fn cells(&self, page: &Page) -> Vec<Cell> {
        let mut trigger = self.trigger.as_deref().map(|trigger| page.escape(trigger));
        if self.pinned {
            trigger = trigger.map(|trigger| trigger + ", pinned");
        }
        vec![
            Cell::styled(self.handle.to_string(), Style::Bold),
            self.status.map_or_else(|| archived_cell(self.deleted), status_cell),
            Cell::or_hyphen(self.phase.as_deref().map(|phase| page.escape(phase))),
            Cell::or_hyphen(trigger),
            Cell::right(Size(self.bytes).to_string()),
            Cell::or_hyphen(self.saved_at.map(|time| page.time(time))),
        ]
    }
}

impl Report for CheckpointsReport {
    const FORMAT: &'static str = "ckpt.list.v1";

    fn essential(&self) -> String {
        self.checkpoints.iter().map(|row| format!("{}\n", row.handle)).collect()
    }

    fn answer(&self, page: &mut Page) {
        let rows: Vec<_> = self.checkpoints.iter().map(|row| row.cells(page)).collect();
        render(page, &["CHECKPOINT", "STATUS", "PHASE", "TRIGGER", "SIZE", "SAVED"], &rows);
    }

    fn failures(&self, page: &mut Page) {
        DamagedFile::render(&self.damaged, page);
    }

    fn remarks(&self, page: &mut Page) {
        announce_rest(page, self.checkpoints.len(), self.total, "checkpoint");
    }
}

fn damaged(handle: &Handle, why: &Unusable, store: &Store) -> DamagedFile {
    let is_file = handle.seq > 0;
    let path = if is_file { store.checkpoint_path(handle) } else { store.workflow_dir(&handle.workflow) };
    DamagedFile {
        path: path.display().to_string(),
        code: why.code().word(),
        message: why.to_string(),
        handle: is_file.then(|| handle.clone()),
    }
}

fn status_cell(word: &'static str) -> Cell {
    let style = match word {
        "complete" => Style::Good,
        "failed" | DAMAGED => Style::Bad,
        "abandoned" => Style::Dim,
        _ => Style::Plain,
    };
    Cell::styled(word.replace('_', " "), style)
}

/// The status of content that is not live: `archived`, or why no bundle holds it.
fn archived_cell(deleted: Option<DeletionReason>) -> Cell {
    Cell::styled(deleted.map_or("archived", DeletionReason::word), Style::Dim)
}

/// Returns why the content below a seal was deleted.
fn deleted(header: &Header) -> Option<DeletionReason> {
    header.sealed.as_ref().and_then(|sealed| sealed.deleted)
}

fn announce_rest(page: &mut Page, shown: usize, total: usize, noun: &str) {
    if shown < total {
        page.line(format!("Showing {shown} of {}; `--all` shows the rest.", count(total, noun)));
    }
}
