//! `ckpt brief`

use clap::Args;

use super::pull_flag::PullFlag;
use super::unfinished::unfinished;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::brief::BriefReport;
use ckpt_store::Location;
use ckpt_store::observe::Selected;

pub(crate) const COMMAND: CommandSpec = command!(BriefArgs, "brief", EXAMPLES, run);

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
    #[command(flatten)]
    pull: PullFlag,
}

fn run(args: &BriefArgs, session: &Session) -> Result<Exit, Failure> {
    let report = brief_after(session, args.id.as_deref(), args.max_tokens, Some(&args.pull))
        .unwrap_or_else(|failure| BriefReport::of_failure(&failure.message, args.max_tokens));
    session.answer(&report)
}

/// Returns the brief of a workflow or, without an id, of all unfinished work.
pub(crate) fn brief(session: &Session, id: Option<&str>, max_tokens: usize) -> Result<BriefReport, Failure> {
    brief_after(session, id, max_tokens, None)
}

fn brief_after(
    session: &Session,
    id: Option<&str>,
    max_tokens: usize,
    pull: Option<&PullFlag>,
) -> Result<BriefReport, Failure> {
    if id.is_none() && matches!(session.place()?.location, Location::Absent(_)) {
        return Ok(BriefReport::empty(max_tokens));
    }
    let mut workspace = session.workspace()?;
    if let Some(pull) = pull {
        pull.first(session, &mut workspace)?;
    }
    let store = &workspace.store;
    let selected = match id {
        Some(id) => session.find(store, &id.parse()?, "brief", |selector| Selected::resolve(store, selector))?,
        None => {
            let most = (max_tokens / LEAST_TOKENS).max(1);
            let unfinished = unfinished(session, store, most)?;
            match (unfinished.total, unfinished.ids().as_slice()) {
                (_, []) => return Ok(BriefReport::empty(max_tokens)),
                (1, [one]) => Selected::newest(store, one)?,
                (total, _) => {
                    let rows = unfinished.rows(store)?;
                    return Ok(BriefReport::several(total, &rows, max_tokens));
                }
            }
        }
    };
    let judgement = session.judge(&workspace, selected);
    Ok(BriefReport::one(&judgement, max_tokens))
}
