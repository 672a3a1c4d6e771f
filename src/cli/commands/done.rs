//! `ckpt done`

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

pub(crate) const COMMAND: CommandSpec = command!(DoneArgs, "done", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt done 042 --phase plan --next \"Write the parser\"
  ckpt done 042 --phase build --artifact spec=docs/spec.md
  ckpt done 042";

/// Record that a phase is complete or, without `--phase`, the whole workflow
///
/// With a phase the same as `ckpt save ID --phase P --status complete`, without one the same as
/// `ckpt save ID --workflow-status complete`.
#[derive(Debug, Args)]
pub(crate) struct DoneArgs {
    /// The workflow; `CKPT_WORKFLOW` if not given
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<WorkflowId>,
    /// The phase that is complete; the whole workflow if not given
    #[arg(long, value_name = "P", help_heading = "Phases", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<PhaseId>,
    #[command(flatten)]
    flags: SaveFlags,
}

fn run(args: &DoneArgs, session: &Session) -> Result<Exit, Failure> {
    let input = SaveInput::default();
    let statuses = (PhaseStatus::Complete, WorkflowStatus::Complete);
    save_end(session, args.id.as_ref(), args.phase.as_ref(), statuses, input, &args.flags)
}
