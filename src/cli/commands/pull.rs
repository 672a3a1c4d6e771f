//! `ckpt pull`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::remote_access::SyncOptions;
use crate::cli::session::Session;
use ckpt_model::WorkflowId;

pub(crate) const COMMAND: CommandSpec = command!(PullArgs, "pull", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt pull
  ckpt pull 042
  CKPT_REMOTE=git:origin ckpt pull";

/// Copy checkpoints from the remote that this store does not have
///
/// What continues the newest checkpoint here takes its number. If this store has used the number for another checkpoint, it
/// goes beside the main line, as `042/8@3fa9c2d1`; `ckpt merge 042` reconciles the two. In an empty directory this makes
/// a store with everything that the remote has. Every file is checked before it is used.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// The workflows; all if none is named
    #[arg(value_name = "ID", add = complete::selector())]
    workflows: Vec<WorkflowId>,
    /// Say what would be copied, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn run(args: &PullArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace_or_empty()?;
    let options = SyncOptions { pull: true, dry_run: args.dry_run, ..SyncOptions::default() };
    session.answer_exchange(&workspace, &args.workflows, options)
}
