//! The answers of `ckpt archive`.

use serde::Serialize;

use super::failed::{DamagedFile, FailedItem};
use super::parts::command_line;
use crate::cli::answer::Report;
use crate::cli::error::Failure;
use crate::cli::style::Style;
use crate::cli::table::{Cell, columns, render};
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::size::Size;
use ckpt_model::{ArchiveReason, Handle, Timestamp, WorkflowId};
use ckpt_store::Store;
use ckpt_store::{ArchivePlan, Archived, BundleRow, DeletionPlan};

/// The workflows that were archived or deleted, or a list of the bundles.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ArchiveReport {
    /// False for `--dry-run`: then everything here is what would be done.
    pub(crate) applied: bool,
    archived: Vec<ArchivedWorkflow>,
    deleted: Vec<DeletedWorkflow>,
    failures: Vec<FailedItem>,
    bundles: Vec<ListedBundle>,
    damaged: Vec<DamagedFile>,
    /// The command that brings back what was archived.
    pub(crate) undo: Option<Vec<String>>,
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    lists: bool,
}

/// A workflow that is deleted for good.
#[derive(Debug, Serialize)]
struct DeletedWorkflow {
    workflow: WorkflowId,
    bundles: usize,
    checkpoints: usize,
    bytes: u64,
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

    /// Reports the deletion of workflows.
    pub(crate) fn deletion(plans: &[DeletionPlan]) -> Self {
        let deleted = plans.iter().map(|plan| DeletedWorkflow {
            workflow: plan.seal.workflow.clone(),
            bundles: plan.bundles,
            checkpoints: plan.checkpoints,
            bytes: plan.bytes,
        });
        Self { deleted: deleted.collect(), ..Self::default() }
    }

    /// Adds what would be done to a workflow.
    pub(crate) fn add_plan(&mut self, plan: &ArchivePlan) {
        let seal = if plan.is_archived { plan.head } else { plan.head.saturating_add(1) };
        self.archived.push(ArchivedWorkflow {
            workflow: plan.workflow.clone(),
            handle: Handle::new(&plan.workflow, seal),
            reason: plan.reason.clone(),
            bundles: Vec::new(),
            checkpoints: plan.checkpoints.len(),
            bytes: plan.bytes,
            left: plan.left.clone(),
            already_archived: plan.is_archived,
        });
        for left in &plan.left {
            self.warn(format!("`{left}` cannot be archived and would be left where it is"));
        }
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
            let archived = self.archived.iter().map(|line| &line.workflow);
            let deleted = self.deleted.iter().map(|line| &line.workflow);
            archived.chain(deleted).map(|workflow| format!("{workflow}\n")).collect()
        }
    }

    fn answer(&self, page: &mut TextPage) {
        if self.lists && !self.bundles.is_empty() {
            let rows: Vec<_> = self.bundles.iter().map(|line| line.cells(page)).collect();
            let heading = ["WORKFLOW", "NUMBERS", "REASON", "CHECKPOINTS", "SIZE", "LAST SAVE", "FILE"];
            render(page, &columns(heading), &rows);
        }
        for line in &self.archived {
            let workflow = page.paint(Style::Bold, line.workflow.as_str());
            let what = match (line.already_archived, line.checkpoints) {
                (true, 0) => format!("was archived before, as {}", page.escape(line.reason.word())),
                (_, checkpoints) => format!(
                    "{} as {}, {} with {}",
                    if self.applied { "archived" } else { "would be archived" },
                    page.escape(line.reason.word()),
                    count(checkpoints, "checkpoint"),
                    Size(line.bytes)
                ),
            };
            page.line(format!("{workflow}  {what}"));
        }
        for DeletedWorkflow { workflow, bundles, checkpoints, bytes } in &self.deleted {
            let workflow = page.paint(Style::Bold, workflow.as_str());
            if *checkpoints == 0 {
                page.line(format!("{workflow}  was deleted for good before"));
                continue;
            }
            let verb = if self.applied { "deleted for good" } else { "would be deleted for good" };
            page.line(format!(
                "{workflow}  {verb}, {} in {} with {}",
                count(*checkpoints, "checkpoint"),
                count(*bundles, "bundle"),
                Size(*bytes)
            ));
        }
    }

    fn failures(&self, page: &mut TextPage) {
        DamagedFile::render(&self.damaged, page);
        page.warnings(&self.warnings);
        FailedItem::render(&self.failures, page);
    }

    fn remarks(&self, page: &mut TextPage) {
        if self.lists && self.bundles.is_empty() {
            page.line("The archive is empty.");
        }
        if !self.lists && self.archived.is_empty() && self.deleted.is_empty() && self.failures.is_empty() {
            page.line("Nothing to archive.");
        }
        if let Some(undo) = &self.undo {
            let several = self.archived.iter().filter(|line| line.checkpoints > 0).count() > 1;
            let label = if several { "Bring them back with:" } else { "Bring it back with:" };
            page.line(format!("{label} {}", command_line(undo)));
        }
        if !self.applied && self.deleted.iter().any(|line| line.checkpoints > 0) {
            page.line("This cannot be undone.");
        }
    }

    fn already_done(&self) -> Option<String> {
        let (archived, deleted) = (self.archived.len(), self.deleted.len());
        if !self.applied || archived + deleted == 0 {
            return None;
        }
        let verb = if deleted > 0 { "deleted" } else { "archived" };
        Some(format!("{} {verb}", count(archived + deleted, "workflow")))
    }
}

impl ListedBundle {
    fn cells(&self, page: &TextPage) -> Vec<Cell> {
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
