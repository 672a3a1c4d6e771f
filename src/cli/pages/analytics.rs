//! The page of the figures: where time goes.

use maud::{Markup, html};

use super::chart::{spread, weeks};
use super::parts::{duration, link, meter};
use super::{Doc, View};
use crate::cli::views::analytics::{bottleneck, outcomes, pipeline_name, resumes};
use crate::core::stats::{Analytics, PipelineAnalytics};

/// Renders the page from the figures, and the document that they make.
pub(crate) fn analytics(view: &View, figures: &Analytics, document: Doc<'_>) -> Markup {
    let trend: Vec<Doc<'_>> = document.list("weeks").collect();
    html! {
        header.head {
            h1 { "Analytics" }
            p.dim { @if figures.runs.total() == 0 { "There are no runs yet." } @else { (outcomes(&figures.runs)) } }
        }
        @if let Some(sentence) = resumes(figures) { p { (sentence) } }
        @if !trend.is_empty() {
            section aria-labelledby="trend" { h2 #trend { "Finished runs by week" } (weeks(&trend)) }
        }
        @for (index, (pipeline, shown)) in figures.pipelines.iter().zip(document.list("pipelines")).enumerate() {
            @if !pipeline.phases.is_empty() { (section(view, index, pipeline, shown)) }
        }
        @if figures.runs_left_out > 0 { p.cut { (figures.runs_left_out) " runs of further pipelines are left out." } }
    }
}

fn section(view: &View, index: usize, pipeline: &PipelineAnalytics, shown: Doc<'_>) -> Markup {
    let greatest =
        pipeline.phases.iter().filter_map(|phase| phase.seconds).map(|seconds| seconds.slowest).max();
    let name = pipeline_name(pipeline);
    html! {
        section aria-labelledby={ "pipeline-" (index) } {
            h2 id={ "pipeline-" (index) } { (name) " " span.dim { (outcomes(&pipeline.runs)) } }
            @if let Some(sentence) = bottleneck(pipeline) { p.sentence { (sentence) } }
            div.scroll tabindex="0" role="group" aria-label={ "Phases of " (name) } {
                table {
                    thead { tr {
                        th scope="col" { "Phase" } th.number scope="col" { "Runs" } th.number scope="col" { "Median" } th scope="col" { "Spread" }
                        th scope="col" { "Slowest" } th.number scope="col" { "Failed" } th.number scope="col" { "Retried" }
                        th.number scope="col" { "Replanned" } th.number scope="col" { "Waited" } th scope="col" { "Share of time" }
                    } }
                    tbody {
                        @for (phase, document) in pipeline.phases.iter().zip(shown.list("phases")) {
                            tr {
                                th scope="row" { (phase.id.as_str()) }
                                td.number { (phase.runs) }
                                td.number { (duration(phase.seconds.map(|seconds| seconds.median))) }
                                td { (spread(document.get("seconds"), greatest.unwrap_or_default())) }
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
                    }
                }
            }
        }
    }
}
