//! `ckpt push`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::remote_access::SyncOptions;
use crate::cli::session::Session;
use ckpt_model::WorkflowId;

pub(crate) const COMMAND: CommandSpec = command!(PushArgs, "push", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt push
  ckpt push 042
  ckpt push --dry-run";

/// Copy checkpoints to the remote that it does not have
///
/// A checkpoint that continues the newest one there takes its number. If another store was faster, it goes beside the main
/// line under its number and digest, `042/8@3fa9c2d1`: nothing is overwritten, and `ckpt pull` brings what the other store
/// has saved. A checkpoint with a secret in it is refused.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// The workflows; all if none is named
    #[arg(value_name = "ID", add = complete::selector())]
    workflows: Vec<WorkflowId>,
    /// Push secrets as they are
    #[arg(long)]
    allow_secrets: bool,
    /// Say what would be copied, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn run(args: &PushArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let options =
        SyncOptions { push: true, dry_run: args.dry_run, allow_secrets: args.allow_secrets, ..SyncOptions::default() };
    session.answer_exchange(&workspace, &args.workflows, options)
}
