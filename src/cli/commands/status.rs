//! `ckpt status`

use std::io;
use std::time::Duration;

use clap::Args;

use super::pull_flag::PullFlag;
use super::unfinished::only_unfinished;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::screen::Screen;
use crate::cli::session::{Judgement, Session, Workspace};
use crate::cli::views::status::StatusReport;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::resume::Verdict;
use ckpt_model::run_summary::RunSummary;
use ckpt_model::selector::Which;
use ckpt_model::stats::PipelineKey;
use ckpt_model::{Selector, WorkflowStatus};
use ckpt_platform::{Interruption, SignalHandler, Suspension};
use ckpt_store::observe::Selected;

pub(crate) const COMMAND: CommandSpec = command!(StatusArgs, "status", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt status 042
  ckpt status 042 --watch";

/// The most finished runs that an estimate uses, so that it stays fast in a large store.
const MOST_SAMPLES: usize = 50;
/// The most workflows that are read to find them.
const MOST_READ: usize = 500;
const REFRESH: Duration = Duration::from_secs(1);
/// How often the size of the terminal is looked up between two refreshes.
const LOOKS: u32 = 5;

/// Show the progress of a workflow, and an estimate of the rest
///
/// Its phases, how long they took, and where it stands. The estimate is made from finished workflows of the same pipeline.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The workflow, or one of its checkpoints; the only unfinished one if not given
    #[arg(value_name = "ID", add = complete::selector())]
    id: Option<Query>,
    /// Keep it up to date on a screen of its own until the workflow is complete, or until Ctrl-C
    #[arg(short = 'w', long)]
    watch: bool,
    #[command(flatten)]
    pull: PullFlag,
}

fn run(args: &StatusArgs, session: &Session) -> Result<Exit, Failure> {
    let mut workspace = session.workspace()?;
    args.pull.first(session, &mut workspace)?;
    let store = &workspace.store;
    let resolve = |selector: &Selector| Ok((selector.clone(), Selected::resolve(store, selector)?));
    let (selector, selected) = match &args.id {
        Some(query) => session.find(store, query, "status", resolve)?,
        None => {
            let workflow = only_unfinished(session, store, "status")?;
            resolve(&Selector { workflow, which: Which::Newest })?
        }
    };
    let is_dumb = session.env.var("TERM").is_some_and(|term| term == "dumb");
    if !args.watch || !session.output.shows_answer() || is_dumb {
        let finished = finished(&workspace, &selected.checkpoint)?;
        return session.answer(&report(session, &workspace, selected, &finished).1);
    }
    match watch(session, &workspace, &selector)? {
        Some(interruption) => Ok(Exit::Child(interruption.code)),
        None => {
            let selected = Selected::resolve(store, &selector)?;
            session.answer(&report(&session.with_current_time()?, &workspace, selected, &[]).1)
        }
    }
}

/// Shows the status on a screen of its own until the workflow is complete, or until a signal asks for an end.
fn watch(session: &Session, workspace: &Workspace, selector: &Selector) -> Result<Option<Interruption>, Failure> {
    let unhandled = |error: io::Error| {
        Failure::new(
            ErrorCode::Output,
            format!("signals cannot be handled, so the terminal could not be restored: {error}"),
        )
    };
    let signals = SignalHandler::install_for_screen().map_err(unhandled)?;
    let suspension = Suspension::install().map_err(unhandled)?;
    let output = &session.output;
    let mut screen = Screen::open(output)?;
    // Read once: other workflows change less often than the screen.
    let finished = finished(workspace, &Selected::resolve(&workspace.store, selector)?.checkpoint)?;
    loop {
        let session = session.with_current_time()?;
        let selected = Selected::resolve(&workspace.store, selector)?;
        let (judgement, report) = report(&session, workspace, selected, &finished);
        if judgement.resume.verdict == Verdict::Complete
            || judgement.checkpoint.content.status == WorkflowStatus::Complete
        {
            return Ok(None);
        }
        let mut size = session.output.answer_size();
        screen.show(&report, &session.clock, size)?;
        for _ in 0..LOOKS {
            if let Some(interruption) = signals.wait(REFRESH / LOOKS) {
                return Ok(Some(interruption));
            }
            let stopped = suspension.is_requested();
            if stopped {
                drop(screen);
                suspension.stop();
                screen = Screen::open(output)?;
            }
            let present = session.output.answer_size();
            if stopped || present != size {
                size = present;
                screen.show(&report, &session.clock, size)?;
            }
        }
    }
}

/// Judges a checkpoint, and reports the progress.
pub(crate) fn report(
    session: &Session,
    workspace: &Workspace,
    selected: Selected,
    finished: &[RunSummary],
) -> (Judgement, StatusReport) {
    let passed_over = selected.damage_warning();
    let judgement = session.judge(workspace, selected);
    let report = StatusReport::new(&judgement, finished, session.now()).warning(passed_over);
    (judgement, report)
}

/// Returns finished runs of the same pipeline, live or archived.
pub(crate) fn finished(workspace: &Workspace, checkpoint: &Checkpoint) -> Result<Vec<RunSummary>, Failure> {
    let store = &workspace.store;
    let content = &checkpoint.content;
    let Some(pipeline) = &content.pipeline else { return Ok(Vec::new()) };
    let wanted = PipelineKey::new(Some(pipeline), content.phases.iter().map(|phase| &phase.id));
    let mut finished = Vec::new();
    for workflow in store.workflow_ids()?.into_iter().take(MOST_READ) {
        for run in store.runs_of(&workflow).unwrap_or_default() {
            let is_itself = workflow == checkpoint.workflow && run.summary.last.saved_at == checkpoint.saved_at;
            let is_same = PipelineKey::of(&run.summary.last) == wanted;
            if is_same && !is_itself && run.status == WorkflowStatus::Complete {
                finished.push(run.summary);
            }
        }
        if finished.len() >= MOST_SAMPLES {
            finished.truncate(MOST_SAMPLES);
            break;
        }
    }
    Ok(finished)
}
