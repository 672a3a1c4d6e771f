//! The page of the figures: where time goes.

use maud::{Markup, html};

use super::View;
use super::chart::{spread, weeks};
use super::parts::{duration, link, meter, table};
use crate::cli::views::analytics::{bottleneck, outcomes, pipeline_name, resumes};
use ckpt_model::stats::{Analytics, PipelineAnalytics};

const HEADINGS: [&str; 10] =
    ["Phase", "#Runs", "#Median", "Spread", "Slowest", "#Failed", "#Retried", "#Replanned", "#Waited", "Share of time"];

/// Renders the page from the figures.
pub(crate) fn analytics(view: &View, figures: &Analytics) -> Markup {
    html! {
        header.head {
            h1 { "Analytics" }
            p.dim { @if figures.runs.total() == 0 { "There are no runs yet." } @else { (outcomes(&figures.runs)) } }
        }
        @if let Some(sentence) = resumes(figures) { p { (sentence) } }
        @if !figures.weeks.is_empty() {
            section aria-labelledby="trend" { h2 #trend { "Finished runs by week" } (weeks(&figures.weeks)) }
        }
        @for (index, pipeline) in figures.pipelines.iter().enumerate() {
            @if !pipeline.phases.is_empty() { (section(view, index, pipeline)) }
        }
        @if figures.runs_left_out > 0 { p.cut { (figures.runs_left_out) " runs of further pipelines are left out." } }
    }
}

fn section(view: &View, index: usize, pipeline: &PipelineAnalytics) -> Markup {
    let greatest = pipeline.phases.iter().filter_map(|phase| phase.seconds).map(|seconds| seconds.slowest).max();
    let name = pipeline_name(pipeline);
    let rows = html! {
        @for phase in &pipeline.phases {
            tr {
                th scope="row" { (phase.id.as_str()) }
                td.number { (phase.runs) }
                td.number { (duration(phase.seconds.map(|seconds| seconds.median))) }
                td { @if let Some(seconds) = &phase.seconds { (spread(seconds, greatest.unwrap_or_default())) } }
                td.nowrap {
                    (duration(phase.seconds.map(|seconds| seconds.slowest)))
                    @if let Some(workflow) = &phase.slowest_in { " in " (link(view.links.workflow(workflow.as_str()), workflow.as_str())) }
                }
                @for percent in [phase.failed_percent, phase.retried_percent, phase.replanned_percent] {
                    td.number { @if phase.runs > 0 { (percent) "%" } @else { "–" } }
                }
                td.number { (duration(Some(phase.waiting_seconds).filter(|seconds| *seconds > 0))) }
                td { span.progress { (meter(phase.share_percent, &format!("{}%", phase.share_percent))) span { (phase.share_percent) "%" } } }
            }
        }
    };
    html! {
        section aria-labelledby={ "pipeline-" (index) } {
            h2 id={ "pipeline-" (index) } { (name) " " span.dim { (outcomes(&pipeline.runs)) } }
            @if let Some(sentence) = bottleneck(pipeline) { p.sentence { (sentence) } }
            (table(&format!("Phases of {name}"), &HEADINGS, &rows))
        }
    }
}
