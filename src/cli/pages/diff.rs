//! The page of the difference of two checkpoints.

use maud::{Markup, html};

use super::parts::{command, cut, link, warnings, words};
use super::tree::tree;
use super::{Doc, View};

/// The most changes that are listed.
const MAX_CHANGES: usize = 1000;

/// Renders the page from the document of `diff`.
pub(crate) fn diff(view: &View, diff: Doc<'_>) -> Markup {
    let (from, to) = (diff.word("from"), diff.word("to"));
    let changes = diff.list("summary");
    let count = changes.len();
    html! {
        header.head {
            h1 { "From " (link(view.links.checkpoint(from), from)) " to " (link(view.links.checkpoint(to), to)) }
            p { (command(&format!("ckpt diff {from} {to}"))) }
        }
        (warnings(diff))
        @if diff.flag("equal") { div.empty { p { "They have the same content." } } }
        @else {
            div.scroll tabindex="0" role="group" aria-label="Changes" {
                table.diff {
                    thead { tr { th scope="col" { "What" } th scope="col" { "Change" } th scope="col" { "Before" } th scope="col" { "After" } } }
                    tbody {
                        @for change in changes.take(MAX_CHANGES) {
                            tr {
                                th scope="row" {
                                    (change.word("field"))
                                    @if let Some(name) = change.text("name") { " " strong { (cut(name)) } }
                                    @if let Some(pointer) = change.text("pointer") { " " code { (cut(pointer)) } }
                                }
                                td { (words(change.word("change"))) }
                                td.before { (value(change.get("before"))) }
                                td.after { (value(change.get("after"))) }
                            }
                        }
                    }
                }
            }
            @if count > MAX_CHANGES { p.cut { "and " (count - MAX_CHANGES) " more changes" } }
        }
        @for file in diff.list("contents") {
            section {
                h2 { code { (cut(file.word("path"))) } }
                pre.scroll tabindex="0" role="group" aria-label={ "Lines of " (file.word("path")) } {
                    @for line in file.words("lines") { span class=(class_of_line(line)) { (cut(line)) "\n" } }
                }
                @let left_out = file.count("left_out");
                @if left_out > 0 { p.cut { "and " (left_out) " more lines" } }
            }
        }
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

fn value(value: Doc<'_>) -> Markup {
    if value.is_null() {
        html! { span.dim { "–" } }
    } else {
        tree(value.0)
    }
}
