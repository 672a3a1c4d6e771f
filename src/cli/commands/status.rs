//! `ckpt status`

use std::time::Duration;

use clap::Args;

use super::unfinished::only_unfinished;
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::screen::Screen;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::status::StatusReport;
use crate::core::checkpoint::{CUSTOM_PIPELINE, Checkpoint};
use crate::core::resume::{Selected, Verdict};
use crate::core::selector::Which;
use crate::core::{Selector, WorkflowStatus};
use crate::platform::{Interruption, SignalHandler};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "status",
    alias: None,
    augment_args: StatusArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt status 042
  ckpt status 042 --watch";

/// The most finished workflows that an estimate uses, so that it stays fast in a large store.
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
}

fn run(args: &StatusArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
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
    if !args.watch || !session.ui.shows_answer() || is_dumb {
        return session.answer(&report(session, &workspace, selected)?.0);
    }
    match watch(session, &workspace, &selector)? {
        Some(interruption) => Ok(Exit::Child(interruption.code)),
        None => {
            let selected = Selected::resolve(store, &selector)?;
            session.answer(&report(&session.with_current_time()?, &workspace, selected)?.0)
        }
    }
}

/// Shows the status on a screen of its own until the workflow is complete, or until a signal asks for an end.
fn watch(
    session: &Session,
    workspace: &Workspace,
    selector: &Selector,
) -> Result<Option<Interruption>, Failure> {
    let signals = SignalHandler::install().map_err(|error| {
        Failure::new(
            ErrorCode::Output,
            format!("signals cannot be handled, so the terminal could not be restored: {error}"),
        )
    })?;
    let screen = Screen::open(&session.ui)?;
    loop {
        let session = session.with_current_time()?;
        let selected = Selected::resolve(&workspace.store, selector)?;
        let (report, complete) = report(&session, workspace, selected)?;
        if complete {
            return Ok(None);
        }
        let mut size = session.ui.answer_size();
        screen.show(&report, &session.clock, size)?;
        for _ in 0..LOOKS {
            if let Some(interruption) = signals.wait(REFRESH / LOOKS) {
                return Ok(Some(interruption));
            }
            let present = session.ui.answer_size();
            if present != size {
                size = present;
                screen.show(&report, &session.clock, size)?;
            }
        }
    }
}

fn report(
    session: &Session,
    workspace: &Workspace,
    selected: Selected,
) -> Result<(StatusReport, bool), Failure> {
    let passed_over = selected.damage_warning();
    let judgement = session.judge(workspace, selected);
    let finished = finished(workspace, &judgement.checkpoint)?;
    let complete = judgement.resume.verdict == Verdict::Complete;
    Ok((StatusReport::new(&judgement, &finished, session.now()).warning(passed_over), complete))
}

/// Loads finished workflows that followed the same pipeline.
fn finished(workspace: &Workspace, checkpoint: &Checkpoint) -> Result<Vec<Checkpoint>, Failure> {
    let store = &workspace.store;
    let Some(pipeline) = &checkpoint.content.pipeline else { return Ok(Vec::new()) };
    let same_phases = |other: &Checkpoint| {
        other.content.phases.iter().map(|phase| &phase.id).eq(checkpoint
            .content
            .phases
            .iter()
            .map(|phase| &phase.id))
    };
    let mut samples = Vec::new();
    let mut add = |other: Box<Checkpoint>| {
        // All pipelines given with `--phases` have the same name, so their phases are compared.
        let same = other.content.pipeline.as_ref() == Some(pipeline)
            && (pipeline != CUSTOM_PIPELINE || same_phases(&other));
        if same && other.content.status == WorkflowStatus::Complete {
            samples.push(*other);
        }
        samples.len() >= MOST_SAMPLES
    };
    for workflow in store.workflow_ids()?.into_iter().take(MOST_READ) {
        let newest = Selected::newest(store, &workflow).ok().map(|selected| selected.checkpoint);
        let newest_seq = newest.as_ref().map(|newest| newest.seq);
        if workflow != checkpoint.workflow
            && let Some(newest) = newest
            && add(newest)
        {
            break;
        }
        // What was completed and taken up or started over since is in the archive.
        for handle in store.completed_earlier(&workflow)? {
            if Some(handle.seq) != newest_seq
                && let Ok(stored) = store.load(&handle)
                && add(stored.checkpoint)
            {
                return Ok(samples);
            }
        }
    }
    Ok(samples)
}
