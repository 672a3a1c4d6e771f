//! `ckpt approve`

use std::path::Path;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::escape;
use crate::cli::exit::Exit;
use crate::cli::question::read_answer;
use crate::cli::saving::SaveOptions;
use crate::cli::session::{Judgement, Session};
use ckpt_model::change::{Approve, Change, ChangeError};
use ckpt_model::{PhaseId, PhaseStatus, WorkflowId};
use ckpt_store::observe::Selected;

pub(crate) const COMMAND: CommandSpec = command!(ApproveArgs, "approve", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt approve 042
  ckpt approve 042 --phase 2 --option B
  ckpt approve 042 --phase ARCHITECTURE --note \"As discussed\"";

/// Record a person's approval of the result of a phase
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: WorkflowId,
    /// The phase; the one that waits for approval if not given
    #[arg(long, value_name = "P", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<PhaseId>,
    /// The option that was selected
    #[arg(long, value_name = "O")]
    option: Option<String>,
    /// Who approves; the present user if not given
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// A remark
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

fn run(args: &ApproveArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let workflow = workspace.store.resolve_workflow(&args.id)?;
    let judgement = session.judge(&workspace, Selected::newest(&workspace.store, &workflow)?);
    let phase = match &args.phase {
        Some(phase) => phase.clone(),
        None => waiting_phase(&judgement)?,
    };
    let option = match &args.option {
        Some(option) => Some(drafted(&judgement, &phase, option)?),
        None if session.is_interactive() => ask_option(session, &judgement, &phase),
        None => None,
    };
    let by = args.by.clone().or_else(|| session.env.user());
    let recorded_by = session.writer_name().filter(|name| by.as_ref() != Some(name));
    let approve = Approve { phase: Some(phase), by, recorded_by, option };
    let change = Change { approve: Some(approve), note: args.note.clone(), ..Change::default() };
    let report = session.save(&workspace, &workflow, change, &SaveOptions::default())?;
    session.answer(&report.titled("Approved in"))
}

/// Returns the draft that a person names, if the phase has drafts, else the option as it was given.
fn drafted(judgement: &Judgement, phase: &PhaseId, given: &str) -> Result<String, Failure> {
    let recorded = judgement.checkpoint.content.find_phase(phase);
    let options = judgement.resume.options.iter().filter(|offered| offered.phase == *phase);
    let options: Vec<&str> = options.map(|offered| offered.option.id.as_str()).collect();
    if options.is_empty() || recorded.is_some_and(|phase| !phase.options().is_empty()) {
        return Ok(given.to_owned());
    }
    let is_named =
        |path: &&&str| Path::new(path).ends_with(given) || Path::new(path).file_stem() == Some(given.as_ref());
    match options.iter().find(is_named) {
        Some(path) => Ok((*path).to_owned()),
        None => {
            let offered = options.into_iter().map(str::to_owned).collect();
            Err(ChangeError::Option { phase: phase.clone(), given: Some(given.to_owned()), offered }.into())
        }
    }
}

/// Asks which option a person selects, if there are options.
fn ask_option(session: &Session, judgement: &Judgement, phase: &PhaseId) -> Option<String> {
    let options = judgement.resume.options.iter().filter(|offered| offered.phase == *phase);
    let options: Vec<String> = options.map(|offered| offered.option.to_string()).collect();
    if options.is_empty() {
        return None;
    }
    let options = escape::inline(&options.join(", ")).into_owned();
    let answer = read_answer(&session.output, &format!("Which option? {options}: "))?;
    Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
}

/// Returns the phase that waits for approval, or that was done without one.
fn waiting_phase(judgement: &Judgement) -> Result<PhaseId, Failure> {
    let Judgement { checkpoint, resume, .. } = judgement;
    let lacks = |id: &&PhaseId| {
        let phase = checkpoint.content.find_phase(id);
        phase.is_some_and(|phase| phase.status != PhaseStatus::Skipped && phase.lacks_approval())
    };
    if let Some(phase) = resume.awaiting_approval.first().or_else(|| resume.done.iter().find(lacks)) {
        return Ok(phase.clone());
    }
    let message = format!("no phase of `{}` waits for approval", checkpoint.workflow);
    Err(Failure::new(ErrorCode::NothingToApprove, message).help("name one with `--phase`"))
}
