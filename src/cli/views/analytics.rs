//! The figures of all runs, for people.

use crate::cli::escape;
use crate::cli::style::Style;
use crate::cli::table::{Cell, Column, render};
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::span::humane;
use ckpt_model::stats::{Analytics, OutcomeCounts, PhaseAnalytics, PipelineAnalytics};

/// The widest bar.
const BAR: u64 = 10;

/// Renders the figures; nothing if there are no runs.
pub(super) fn analytics(page: &mut TextPage, figures: &Analytics) {
    if let Some(since) = figures.since {
        page.line(format!("since      {}", page.time(since)));
    }
    for pipeline in figures.pipelines.iter().filter(|pipeline| !pipeline.phases.is_empty()) {
        page.line("");
        pipeline_lines(page, pipeline);
    }
    if figures.runs_left_out > 0 {
        page.line("");
        page.line(format!("{} of further pipelines left out; `--pipeline` selects one", runs(figures.runs_left_out)));
    }
    if let Some(sentence) = resumes(figures) {
        page.line("");
        page.wrapped("", &sentence);
    }
}

fn pipeline_lines(page: &mut TextPage, pipeline: &PipelineAnalytics) {
    let name = page.escape(&pipeline_name(pipeline));
    let took = match pipeline.seconds {
        Some(spread) => format!("; median {}", humane(spread.median)),
        None => String::new(),
    };
    page.line(format!("{}: {}{took}", page.paint(Style::Bold, &name), outcomes(&pipeline.runs)));
    page.line("");
    let columns = [
        Column::new("PHASE").shrinks_to(12),
        Column::new("RUNS"),
        Column::new("MEDIAN"),
        Column::new("MIDDLE HALF").optional(4),
        Column::new("SLOWEST").shrinks_to(10).optional(3),
        Column::new("FAILED"),
        Column::new("RETRIED").optional(2),
        Column::new("REPLANNED").optional(1),
        Column::new("WAITED").optional(5),
        Column::new("SHARE OF TIME"),
    ];
    let rows: Vec<Vec<Cell>> = pipeline.phases.iter().map(|phase| cells(page, phase)).collect();
    render(page, &columns, &rows);
    if let Some(sentence) = bottleneck(pipeline) {
        page.line("");
        page.wrapped("", &escape::inline(&sentence));
    }
}

fn cells(page: &TextPage, phase: &PhaseAnalytics) -> Vec<Cell> {
    let hyphen = || "-".to_owned();
    let percent = |percent: u64| Cell::right(if phase.runs == 0 { hyphen() } else { format!("{percent}%") });
    let seconds = phase.seconds;
    let slowest = seconds.zip(phase.slowest_in.as_ref());
    vec![
        Cell::styled(page.escape(phase.id.as_str()), Style::Bold),
        Cell::right(phase.runs.to_string()),
        Cell::right(seconds.map_or_else(hyphen, |spread| humane(spread.median))),
        Cell::or_hyphen(seconds.map(|s| format!("{} to {}", humane(s.lower_quartile), humane(s.upper_quartile)))),
        Cell::or_hyphen(slowest.map(|(spread, workflow)| format!("{} in {workflow}", humane(spread.slowest)))),
        percent(phase.failed_percent),
        percent(phase.retried_percent),
        percent(phase.replanned_percent),
        Cell::right(if phase.waiting_seconds == 0 { hyphen() } else { humane(phase.waiting_seconds) }),
        Cell::new(format!("{:>3}% {}", phase.share_percent, bar(phase.share_percent))),
    ]
}

/// The name of a pipeline; words for runs without one.
pub(crate) fn pipeline_name(pipeline: &PipelineAnalytics) -> String {
    pipeline.pipeline.clone().unwrap_or_else(|| "without a pipeline".to_owned())
}

/// `12 runs: 9 complete, 1 failed`
pub(crate) fn outcomes(counts: &OutcomeCounts) -> String {
    let named = [
        (counts.complete, "complete"),
        (counts.in_progress, "in progress"),
        (counts.failed, "failed"),
        (counts.abandoned, "abandoned"),
    ];
    let words: Vec<String> =
        named.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")).collect();
    format!("{}, {}", runs(counts.total()), words.join(", "))
}

fn runs(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "run")
}

/// Names the phase that takes the largest share of the time.
pub(crate) fn bottleneck(pipeline: &PipelineAnalytics) -> Option<String> {
    let bottleneck = pipeline.bottleneck.as_ref()?;
    let phase = pipeline.phases.iter().find(|phase| phase.id == bottleneck.phase)?;
    let mut sentence = format!("The bottleneck is `{}`: it takes {}% of the time", phase.id, bottleneck.share_percent);
    if bottleneck.waiting_percent > 0 {
        sentence.push_str(&format!(", {}% of that waiting", bottleneck.waiting_percent));
    }
    if phase.failed_percent > 0 {
        sentence.push_str(&format!(", and failed in {}% of its runs", phase.failed_percent));
    } else if phase.retried_percent > 0 {
        sentence.push_str(&format!(", and was begun again in {}% of its runs", phase.retried_percent));
    }
    sentence.push('.');
    Some(sentence)
}

/// Says how many resumes succeeded.
pub(crate) fn resumes(figures: &Analytics) -> Option<String> {
    let percent = figures.resume_success_percent?;
    let resumed = count(usize::try_from(figures.resumes).unwrap_or(usize::MAX), "time");
    let times = figures.successful_resumes;
    Some(format!("Resumed {resumed} by another session, which finished something {times} times ({percent}%)."))
}

/// A bar for a percentage; a trace of it for the smallest that is not zero.
fn bar(percent: u64) -> String {
    let eighths = if percent == 0 { 0 } else { (percent.min(100) * BAR * 8 / 100).max(1) };
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let whole = usize::try_from(eighths / 8).unwrap_or_default();
    let rest = usize::try_from(eighths % 8).unwrap_or_default();
    format!("{}{}", "█".repeat(whole), part[rest])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_their_numbers() {
        assert_eq!([bar(0), bar(1), bar(50), bar(100)], ["", "▏", "█████", "██████████"]);
        assert_eq!(bar(200), bar(100));
    }
}
