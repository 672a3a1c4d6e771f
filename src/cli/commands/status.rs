//! `ckpt status`

use std::time::Duration;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::unfinished::only_unfinished;
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::status::StatusReport;
use crate::core::checkpoint::{CUSTOM_PIPELINE, Checkpoint};
use crate::core::resume::{Selected, Verdict};
use crate::core::selector::Which;
use crate::core::{Selector, WorkflowStatus};

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

/// Estimates look at no more finished workflows than this, so that a large store does not make them slow.
const MOST_SAMPLES: usize = 50;
/// And at no more workflows than this to find them.
const MOST_LOOKED_AT: usize = 500;
const REFRESH: Duration = Duration::from_secs(1);

/// Show the progress of a workflow: phases, durations, where it stands, and an estimate of the rest
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The workflow, or one of its checkpoints; the only unfinished one if not given
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<Selector>,
    /// Keep it up to date on the terminal until the workflow is complete
    #[arg(short = 'w', long)]
    watch: bool,
}

fn run(args: &StatusArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let selector = match &args.id {
        Some(selector) => selector.clone(),
        None => Selector { workflow: only_unfinished(store, "status")?, which: Which::Newest },
    };
    if !args.watch || !session.ui.shows_answer() {
        return session.answer(&look(session, &workspace, &selector)?.0);
    }
    loop {
        let session = session.with_current_time()?;
        let (report, complete) = look(&session, &workspace, &selector)?;
        session.ui.redraw(&report, &session.clock)?;
        if complete {
            return Ok(Exit::Ok);
        }
        session.ui.pause(REFRESH);
    }
}

fn look(
    session: &Session,
    workspace: &Workspace,
    selector: &Selector,
) -> Result<(StatusReport, bool), Failure> {
    let selected = Selected::meant(&workspace.store, selector)?;
    let passed_over = selected.passed_over();
    let judgement = session.judge(workspace, selected);
    let finished = finished(workspace, &judgement.checkpoint)?;
    let complete = judgement.resume.verdict == Verdict::Complete;
    Ok((StatusReport::new(&judgement, &finished, session.now()).warning(passed_over), complete))
}

/// Finished workflows that followed the same pipeline.
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
    let mut found = Vec::new();
    for workflow in store.workflow_ids()?.into_iter().take(MOST_LOOKED_AT) {
        if found.len() >= MOST_SAMPLES {
            break;
        }
        let Ok(Selected { checkpoint: other, .. }) = Selected::newest(store, &workflow) else { continue };
        // Lists given with the save have no name to tell them apart; their phases do.
        let same = other.content.pipeline.as_ref() == Some(pipeline)
            && (pipeline != CUSTOM_PIPELINE || same_phases(&other));
        if same && other.content.status == WorkflowStatus::Complete && workflow != checkpoint.workflow {
            found.push(*other);
        }
    }
    Ok(found)
}
