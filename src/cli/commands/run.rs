//! `ckpt run`

use std::ffi::OsString;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use serde_json::json;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::child;
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::save::SaveOptions;
use crate::cli::session::Session;
use crate::core::change::{Change, Edit};
use crate::core::{PhaseId, PhaseStatus, Timestamp, WorkflowId, WorkflowStatus};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "run",
    alias: None,
    augment_args: RunArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt run 042 --phase test -- cargo test
  ckpt run 042 --phase build -- make -j4";

/// Run a command as one phase: in progress while it runs, then complete or failed
///
/// The command, its exit code and how long it took become data of the phase. Its exit code is ours.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: WorkflowId,
    /// The phase
    #[arg(long, value_name = "P", add = ArgValueCandidates::new(complete::phases))]
    phase: PhaseId,
    /// The command
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn run(args: &RunArgs, session: &Session) -> Result<Exit, Failure> {
    let phase = &args.phase;
    let workspace = session.workspace()?;
    let workflow = workspace.store.resolve_workflow(&args.id)?;
    let options = SaveOptions::default();
    let change_to = |status| Change { phase: Some(phase.clone()), status: Some(status), ..Change::default() };

    let begun = session.save(&workspace, &workflow, change_to(PhaseStatus::InProgress), &options)?;
    let environment = child::ChildEnvironment {
        workflow: workflow.to_string(),
        handle: begun.handle.map(|handle| handle.to_string()).unwrap_or_default(),
        phase: Some(phase.to_string()),
        action: begun.next.and_then(|next| next.action),
    };
    let start = session.with_current_time()?.now();
    let ended = match child::run(&args.command, &environment, None) {
        Ok(ended) => ended,
        Err(failure) => {
            let change = Change { error: Some(failure.message.clone()), ..change_to(PhaseStatus::Failed) };
            session.save(&workspace, &workflow, change, &options)?;
            return Err(failure);
        }
    };
    let later = session.with_current_time()?;
    // A command that succeeds in spite of the signal has completed the phase.
    if ended.interrupted && ended.code != 0 {
        child::save_interrupt(&later, &workspace, &workflow)?;
        return Ok(ended.exit());
    }
    let status = if ended.code == 0 { PhaseStatus::Complete } else { PhaseStatus::Failed };
    let error = (ended.code != 0).then(|| format!("the command ended with exit code {}", ended.code));
    let data = vec![Edit::Overlay(run_data(args, ended.code, start, later.now()))];
    let report = later.save(&workspace, &workflow, Change { data, error, ..change_to(status) }, &options)?;
    if let Some(handle) = &report.handle
        && !session.ui.is_quiet()
    {
        let complete = report.status == Some(WorkflowStatus::Complete);
        let complete = if complete { ". The workflow is complete." } else { "" };
        let (word, code) = (status.word(), ended.code);
        session.ui.say(&format!("Saved {handle}: phase {phase} {word}, exit code {code}{complete}\n"));
    }
    session.ui.say(&report.notes());
    Ok(ended.exit())
}

/// The data of the phase: command, exit code and duration.
fn run_data(args: &RunArgs, code: u8, start: Timestamp, end: Timestamp) -> serde_json::Value {
    let command: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let seconds = end.seconds_since(start).max(0);
    json!({"run": {"command": command, "exit_code": code, "duration_seconds": seconds}})
}
