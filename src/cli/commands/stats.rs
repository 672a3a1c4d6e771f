//! `ckpt stats`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::views::stats::StatsReport;
use crate::core::resume::Selected;
use crate::core::{WorkflowId, stats};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "stats",
    alias: None,
    augment_args: StatsArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt stats
  ckpt stats 042
  ckpt stats --json | jq .store.live_bytes";

/// Count what the store holds; with an id, how long its phases took
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<WorkflowId>,
}

fn run(args: &StatsArgs, session: &Session) -> Result<Exit, Failure> {
    let store = session.store()?;
    let Some(id) = &args.id else {
        let mut progress = Progress::new(&session.ui);
        let stats = stats::of_store(&store, &mut |scanned| progress.scan(scanned))?;
        drop(progress);
        return session.answer(&StatsReport::of_store(stats));
    };
    let workflow = store.resolve_workflow(id)?;
    let newest = Selected::newest(&store, &workflow)?;
    let report = StatsReport::of_workflow(stats::of_workflow(&store, &newest.checkpoint)?);
    session.answer(&report.warning(newest.damage_warning()))
}
