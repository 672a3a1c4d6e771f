//! `ckpt sync`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::remote_access::SyncOptions;
use crate::cli::session::Session;
use ckpt_model::WorkflowId;

pub(crate) const COMMAND: CommandSpec = command!(SyncArgs, "sync", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt sync
  ckpt sync 042 --dry-run";

/// Pull, then push: afterwards this store and the remote have the same checkpoints
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
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

fn run(args: &SyncArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace_or_empty()?;
    let options = SyncOptions {
        pull: true,
        push: true,
        dry_run: args.dry_run,
        allow_secrets: args.allow_secrets,
        time_limit: None,
    };
    session.answer_exchange(&workspace, &args.workflows, options)
}
