//! `ckpt fork`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::saving::SaveOptions;
use crate::cli::session::Session;
use crate::cli::views::fork::ForkReport;
use ckpt_model::change::Change;
use ckpt_model::{Selector, WorkflowId};

pub(crate) const COMMAND: CommandSpec = command!(ForkArgs, "fork", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt fork 042 --as 042-redis
  ckpt fork 042/3 --as 042-redis --note \"Try it with Redis\"
  ckpt merge 042 042-redis";

/// Start a new workflow from a checkpoint of another one
///
/// The new workflow has the content of that checkpoint, and remembers it as its origin. Both go on independently; `ckpt
/// merge` brings them together again, and `ckpt log 042 --graph` draws both. Nothing about the other workflow changes.
#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The checkpoint to start from: `042` the newest, `042/3` that one, `042~1` the one before the newest
    #[arg(value_name = "SELECTOR", add = complete::selector())]
    selector: Selector,
    /// The id of the new workflow
    #[arg(long = "as", value_name = "NEW")]
    new: WorkflowId,
    /// What the new workflow is about, in a line; if not given, as the other one
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A remark about why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Say what would be saved, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn run(args: &ForkArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let origin = store.load_content(store.resolve(&args.selector)?)?;
    if let Some(existing) = store.find_workflow(&args.new)? {
        return Err(Failure::new(ErrorCode::WorkflowExists, format!("there is a workflow `{existing}` already"))
            .help("choose another id with `--as`")
            .help(format!("`ckpt merge {existing} {}` combines the two", origin.workflow)));
    }
    let change = Change {
        title: args.title.clone(),
        note: args.note.clone(),
        fork_of: Some(origin.clone()),
        ..Change::default()
    };
    let options = SaveOptions { expect: Some(0), dry_run: args.dry_run, ..SaveOptions::default() };
    let save = session.save(&workspace, &args.new, change, &options)?;
    session.answer(&ForkReport::new(save, &origin, !args.dry_run))
}
