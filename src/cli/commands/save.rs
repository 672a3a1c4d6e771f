//! `ckpt save`

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCandidates;
use serde_json::Value;

use super::save_flags::{SaveFlags, set};
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::saving::SaveOptions;
use crate::cli::session::{Session, Workspace};
use crate::cli::values::document_path;
use crate::cli::views::save::SaveReport;
use ckpt_model::change::{NamedPipeline, SaveInput};
use ckpt_model::{Handle, PhaseId, PhaseStatus, WorkflowId, WorkflowStatus};
use ckpt_store::Location;

pub(crate) const COMMAND: CommandSpec = command!(SaveArgs, "save", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt save 042 --phase plan --phases plan,build,test --title \"OAuth login\"
  ckpt save 042 --phase build --status in_progress --next \"Write the parser\"
  ckpt save 042 --phase build --data '{\"files\": 12}' --artifact spec=docs/spec.md
  ckpt save 042 --task parser=running,output=out/parser.json,after=lexer
  ckpt save 042 --phase test --error \"3 tests fail\"
  ckpt save 042 --phase plan --approved-by Kim
  ckpt save 042 --fresh --phase plan
  ckpt save 042 --from - <<< '{\"phase\": \"test\", \"state\": {\"retries\": 1}}'";

/// Record a phase, or any other change, as a new checkpoint
///
/// With `--phase`, the phase is recorded as complete, or as failed with `--error`, unless `--status` says otherwise:
/// `ckpt start`, `ckpt done` and `ckpt fail` are the shorter words for the three. Without `--phase` this is a manual
/// checkpoint of the present state. The store is created if there is none. The new handle is printed once the
/// checkpoint would survive a power loss.
#[derive(Debug, Args)]
pub(crate) struct SaveArgs {
    /// The workflow; `CKPT_WORKFLOW` if not given
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<WorkflowId>,

    /// The phase this save is about
    #[arg(long, value_name = "P", help_heading = "Phases", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<PhaseId>,
    /// What became of the phase; if not given, `complete`, or `failed` with `--error`
    #[arg(long, value_enum, value_name = "STATUS", requires = "phase", help_heading = "Phases")]
    status: Option<PhaseStatus>,
    #[command(flatten)]
    flags: SaveFlags,
    /// What went wrong; the phase is recorded as failed
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    error: Option<String>,
    /// Read all of this from one JSON document instead
    #[arg(long, value_name = "FILE|-", value_parser = document_path, value_hint = ValueHint::FilePath,
        help_heading = "Content")]
    from: Option<String>,
    /// Where the workflow stands, if that does not follow from its phases
    #[arg(long, value_enum, value_name = "S", help_heading = "Conditions")]
    workflow_status: Option<WorkflowStatus>,
}

fn run(args: &SaveArgs, session: &Session) -> Result<Exit, Failure> {
    let reader = Input::new(session);
    let mut input = match &args.from {
        Some(path) => SaveInput::from_json(reader.document("--from", path)?)?,
        None => SaveInput::default(),
    };
    let change = &mut input.change;
    set(&mut change.phase, args.phase.clone());
    set(&mut change.status, args.status);
    set(&mut change.error, args.error.clone());
    set(&mut change.workflow_status, args.workflow_status);
    args.flags.add_to(&mut input, &reader)?;
    let workflow = workflow_id(args.id.as_ref(), &input, session)?;
    save(session, workflow, input, &args.flags, Existence::Any)
}

/// Saves a document, as `--from` does, without an answer on stdout. Members that it does not know are refused: whoever
/// wrote them would not read a warning.
pub(crate) fn save_document(
    session: &Session,
    id: Option<&WorkflowId>,
    document: Value,
) -> Result<SaveReport, Failure> {
    let input = SaveInput::from_json(document)?;
    if let Some(name) = input.change.extra.keys().next() {
        return Err(Failure::new(ErrorCode::InvalidDocument, format!("a save has no member `{name}`"))
            .help("the schema of the tool lists the members"));
    }
    let workflow = workflow_id(id, &input, session)?;
    report(session, workflow, input, &SaveFlags::default(), Existence::Any)
}

/// The workflows that a command saves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existence {
    /// A new one is created.
    Any,
    /// It must exist: there is nothing to create from.
    Required,
}

/// Records the end of a phase or, without one, of the whole workflow, which must exist.
pub(super) fn save_end(
    session: &Session,
    id: Option<&WorkflowId>,
    phase: Option<&PhaseId>,
    (phase_status, workflow_status): (PhaseStatus, WorkflowStatus),
    mut input: SaveInput,
    flags: &SaveFlags,
) -> Result<Exit, Failure> {
    flags.add_to(&mut input, &Input::new(session))?;
    let existence = match phase {
        Some(phase) => {
            input.change.phase = Some(phase.clone());
            input.change.status = Some(phase_status);
            Existence::Any
        }
        None => {
            input.change.workflow_status = Some(workflow_status);
            Existence::Required
        }
    };
    let workflow = workflow_id(id, &input, session)?;
    save(session, workflow, input, flags, existence)
}

/// Saves for `save`, `start`, `done` and `fail`, and answers.
pub(super) fn save(
    session: &Session,
    typed: WorkflowId,
    input: SaveInput,
    flags: &SaveFlags,
    existence: Existence,
) -> Result<Exit, Failure> {
    session.answer(&report(session, typed, input, flags, existence)?)
}

fn report(
    session: &Session,
    typed: WorkflowId,
    input: SaveInput,
    flags: &SaveFlags,
    existence: Existence,
) -> Result<SaveReport, Failure> {
    let place = session.place()?;
    let is_new_store = matches!(place.location, Location::Absent(_));
    let store = if existence == Existence::Required { session.store()? } else { session.store_at(place.located())? };
    let config = session.config(&store)?;
    let workflow = match existence {
        Existence::Any => store.find_workflow(&typed)?.unwrap_or(typed),
        Existence::Required => store.resolve_workflow(&typed)?,
    };
    let options = SaveOptions {
        expect: flags.expect.as_ref().map(|expect| expected(expect, &workflow)).transpose()?,
        key: flags.key.as_deref(),
        if_changed: flags.if_changed,
        fresh: flags.fresh,
        allow_secrets: flags.allow_secrets,
        capture: flags.capture,
        dry_run: false,
        quick: false,
    };
    let advice = advice(&input);
    let mut change = input.change;
    if let Some(NamedPipeline { name, total }) = input.pipeline {
        change.pipeline = Some(config.pipeline(&name, total)?);
    }
    if let Some(approve) = &mut change.approve {
        approve.recorded_by = session.writer_name().filter(|name| approve.by.as_ref() != Some(name));
    }
    let by_default = change.phase.is_some() && change.status.is_none() && change.error.is_none();
    let workspace = Workspace { place, store, config, remote_problem: None };
    let mut report = session.save(&workspace, &workflow, change, &options)?.of_save(advice, by_default);
    if report.created && is_new_store {
        report.new_store = Some(workspace.store.root().display().to_string());
    }
    Ok(report)
}

/// The number of the expected handle, which must belong to this workflow.
pub(super) fn expected(expect: &Handle, workflow: &WorkflowId) -> Result<u64, Failure> {
    if expect.workflow == *workflow {
        return Ok(expect.seq);
    }
    let message = format!("`--expect {expect}` is about another workflow than `{workflow}`");
    Err(Failure::new(ErrorCode::Usage, message).help(format!("write `--expect {workflow}/{}`", expect.seq)))
}

/// Returns the workflow that was named by the argument, by `CKPT_WORKFLOW`, or by the document.
pub(super) fn workflow_id(
    id: Option<&WorkflowId>,
    input: &SaveInput,
    session: &Session,
) -> Result<WorkflowId, Failure> {
    let variable = if id.is_none() { session.env.var("CKPT_WORKFLOW") } else { None };
    let typed = match variable {
        Some(id) => Some(id.parse::<WorkflowId>()?),
        None => id.cloned(),
    };
    match (typed, &input.workflow) {
        // A whole checkpoint may be saved to another workflow.
        (Some(typed), Some(inside)) if input.change.replace.is_none() && typed != *inside => {
            let message = format!("the document is about workflow `{inside}`, not `{typed}`");
            Err(Failure::new(ErrorCode::Usage, message)
                .help("leave `workflow` out of the document, or name the same one"))
        }
        (Some(typed), _) => Ok(typed),
        (None, Some(inside)) => Ok(inside.clone()),
        (None, None) => Err(Failure::new(ErrorCode::NoWorkflow, "no workflow was named")
            .help("name it behind the command, or set `CKPT_WORKFLOW`")),
    }
}

/// Warnings about members of the document.
fn advice(input: &SaveInput) -> Vec<String> {
    let mut advice = Vec::new();
    if !input.ignored.is_empty() {
        advice.push(format!("ignored what only ckpt may say: {}", input.ignored.join(", ")));
    }
    if !input.change.extra.is_empty() {
        let names: Vec<&str> = input.change.extra.keys().map(String::as_str).collect();
        advice.push(format!("kept fields that ckpt has no use for: {}", names.join(", ")));
    }
    advice
}
