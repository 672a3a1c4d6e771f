//! `ckpt approve`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::saving::SaveOptions;
use crate::cli::session::{Session, Workspace};
use ckpt_model::change::{Approve, Change};
use ckpt_model::{PhaseId, WorkflowId};
use ckpt_store::observe::Selected;

pub(crate) const COMMAND: CommandSpec = command!(ApproveArgs, "approve", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt approve 042
  ckpt approve 042 --phase ARCHITECTURE --note \"Option B\"";

/// Record a person's approval of the result of a phase
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: WorkflowId,
    /// The phase; the one that waits for approval if not given
    #[arg(long, value_name = "P", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<PhaseId>,
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
    let phase = match &args.phase {
        Some(phase) => phase.clone(),
        None => waiting_phase(session, &workspace, &workflow)?,
    };
    let by = args.by.clone().or_else(|| session.env.user());
    let recorded_by = session.writer_name().filter(|name| by.as_ref() != Some(name));
    let approve = Approve { phase: Some(phase), by, recorded_by };
    let change = Change { approve: Some(approve), note: args.note.clone(), ..Change::default() };
    let report = session.save(&workspace, &workflow, change, &SaveOptions::default())?;
    session.answer(&report.titled("Approved in"))
}

/// Returns the phase that waits for approval.
fn waiting_phase(session: &Session, workspace: &Workspace, workflow: &WorkflowId) -> Result<PhaseId, Failure> {
    let resume = session.judge(workspace, Selected::newest(&workspace.store, workflow)?).resume;
    if let Some(phase) = resume.awaiting_approval.into_iter().next() {
        return Ok(phase);
    }
    let message = format!("no phase of `{workflow}` waits for approval");
    Err(Failure::new(ErrorCode::NothingToApprove, message).help("name one with `--phase`"))
}
