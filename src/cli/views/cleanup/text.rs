//! The text of a cleanup.

use std::collections::BTreeMap;

use super::{CleanupReport, WorkflowChange};
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::views::failed::FailedItem;
use crate::cli::views::policy::PolicySource;
use crate::cli::words::{and, count, left_out, verb};
use crate::core::WorkflowId;
use crate::core::retention::{CheckpointDecision, Reason};
use crate::core::size::Size;

/// How many reasons a summary line names.
const MOST_REASONS: usize = 3;

impl Report for CleanupReport {
    const FORMAT: &'static str = "ckpt.cleanup.v1";

    /// Returns the fingerprint of the plan, or the handles that were removed once it is applied.
    fn essential(&self) -> String {
        if !self.applied {
            return format!("{}\n", self.plan);
        }
        let removed = self.changes.iter().flat_map(|change| &change.removed);
        removed.map(|handle| format!("{handle}\n")).collect()
    }

    fn answer(&self, page: &mut Page) {
        if self.shows_policy {
            page.line(match self.policy.source {
                PolicySource::Store => "Policy of the store:",
                PolicySource::CommandLine => "Policy of this command, instead of that of the store:",
            });
            for sentence in &self.policy.words {
                page.wrapped("  ", &page.escape(sentence));
            }
        }
        for change in &self.changes {
            self.change(change, page);
        }
        if page.verbose {
            self.unchanged(page);
        }
        if let [first, others @ ..] = self.merged.as_slice() {
            let verb = if self.applied { "Merged" } else { "Would merge" };
            let bundles = self.merged.iter().map(|merged| merged.names.len()).sum();
            let of = match others.len() {
                0 => first.workflow.to_string(),
                more => count(more + 1, "workflow"),
            };
            page.line(format!("{verb} {} of {of}", count(bundles, "small bundle")));
        }
        if self.stale_files > 0 {
            let verb = if self.applied { "Removed" } else { "Would remove" };
            page.line(format!("{verb} {}", count(self.stale_files, "stale temporary file")));
        }
        self.summary(page);
    }

    fn failures(&self, page: &mut Page) {
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
    fn verb(&self) -> &'static str {
        match (self.applied, self.policy.purge) {
            (true, false) => "Archived",
            (false, false) => "Would archive",
            (true, true) => "Purged",
            (false, true) => "Would purge",
        }
    }

    fn decisions_of(&self, workflow: &WorkflowId) -> impl Iterator<Item = &CheckpointDecision> {
        self.decisions.iter().filter(move |decision| decision.handle.workflow == *workflow)
    }

    fn change(&self, change: &WorkflowChange, page: &mut Page) {
        let WorkflowChange { workflow, removed, bytes, expired_bundles } = change;
        if !removed.is_empty() {
            page.line(format!(
                "{} {} of {} of {} ({}): {}",
                self.verb(),
                removed.len(),
                count(self.decisions_of(workflow).count(), "checkpoint"),
                page.paint(Style::Bold, workflow.as_str()),
                Size(*bytes),
                page.escape(&self.why(workflow)),
            ));
        }
        if page.verbose {
            self.details(workflow, page);
        }
        if *expired_bundles > 0 {
            let verb = if self.applied { "Deleted" } else { "Would delete" };
            page.line(format!("{verb} {} of {workflow}", count(*expired_bundles, "expired bundle")));
        }
    }

    /// Returns the reasons why checkpoints of a workflow are removed, the most frequent first.
    fn why(&self, workflow: &WorkflowId) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let removed = self.decisions_of(workflow).filter(|decision| !decision.keep);
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

    /// Renders the workflows of which everything stays.
    fn unchanged(&self, page: &mut Page) {
        for decisions in self.decisions.chunk_by(|a, b| a.handle.workflow == b.handle.workflow) {
            let Some(workflow) = decisions.first().map(|decision| &decision.handle.workflow) else {
                continue;
            };
            let is_listed = self.changes.iter().any(|change| change.workflow == *workflow);
            if is_listed || !decisions.iter().all(|decision| decision.keep) {
                continue;
            }
            page.line(format!("{}: {}", page.paint(Style::Bold, workflow.as_str()), stay(decisions.len())));
            self.details(workflow, page);
        }
    }

    fn details(&self, workflow: &WorkflowId, page: &mut Page) {
        for decision in self.decisions_of(workflow) {
            let word = if decision.keep { "stays" } else { "goes" };
            let reasons = page.escape(&reasons(&decision.reasons));
            page.line(format!("  {}  {word}: {reasons}", decision.handle));
        }
        for bundle in self.bundles.iter().filter(|bundle| bundle.workflow == *workflow) {
            let why =
                if bundle.keep { String::new() } else { format!("  goes: {}", reasons(&bundle.reasons)) };
            page.line(format!("  {}", page.escape(&format!("{}{why}", bundle.name))));
        }
    }

    fn summary(&self, page: &mut Page) {
        let nothing = self.changes.is_empty() && self.stale_files == 0 && self.merged.is_empty();
        if nothing && self.failures.is_empty() {
            page.line(format!("Nothing to clean up: {}.", stay(self.kept)));
        } else {
            let kept = if self.applied { "kept" } else { "keep" };
            let checkpoints = count(self.removed.count, "checkpoint");
            page.line(format!(
                "{} {checkpoints} ({}), {kept} {}.",
                self.verb(),
                Size(self.removed.bytes),
                self.kept
            ));
        }
        if !self.applied {
            page.line(format!("Plan: {}", self.plan));
        }
        for (index, argv) in self.undo.iter().enumerate() {
            let label = if index == 0 { "Undo: " } else { "      " };
            page.line(format!("{label}{}", argv.join(" ")));
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
