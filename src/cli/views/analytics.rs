//! The figures of all runs, for people and for spreadsheets.

use crate::cli::escape;
use crate::cli::page::Page;
use crate::cli::style::Style;
use crate::cli::table::{Cell, Column, render};
use crate::cli::words::count;
use crate::core::span::humane;
use crate::core::stats::{Analytics, OutcomeCounts, PhaseAnalytics, PipelineAnalytics, WeekStats};

/// The widest bar.
const BAR: u64 = 10;
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Renders the figures; nothing if there are no runs.
pub(super) fn analytics(page: &mut Page, figures: &Analytics) {
    if let Some(since) = figures.since {
        page.line(format!("since      {}", page.time(since)));
    }
    for pipeline in figures.pipelines.iter().filter(|pipeline| !pipeline.phases.is_empty()) {
        page.line("");
        pipeline_lines(page, pipeline);
    }
    if figures.runs_left_out > 0 {
        page.line("");
        page.line(format!(
            "{} of further pipelines left out; `--pipeline` selects one",
            runs(figures.runs_left_out)
        ));
    }
    if let Some(sentence) = resumes(figures) {
        page.line("");
        page.wrapped("", &sentence);
    }
    if figures.weeks.len() > 1 {
        page.line("");
        weeks(page, &figures.weeks);
    }
}

fn pipeline_lines(page: &mut Page, pipeline: &PipelineAnalytics) {
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

fn cells(page: &Page, phase: &PhaseAnalytics) -> Vec<Cell> {
    let hyphen = || "-".to_owned();
    let percent = |percent: u64| Cell::right(if phase.runs == 0 { hyphen() } else { format!("{percent}%") });
    let seconds = phase.seconds;
    let slowest = seconds.zip(phase.slowest_in.as_ref());
    vec![
        Cell::styled(page.escape(phase.id.as_str()), Style::Bold),
        Cell::right(phase.runs.to_string()),
        Cell::right(seconds.map_or_else(hyphen, |spread| humane(spread.median))),
        Cell::or_hyphen(
            seconds.map(|s| format!("{} to {}", humane(s.lower_quartile), humane(s.upper_quartile))),
        ),
        Cell::or_hyphen(
            slowest.map(|(spread, workflow)| format!("{} in {workflow}", humane(spread.slowest))),
        ),
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
    let words: Vec<String> = named
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    format!("{}, {}", runs(counts.total()), words.join(", "))
}

fn runs(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "run")
}

/// Names the phase that takes the largest share of the time.
pub(crate) fn bottleneck(pipeline: &PipelineAnalytics) -> Option<String> {
    let bottleneck = pipeline.bottleneck.as_ref()?;
    let phase = pipeline.phases.iter().find(|phase| phase.id == bottleneck.phase)?;
    let mut sentence =
        format!("The bottleneck is `{}`: it takes {}% of the time", phase.id, bottleneck.share_percent);
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
    Some(format!(
        "Resumed {resumed} by another session, which finished something {times} times ({percent}%)."
    ))
}

fn weeks(page: &mut Page, weeks: &[WeekStats]) {
    let (Some(first), Some(last)) = (weeks.first(), weeks.last()) else { return };
    let complete: Vec<u64> = weeks.iter().map(|week| week.complete).collect();
    let given_up: Vec<u64> = weeks.iter().map(|week| week.given_up).collect();
    let medians: Vec<u64> = weeks.iter().map(|week| week.median_seconds.unwrap_or_default()).collect();
    page.line(format!("By week, {} to {}:", first.starts_on, last.starts_on));
    let total = |numbers: &[u64]| numbers.iter().sum::<u64>();
    page.line(format!("  complete  {}  {}", sparkline(&complete), total(&complete)));
    page.line(format!("  given up  {}  {}", sparkline(&given_up), total(&given_up)));
    if let Some(median) = last.median_seconds {
        page.line(format!("  median    {}  {} last", sparkline(&medians), humane(median)));
    }
}

/// A bar for a percentage; a trace of it for the smallest that is not zero.
fn bar(percent: u64) -> String {
    let eighths = if percent == 0 { 0 } else { (percent.min(100) * BAR * 8 / 100).max(1) };
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let whole = usize::try_from(eighths / 8).unwrap_or_default();
    let rest = usize::try_from(eighths % 8).unwrap_or_default();
    format!("{}{}", "█".repeat(whole), part[rest])
}

/// A character for each number, as high as the number; a space for zero.
fn sparkline(numbers: &[u64]) -> String {
    let highest = u128::from(numbers.iter().copied().max().unwrap_or_default().max(1));
    let step = |number: &u64| match (u128::from(*number) * 8).div_ceil(highest).checked_sub(1) {
        None => ' ',
        Some(step) => usize::try_from(step).ok().and_then(|step| STEPS.get(step)).copied().unwrap_or('█'),
    };
    numbers.iter().map(step).collect()
}

/// Returns stored text as a cell of CSV. A spreadsheet takes text that begins like a formula for one, so an apostrophe is
/// put in front of it.
fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Renders a line for each phase of each pipeline, as CSV.
pub(crate) fn csv(figures: &Analytics) -> String {
    const HEADINGS: &str = "pipeline,phase,runs,lower_quartile_seconds,median_seconds,upper_quartile_seconds,\
        slowest_seconds,slowest_in,waiting_seconds,share_percent,failed_percent,retried_percent,replanned_percent";
    let mut text = format!("{HEADINGS}\r\n");
    for pipeline in &figures.pipelines {
        for phase in &pipeline.phases {
            let spread = |figure: fn(&crate::core::stats::Spread) -> u64| {
                phase.seconds.as_ref().map(|spread| figure(spread).to_string()).unwrap_or_default()
            };
            let cells = [
                csv_cell(pipeline.pipeline.as_deref().unwrap_or_default()),
                csv_cell(phase.id.as_str()),
                phase.runs.to_string(),
                spread(|spread| spread.lower_quartile),
                spread(|spread| spread.median),
                spread(|spread| spread.upper_quartile),
                spread(|spread| spread.slowest),
                csv_cell(phase.slowest_in.as_ref().map(ToString::to_string).unwrap_or_default().as_str()),
                phase.waiting_seconds.to_string(),
                phase.share_percent.to_string(),
                phase.failed_percent.to_string(),
                phase.retried_percent.to_string(),
                phase.replanned_percent.to_string(),
            ];
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_never_ends_early() {
        let cells = ["plan", "=1+1", "+x", "-x", "@SUM(A1)", "a,b", "say \"no\"", "\tx", "x=1"].map(csv_cell);
        let expected =
            ["plan", "'=1+1", "'+x", "'-x", "'@SUM(A1)", "\"a,b\"", "\"say \"\"no\"\"\"", "'\tx", "x=1"];
        assert_eq!(cells, expected);
    }

    #[test]
    fn bars_and_sparklines_grow_with_their_numbers() {
        assert_eq!([bar(0), bar(1), bar(50), bar(100)], ["", "▏", "█████", "██████████"]);
        assert_eq!(bar(200), bar(100));
        assert_eq!(sparkline(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(sparkline(&[1, u64::MAX]), "▁█");
    }
}
