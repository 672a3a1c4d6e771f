//! The page of one workflow: its verdict, phases, tasks, artifacts and log.

use maud::{Markup, html};

use super::View;
use super::parts::{badge, class, command, cut, duration, link, table, time};
use super::timeline::timeline;
use crate::cli::session::Judgement;
use crate::cli::views::log::LogReport;
use crate::cli::views::status::StatusReport;
use ckpt_model::checkpoint::Content;
use ckpt_model::phase::{Phase, PhaseId};
use ckpt_model::resume::Verdict;
use ckpt_model::task::TaskId;

/// The most entries of the log that are shown.
pub(crate) const LOG_ROWS: usize = 100;
/// The most tasks and artifacts that are listed.
const MAX_ROWS: usize = 500;

/// The reports of a workflow.
#[derive(Clone, Copy)]
pub(crate) struct WorkflowPage<'a> {
    pub(crate) judgement: &'a Judgement,
    pub(crate) status: &'a StatusReport,
    pub(crate) log: &'a LogReport,
}

/// Renders the page.
pub(crate) fn workflow(view: &View, page: &WorkflowPage<'_>) -> Markup {
    let WorkflowPage { judgement, status, log } = page;
    let checkpoint = &judgement.checkpoint;
    let handle = checkpoint.handle().to_string();
    html! {
        header.head {
            h1 { (checkpoint.workflow) @if let Some(title) = &checkpoint.content.title { " " span.title { (cut(title)) } } }
            p {
                (badge(checkpoint.content.status.word())) " "
                @if let Some(reason) = &status.archived_as { span.badge.quiet { "archived as " (reason) } " " }
                "at " (link(view.links.checkpoint(&handle), &handle)) ", saved "
                (time(view, Some(checkpoint.saved_at)))
            }
        }
        (verdict(judgement, status))
        section aria-labelledby="phases" {
            h2 #phases { "Phases" }
            (timeline(view, checkpoint))
            (phases(status, &checkpoint.content))
        }
        (tasks(&checkpoint.content))
        (artifacts(judgement))
        @if view.token.is_some() { (super::action::choices(view, page)) }
        (history(view, log))
    }
}

fn verdict(Judgement { checkpoint, resume, .. }: &Judgement, status: &StatusReport) -> Markup {
    let word = resume.verdict.word();
    html! {
        section class={ "verdict " (class(word)) } aria-labelledby="verdict" {
            h2 #verdict { (badge(word)) " " @if let Some(phase) = &resume.phase { "Continue with " strong { (phase) } } @else if resume.verdict == Verdict::Complete { "Nothing is left" } @else { "What comes next is not known" } }
            @if let Some(action) = &resume.action { p { (cut(action)) } }
            p.dim {
                @if let Some(elapsed) = status.elapsed_seconds { "Elapsed " (duration(Some(elapsed))) ". " }
                @if let Some(estimate) = &status.estimate {
                    "Left: " (duration(Some(estimate.low_seconds))) " to " (duration(Some(estimate.high_seconds)))
                    ", from " (estimate.samples) " finished runs."
                }
            }
            @if !resume.findings.is_empty() {
                ul.findings {
                    @for finding in resume.findings.iter().take(MAX_ROWS) {
                        li class=(class(finding.severity.word())) {
                            (badge(finding.severity.word())) " " (cut(&finding.message))
                            @for help in &finding.help { " " (command(help)) }
                        }
                    }
                }
            }
            (command(&format!("ckpt resume {}", checkpoint.workflow)))
        }
    }
}

fn phases(status: &StatusReport, content: &Content) -> Markup {
    let rows = html! {
        @for (phase, record) in status.phases.iter().zip(&content.phases) {
            tr class=[phase.current.then_some("current")] {
                th scope="row" { (record.id) @if let Some(name) = &record.name { " " span.dim { (cut(name)) } } @if phase.current { span.visually-hidden { " (current)" } } }
                td { @if phase.inferred { (badge("done")) " " span.dim { "by evidence" } } @else { (badge(record.status.word())) } }
                td.number { (duration(phase.duration_seconds)) }
                td.number { (record.attempts) }
                td.number { @if !phase.tasks.is_empty() { (phase.done_tasks()) " of " (phase.tasks.len()) } }
                td.wide { (phase_notes(record)) }
            }
        }
    };
    table("Phases", &["Phase", "Status", "#Took", "#Attempts", "#Tasks", "Notes"], &rows)
}

fn phase_notes(Phase { error, approval, data, .. }: &Phase) -> Markup {
    let data = data.as_ref().filter(|data| !data.is_empty_object()).and_then(|data| data.to_value().ok());
    html! {
        @if let Some(error) = error { span.bad { (cut(error)) } " " }
        @if let Some(approval) = approval {
            @if let Some(by) = &approval.approved_by { "approved by " (cut(by)) " " }
            @else if approval.required && approval.approved_at.is_none() { "needs approval " }
        }
        @if let Some(data) = &data { details { summary { "data" } (super::tree::tree(data)) } }
    }
}

fn tasks(Content { tasks, .. }: &Content) -> Markup {
    let rows = html! {
        @for task in tasks.iter().take(MAX_ROWS) {
            tr {
                th scope="row" { (task.id) }
                td { (badge(task.status.word())) }
                td { (task.phase.as_ref().map(PhaseId::as_str).unwrap_or_default()) }
                td.number { (task.attempts) }
                td { (task.depends_on.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")) }
                td.wide { @if let Some(error) = &task.error { span.bad { (cut(error)) } } @else { (cut(task.output.as_deref().unwrap_or_default())) } }
            }
        }
    };
    html! {
        @if !tasks.is_empty() {
            section aria-labelledby="tasks" {
                h2 #tasks { "Tasks " span.dim { (tasks.len()) } }
                (table("Tasks", &["Task", "Status", "Phase", "#Attempts", "Waits for", "Notes"], &rows))
                @if tasks.len() > MAX_ROWS { p.cut { "and " (tasks.len() - MAX_ROWS) " more" } }
            }
        }
    }
}

fn artifacts(judgement: &Judgement) -> Markup {
    let rows = html! {
        @for (artifact, condition) in judgement.artifacts().take(MAX_ROWS) {
            tr {
                th scope="row" { (cut(&artifact.name)) }
                td.wide { code { (cut(&artifact.path)) } }
                td { (artifact.phase.as_ref().map(PhaseId::as_str).unwrap_or_default()) }
                td { (badge(condition.word())) }
            }
        }
    };
    html! {
        @if judgement.artifacts().next().is_some() {
            section aria-labelledby="artifacts" {
                h2 #artifacts { "Artifacts" }
                (table("Artifacts", &["Artifact", "File", "Phase", "Condition"], &rows))
            }
        }
    }
}

fn history(view: &View, log: &LogReport) -> Markup {
    html! {
        section aria-labelledby="log" {
            h2 #log { "Log" }
            ol.log {
                @for line in log.lines() {
                    @let handle = line.entry.handle.to_string();
                    li {
                        (link(view.links.checkpoint(&handle), &handle))
                        " " (cut(&line.sentence()))
                        " " span.dim { (time(view, line.entry.saved_at())) }
                        @if let Some(parent) = line.entry.parents.first() {
                            " " @if let Some(address) = view.links.diff(&parent.to_string(), &handle) { a.small href=(address) { "changes" } }
                        }
                    }
                }
            }
        }
    }
}
