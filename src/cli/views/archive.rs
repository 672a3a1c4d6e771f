//! The answers of `ckpt archive`.

use serde::Serialize;

use super::failed::{DamagedFile, FailedItem};
use crate::cli::error::Failure;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::table::{Cell, render};
use crate::cli::words::{count, left_out};
use crate::core::size::Size;
use crate::core::store::{Archived, BundleRow};
use crate::core::{ArchiveReason, Handle, Store, Timestamp, WorkflowId};

/// How many commands are spelt out behind the first one.
const MOST_COMMANDS: usize = 4;

/// The workflows that were archived, or a list of the bundles.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ArchiveReport {
    archived: Vec<ArchivedWorkflow>,
    failures: Vec<FailedItem>,
    bundles: Vec<ListedBundle>,
    damaged: Vec<DamagedFile>,
    warnings: Vec<String>,
    #[serde(skip)]
    lists: bool,
}

#[derive(Debug, Serialize)]
struct ArchivedWorkflow {
    workflow: WorkflowId,
    handle: Handle,
    reason: ArchiveReason,
    bundles: Vec<String>,
    checkpoints: usize,
    bytes: u64,
    left: Vec<Handle>,
    already_archived: bool,
}

#[derive(Debug, Serialize)]
struct ListedBundle {
    workflow: WorkflowId,
    path: String,
    file: String,
    first: u64,
    last: u64,
    reason: ArchiveReason,
    run: u64,
    saved_at: Timestamp,
    bytes: u64,
    /// `None` if the bundle cannot be read.
    checkpoints: Option<usize>,
    content_bytes: Option<u64>,
}

impl ArchiveReport {
    /// Lists bundles.
    pub(crate) fn listing(rows: Vec<BundleRow>, store: &Store) -> Self {
        let mut report = Self { lists: true, ..Self::default() };
        for BundleRow { workflow, name, bytes, manifest } in rows {
            let path = store.bundle_path(&workflow, &name).display().to_string();
            if let Err(why) = &manifest {
                report.damaged.push(DamagedFile {
                    path: path.clone(),
                    code: why.code(),
                    message: why.to_string(),
                    handle: None,
                });
            }
            let entries = manifest.ok().map(|manifest| manifest.entries);
            report.bundles.push(ListedBundle {
                file: name.to_string(),
                workflow,
                path,
                first: name.first,
                last: name.last,
                reason: name.reason,
                run: name.run,
                saved_at: name.saved_at,
                bytes,
                checkpoints: entries.as_ref().map(Vec::len),
                content_bytes: entries.map(|entries| entries.iter().map(|entry| entry.bytes).sum()),
            });
        }
        report
    }

    pub(crate) fn add(&mut self, workflow: &WorkflowId, archived: &Archived) {
        self.archived.push(ArchivedWorkflow {
            workflow: workflow.clone(),
            handle: archived.seal.clone(),
            reason: archived.reason.clone(),
            bundles: archived.bundles.iter().map(|path| path.display().to_string()).collect(),
            checkpoints: archived.moved.len(),
            bytes: archived.bytes,
            left: archived.left.clone(),
            already_archived: archived.sealed_before,
        });
        for left in &archived.left {
            self.warn(format!("`{left}` cannot be archived and was left where it is"));
        }
    }

    pub(crate) fn fail(&mut self, workflow: &WorkflowId, failure: Failure) {
        self.failures.push(FailedItem::new(workflow, failure));
    }

    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

impl Report for ArchiveReport {
    const FORMAT: &'static str = "ckpt.archive.v1";

    fn essential(&self) -> String {
        if self.lists {
            self.bundles.iter().map(|line| format!("{}\n", line.path)).collect()
        } else {
            self.archived.iter().map(|line| format!("{}\n", line.workflow)).collect()
        }
    }

    fn answer(&self, page: &mut Page) {
        if self.lists && !self.bundles.is_empty() {
            let rows: Vec<_> = self.bundles.iter().map(|line| line.cells(page)).collect();
            let heading = ["WORKFLOW", "NUMBERS", "REASON", "CHECKPOINTS", "SIZE", "LAST SAVE", "FILE"];
            render(page, &heading, &rows);
        }
        for line in &self.archived {
            let workflow = page.paint(Style::Bold, line.workflow.as_str());
            let what = match (line.already_archived, line.checkpoints) {
                (true, 0) => format!("was archived before, as {}", page.escape(line.reason.word())),
                (_, checkpoints) => format!(
                    "archived as {}, {} with {}",
                    page.escape(line.reason.word()),
                    count(checkpoints, "checkpoint"),
                    Size(line.bytes)
                ),
            };
            page.line(format!("{workflow}  {what}"));
        }
    }

    fn failures(&self, page: &mut Page) {
        DamagedFile::render(&self.damaged, page);
        page.warnings(&self.warnings);
        FailedItem::render(&self.failures, page);
    }

    fn remarks(&self, page: &mut Page) {
        if self.lists && self.bundles.is_empty() {
            page.line("The archive is empty.");
        }
        if !self.lists && self.archived.is_empty() && self.failures.is_empty() {
            page.line("Nothing to archive.");
        }
        let mut moved = self.archived.iter().filter(|line| line.checkpoints > 0);
        if let Some(first) = moved.next() {
            let others: Vec<_> = moved.collect();
            let label = if others.is_empty() { "Bring it back with: " } else { "Bring them back with: " };
            page.line(format!("{label}ckpt restore {}", first.workflow));
            for line in others.iter().take(MOST_COMMANDS) {
                page.line(format!("{:width$}ckpt restore {}", "", line.workflow, width = label.len()));
            }
            if let Some(more) = left_out(others.len(), MOST_COMMANDS) {
                page.line(format!("{} in the same way: ckpt restore ID", count(more, "other")));
            }
        }
    }

    fn already_done(&self) -> Option<String> {
        (!self.archived.is_empty()).then(|| count(self.archived.len(), "workflow") + " archived")
    }
}

impl ListedBundle {
    fn cells(&self, page: &Page) -> Vec<Cell> {
        let checkpoints = self.checkpoints.map_or_else(|| "damaged".to_owned(), |files| files.to_string());
        vec![
            Cell::styled(self.workflow.to_string(), Style::Bold),
            Cell::new(format!("{}-{}", self.first, self.last)),
            Cell::new(page.escape(self.reason.word())),
            Cell::right(checkpoints),
            Cell::right(Size(self.bytes).to_string()),
            Cell::new(page.time(self.saved_at)),
            Cell::new(page.escape(&self.file)),
        ]
    }
}
