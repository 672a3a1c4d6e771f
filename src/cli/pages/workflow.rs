//! The page of one workflow: its verdict, phases, tasks, artifacts and log.

use maud::{Markup, html};

use super::graph::graph;
use super::parts::{badge, class, command, cut, duration, link, time, warnings, words};
use super::tasks::tasks;
use super::timeline::timeline;
use super::{Doc, View};

/// The most entries of the log that are shown.
pub(crate) const LOG_ROWS: usize = 100;
/// The most tasks and artifacts that are listed.
const MAX_ROWS: usize = 500;

/// The documents of a workflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Documents<'a> {
    /// Of `resume`.
    pub(crate) resume: Doc<'a>,
    /// Of `status`.
    pub(crate) status: Doc<'a>,
    /// Of `show`.
    pub(crate) show: Doc<'a>,
    /// Of `log`.
    pub(crate) log: Doc<'a>,
}

/// Renders the page.
pub(crate) fn workflow(view: &View, documents: Documents<'_>) -> Markup {
    let Documents { resume, status, show, log } = documents;
    let checkpoint = show.get("checkpoint");
    let id = status.word("workflow");
    html! {
        header.head {
            h1 { (id) @if let Some(title) = status.text("title") { " " span.title { (cut(title)) } } }
            p {
                (badge(status.word("status"))) " "
                @if let Some(reason) = status.text("archived_as") { span.badge.quiet { "archived as " (reason) } " " }
                "at " (link(view.links.checkpoint(status.word("handle")), status.word("handle"))) ", saved "
                (time(view, resume.time("saved_at")))
            }
        }
        (warnings(resume))
        (verdict(resume, status))
        section aria-labelledby="phases" {
            h2 #phases { "Phases" }
            (timeline(view, checkpoint))
            (phases(status, checkpoint))
        }
        (task_section(checkpoint))
        (artifacts(resume))
        @if view.token.is_some() { (super::action::choices(view, documents)) }
        (history(view, log))
    }
}

fn verdict(resume: Doc<'_>, status: Doc<'_>) -> Markup {
    let verdict = resume.word("verdict");
    html! {
        section class={ "verdict " (class(verdict)) } aria-labelledby="verdict" {
            h2 #verdict { (badge(verdict)) " " @if let Some(phase) = resume.text("phase") { "Continue with " strong { (phase) } } @else if verdict == "complete" { "Nothing is left" } @else { "What comes next is not known" } }
            @if let Some(action) = resume.text("action") { p { (cut(action)) } }
            p.dim {
                @if let Some(elapsed) = status.number("elapsed_seconds") { "Elapsed " (duration(Some(elapsed))) ". " }
                @let estimate = status.get("estimate");
                @if !estimate.is_null() {
                    "Left: " (duration(estimate.number("low_seconds"))) " to " (duration(estimate.number("high_seconds")))
                    ", from " (estimate.count("samples")) " finished runs."
                }
            }
            @if resume.list("findings").len() > 0 {
                ul.findings {
                    @for finding in resume.list("findings").take(MAX_ROWS) {
                        li class=(class(finding.word("severity"))) {
                            (badge(finding.word("severity"))) " " (cut(finding.word("message")))
                            @for help in finding.words("help") { " " (command(help)) }
                        }
                    }
                }
            }
            (command(&format!("ckpt resume {}", resume.word("workflow"))))
        }
    }
}

fn phases(status: Doc<'_>, checkpoint: Doc<'_>) -> Markup {
    let stored: Vec<Doc<'_>> = checkpoint.list("phases").collect();
    html! {
        div.scroll tabindex="0" role="group" aria-label="Phases" {
            table {
                thead { tr { th scope="col" { "Phase" } th scope="col" { "Status" } th.number scope="col" { "Took" } th.number scope="col" { "Attempts" } th.number scope="col" { "Tasks" } th scope="col" { "Notes" } } }
                tbody {
                    @for (index, phase) in status.list("phases").enumerate() {
                        @let record = stored.get(index).copied().unwrap_or(phase);
                        tr class=[phase.flag("current").then_some("current")] {
                            th scope="row" { (phase.word("id")) @if let Some(name) = phase.text("name") { " " span.dim { (cut(name)) } } @if phase.flag("current") { span.visually-hidden { " (current)" } } }
                            td { @if phase.flag("inferred") { (badge("done")) " " span.dim { "by evidence" } } @else { (badge(phase.word("status"))) } }
                            td.number { (duration(phase.number("duration_seconds"))) }
                            td.number { (record.count("attempts")) }
                            td.number { @let tasks = phase.list("tasks"); @if tasks.len() > 0 { (phase.list("tasks").filter(|task| matches!(task.word("status"), "complete" | "skipped")).count()) " of " (tasks.len()) } }
                            td.wide { (phase_notes(record)) }
                        }
                    }
                }
            }
        }
    }
}

fn phase_notes(record: Doc<'_>) -> Markup {
    let approval = record.get("approval");
    html! {
        @if let Some(error) = record.text("error") { span.bad { (cut(error)) } " " }
        @if let Some(by) = approval.text("approved_by") { "approved by " (cut(by)) " " }
        @else if approval.flag("required") && approval.text("approved_at").is_none() { "needs approval " }
        @if record.get("data").0.as_object().is_some_and(|data| !data.is_empty()) {
            details { summary { "data" } (super::tree::tree(record.get("data").0)) }
        }
    }
}

fn task_section(checkpoint: Doc<'_>) -> Markup {
    let all = checkpoint.list("tasks").len();
    if all == 0 {
        return html! {};
    }
    html! {
        section aria-labelledby="tasks" {
            h2 #tasks { "Tasks " span.dim { (all) } }
            (tasks(checkpoint))
            div.scroll tabindex="0" role="group" aria-label="Tasks" {
                table {
                    thead { tr { th scope="col" { "Task" } th scope="col" { "Status" } th scope="col" { "Phase" } th.number scope="col" { "Attempts" } th scope="col" { "Waits for" } th scope="col" { "Notes" } } }
                    tbody {
                        @for task in checkpoint.list("tasks").take(MAX_ROWS) {
                            tr {
                                th scope="row" { (task.word("id")) }
                                td { (badge(task.word("status"))) }
                                td { (task.word("phase")) }
                                td.number { (task.count("attempts")) }
                                td { (task.words("depends_on").join(", ")) }
                                td.wide { @if let Some(error) = task.text("error") { span.bad { (cut(error)) } } @else { (cut(task.word("output"))) } }
                            }
                        }
                    }
                }
            }
            @if all > MAX_ROWS { p.cut { "and " (all - MAX_ROWS) " more" } }
        }
    }
}

fn artifacts(resume: Doc<'_>) -> Markup {
    if resume.list("artifacts").len() == 0 {
        return html! {};
    }
    html! {
        section aria-labelledby="artifacts" {
            h2 #artifacts { "Artifacts" }
            div.scroll tabindex="0" role="group" aria-label="Artifacts" {
                table {
                    thead { tr { th scope="col" { "Artifact" } th scope="col" { "File" } th scope="col" { "Phase" } th scope="col" { "Condition" } } }
                    tbody {
                        @for artifact in resume.list("artifacts").take(MAX_ROWS) {
                            tr {
                                th scope="row" { (cut(artifact.word("name"))) }
                                td.wide { code { (cut(artifact.word("path"))) } }
                                td { (artifact.word("phase")) }
                                td { (badge(artifact.word("condition"))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn history(view: &View, log: Doc<'_>) -> Markup {
    let entries: Vec<Doc<'_>> = log.list("entries").take(LOG_ROWS).collect();
    html! {
        section aria-labelledby="log" {
            h2 #log { "Log" }
            div.log {
                (graph(&entries))
                ol {
                    @for entry in &entries {
                        li {
                            div.line {
                                (link(view.links.checkpoint(entry.word("handle")), entry.word("handle")))
                                " " span.what { (sentence(*entry)) }
                                " " span.dim { (time(view, entry.time("saved_at"))) }
                                @if let Some(parent) = entry.words("parents").first() {
                                    " " @if let Some(address) = view.links.diff(parent, entry.word("handle")) { a.small href=(address) { "changes" } }
                                }
                            }
                            @if let Some(note) = entry.text("error").or(entry.text("note")) { div.note { (cut(note)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Says in a line what a save did.
fn sentence(entry: Doc<'_>) -> String {
    if let Some(earlier) = entry.text("copy_of") {
        return format!("took up {earlier} again");
    }
    if let Some(reason) = entry.text("archived_as") {
        return format!("archived as {reason}");
    }
    let mut words_of_changes: Vec<String> = Vec::new();
    words_of_changes.extend(entry.text("merged").map(|other| format!("merged {other}")));
    words_of_changes.extend(entry.text("forked_from").map(|other| format!("forked from {other}")));
    for change in entry.list("changes") {
        match (change.word("field"), change.text("name"), change.text("status")) {
            ("phases" | "tasks", Some(name), Some(status)) => {
                words_of_changes.push(format!("{name} {}", words(status)));
            }
            ("artifacts", Some(name), _) => words_of_changes.push(format!("artifact {name}")),
            ("status", _, Some(status)) => words_of_changes.push(format!("workflow {}", words(status))),
            ("replans", Some(name), _) => words_of_changes.push(format!("replanned from {name}")),
            ("state" | "title" | "labels" | "facts", ..) => {
                words_of_changes.push(change.word("field").to_owned());
            }
            _ => {}
        }
    }
    words_of_changes.dedup();
    match words_of_changes.len() {
        0 => words(entry.text("trigger").unwrap_or(entry.word("kind"))),
        1..=4 => words_of_changes.join(", "),
        more => format!("{}, and {} more", words_of_changes[..3].join(", "), more - 3),
    }
}
