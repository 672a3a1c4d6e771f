//! The text of a cleanup.

use std::collections::BTreeMap;

use super::{CleanupReport, DeletedRun, WorkflowChange};
use crate::cli::answer::Report;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use crate::cli::views::failed::FailedItem;
use crate::cli::views::parts::command_line;
use crate::cli::views::policy::PolicySource;
use crate::cli::words::{and, count, left_out, verb};
use ckpt_model::retention::{CheckpointDecision, Reason};
use ckpt_model::size::Size;
use ckpt_model::{Handle, WorkflowId};

/// How many reasons a summary line names.
const MOST_REASONS: usize = 3;

impl Report for CleanupReport {
    const FORMAT: &'static str = "ckpt.cleanup.v1";

    /// Returns the fingerprint of the plan, or the handles that were removed once it is applied.
    fn essential(&self) -> String {
        if !self.applied {
            return format!("{}\n", self.plan);
        }
        let removed = self.changes.iter().flat_map(|change| change.archived.iter().chain(&change.deleted));
        removed.map(|handle| format!("{handle}\n")).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        if self.shows_deletions_only {
            return self.deletions(page);
        }
        if self.shows_policy {
            page.line(match self.policy.source {
                PolicySource::Store => "Policy of the store:",
                PolicySource::StoreAndCommandLine => "Policy of the store, with the rule of this command:",
                PolicySource::CommandLine => "Policy of this command, instead of that of the store:",
            });
            for sentence in &self.policy.words {
                page.wrapped("  ", &page.escape(sentence));
            }
        }
        for change in &self.changes {
            self.line(self.archived(), &change.workflow, &change.archived, page);
        }
        self.deletions(page);
        if self.stale_files > 0 {
            let verb = if self.applied { "Removed" } else { "Would remove" };
            page.line(format!("{verb} {}", count(self.stale_files, "stale temporary file")));
        }
        if self.objects.count > 0 {
            let verb = if self.applied { "Removed" } else { "Would remove" };
            let objects = count(self.objects.count, "object");
            page.line(format!("{verb} {objects} that nothing refers to, {}", Size(self.objects.bytes)));
        }
        self.summary(page);
    }

    fn failures(&self, page: &mut TextPage) {
        for FailedItem { failure, .. } in &self.failures {
            page.labelled(Style::Bad, "failed:", &failure.message);
        }
        page.warnings(&self.warnings);
    }

    fn already_done(&self) -> Option<String> {
        (self.applied && self.removed.count > 0)
            .then(|| format!("cleaned up {}", count(self.removed.count, "checkpoint")))
    }
}

impl CleanupReport {
    /// `Archived`, `Would archive`.
    fn archived(&self) -> &'static str {
        if self.applied { "Archived" } else { "Would archive" }
    }

    fn decisions_of(&self, workflow: &WorkflowId) -> impl Iterator<Item = &CheckpointDecision> {
        self.decisions.iter().filter(move |decision| decision.handle.workflow == *workflow)
    }

    /// Renders the checkpoints of a workflow that leave in one way.
    fn line(&self, verb: &str, workflow: &WorkflowId, handles: &[Handle], page: &mut TextPage) {
        if handles.is_empty() {
            return;
        }
        page.line(format!(
            "{verb} {} of {} of {} ({}): {}",
            handles.len(),
            count(self.decisions_of(workflow).count(), "checkpoint"),
            page.paint(Style::Bold, workflow.as_str()),
            Size(self.bytes(workflow, handles)),
            page.escape(&self.why(workflow, handles)),
        ));
    }

    /// Returns the size of checkpoints of a workflow.
    fn bytes(&self, workflow: &WorkflowId, handles: &[Handle]) -> u64 {
        let listed = |decision: &&CheckpointDecision| handles.binary_search(&decision.handle).is_ok();
        self.decisions_of(workflow).filter(listed).map(|decision| decision.bytes).sum()
    }

    /// Renders everything that is deleted for good, with its reasons.
    fn deletions(&self, page: &mut TextPage) {
        let verb = if self.applied { "Deleted for good:" } else { "Would delete for good:" };
        if self.policy.purge {
            for change in &self.changes {
                self.line(verb, &change.workflow, &change.deleted, page);
            }
        }
        for DeletedRun { workflow, run } in &self.deleted_runs {
            let status = run.outcome.word().replace('_', " ");
            let numbers = if run.first == run.last {
                format!("{workflow}/{}", run.first)
            } else {
                format!("{workflow}/{} to {workflow}/{}", run.first, run.last)
            };
            let saved = run.last_save.map(|time| format!(", last saved {}", page.time(time)));
            let (saved, bytes) = (saved.unwrap_or_default(), Size(run.bytes));
            let why = page.escape(&reasons(&run.reasons));
            page.line(format!("{verb} the run {numbers} ({status}{saved}, {bytes}): {why}"));
        }
        if self.deletes() {
            page.line("What is deleted for good cannot be restored, and this cannot be undone.");
        }
    }

    /// Returns the reasons why checkpoints of a workflow are removed, the most frequent first.
    fn why(&self, workflow: &WorkflowId, handles: &[Handle]) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let listed = |decision: &&CheckpointDecision| handles.binary_search(&decision.handle).is_ok();
        let removed = self.decisions_of(workflow).filter(listed);
        for reason in removed.filter_map(|decision| decision.reasons.first()) {
            *counts.entry(reason.to_string()).or_default() += 1;
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        if let [(only, _)] = counts.as_slice() {
            return only.clone();
        }
        let shown = counts.iter().take(MOST_REASONS);
        let mut words: Vec<String> = shown.map(|(reason, number)| format!("{number} {reason}")).collect();
        if let Some(more) = left_out(counts.len(), MOST_REASONS) {
            words.push(count(more, "other reason"));
        }
        words.join("; ")
    }

    /// Returns the sentence that counts what was done.
    fn total(&self) -> String {
        let (delete, keep) = if self.applied { ("deleted", "kept") } else { ("delete", "keep") };
        let (mut archived, mut archived_bytes, mut purged, mut purged_bytes) = (0, 0, 0, 0);
        for WorkflowChange { workflow, archived: left, deleted, .. } in &self.changes {
            archived += left.len();
            archived_bytes += self.bytes(workflow, left);
            purged += deleted.len();
            purged_bytes += self.bytes(workflow, deleted);
        }
        let archived = count(archived, "checkpoint");
        let mut parts = vec![format!("{} {archived} ({})", self.archived(), Size(archived_bytes))];
        if self.policy.purge && purged > 0 {
            let purged = count(purged, "checkpoint");
            parts.push(format!("{delete} {purged} for good ({})", Size(purged_bytes)));
        }
        if !self.deleted_runs.is_empty() {
            let runs = count(self.deleted_runs.len(), "run");
            let bytes = Size(self.deleted_runs.iter().map(|deleted| deleted.run.bytes).sum());
            parts.push(format!("{delete} {runs} for good ({bytes})"));
        }
        parts.push(format!("{keep} {}.", self.kept));
        parts.join(", ")
    }

    fn summary(&self, page: &mut TextPage) {
        let files = self.stale_files + self.objects.count;
        let nothing = self.changes.is_empty() && files == 0 && self.deleted_runs.is_empty();
        if nothing && self.failures.is_empty() {
            page.line(format!("Nothing to clean up: {}.", stay(self.kept)));
        } else {
            page.line(self.total());
        }
        if !self.applied {
            page.line(format!("Plan: {}", self.plan));
        }
        if let Some(undo) = &self.undo {
            page.line(format!("Undo: {}", command_line(undo)));
        }
    }
}

/// `1 checkpoint stays`
fn stay(checkpoints: usize) -> String {
    format!("{} {}", count(checkpoints, "checkpoint"), verb(checkpoints, "stays", "stay"))
}

fn reasons(reasons: &[Reason]) -> String {
    and(&reasons.iter().map(ToString::to_string).collect::<Vec<_>>())
}
