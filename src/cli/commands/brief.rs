//! `ckpt brief`

use clap::Args;

use super::unfinished::unfinished;
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::brief::BriefReport;
use crate::core::resume::Selected;
use crate::core::store::{Extent, Location};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "brief",
    alias: None,
    augment_args: BriefArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt brief
  ckpt brief 042 --max-tokens 200";

pub(crate) const DEFAULT_TOKENS: usize = 400;
/// Every line about one of several workflows takes more tokens than this.
const LEAST_TOKENS: usize = 4;

/// Print the shortest useful text to hand to an agent; always exits 0
///
/// Without an id it covers all unfinished workflows, and prints nothing if there are none, so it can stand in a hook
/// that runs at the start of every session.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// The workflow, or one of its checkpoints; all unfinished ones if not given
    // A string, because not even an invalid id makes this command fail.
    #[arg(value_name = "ID", add = complete::selector())]
    id: Option<String>,
    /// Stay within this many tokens, counted on the safe side
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOKENS)]
    max_tokens: usize,
}

fn run(args: &BriefArgs, session: &Session) -> Result<Exit, Failure> {
    let report = brief(args, session)
        .unwrap_or_else(|failure| BriefReport::of_failure(&failure.message, args.max_tokens));
    session.answer(&report)
}

fn brief(args: &BriefArgs, session: &Session) -> Result<BriefReport, Failure> {
    if args.id.is_none() && matches!(session.place()?.location, Location::Absent(_)) {
        return Ok(BriefReport::empty(args.max_tokens));
    }
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let selected = match &args.id {
        Some(id) => {
            session.find(store, &id.parse()?, "brief", |selector| Selected::resolve(store, selector))?
        }
        None => {
            let ids = unfinished(session, store)?.ids();
            match ids.as_slice() {
                [] => return Ok(BriefReport::empty(args.max_tokens)),
                [one] => Selected::newest(store, one)?,
                several => {
                    let read = several.len().min(args.max_tokens / LEAST_TOKENS);
                    let rows = store.scan_these(&several[..read], Extent::Newest)?;
                    return Ok(BriefReport::several(several, &rows, args.max_tokens));
                }
            }
        }
    };
    let judgement = session.judge(&workspace, selected);
    Ok(BriefReport::one(&judgement, args.max_tokens))
}
