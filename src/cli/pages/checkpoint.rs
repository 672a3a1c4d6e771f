//! The page of one checkpoint: everything that it holds, as a tree.

use maud::{Markup, html};

use super::parts::{badge, command, cut, link, time, warnings};
use super::tree::tree;
use super::{Doc, View};

/// Renders the page from the document of `show`.
pub(crate) fn checkpoint(view: &View, show: Doc<'_>) -> Markup {
    let checkpoint = show.get("checkpoint");
    let handle = show.word("handle");
    let parent =
        checkpoint.get("parent").number("seq").map(|seq| format!("{}/{seq}", checkpoint.word("workflow")));
    html! {
        header.head {
            h1 { "Checkpoint " (handle) }
            p {
                (badge(checkpoint.word("status"))) " of "
                (link(view.links.workflow(checkpoint.word("workflow")), checkpoint.word("workflow")))
                ", saved " (time(view, checkpoint.time("saved_at")))
                @if let Some(parent) = &parent { ", after " (link(view.links.checkpoint(parent), parent)) }
            }
        }
        (warnings(show))
        @for violation in show.list("violations") { p.notice.bad { (cut(&violation.0.to_string())) } }
        @if let Some(note) = checkpoint.text("note") { p.note { (cut(note)) } }
        section aria-labelledby="commands" {
            h2 #commands { "Commands" }
            p { (command(&format!("ckpt show {handle}"))) }
            p { (command(&format!("ckpt rollback {handle}"))) }
            @if let Some(parent) = &parent {
                p { (command(&format!("ckpt diff {parent} {handle}"))) " " @if let Some(address) = view.links.diff(parent, handle) { a href=(address) { "Show the difference" } } }
            }
        }
        section aria-labelledby="state" {
            h2 #state { "State" }
            (tree(checkpoint.get("state").0))
        }
        section aria-labelledby="everything" {
            h2 #everything { "Everything else" }
            (tree(&without_state(checkpoint)))
        }
        @if let Some(path) = show.text("path") { p.dim { "File: " code { (path) } } }
    }
}

fn without_state(checkpoint: Doc<'_>) -> serde_json::Value {
    let mut rest = checkpoint.0.clone();
    if let Some(members) = rest.as_object_mut() {
        members.shift_remove("state");
    }
    rest
}
