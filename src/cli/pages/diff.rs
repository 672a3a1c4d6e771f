//! The page of the difference of two checkpoints.

use maud::{Markup, html};
use serde_json::Value;

use super::View;
use super::parts::{command, cut, link, table};
use super::tree::tree;
use crate::cli::views::diff::DiffReport;
use ckpt_model::diff::{ChangeKind, ContentDiff};

/// The most changes that are listed.
const MAX_CHANGES: usize = 1000;

/// Renders the page from the report of `diff`.
pub(crate) fn diff(view: &View, report: &DiffReport) -> Markup {
    let (from, to) = (report.from.to_string(), report.to.to_string());
    let rows = html! {
        @for change in report.summary.iter().take(MAX_CHANGES) {
            tr {
                th scope="row" {
                    (change.field)
                    @if let Some(name) = &change.name { " " strong { (cut(name)) } }
                    @if !change.pointer.is_empty() { " " code { (cut(&change.pointer)) } }
                }
                td { (kind(change.change)) }
                td.before { (value(&change.before)) }
                td.after { (value(&change.after)) }
            }
        }
    };
    html! {
        header.head {
            h1 { "From " (link(view.links.checkpoint(&from), &from)) " to " (link(view.links.checkpoint(&to), &to)) }
            p { (command(&format!("ckpt diff {from} {to}"))) }
        }
        @if report.equal { div.empty { p { "They have the same content." } } }
        @else {
            div.diff { (table("Changes", &["What", "Change", "Before", "After"], &rows)) }
            @if let Some(more) = report.summary.len().checked_sub(MAX_CHANGES + 1) { p.cut { "and " (more + 1) " more changes" } }
        }
        @for ContentDiff { path, diff, .. } in &report.contents {
            section {
                h2 { code { (cut(path)) } }
                pre.scroll tabindex="0" role="group" aria-label={ "Lines of " (path) } {
                    @for line in &diff.lines { span class=(class_of_line(line)) { (cut(line)) "\n" } }
                }
                @if diff.left_out > 0 { p.cut { "and " (diff.left_out) " more lines" } }
            }
        }
    }
}

fn kind(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::Reordered => "reordered",
    }
}

/// Returns the class of a line of a unified diff.
fn class_of_line(line: &str) -> &'static str {
    match line.as_bytes().first() {
        Some(b'-') => "removed",
        Some(b'+') => "added",
        Some(b'@') => "dim",
        _ => "same",
    }
}

fn value(value: &Value) -> Markup {
    if value.is_null() {
        html! { span.dim { "–" } }
    } else {
        tree(value)
    }
}
