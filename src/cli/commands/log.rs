//! `ckpt log`

use clap::Args;

use super::list::row_limit;
use super::pull_flag::PullFlag;
use super::unfinished::only_unfinished;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::session::Session;
use crate::cli::views::log::LogReport;
use crate::cli::words::and;
use ckpt_model::selector::Which;
use ckpt_model::{Handle, Selector, WorkflowId};
use ckpt_store::Store;

pub(crate) const COMMAND: CommandSpec = command!(LogArgs, "log", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt log 042
  ckpt log 042 -n 5
  ckpt log 042/7 --graph
  ckpt log 042 --json | jq -r '.entries[].note'";

/// Show the history of a workflow: what each save changed, newest first
///
/// A line has the time of the save, the time since the one before it, the changes, and the note in quotes. Archived
/// checkpoints are read from their bundles. `ckpt diff 042/6 042/7` shows the values that changed.
///
/// With `--graph` it also shows the workflows that were forked from this one, that were merged into it, and that it was
/// forked from, and draws which checkpoint continues which.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The workflow, or the checkpoint to begin with; the only unfinished workflow if not given
    #[arg(value_name = "ID", add = complete::selector())]
    id: Option<Query>,
    /// Show at most this many lines; 50 if not given, and with `--json` or `--quiet` all of them
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "all")]
    limit: Option<usize>,
    /// Show all of it
    #[arg(short = 'a', long)]
    all: bool,
    /// Draw which checkpoint continues which: `*` is a checkpoint, `#` an archived workflow, `~` deleted, `!` damaged
    #[arg(long)]
    graph: bool,
    #[command(flatten)]
    pull: PullFlag,
}

/// Answers `ckpt list ID`.
pub(super) fn of_workflow(
    id: &Query,
    limit: Option<usize>,
    all: bool,
    pull: PullFlag,
    session: &Session,
) -> Result<Exit, Failure> {
    run(&LogArgs { id: Some(id.clone()), limit, all, graph: false, pull }, session)
}

fn run(args: &LogArgs, session: &Session) -> Result<Exit, Failure> {
    let warning = args.pull.warning(session)?;
    let store = session.store()?;
    let first = match &args.id {
        Some(query) => session.find(&store, query, "log", |selector| store.resolve(selector))?,
        None => {
            let workflow = only_unfinished(session, &store, "log")?;
            store.resolve(&Selector { workflow, which: Which::Newest })?
        }
    };
    let limit = row_limit(args.limit, args.all, session);
    let read = |first: &Handle| LogReport::read(&store, first, limit);
    let report = if args.graph {
        let forks = store.forks_of(&first.workflow)?;
        LogReport::with_related(&first, &forks, limit, read)?
    } else {
        read(&first)?
    };
    let report = report.warning(other_heads_warning(&store, &first.workflow));
    session.answer(&report.warning(session.config_warning(&store)).warning(warning))
}

/// Names the heads of a workflow that are not on the main line of this store.
fn other_heads_warning(store: &Store, workflow: &WorkflowId) -> Option<String> {
    let heads: Vec<String> = store.other_heads(workflow).ok()?.iter().map(ToString::to_string).collect();
    if heads.is_empty() {
        return None;
    }
    let heads = and(&heads);
    Some(format!("{workflow} was also continued elsewhere: {heads}; `ckpt merge {workflow}` reconciles the heads"))
}
