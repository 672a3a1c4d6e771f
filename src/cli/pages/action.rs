//! Actions: the forms that ask for a plan, and the page that shows it.

use maud::{Markup, html};

use super::View;
use super::workflow::Documents;

/// An action as a form sends it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Action {
    /// `approve`, `rollback`, `revise`, `archive`, `restore` or `cleanup`.
    pub(crate) name: String,
    pub(crate) workflow: String,
    /// The head that the person saw.
    pub(crate) head: String,
    /// The phase, the checkpoint or the reason.
    pub(crate) what: String,
    /// The fingerprint of the plan that the person saw.
    pub(crate) plan: String,
}

/// Renders the actions of a workflow.
pub(super) fn choices(view: &View, documents: Documents<'_>) -> Markup {
    let status = documents.status;
    let (id, head) = (status.word("workflow"), status.word("handle"));
    let waiting = documents.resume.words("awaiting_approval");
    let begun: Vec<&str> = documents
        .show
        .get("checkpoint")
        .list("phases")
        .filter(|phase| phase.count("attempts") > 0)
        .map(|phase| phase.word("id"))
        .collect();
    let earlier: Vec<&str> = documents
        .log
        .list("entries")
        .filter(|entry| entry.word("kind") == "checkpoint")
        .map(|entry| entry.word("handle"))
        .filter(|handle| *handle != head)
        .collect();
    let archived = status.text("archived_as").is_some();
    html! {
        section.actions aria-labelledby="actions" {
            h2 #actions { "Actions" }
            p.dim { "Each shows what it would do before it does it." }
            div.forms {
                @if archived {
                    (form(view, "restore", id, head, None, "Restore"))
                } @else {
                    @if !waiting.is_empty() { (form(view, "approve", id, head, Some(("Phase", &waiting)), "Approve")) }
                    @if !earlier.is_empty() { (form(view, "rollback", id, head, Some(("Checkpoint", &earlier)), "Roll back")) }
                    @if !begun.is_empty() { (form(view, "revise", id, head, Some(("From phase", &begun)), "Revise")) }
                    (form(view, "archive", id, head, Some(("As", &reasons(status.word("status")))), "Archive"))
                }
            }
        }
    }
}

/// Returns the reasons that fit a status.
fn reasons(status: &str) -> Vec<&'static str> {
    match status {
        "complete" => vec!["completed"],
        "failed" => vec!["failed"],
        _ => vec!["abandoned", "failed", "completed"],
    }
}

/// Renders the form that asks for the plan of an action.
pub(crate) fn form(
    view: &View,
    name: &str,
    workflow: &str,
    head: &str,
    choice: Option<(&str, &[&str])>,
    button: &str,
) -> Markup {
    html! {
        form method="post" action="/plan" {
            (hidden(view, &Action { name: name.to_owned(), workflow: workflow.to_owned(), head: head.to_owned(), ..Action::default() }))
            @if let Some((label, values)) = choice {
                label { span { (label) } select name="what" { @for value in values { option value=(value) { (value) } } } }
            }
            button type="submit" { (button) "…" }
        }
    }
}

fn hidden(view: &View, action: &Action) -> Markup {
    let token = view.token.as_deref().unwrap_or_default();
    let fields =
        [("token", token), ("name", &action.name), ("workflow", &action.workflow), ("head", &action.head)];
    html! { @for (name, value) in fields { input type="hidden" name=(name) value=(value); } }
}

/// Renders the plan of an action, and the button that does it.
pub(crate) fn confirmation(view: &View, action: &Action, line: &str, plan: &str, is_empty: bool) -> Markup {
    let back = if action.workflow.is_empty() {
        view.links.workflows()
    } else {
        view.links.workflow(&action.workflow)
    };
    html! {
        header.head { h1 { "Confirm: " (action.name) " " (action.workflow) } }
        p { "This would run:" } (super::parts::command(line))
        h2 #plan { "The plan" }
        pre.plan tabindex="0" aria-labelledby="plan" { (super::parts::cut(plan)) }
        div.forms {
            @if !is_empty {
                form method="post" action="/apply" {
                    (hidden(view, action))
                    input type="hidden" name="what" value=(action.what);
                    input type="hidden" name="plan" value=(action.plan);
                    button.primary type="submit" autofocus { "Do it" }
                }
            }
            @if let Some(address) = back { a.button href=(address) { "Back" } }
        }
    }
}

/// Renders what an action did.
pub(crate) fn done(view: &View, action: &Action, answer: &str) -> Markup {
    let back = if action.workflow.is_empty() {
        view.links.workflows()
    } else {
        view.links.workflow(&action.workflow)
    };
    html! {
        header.head { h1 { "Done: " (action.name) " " (action.workflow) } }
        pre.plan tabindex="0" aria-label="Answer" { (super::parts::cut(answer)) }
        @if let Some(address) = back { p { a.button href=(address) { "Back" } } }
    }
}
