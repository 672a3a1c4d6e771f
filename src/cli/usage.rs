//! Turns the errors of clap into failures like any other.

use std::error::Error;

use clap::error::ErrorKind;

use super::args::{CommandSpec, GlobalArgs};
use super::commands::unfinished::newest;
use super::env::Environment;
use super::error::{ErrorCode, Failure, SELECTOR_GRAMMAR};
use super::session::Session;
use super::suggest::{Conditions, corrected, with_newest};
use super::words::FIRST_COMMAND;
use ckpt_model::WorkflowStatus;
use ckpt_model::name::InvalidName;
use ckpt_model::selector::SelectorError;
use ckpt_model::trigger::UnknownTrigger;
use ckpt_model::workflow_id::{InvalidId, WorkflowId};
use ckpt_store::Head;

/// Returns the text of help or version, which clap reports as errors too, or the failure.
pub(crate) fn explain(error: &clap::Error, env: &Environment) -> Result<String, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(error.render().to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Err(Failure::new(ErrorCode::Usage, "say what to do")
                .help("`ckpt --help` lists the commands")
                .help(format!("`{FIRST_COMMAND}` begins a workflow")))
        }
        _ => Err(failure(error, env)),
    }
}

/// Adds the command that would have worked to the failure of one that names the workflow `latest` or the like.
pub(crate) fn explain_newest(failure: Failure, session: &Session) -> Failure {
    if failure.code != ErrorCode::NoSuchWorkflow {
        return failure;
    }
    let newest = session.store().ok().and_then(|store| newest(session, &store));
    match newest.and_then(|newest| with_newest(&session.env.args, &newest)) {
        Some(line) => failure.instead(line).help(SELECTOR_GRAMMAR),
        None => failure,
    }
}

fn failure(error: &clap::Error, env: &Environment) -> Failure {
    let is_open = |workflow: &WorkflowId, global: &GlobalArgs| is_open(workflow, global, env);
    let conditions = Conditions { has_workflow: env.is_set("CKPT_WORKFLOW"), is_open: &is_open };
    let line = corrected(&env.args, &conditions);
    let failure = invalid_value(error).unwrap_or_else(|| usage_error(error));
    if let Some(line) = line {
        return failure.instead(line);
    }
    if !failure.help.is_empty() {
        return failure;
    }
    match env.args.iter().skip(1).find_map(CommandSpec::find) {
        Some(command) => failure.help(format!("`ckpt {} --help` shows all flags", command.name)),
        None => failure.help("`ckpt --help` lists the commands"),
    }
}

/// Returns true if there is work left in a workflow, as far as that can be read.
fn is_open(workflow: &WorkflowId, global: &GlobalArgs, env: &Environment) -> bool {
    let session = Session::silent(env.clone(), global.store.clone());
    let head = session.store().ok().and_then(|store| {
        let workflow = store.resolve_workflow(workflow).ok()?;
        store.head(&workflow).transpose()
    });
    match head {
        None | Some(Ok(Head::Seal(_))) => false,
        Some(Ok(Head::Checkpoint(newest))) => newest.content.status == WorkflowStatus::InProgress,
        Some(Err(_)) => true,
    }
}

/// Returns the failure of a value that its type in `core` rejects: that has an error code of its own.
fn invalid_value(error: &clap::Error) -> Option<Failure> {
    let source = error.source()?;
    if let Some(error) = source.downcast_ref::<InvalidId>() {
        return Some(error.clone().into());
    }
    if let Some(error) = source.downcast_ref::<SelectorError>() {
        return Some(error.clone().into());
    }
    if let Some(error) = source.downcast_ref::<InvalidName>() {
        return Some(error.clone().into());
    }
    let error = source.downcast_ref::<UnknownTrigger>()?;
    Some(Failure::from(error.clone()).help("without `--trigger` it follows from what is saved"))
}

/// Words the error of clap. Its own suggestions are left out: they go by the likeness of words only.
fn usage_error(error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let head: Vec<&str> = rendered.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = head.join(" ").trim_start_matches("error: ").replace('\'', "`");
    Failure::new(ErrorCode::Usage, message)
}
