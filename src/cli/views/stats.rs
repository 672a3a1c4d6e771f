//! The answer of `ckpt stats`.

use serde::Serialize;

use super::analytics::analytics;
use super::parts::phase_status;
use crate::cli::answer::Report;
use crate::cli::style::Style;
use crate::cli::table::{Cell, columns, render};
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::size::Size;
use ckpt_model::span::humane;
use ckpt_model::stats::{Analytics, PhaseStats, WorkflowStats};
use ckpt_store::store_stats::StoreStats;

/// Statistics of the store, or of one workflow.
#[derive(Debug, Serialize)]
pub(crate) struct StatsReport {
    store: Option<ShownStoreStats>,
    analytics: Option<Analytics>,
    workflow: Option<WorkflowStats>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ShownStoreStats {
    #[serde(flatten)]
    stats: StoreStats,
    saved_percent: Option<u64>,
}

impl StatsReport {
    pub(crate) fn of_store(stats: StoreStats, analytics: Analytics) -> Self {
        let saved_percent = stats.saved_percent();
        let store = Some(ShownStoreStats { stats, saved_percent });
        Self { store, analytics: Some(analytics), workflow: None, warnings: Vec::new() }
    }

    pub(crate) fn of_workflow(stats: WorkflowStats) -> Self {
        Self { store: None, analytics: None, workflow: Some(stats), warnings: Vec::new() }
    }

    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }
}

impl Report for StatsReport {
    const FORMAT: &'static str = "ckpt.stats.v1";

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
    }

    fn essential(&self) -> String {
        match (&self.store, &self.workflow) {
            (Some(store), _) => {
                format!("{}\n", store.stats.live_bytes + store.stats.archived_bytes + store.stats.object_bytes)
            }
            (None, Some(workflow)) => format!("{}\n", workflow.checkpoints),
            (None, None) => String::new(),
        }
    }

    fn answer(&self, page: &mut TextPage) {
        if let Some(stats) = &self.store {
            store(page, stats);
        }
        if let Some(figures) = &self.analytics {
            analytics(page, figures);
        }
        if let Some(stats) = &self.workflow {
            workflow(page, stats);
        }
    }
}

fn store(page: &mut TextPage, ShownStoreStats { stats, saved_percent }: &ShownStoreStats) {
    let counts = &stats.workflows;
    let named = [
        (counts.in_progress, "in progress"),
        (counts.complete, "complete"),
        (counts.failed, "failed"),
        (counts.abandoned, "abandoned"),
        (counts.damaged, "damaged"),
        (stats.archived_workflows, "archived"),
    ];
    let total: usize = named.iter().map(|(number, _)| number).sum();
    let named = named.iter().filter(|(number, _)| *number > 0);
    let words: Vec<_> = named.map(|(number, word)| format!("{number} {word}")).collect();
    let of_what = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    let archive = match saved_percent {
        Some(percent) => format!(
            "{} with {} in {}, {percent}% smaller than before",
            count(stats.bundles, "bundle"),
            count(stats.archived_checkpoints, "file"),
            Size(stats.archived_bytes)
        ),
        None => format!("{} in {}", count(stats.bundles, "bundle"), Size(stats.archived_bytes)),
    };
    let mut fields = vec![
        ("workflows", format!("{total}{of_what}")),
        ("live", format!("{} in {}", count(stats.checkpoints, "checkpoint"), Size(stats.live_bytes))),
        ("archive", archive),
    ];
    if stats.objects > 0 {
        let objects = count(stats.objects, "kept content");
        fields.push(("objects", format!("{objects} in {}", Size(stats.object_bytes))));
    }
    let of_what = if stats.bundles > 0 { ", of what is live" } else { "" };
    fields.extend(stats.oldest.map(|oldest| ("oldest", page.time(oldest) + of_what)));
    fields.extend(stats.newest.map(|newest| ("newest", page.time(newest))));
    for (name, value) in fields {
        page.line(format!("{name:<10} {value}"));
    }
}

fn workflow(page: &mut TextPage, stats: &WorkflowStats) {
    let handle = page.paint(Style::Bold, &stats.handle.to_string());
    let numbers = [
        (usize::try_from(stats.attempts).unwrap_or(usize::MAX), "attempt"),
        (stats.failures, "failure"),
        (stats.replans, "replan"),
    ];
    let numbers: Vec<_> = numbers.iter().map(|(number, word)| count(*number, word)).collect();
    page.line(format!("{handle}: {}", numbers.join(", ")));
    if !stats.phases.is_empty() {
        page.line("");
        let rows: Vec<_> = stats.phases.iter().map(|phase| cells(page, phase)).collect();
        render(page, &columns(["PHASE", "STATUS", "TOOK", "ATTEMPTS", "FAILURES", "REPLANS"]), &rows);
    }
    page.line("");
    let taken: Vec<_> = stats.triggers.iter().map(|(word, number)| format!("{number} {}", page.escape(word))).collect();
    page.line(format!("Checkpoints: {}", taken.join(", ")));
    if let Some(longest) = &stats.longest {
        page.line(format!("Longest: {}", page.escape(longest.as_str())));
    }
}

fn cells(page: &TextPage, phase: &PhaseStats) -> Vec<Cell> {
    vec![
        Cell::styled(page.escape(phase.id.as_str()), Style::Bold),
        Cell::new(phase_status(phase.status).0),
        Cell::right(phase.seconds.map_or_else(|| "-".to_owned(), humane)),
        Cell::right(phase.attempts.to_string()),
        Cell::right(phase.failures.to_string()),
        Cell::right(phase.replans.to_string()),
    ]
}
