//! The answer of `ckpt list`.

use serde::Serialize;

use super::failed::DamagedFile;
use crate::cli::answer::Report;
use crate::cli::escape;
use crate::cli::style::Style;
use crate::cli::table::{Cell, Column, render};
use crate::cli::text_page::TextPage;
use crate::cli::words::{FIRST_COMMAND, count, verb};
use ckpt_model::format::{Header, Unusable};
use ckpt_model::size::Size;
use ckpt_model::{Handle, Timestamp, WorkflowId};
use ckpt_store::Store;
use ckpt_store::{DeletionReason, Live, SelectedWorkflow, WorkflowRow};

/// The status of a workflow whose head cannot be read.
const DAMAGED: &str = "damaged";

/// A list of workflows.
#[derive(Debug, Serialize)]
pub(crate) struct WorkflowsReport {
    workflows: Vec<ListedWorkflow>,
    damaged: Vec<DamagedFile>,
    total: usize,
    truncated: bool,
    warnings: Vec<String>,
    #[serde(skip)]
    scope: Scope,
}

/// The workflows that a list was made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// True if filters selected among the live ones, or the archived ones.
    pub(crate) filtered: bool,
    /// True if the archived ones are listed instead of the live ones.
    pub(crate) archived: bool,
    /// The number of live workflows, listed or not.
    pub(crate) live_count: usize,
    /// The number of archived workflows, listed or not.
    pub(crate) archived_count: usize,
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
    /// The size of the bundles of an archived workflow.
    archived_bytes: Option<u64>,
    /// The reason why the content is nowhere, if it was deleted.
    deleted: Option<DeletionReason>,
    /// The note of the newest checkpoint.
    note: Option<String>,
    /// The phases that have failed.
    failed: Vec<String>,
}

/// The workflows beside the listed ones.
#[derive(Debug)]
pub(crate) struct Unlisted<'a> {
    /// The number of all selected workflows, with the listed ones.
    pub(crate) total: usize,
    /// The damaged ones beyond the limit.
    pub(crate) damaged: &'a [SelectedWorkflow],
    pub(crate) scope: Scope,
}

impl WorkflowsReport {
    pub(crate) fn new(rows: Vec<WorkflowRow>, rest: &Unlisted<'_>, store: &Store) -> Self {
        let listed_damage = rows.iter().filter_map(|row| Some((&row.newest, row.header.as_ref().err()?)));
        let damaged = damaged_files(listed_damage, rest, store);
        let listed = |row: WorkflowRow| {
            let archived_bytes = if row.archived { store.bundled_bytes(&row.newest.workflow).ok() } else { None };
            ListedWorkflow { archived_bytes, ..ListedWorkflow::new(row) }
        };
        Self::with(rows.into_iter().map(listed).collect(), damaged, rest)
    }

    /// The report of the ids alone, for `--quiet`.
    pub(crate) fn of_ids(workflows: &[SelectedWorkflow], rest: &Unlisted<'_>, store: &Store) -> Self {
        let damaged = damaged_files(workflows.iter().filter_map(damage), rest, store);
        let unread =
            |workflow: &SelectedWorkflow| ListedWorkflow::unread(workflow.newest.clone(), None, workflow.archived);
        Self::with(workflows.iter().map(unread).collect(), damaged, rest)
    }

    fn with(workflows: Vec<ListedWorkflow>, damaged: Vec<DamagedFile>, rest: &Unlisted<'_>) -> Self {
        Self {
            truncated: workflows.len() < rest.total,
            workflows,
            damaged,
            total: rest.total,
            warnings: Vec::new(),
            scope: rest.scope,
        }
    }

    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }
}

fn damage(workflow: &SelectedWorkflow) -> Option<(&Handle, &Unusable)> {
    Some((&workflow.newest, workflow.saved_at.as_ref().err()?))
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
            archived_bytes: None,
            deleted: None,
            note: None,
            failed: Vec::new(),
        }
    }

    fn new(row: WorkflowRow) -> Self {
        let unread = Self::unread(row.newest, row.live, row.archived);
        let Ok(header) = row.header else { return unread };
        let progress = header.progress();
        Self {
            status: header.status.word(),
            phase: header.phase.as_ref().map(ToString::to_string),
            done: progress.done,
            total: progress.total,
            saved_at: Some(header.saved_at),
            deleted: deleted(&header),
            failed: header.failed().map(ToString::to_string).collect(),
            note: header.note,
            title: header.title,
            pipeline: header.pipeline,
            labels: header.labels,
            ..unread
        }
    }

    fn cells(&self, page: &TextPage) -> Vec<Cell> {
        let newest = self.handle.as_ref().map_or_else(|| self.workflow.to_string(), ToString::to_string);
        let done = match self.total {
            Some(total) => format!("{} of {total}", self.done),
            None => self.done.to_string(),
        };
        vec![
            Cell::styled(newest, Style::Bold),
            if self.archived { archived_cell(self.deleted) } else { status_cell(self.status) },
            phase_cell(self.phase.as_deref(), &self.failed),
            Cell::or_hyphen(self.saved_at.map(|_| done)),
            Cell::right(self.archived_bytes.map(|bytes| Size(bytes).to_string()).unwrap_or_default()),
            Cell::or_hyphen(self.saved_at.map(|time| page.time(time))),
            Cell::new(page.escape(self.title.as_deref().unwrap_or_default())),
            Cell::new(page.escape(self.note.as_deref().unwrap_or_default())),
        ]
    }
}

impl Report for WorkflowsReport {
    const FORMAT: &'static str = "ckpt.list.v1";

    fn essential(&self) -> String {
        self.workflows.iter().map(|row| format!("{}\n", row.workflow)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        if self.workflows.is_empty() {
            return;
        }
        let columns = [
            Column::new("NEWEST"),
            Column::new("STATUS"),
            Column::new("PHASE").shrinks_to(10).optional(4),
            Column::new("DONE").optional(3),
            Column::new("SIZE").optional(2),
            Column::new("SAVED"),
            Column::new("TITLE").shrinks_to(12),
            Column::new("NOTE").shrinks_to(12).optional(1),
        ];
        let rows: Vec<_> = self.workflows.iter().map(|row| row.cells(page)).collect();
        render(page, &columns, &rows);
    }

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
        DamagedFile::render(&self.damaged, page);
    }

    fn remarks(&self, page: &mut TextPage) {
        let Scope { filtered, archived, live_count, archived_count } = self.scope;
        let candidates = if archived { archived_count } else { live_count };
        if self.total == 0 && filtered && candidates > 0 {
            let all = if archived { "ckpt list --archived" } else { "ckpt list" };
            page.line(format!("No workflow matches; `{all}` shows {}.", count(candidates, "workflow")));
        } else if self.total == 0 && archived {
            page.line("No archived workflows.");
        } else if self.total == 0 && archived_count > 0 {
            page.line("No live workflows.");
        } else if self.total == 0 {
            page.line(format!("No workflows yet. `{FIRST_COMMAND}` begins one."));
        }
        announce_rest(page, self.workflows.len(), self.total, "workflow");
        if archived_count > 0 && !archived {
            let them = verb(archived_count, "it", "them");
            let archived = count(archived_count, "archived workflow");
            page.line(format!("{archived} not shown; `--archived` shows {them}."));
        }
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

/// The phase of the last save, and those that have failed: `build failed`, `test (build failed)`,
/// `test (2 phases failed)`.
fn phase_cell(phase: Option<&str>, failed: &[String]) -> Cell {
    let shown = phase.map(|phase| escape::inline(phase).into_owned());
    let text = match failed {
        [] => return Cell::or_hyphen(shown),
        [one] if Some(one.as_str()) == phase => format!("{} failed", escape::inline(one)),
        [one] => format!("{} ({} failed)", shown.unwrap_or_else(|| "-".to_owned()), escape::inline(one)),
        several => format!("{} ({} phases failed)", shown.unwrap_or_else(|| "-".to_owned()), several.len()),
    };
    Cell::styled(text, Style::Bad)
}

/// The status of content that is not live: `archived`, or why no bundle holds it.
fn archived_cell(deleted: Option<DeletionReason>) -> Cell {
    Cell::styled(deleted.map_or("archived", DeletionReason::word), Style::Dim)
}

/// Returns why the content below a seal was deleted.
fn deleted(header: &Header) -> Option<DeletionReason> {
    header.sealed.as_ref().and_then(|sealed| sealed.deleted)
}

/// Says how many items of a list are not shown.
pub(super) fn announce_rest(page: &mut TextPage, shown: usize, total: usize, noun: &str) {
    if shown < total {
        page.line(format!("Showing {shown} of {}; `--all` shows the rest.", count(total, noun)));
    }
}
