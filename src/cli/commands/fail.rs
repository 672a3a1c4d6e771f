//! `ckpt fail`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::save::save_end;
use super::save_flags::SaveFlags;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use ckpt_model::change::SaveInput;
use ckpt_model::{PhaseId, PhaseStatus, WorkflowId, WorkflowStatus};

pub(crate) const COMMAND: CommandSpec = command!(FailArgs, "fail", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt fail 042 --phase test --error \"3 tests fail\"
  ckpt fail 042 --error \"the library was discontinued\"";

/// Record that a phase failed or, without `--phase`, that the whole workflow is given up
///
/// With a phase the same as `ckpt save ID --phase P --status failed`, without one the same as
/// `ckpt save ID --workflow-status failed`. A failed phase is where `ckpt resume` continues.
#[derive(Debug, Args)]
pub(crate) struct FailArgs {
    /// The workflow; `CKPT_WORKFLOW` if not given
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<WorkflowId>,
    /// The phase that failed; the whole workflow if not given
    #[arg(long, value_name = "P", help_heading = "Phases", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<PhaseId>,
    /// What went wrong
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    error: Option<String>,
    #[command(flatten)]
    flags: SaveFlags,
}

fn run(args: &FailArgs, session: &Session) -> Result<Exit, Failure> {
    let mut input = SaveInput::default();
    input.change.error.clone_from(&args.error);
    let statuses = (PhaseStatus::Failed, WorkflowStatus::Failed);
    save_end(session, args.id.as_ref(), args.phase.as_ref(), statuses, input, &args.flags)
}
