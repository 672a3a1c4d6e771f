//! `ckpt stats`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::views::stats::StatsReport;
use ckpt_model::span::Span;
use ckpt_model::stats::RunFilter;
use ckpt_store::observe::Selected;
use ckpt_store::store_stats;

pub(crate) const COMMAND: CommandSpec = command!(StatsArgs, "stats", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt stats
  ckpt stats 042
  ckpt stats --since 4w --pipeline feature
  ckpt stats --json | jq .store.live_bytes";

/// Show where time goes: durations, failures and the bottleneck by pipeline and phase
///
/// All runs, live and archived, are read once. With an id, the phases of that workflow.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<Query>,
    /// Only runs that were saved last within this time, such as 4w
    #[arg(long, value_name = "SPAN", conflicts_with = "id")]
    since: Option<Span>,
    /// Only runs of this pipeline
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pipeline: Option<String>,
}

fn run(args: &StatsArgs, session: &Session) -> Result<Exit, Failure> {
    let store = session.store()?;
    let Some(id) = &args.id else {
        let mut progress = Progress::new(&session.output);
        let since = args.since.map(|span| session.now().seconds_before(span.seconds()));
        let filter = RunFilter { since, pipeline: args.pipeline.clone() };
        let (stats, analytics) = store_stats::of_store(&store, &filter, &mut |scanned| progress.scan(scanned))?;
        drop(progress);
        return session.answer(&StatsReport::of_store(stats, analytics));
    };
    let workflow = session.find_workflow(&store, id, "stats")?;
    let newest = Selected::newest(&store, &workflow)?;
    let report = StatsReport::of_workflow(store_stats::of_workflow(&store, &newest.checkpoint)?);
    session.answer(&report.warning(newest.damage_warning()))
}
