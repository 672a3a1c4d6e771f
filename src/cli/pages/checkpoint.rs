//! The page of one checkpoint: everything that it holds, as a tree.

use maud::{Markup, html};
use serde_json::Value;

use super::View;
use super::parts::{badge, command, cut, link, time, warnings};
use super::tree::tree;
use crate::cli::views::show::ShowReport;
use ckpt_model::Handle;

/// Renders the page from the report of `show`.
pub(crate) fn checkpoint(view: &View, show: &ShowReport) -> Markup {
    let handle = show.handle.to_string();
    let parsed = show.parsed.as_deref();
    let parent = parsed.and_then(|checkpoint| Some(Handle::new(&checkpoint.workflow, checkpoint.parent.as_ref()?.seq)));
    let parent = parent.map(|parent| parent.to_string());
    let (state, rest) = apart(&show.checkpoint);
    html! {
        header.head {
            h1 { "Checkpoint " (handle) }
            @if let Some(checkpoint) = parsed {
                @let workflow = checkpoint.workflow.as_str();
                p {
                    (badge(checkpoint.content.status.word())) " of "
                    (link(view.links.workflow(workflow), workflow))
                    ", saved " (time(view, Some(checkpoint.saved_at)))
                    @if let Some(parent) = &parent { ", after " (link(view.links.checkpoint(parent), parent)) }
                }
            }
        }
        (warnings(&show.warnings))
        @for violation in &show.violations { p.notice.bad { (cut(&violation.pointer)) " " (cut(&violation.message)) } }
        @if let Some(note) = parsed.and_then(|checkpoint| checkpoint.note.as_deref()) { p.note { (cut(note)) } }
        section aria-labelledby="commands" {
            h2 #commands { "Commands" }
            p { (command(&format!("ckpt show {handle}"))) }
            p { (command(&format!("ckpt rollback {handle}"))) }
            @if let Some(parent) = &parent {
                p { (command(&format!("ckpt diff {parent} {handle}"))) " " @if let Some(address) = view.links.diff(parent, &handle) { a href=(address) { "Show the difference" } } }
            }
        }
        section aria-labelledby="state" {
            h2 #state { "State" }
            (tree(&state))
        }
        section aria-labelledby="everything" {
            h2 #everything { "Everything else" }
            (tree(&rest))
        }
        p.dim { "File: " code { (show.file.path) } }
    }
}

/// Takes the state out of a checkpoint.
fn apart(checkpoint: &Value) -> (Value, Value) {
    let mut rest = checkpoint.clone();
    let state = rest.as_object_mut().and_then(|members| members.shift_remove("state"));
    (state.unwrap_or_default(), rest)
}
