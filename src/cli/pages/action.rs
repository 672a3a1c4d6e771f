//! Actions: the forms that ask for a plan, and the page that shows it.

use maud::{Markup, html};

use super::View;
use super::parts::{command, cut};
use super::workflow::WorkflowPage;
use crate::cli::session::Judgement;
use ckpt_model::WorkflowStatus;
use ckpt_model::phase::PhaseId;

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
pub(super) fn choices(view: &View, WorkflowPage { judgement, status, log }: &WorkflowPage<'_>) -> Markup {
    let Judgement { checkpoint, resume, .. } = judgement;
    let (id, head) = (checkpoint.workflow.as_str(), &checkpoint.handle().to_string());
    let waiting: Vec<&str> = resume.awaiting_approval.iter().map(PhaseId::as_str).collect();
    let phases = checkpoint.content.phases.iter();
    let begun: Vec<&str> = phases.filter(|phase| phase.attempts > 0).map(|phase| phase.id.as_str()).collect();
    let earlier: Vec<String> = log.checkpoints().map(ToString::to_string).filter(|other| other != head).collect();
    let earlier: Vec<&str> = earlier.iter().map(String::as_str).collect();
    html! {
        section.actions aria-labelledby="actions" {
            h2 #actions { "Actions" }
            p.dim { "Each shows what it would do before it does it." }
            div.forms {
                @if status.archived_as.is_some() {
                    (form(view, "restore", id, head, None, "Restore"))
                } @else {
                    @if !waiting.is_empty() { (form(view, "approve", id, head, Some(("Phase", &waiting)), "Approve")) }
                    @if !earlier.is_empty() { (form(view, "rollback", id, head, Some(("Checkpoint", &earlier)), "Roll back")) }
                    @if !begun.is_empty() { (form(view, "revise", id, head, Some(("From phase", &begun)), "Revise")) }
                    (form(view, "archive", id, head, Some(("As", &reasons(checkpoint.content.status))), "Archive"))
                }
            }
        }
    }
}

/// Returns the reasons that fit a status.
fn reasons(status: WorkflowStatus) -> Vec<&'static str> {
    match status {
        WorkflowStatus::Complete => vec!["completed"],
        WorkflowStatus::Failed => vec!["failed"],
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
    let fields = [("token", token), ("name", &action.name), ("workflow", &action.workflow), ("head", &action.head)];
    html! { @for (name, value) in fields { input type="hidden" name=(name) value=(value); } }
}

/// Renders the plan of an action, and the button that does it.
pub(crate) fn confirmation(view: &View, action: &Action, line: &str, plan: &str) -> Markup {
    html! {
        header.head { h1 { "Confirm: " (action.name) " " (action.workflow) } }
        p { "This would run:" } (command(line))
        h2 #plan { "The plan" }
        pre.plan tabindex="0" aria-labelledby="plan" { (cut(plan)) }
        div.forms {
            form method="post" action="/apply" {
                (hidden(view, action))
                input type="hidden" name="what" value=(action.what);
                input type="hidden" name="plan" value=(action.plan);
                button.primary type="submit" autofocus { "Do it" }
            }
            (back(view, action))
        }
    }
}

/// Renders what an action did.
pub(crate) fn done(view: &View, action: &Action, answer: &str) -> Markup {
    html! {
        header.head { h1 { "Done: " (action.name) " " (action.workflow) } }
        pre.plan tabindex="0" aria-label="Answer" { (cut(answer)) }
        p { (back(view, action)) }
    }
}

/// Returns the link to the page that an action was asked for on.
fn back(view: &View, Action { workflow, .. }: &Action) -> Markup {
    let address = if workflow.is_empty() { view.links.workflows() } else { view.links.workflow(workflow) };
    html! { @if let Some(address) = address { a.button href=(address) { "Back" } } }
}
