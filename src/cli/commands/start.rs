//! `ckpt start`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::save::{Existence, save, workflow_id};
use super::save_flags::SaveFlags;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::session::Session;
use ckpt_model::change::SaveInput;
use ckpt_model::{PhaseId, PhaseStatus, WorkflowId};

pub(crate) const COMMAND: CommandSpec = command!(StartArgs, "start", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt start 042 --phase plan --phases plan,build,test --title \"OAuth login\"
  ckpt start 042 --phase build --next \"Write the parser\"";

/// Record that a phase begins
///
/// The same as `ckpt save ID --phase P --status in_progress`. The store is created if there is none.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The workflow; `CKPT_WORKFLOW` if not given
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<WorkflowId>,
    /// The phase that begins
    #[arg(long, value_name = "P", help_heading = "Phases", add = ArgValueCandidates::new(complete::phases))]
    phase: PhaseId,
    #[command(flatten)]
    flags: SaveFlags,
}

fn run(args: &StartArgs, session: &Session) -> Result<Exit, Failure> {
    let mut input = SaveInput::default();
    args.flags.add_to(&mut input, &Input::new(session))?;
    input.change.phase = Some(args.phase.clone());
    input.change.status = Some(PhaseStatus::InProgress);
    let workflow = workflow_id(args.id.as_ref(), &input, session)?;
    save(session, workflow, input, &args.flags, Existence::Any)
}
