//! `ckpt diff`

use clap::Args;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::diff::DiffReport;
use crate::core::diff::diff;
use crate::core::selector::Which;
use crate::core::{Checkpoint, Handle, Selector, Store};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "diff",
    alias: None,
    augment_args: DiffArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt diff 042
  ckpt diff 042/3
  ckpt diff 042/3 042/5 --json
  ckpt diff 042~1 --exit-code --quiet";

/// Say what changed between two checkpoints
///
/// `ckpt diff 042` tells what the last save changed, `ckpt diff 042/3` what changed since then.
///
/// Compared is what they say about the work: phases, tasks, artifacts, labels, state and so on. That number, time,
/// writer, trigger and note differ between any two is not mentioned.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first checkpoint; a workflow means what its last save changed
    #[arg(value_name = "A", add = complete::selector())]
    from: Selector,
    /// The second checkpoint; the newest of the same workflow if not given
    #[arg(value_name = "B", add = complete::selector())]
    to: Option<Selector>,
    /// Exit with 1 if they differ
    #[arg(long)]
    exit_code: bool,
}

fn run(args: &DiffArgs, session: &Session) -> Result<Exit, Failure> {
    let [from, to] = load(&session.store()?, &args.from, args.to.as_ref())?;
    let difference = diff(&from, &to).map_err(|error| {
        let message = format!("`{}` and `{}` cannot be compared: {error}", from.handle(), to.handle());
        Failure::new(ErrorCode::TooDeep, message)
    })?;
    let differ = !difference.is_empty();
    session.answer(&DiffReport::new(&from, &to, difference))?;
    Ok(if differ && args.exit_code { Exit::Failure } else { Exit::Ok })
}

/// Loads the two checkpoints to compare.
fn load(store: &Store, from: &Selector, to: Option<&Selector>) -> Result<[Box<Checkpoint>; 2], Failure> {
    let load_one =
        |selector: &Selector| store.resolve(selector).and_then(|handle| store.load_content(handle));
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
