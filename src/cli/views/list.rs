//! The answers of `ckpt list`.

use serde::Serialize;

use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::table::{Cell, render};
use crate::cli::words::{count, verb};
use crate::core::finding::Code;
use crate::core::format::{Header, Unusable};
use crate::core::size::Size;
use crate::core::store::{CheckpointRow, Entry, Gone, GoneNotes, Live, WorkflowRow};
use crate::core::{Handle, Store, Timestamp, WorkflowId, WorkflowStatus};

/// Something that should be a checkpoint and cannot be used.
#[derive(Debug, Serialize)]
struct Damaged {
    path: String,
    code: Code,
    message: String,
    handle: Option<String>,
}

impl Damaged {
    fn new(handle: &Handle, why: &Unusable, store: &Store) -> Self {
        let (path, handle) = match handle.seq {
            0 => (store.workflow_dir(&handle.workflow), None),
            _ => (store.checkpoint_path(handle), Some(handle.to_string())),
        };
        Self { path: path.display().to_string(), code: why.code(), message: why.to_string(), handle }
    }
}

/// The word of a status, or that it is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Standing {
    Known(WorkflowStatus),
    Damaged(DamagedWord),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DamagedWord {
    Damaged,
}

impl Standing {
    fn cell(self) -> Cell {
        match self {
            Self::Known(WorkflowStatus::InProgress) => Cell::new("in progress"),
            Self::Known(WorkflowStatus::Complete) => Cell::styled("complete", Style::Good),
            Self::Known(WorkflowStatus::Failed) => Cell::styled("failed", Style::Bad),
            Self::Known(WorkflowStatus::Abandoned) => Cell::styled("abandoned", Style::Dim),
            Self::Damaged(_) => Cell::styled("damaged", Style::Bad),
        }
    }
}

/// All workflows.
#[derive(Debug, Serialize)]
pub(crate) struct WorkflowsReport {
    workflows: Vec<WorkflowLine>,
    damaged: Vec<Damaged>,
    total: usize,
    truncated: bool,
    warnings: Vec<String>,
    /// How many archived ones were left out.
    #[serde(skip)]
    archived: usize,
}

#[derive(Debug, Serialize)]
struct WorkflowLine {
    workflow: WorkflowId,
    title: Option<String>,
    status: Standing,
    handle: Option<String>,
    phase: Option<String>,
    done: usize,
    total: Option<usize>,
    saved_at: Option<Timestamp>,
    checkpoints: usize,
    bytes: u64,
    pipeline: Option<String>,
    labels: Vec<String>,
    archived: bool,
    /// Why no bundle holds it, if it is archived and none does.
    gone: Option<Gone>,
}

impl WorkflowsReport {
    pub(crate) fn new(rows: Vec<WorkflowRow>, limit: usize, store: &Store, archived: usize) -> Self {
        let total = rows.len();
        let mut damaged = Vec::new();
        for row in &rows {
            if let Err(why) = &row.header {
                damaged.push(Damaged::new(&row.newest, why, store));
            }
        }
        let workflows: Vec<_> = rows.into_iter().take(limit).map(WorkflowLine::new).collect();
        Self { truncated: workflows.len() < total, workflows, damaged, total, warnings: Vec::new(), archived }
    }
}

impl WorkflowLine {
    fn new(row: WorkflowRow) -> Self {
        let WorkflowRow { newest, header, live, archived } = row;
        let Live { checkpoints, bytes } = live.unwrap_or_default();
        let handle = (newest.seq > 0).then(|| newest.to_string());
        let workflow = newest.workflow;
        let gone = header.as_ref().ok().and_then(purged);
        match header {
            Ok(header) => Self {
                workflow,
                handle,
                checkpoints,
                bytes,
                status: Standing::Known(header.status),
                phase: header.phase.as_ref().map(ToString::to_string),
                done: header.done(),
                total: header.pipeline.is_some().then_some(header.phases.len()),
                saved_at: Some(header.saved_at),
                title: header.title,
                pipeline: header.pipeline,
                labels: header.labels,
                archived,
                gone,
            },
            Err(_) => Self {
                workflow,
                handle,
                checkpoints,
                bytes,
                status: Standing::Damaged(DamagedWord::Damaged),
                title: None,
                phase: None,
                done: 0,
                total: None,
                saved_at: None,
                pipeline: None,
                labels: Vec::new(),
                archived,
                gone,
            },
        }
    }

    fn cells(&self, page: &Page) -> Vec<Cell> {
        let done = match self.total {
            Some(total) => format!("{} of {total}", self.done),
            None => self.done.to_string(),
        };
        vec![
            Cell::styled(self.handle.clone().unwrap_or_else(|| self.workflow.to_string()), Style::Bold),
            if self.archived { archived_cell(self.gone) } else { self.status.cell() },
            Cell::new(self.phase.as_deref().map_or_else(|| "-".to_owned(), |phase| page.foreign(phase))),
            Cell::new(if self.saved_at.is_some() { done } else { "-".to_owned() }),
            Cell::new(self.saved_at.map_or_else(|| "-".to_owned(), |time| page.time(time))),
            Cell::new(page.foreign(self.title.as_deref().unwrap_or_default())),
        ]
    }
}

impl Report for WorkflowsReport {
    const FORMAT: &'static str = "ckpt.list.v1";

    fn essential(&self) -> String {
        self.workflows.iter().map(|line| format!("{}\n", line.workflow)).collect()
    }

    fn answer(&self, page: &mut Page) {
        if self.workflows.is_empty() {
            return;
        }
        let rows: Vec<_> = self.workflows.iter().map(|line| line.cells(page)).collect();
        render(page, &["NEWEST", "STATUS", "PHASE", "DONE", "SAVED", "TITLE"], &rows);
    }

    fn failures(&self, page: &mut Page) {
        damage(page, &self.damaged);
    }

    fn remarks(&self, page: &mut Page) {
        if self.total == 0 {
            page.line("No workflows. `ckpt save ID --phase P` starts one.");
        }
        announce(page, self.workflows.len(), self.total, "workflow");
        if self.archived > 0 {
            let (archived, them) =
                (count(self.archived, "archived workflow"), verb(self.archived, "it", "them"));
            page.line(format!("{archived} not shown; `--archived` shows {them}."));
        }
    }
}

/// The checkpoints of one workflow.
#[derive(Debug, Serialize)]
pub(crate) struct CheckpointsReport {
    workflow: WorkflowId,
    checkpoints: Vec<CheckpointLine>,
    damaged: Vec<Damaged>,
    total: usize,
    truncated: bool,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckpointLine {
    handle: String,
    phase: Option<String>,
    trigger: Option<String>,
    status: Option<Standing>,
    saved_at: Option<Timestamp>,
    bytes: u64,
    archived: bool,
    /// Why no bundle holds it, if it has left the live store and none does.
    gone: Option<Gone>,
    pinned: bool,
    done: usize,
}

impl CheckpointsReport {
    pub(crate) fn new(
        workflow: &WorkflowId,
        rows: Vec<CheckpointRow>,
        gone: &GoneNotes,
        limit: usize,
        store: &Store,
    ) -> Self {
        let total = rows.len();
        let damaged =
            rows.iter().filter_map(|row| Some(Damaged::new(&row.handle, row.entry.as_ref().err()?, store)));
        let damaged = damaged.collect();
        let line = |row| CheckpointLine::new(row, gone);
        let checkpoints: Vec<_> = rows.into_iter().take(limit).map(line).collect();
        let truncated = checkpoints.len() < total;
        Self { workflow: workflow.clone(), checkpoints, damaged, total, truncated, warnings: Vec::new() }
    }
}

impl CheckpointLine {
    fn new(row: CheckpointRow, notes: &GoneNotes) -> Self {
        let gone = match &row.entry {
            Ok(Entry::Sealed(header)) => purged(header),
            Ok(Entry::Tombstone) => notes.of(row.handle.seq),
            Ok(Entry::Live(_)) | Err(_) => None,
        };
        let (header, status) = match row.entry {
            Ok(Entry::Live(header)) => {
                let status = Standing::Known(header.status);
                (Some(header), Some(status))
            }
            // A seal is the mark of the archive, whatever it says about the workflow.
            Ok(Entry::Sealed(header)) => (Some(header), None),
            Ok(Entry::Tombstone) => (None, None),
            Err(_) => (None, Some(Standing::Damaged(DamagedWord::Damaged))),
        };
        Self {
            handle: row.handle.to_string(),
            phase: header.as_ref().and_then(|header| header.phase.as_ref()).map(ToString::to_string),
            trigger: header.as_ref().map(|header| header.trigger.to_string()),
            saved_at: header.as_ref().map(|header| header.saved_at),
            bytes: row.bytes,
            archived: status.is_none(),
            gone,
            pinned: header.as_ref().is_some_and(|header| header.pinned),
            done: header.as_ref().map_or(0, Header::done),
            status,
        }
    }

    fn cells(&self, page: &Page) -> Vec<Cell> {
        let text =
            |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), |text| page.foreign(text));
        let trigger =
            if self.pinned { format!("{}, pinned", text(&self.trigger)) } else { text(&self.trigger) };
        vec![
            Cell::styled(self.handle.clone(), Style::Bold),
            self.status.map_or_else(|| archived_cell(self.gone), Standing::cell),
            Cell::new(text(&self.phase)),
            Cell::new(trigger),
            Cell::right(Size(self.bytes).to_string()),
            Cell::new(self.saved_at.map_or_else(|| "-".to_owned(), |time| page.time(time))),
        ]
    }
}

impl Report for CheckpointsReport {
    const FORMAT: &'static str = "ckpt.list.v1";

    fn essential(&self) -> String {
        self.checkpoints.iter().map(|line| format!("{}\n", line.handle)).collect()
    }

    fn answer(&self, page: &mut Page) {
        let rows: Vec<_> = self.checkpoints.iter().map(|line| line.cells(page)).collect();
        render(page, &["CHECKPOINT", "STATUS", "PHASE", "TRIGGER", "SIZE", "SAVED"], &rows);
    }

    fn failures(&self, page: &mut Page) {
        damage(page, &self.damaged);
    }

    fn remarks(&self, page: &mut Page) {
        announce(page, self.checkpoints.len(), self.total, "checkpoint");
    }
}

/// That something has left the live store, and whether the archive holds it.
fn archived_cell(gone: Option<Gone>) -> Cell {
    Cell::styled(gone.map_or("archived", Gone::word), Style::Dim)
}

/// What a seal says about what is below it.
fn purged(header: &Header) -> Option<Gone> {
    header.sealed.as_ref().filter(|sealed| sealed.is_purged()).map(|_| Gone::Purged)
}

fn announce(page: &mut Page, shown: usize, total: usize, what: &str) {
    if shown < total {
        page.line(format!("Showing {shown} of {}; `--all` shows the rest.", count(total, what)));
    }
}

fn damage(page: &mut Page, damaged: &[Damaged]) {
    for Damaged { path, message, .. } in damaged {
        let label = page.paint(Style::Bad, "damaged:");
        page.line(format!("{label} {} {}", page.foreign(path), page.foreign(message)));
    }
}
