//! The answer of `ckpt log`.

mod graph;
mod related;
mod sentence;
mod sides;

use serde::Serialize;

use super::failed::DamagedFile;
use super::list::announce_rest;
use crate::cli::answer::Report;
use crate::cli::error::Failure;
use crate::cli::style::Style;
use crate::cli::table::{Cell, Column, render};
use crate::cli::text_page::TextPage;
use ckpt_model::log::{LogChange, changes};
use ckpt_model::phase::PhaseId;
use ckpt_model::span::humane;
use ckpt_model::{ArchiveReason, Checkpoint, Handle, Timestamp, Trigger, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::{DeletionReason, Error, Stored};
use graph::draw;
use related::Row;
use sides::Sides;

#[derive(Debug, Serialize)]
pub(crate) struct LogReport {
    workflow: WorkflowId,
    entries: Vec<LogEntry>,
    damaged: Vec<DamagedFile>,
    /// The number of entries from the first one on, shown or not.
    total: u64,
    truncated: bool,
    warnings: Vec<String>,
    #[serde(skip)]
    graph: bool,
}

/// One number of a workflow.
#[derive(Debug, Serialize)]
pub(crate) struct LogEntry {
    pub(crate) handle: Handle,
    kind: LogKind,
    /// The entries that it continues, if it can be read, also those of other workflows. A rollback continues the checkpoint
    /// that it goes back to; a fresh start none.
    pub(crate) parents: Vec<Handle>,
    #[serde(flatten)]
    saved: Option<SavedEntry>,
    /// The reason why the content is nowhere, if it was deleted; for a seal, the content below it.
    deleted: Option<DeletionReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LogKind {
    Checkpoint,
    Seal,
    /// Archived, but no bundle holds it.
    Deleted,
    Damaged,
}

/// A checkpoint or a seal that can be read.
#[derive(Debug, Serialize)]
struct SavedEntry {
    saved_at: Timestamp,
    /// The time since the entry before it; `None` if that is unknown.
    elapsed_seconds: Option<u64>,
    trigger: Trigger,
    status: WorkflowStatus,
    phase: Option<PhaseId>,
    note: Option<String>,
    /// The error that was recorded with it.
    error: Option<String>,
    /// `None` if the checkpoint before it cannot be read.
    changes: Option<Vec<LogChange>>,
    copy_of: Option<Handle>,
    /// The checkpoint of the other side of a merge.
    merged: Option<Handle>,
    /// The checkpoint that its workflow was forked from, if it is the first of a fork.
    forked_from: Option<Handle>,
    /// The number of the first checkpoint of its run.
    run: u64,
    pinned: bool,
    /// True if it was read from a bundle.
    archived: bool,
    /// The reason of a seal.
    archived_as: Option<ArchiveReason>,
    /// The file that it was imported from.
    imported_from: Option<String>,
}

/// Builds a report from entries that come newest first, with no more than two checkpoints in memory.
#[derive(Debug)]
struct LogBuilder<'a> {
    store: &'a Store,
    report: LogReport,
    limit: usize,
    /// The newest shown entries whose predecessors have not been read yet, by their index in the report.
    waits_for_time: Option<usize>,
    waits_for_content: Option<(usize, Box<Checkpoint>)>,
    /// The side checkpoints of the workflow.
    sides: Sides,
}

impl<'a> LogBuilder<'a> {
    /// Begins the log of at most `limit` entries from `first` downwards.
    fn new(store: &'a Store, first: &Handle, limit: usize) -> Self {
        let report = LogReport {
            workflow: first.workflow.clone(),
            entries: Vec::new(),
            damaged: Vec::new(),
            total: first.seq,
            truncated: false,
            warnings: Vec::new(),
            graph: false,
        };
        let sides = sides::below(store, first);
        Self { store, report, limit, waits_for_time: None, waits_for_content: None, sides }
    }

    /// Adds an entry. Returns false when no further entry is needed.
    fn add(&mut self, handle: Handle, entry: Result<Stored, Error>) -> bool {
        match &entry {
            Ok(stored) => self.settle(Some(&stored.checkpoint)),
            Err(_) => self.settle(None),
        }
        if self.report.entries.len() >= self.limit {
            self.report.truncated = true;
            return self.waits_for_content.is_some();
        }
        let index = self.report.entries.len();
        let entry = match entry {
            Ok(stored) => {
                let entry = LogEntry::new(&handle, &stored, &self.sides);
                self.waits_for_time = Some(index);
                if stored.checkpoint.sealed.is_none() {
                    self.waits_for_content = Some((index, stored.checkpoint));
                }
                entry
            }
            Err(Error::Archived { deleted, .. }) => LogEntry::unread(handle, LogKind::Deleted, deleted),
            Err(error) => {
                self.report.damaged.push(damaged_file(&handle, &error, self.store));
                LogEntry::unread(handle, LogKind::Damaged, None)
            }
        };
        self.report.entries.push(entry);
        true
    }

    /// Completes the entries above with the one below them; `None` if that cannot be read.
    fn settle(&mut self, below: Option<&Checkpoint>) {
        if let (Some(index), Some(below)) = (self.waits_for_time.take(), below)
            && let Some(saved) = &mut self.report.entries[index].saved
        {
            saved.elapsed_seconds = u64::try_from(saved.saved_at.seconds_since(below.saved_at)).ok();
        }
        // A seal has no content of its own: it is below it.
        if below.is_some_and(|below| below.sealed.is_some()) {
            return;
        }
        if let (Some((index, above)), Some(below)) = (self.waits_for_content.take(), below)
            && let Some(saved) = &mut self.report.entries[index].saved
        {
            saved.changes = Some(changes(Some(&below.content), &above));
        }
    }

    fn finish(mut self) -> LogReport {
        // The first checkpoint of a workflow has nothing below it.
        if let Some((index, first)) = self.waits_for_content.take()
            && first.parent.is_none()
            && let Some(saved) = &mut self.report.entries[index].saved
        {
            saved.changes = Some(changes(None, &first));
        }
        self.add_sides();
        self.report
    }
}

fn damaged_file(handle: &Handle, error: &Error, store: &Store) -> DamagedFile {
    let (path, code, message) = match error {
        Error::Damaged { path, why, .. } => (path.clone(), why.code().word(), why.to_string()),
        Error::DamagedBundle { path, why } => (path.clone(), why.code(), why.to_string()),
        other => (store.checkpoint_path(handle), "unreadable", format!("cannot be read: {other}")),
    };
    DamagedFile { path: path.display().to_string(), code, message, handle: Some(handle.clone()) }
}

impl LogEntry {
    fn new(handle: &Handle, stored: &Stored, sides: &Sides) -> Self {
        let checkpoint = &stored.checkpoint;
        let numbered = |seq| Handle::new(&handle.workflow, seq);
        let parents = checkpoint.parents_beside(sides);
        let copy_of = checkpoint.copy_of.as_ref().map(|copied| copied.seq);
        let is_fork = checkpoint.parent.is_none() && checkpoint.origin.is_some();
        let is_seal = checkpoint.sealed.is_some();
        let error = checkpoint.content.last_error.as_ref();
        Self {
            handle: handle.clone(),
            kind: if is_seal { LogKind::Seal } else { LogKind::Checkpoint },
            saved: Some(SavedEntry {
                saved_at: checkpoint.saved_at,
                elapsed_seconds: None,
                trigger: checkpoint.trigger.clone(),
                status: checkpoint.content.status,
                phase: checkpoint.content.phase.clone(),
                note: checkpoint.note.clone(),
                // An error stays in the content until it is put right.
                error: error.filter(|error| error.at == checkpoint.saved_at).map(|error| error.message.clone()),
                changes: if is_seal { Some(Vec::new()) } else { None },
                copy_of: copy_of.map(numbered),
                merged: if checkpoint.merged.is_some() { parents.last().cloned() } else { None },
                forked_from: if is_fork { parents.first().cloned() } else { None },
                run: checkpoint.first_of_run(),
                pinned: checkpoint.pinned,
                archived: stored.bundle.is_some(),
                archived_as: checkpoint.sealed.as_ref().map(|sealed| sealed.reason.clone()),
                imported_from: checkpoint.imported.as_ref().map(|imported| imported.source.clone()),
            }),
            parents,
            deleted: checkpoint.sealed.as_ref().and_then(|sealed| sealed.deleted),
        }
    }

    fn unread(handle: Handle, kind: LogKind, deleted: Option<DeletionReason>) -> Self {
        Self { handle, kind, parents: Vec::new(), saved: None, deleted }
    }

    /// Returns the time of the save; none if it cannot be read.
    pub(crate) fn saved_at(&self) -> Option<Timestamp> {
        self.saved.as_ref().map(|saved| saved.saved_at)
    }

    fn cells(&self, page: &TextPage, sentence: String) -> Vec<Cell> {
        let time = self.saved_at().map(|time| page.time(time));
        let elapsed = self.saved.as_ref().and_then(|saved| saved.elapsed_seconds);
        let style = match self.kind {
            LogKind::Checkpoint => Style::Plain,
            LogKind::Seal | LogKind::Deleted => Style::Dim,
            LogKind::Damaged => Style::Bad,
        };
        vec![
            Cell::styled(self.handle.to_string(), Style::Bold),
            Cell::or_hyphen(time),
            Cell::or_hyphen(elapsed.map(|seconds| format!("+{}", humane(seconds)))),
            Cell::styled(sentence, style),
        ]
    }

    fn mark(&self) -> char {
        match self.kind {
            LogKind::Checkpoint => '*',
            LogKind::Seal => '#',
            LogKind::Deleted => '~',
            LogKind::Damaged => '!',
        }
    }
}

/// Entries that are one line: a deleted range, or a single entry.
pub(crate) struct LogLine<'a> {
    /// The newest entry.
    pub(crate) entry: &'a LogEntry,
    /// The oldest entry.
    oldest: &'a LogEntry,
}

impl LogLine<'_> {
    /// Returns the words for the line, safe to show.
    pub(crate) fn sentence(&self) -> String {
        sentence::of(self.entry, &self.oldest.handle)
    }
}

impl LogReport {
    /// Reads at most `limit` entries from `first` downwards.
    pub(crate) fn read(store: &Store, first: &Handle, limit: usize) -> Result<Self, Failure> {
        /// Entries below the last line that may be needed to see what it changed: seals, and the checkpoint before it.
        const BEYOND: usize = 4;
        let mut log = LogBuilder::new(store, first, limit);
        for (handle, entry) in store.history(&first.workflow, first.seq, limit.saturating_add(BEYOND))? {
            if !log.add(handle, entry) {
                break;
            }
        }
        Ok(log.finish())
    }

    /// Returns the entries that are checkpoints.
    pub(crate) fn checkpoints(&self) -> impl Iterator<Item = &Handle> {
        let checkpoints = self.entries.iter().filter(|entry| entry.kind == LogKind::Checkpoint);
        checkpoints.map(|entry| &entry.handle)
    }

    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }

    /// Returns the lines of the log. Deleted checkpoints in a row are one line.
    pub(crate) fn lines(&self) -> Vec<LogLine<'_>> {
        let mut lines: Vec<LogLine<'_>> = Vec::new();
        for entry in &self.entries {
            match lines.last_mut() {
                Some(line) if line.entry.is_deleted_like(entry) => {
                    line.oldest = entry;
                }
                _ => lines.push(LogLine { entry, oldest: entry }),
            }
        }
        lines
    }

    fn graph(&self, lines: &[LogLine<'_>]) -> Vec<graph::Drawing> {
        let rows: Vec<Row<'_>> = lines
            .iter()
            .map(|line| Row {
                newest: &line.entry.handle,
                oldest: &line.oldest.handle,
                // A filler continues nothing.
                parents: (line.entry.saved.is_some() || line.entry.deleted == Some(DeletionReason::Absent))
                    .then_some(line.entry.parents.as_slice()),
                mark: line.entry.mark(),
            })
            .collect();
        draw(&related::numbered(&rows))
    }
}

impl LogEntry {
    fn is_deleted_like(&self, other: &Self) -> bool {
        let are_deleted = self.kind == LogKind::Deleted && other.kind == LogKind::Deleted;
        are_deleted && self.deleted == other.deleted && self.handle.workflow == other.handle.workflow
    }
}

impl Report for LogReport {
    const FORMAT: &'static str = "ckpt.log.v1";

    fn essential(&self) -> String {
        self.entries.iter().map(|entry| format!("{}\n", entry.handle)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        let lines = self.lines();
        let mut rows = Vec::new();
        let mut columns = vec![
            Column::new("CHECKPOINT"),
            Column::new("SAVED"),
            Column::new("AFTER").optional(1),
            Column::new("CHANGED").shrinks_to(36),
        ];
        let drawings = if self.graph { self.graph(&lines) } else { Vec::new() };
        if self.graph {
            columns.insert(0, Column::new(""));
        }
        let mut drawings = drawings.into_iter();
        for line in &lines {
            let mut cells = line.entry.cells(page, line.sentence());
            let mut connectors = Vec::new();
            if let Some(drawing) = drawings.next() {
                cells.insert(0, Cell::new(drawing.line));
                connectors = drawing.connectors;
            }
            rows.push(cells);
            rows.extend(connectors.into_iter().map(|connector| vec![Cell::new(connector)]));
        }
        render(page, &columns, &rows);
    }

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
        DamagedFile::render(&self.damaged, page);
    }

    fn remarks(&self, page: &mut TextPage) {
        if self.truncated {
            let total = usize::try_from(self.total).unwrap_or(usize::MAX);
            announce_rest(page, self.entries.len(), total, "checkpoint");
        }
    }
}
