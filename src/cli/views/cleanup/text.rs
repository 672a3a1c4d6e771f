//! A cleanup, in words.

use std::collections::BTreeMap;

use super::CleanupReport;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::views::failed::FailedItem;
use crate::cli::views::policy::PolicySource;
use crate::cli::words::{and, count, verb};
use crate::core::WorkflowId;
use crate::core::size::Size;

/// How many reasons a summary line names.
const MOST_REASONS: usize = 3;

impl Report for CleanupReport {
    const FORMAT: &'static str = "ckpt.cleanup.v1";

    /// Before it is done, the plan; afterwards, what is gone.
    fn essential(&self) -> String {
        if !self.applied {
            format!("{}\n", self.plan)
        } else {
            self.gone.iter().map(|handle| format!("{handle}\n")).collect()
        }
    }

    fn answer(&self, page: &mut Page) {
        if !self.words.is_empty() {
            page.line(match self.policy.source {
                PolicySource::Store => "Policy of the store:",
                PolicySource::CommandLine => "Policy of this command, instead of that of the store:",
            });
        }
        for words in &self.words {
            page.wrapped("  ", &page.foreign(words));
        }
        for group in &self.groups {
            if group.removed > 0 {
                page.line(format!(
                    "{} {} of {} of {} ({}): {}",
                    self.verb(),
                    group.removed,
                    count(group.of, "checkpoint"),
                    page.paint(Style::Bold, group.workflow.as_str()),
                    Size(group.bytes),
                    page.foreign(&self.why(&group.workflow)),
                ));
            }
            if page.verbose {
                self.details(&group.workflow, page);
            }
            if group.bundles > 0 {
                let verb = if self.applied { "Dropped" } else { "Would drop" };
                page.line(format!("{verb} {} of {}", count(group.bundles, "expired bundle"), group.workflow));
            }
        }
        if page.verbose {
            self.unchanged(page);
        }
        if let [first, others @ ..] = self.merged.as_slice() {
            let verb = if self.applied { "Merged" } else { "Would merge" };
            let many = self.merged.iter().map(|merged| merged.names.len()).sum();
            let of = match others.len() {
                0 => format!("of {}", first.workflow),
                more => format!("of {}", count(more + 1, "workflow")),
            };
            page.line(format!("{verb} {} {of}", count(many, "small bundle")));
        }
        if self.leftovers > 0 {
            let verb = if self.applied { "Swept" } else { "Would sweep" };
            page.line(format!("{verb} {}", count(self.leftovers, "leftover file")));
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

    fn why(&self, workflow: &WorkflowId) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let gone =
            self.decisions.iter().filter(|decision| !decision.keep && decision.handle.workflow == *workflow);
        for reason in gone.filter_map(|decision| decision.reasons.first()) {
            *counts.entry(reason.to_string()).or_default() += 1;
        }
        let mut counts: Vec<(usize, String)> =
            counts.into_iter().map(|(words, count)| (count, words)).collect();
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let more = counts.len().saturating_sub(MOST_REASONS);
        let one = counts.len() == 1;
        let mut words: Vec<String> = counts
            .into_iter()
            .take(MOST_REASONS)
            .map(|(count, words)| if one { words } else { format!("{count} {words}") })
            .collect();
        if more > 0 {
            words.push(count(more, "other reason"));
        }
        words.join("; ")
    }

    /// The workflows of which everything stays, and why.
    fn unchanged(&self, page: &mut Page) {
        for decisions in self.decisions.chunk_by(|a, b| a.handle.workflow == b.handle.workflow) {
            let Some(workflow) = decisions.first().map(|decision| &decision.handle.workflow) else {
                continue;
            };
            let is_listed = self.groups.iter().any(|group| group.workflow == *workflow);
            if is_listed || !decisions.iter().all(|decision| decision.keep) {
                continue;
            }
            let (checkpoints, stay) =
                (count(decisions.len(), "checkpoint"), verb(decisions.len(), "stays", "stay"));
            page.line(format!("{}: {checkpoints} {stay}", page.paint(Style::Bold, workflow.as_str())));
            self.details(workflow, page);
        }
    }

    fn details(&self, workflow: &WorkflowId, page: &mut Page) {
        for decision in self.decisions.iter().filter(|decision| decision.handle.workflow == *workflow) {
            let reasons: Vec<String> = decision.reasons.iter().map(ToString::to_string).collect();
            let word = if decision.keep { "stays" } else { "goes" };
            page.line(format!("  {}  {word}: {}", decision.handle, page.foreign(&and(&reasons))));
        }
        for bundle in self.bundles.iter().filter(|bundle| bundle.workflow == *workflow) {
            let reasons: Vec<String> = bundle.reasons.iter().map(ToString::to_string).collect();
            let why = if bundle.keep { String::new() } else { format!("  goes: {}", and(&reasons)) };
            page.line(format!("  {}{}", page.foreign(&bundle.name), page.foreign(&why)));
        }
    }

    fn summary(&self, page: &mut Page) {
        let nothing = self.groups.is_empty() && self.leftovers == 0 && self.merged.is_empty();
        if nothing && self.failures.is_empty() {
            let (checkpoints, stay) = (count(self.kept, "checkpoint"), verb(self.kept, "stays", "stay"));
            page.line(format!("Nothing to clean up: {checkpoints} {stay}."));
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
        } else {
            for (index, argv) in self.undo.iter().enumerate() {
                let label = if index == 0 { "Undo: " } else { "      " };
                page.line(format!("{label}{}", argv.join(" ")));
            }
        }
    }
}
