//! `ckpt diff`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::session::Session;
use crate::cli::views::diff::DiffReport;
use ckpt_model::diff::{content_diffs, diff};
use ckpt_model::selector::Which;
use ckpt_model::text_diff::MAX_COMPARED_BYTES;
use ckpt_model::{Checkpoint, Handle, Selector};
use ckpt_store::Store;

pub(crate) const COMMAND: CommandSpec = command!(DiffArgs, "diff", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt diff 042
  ckpt diff 042/3
  ckpt diff 042/3 042/5 --json
  ckpt diff 042 042-redis
  ckpt diff 042~1 --exit-code --quiet";

/// Say what changed between two checkpoints
///
/// `ckpt diff 042` tells what the last save changed, `ckpt diff 042/3` what changed since then. The two may belong to
/// different workflows, such as a fork and what it was forked from, and archived ones are read from their bundles.
///
/// Compared is what they say about the work: phases, tasks, artifacts, labels, state and so on. That number, time,
/// writer, trigger and note differ between any two is not mentioned. Of an artifact whose content was kept both times, the
/// lines that differ are shown.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first checkpoint; a workflow means what its last save changed
    #[arg(value_name = "A", add = complete::selector())]
    from: Query,
    /// The second checkpoint; the newest of the same workflow if not given
    #[arg(value_name = "B", add = complete::selector())]
    to: Option<Query>,
    /// Exit with 1 if they differ
    #[arg(long)]
    exit_code: bool,
}

fn run(args: &DiffArgs, session: &Session) -> Result<Exit, Failure> {
    let store = session.store()?;
    let find = |query: &Query| {
        session.find(&store, query, "diff", |selector| {
            store.resolve(selector)?;
            Ok(selector.clone())
        })
    };
    let from = find(&args.from)?;
    let to = args.to.as_ref().map(find).transpose()?;
    let report = compare(session, &from, to.as_ref())?;
    session.answer(&report)?;
    Ok(if !report.equal && args.exit_code { Exit::Failure } else { Exit::Ok })
}

/// Compares two checkpoints; without the second, the first with the newest of its workflow.
pub(crate) fn compare(session: &Session, from: &Selector, to: Option<&Selector>) -> Result<DiffReport, Failure> {
    let store = session.store()?;
    let [from, to] = load(&store, from, to)?;
    difference(&store, &from, &to)
}

/// Compares two loaded checkpoints.
pub(crate) fn difference(store: &Store, from: &Checkpoint, to: &Checkpoint) -> Result<DiffReport, Failure> {
    let difference = diff(from, to).map_err(|error| {
        let message = format!("`{}` and `{}` cannot be compared: {error}", from.handle(), to.handle());
        Failure::new(ErrorCode::TooDeep, message)
    })?;
    let contents = content_diffs(&from.content, &to.content, |object| {
        store.read_object(object, MAX_COMPARED_BYTES).ok().flatten()
    });
    Ok(DiffReport::new(from, to, difference).with_contents(contents))
}

/// Loads the two checkpoints to compare.
fn load(store: &Store, from: &Selector, to: Option<&Selector>) -> Result<[Box<Checkpoint>; 2], Failure> {
    let load_one = |selector: &Selector| store.resolve(selector).and_then(|handle| store.load_content(handle));
    if let Some(to) = to {
        return Ok([load_one(from)?, load_one(to)?]);
    }
    let newest = Selector { workflow: from.workflow.clone(), which: Which::Newest };
    let newest = load_one(&newest)?;
    if from.which != Which::Newest {
        return Ok([load_one(from)?, newest]);
    }
    if newest.seq <= 1 {
        let message = format!("there is nothing before `{}` to compare it with", newest.handle());
        return Err(Failure::new(ErrorCode::NoSuchCheckpoint, message)
            .help(format!("`ckpt show {}` shows what it says", newest.handle())));
    }
    let before = Handle::new(&newest.workflow, newest.seq - 1);
    Ok([store.load_content(before)?, newest])
}
