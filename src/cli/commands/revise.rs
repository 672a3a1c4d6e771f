//! `ckpt revise`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::saving::SaveOptions;
use crate::cli::session::Session;
use ckpt_model::change::{Change, Reopen};
use ckpt_model::{PhaseId, WorkflowId};

pub(crate) const COMMAND: CommandSpec = command!(ReviseArgs, "revise", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt revise 042 --from 2 --reason \"The requirements changed\"
  ckpt revise 042 --from 2 --force";

/// Reopen a phase and everything behind it, because something changed
///
/// Resuming keeps finished work; revising asks for it again. History stays, the replan is counted, and one phase can
/// be reopened only so often, so that no agent goes round in circles.
#[derive(Debug, Args)]
pub(crate) struct ReviseArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: WorkflowId,
    /// The first phase to reopen
    #[arg(long, value_name = "P", add = ArgValueCandidates::new(complete::phases))]
    from: PhaseId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Reopen it even beyond the limit
    #[arg(long)]
    force: bool,
}

fn run(args: &ReviseArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let workflow = workspace.store.resolve_workflow(&args.id)?;
    let limit = (!args.force).then(|| workspace.config.limits().replans);
    let reopen = Reopen { from: args.from.clone(), reason: args.reason.clone(), limit };
    let change = Change { reopen: Some(reopen), ..Change::default() };
    let report = session.save(&workspace, &workflow, change, &SaveOptions::default())?;
    session.answer(&report.titled("Reopened in"))
}
