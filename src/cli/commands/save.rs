//! `ckpt save`

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::save::SaveOptions;
use crate::cli::session::{Session, Workspace};
use crate::cli::values::mirror_dialect;
use crate::core::change::{Edit, NamedPipeline, SaveInput, TaskChange};
use crate::core::checkpoint::Artifact;
use crate::core::dialects::Dialect;
use crate::core::pipeline::Pipeline;
use crate::core::store::Location;
use crate::core::{
    Handle, PhaseId, PhaseStatus, Store, TaskId, TaskStatus, Trigger, WorkflowId, WorkflowStatus,
};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "save",
    alias: None,
    augment_args: SaveArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt save 042 --phase plan --phases plan,build,test --title \"OAuth login\"
  ckpt save 042 --phase build --status in_progress --next \"Write the parser\"
  ckpt save 042 --phase build --data '{\"files\": 12}' --artifact spec=docs/spec.md
  ckpt save 042 --task parser=running,output=out/parser.json,after=lexer
  ckpt save 042 --phase test --status failed --error \"3 tests fail\"
  ckpt save 042 --from - <<< '{\"phase\": \"test\", \"state\": {\"retries\": 1}}'";

/// Record a phase, or any other change, as a new checkpoint
///
/// Without `--phase` this is a manual checkpoint of the present state. The store is created if there is none. The new
/// handle is printed once the checkpoint would survive a power loss.
#[derive(Debug, Args)]
pub(crate) struct SaveArgs {
    /// The workflow; `CKPT_WORKFLOW` if not given
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<WorkflowId>,

    /// The phase this save is about
    #[arg(long, value_name = "P", help_heading = "Phases", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<PhaseId>,
    /// What became of the phase
    #[arg(long, value_enum, value_name = "STATUS", requires = "phase", help_heading = "Phases")]
    status: Option<PhaseStatus>,
    /// Follow a pipeline; `ckpt pipeline list` shows them
    #[arg(long, value_name = "NAME", conflicts_with = "phases", help_heading = "Phases",
        add = ArgValueCandidates::new(complete::pipelines))]
    pipeline: Option<String>,
    /// Declare the phases
    #[arg(long, value_name = "A,B,C", conflicts_with = "total", help_heading = "Phases")]
    phases: Option<String>,
    /// Declare the phases 1 to N
    #[arg(long, value_name = "N", help_heading = "Phases")]
    total: Option<u32>,

    /// What the workflow is about, in a line
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    title: Option<String>,
    /// What to do next
    #[arg(long, value_name = "ACTION", help_heading = "Content")]
    next: Option<String>,
    /// The phase to continue with, if it is not the first one that is not done
    #[arg(long, value_name = "P", help_heading = "Content", add = ArgValueCandidates::new(complete::phases))]
    next_phase: Option<PhaseId>,
    /// Merge into the data of the phase (RFC 7396: null removes)
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, help_heading = "Content")]
    data: Option<String>,
    /// Merge into the state of the workflow (RFC 7396: null removes)
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, help_heading = "Content")]
    state: Option<String>,
    /// Set one member of the state; `/a/b` is a JSON pointer
    #[arg(long, value_name = "KEY=JSON", help_heading = "Content")]
    set: Vec<String>,
    /// Record a file by size and SHA-256
    #[arg(long, value_name = "[NAME=]PATH", value_hint = ValueHint::FilePath, help_heading = "Content")]
    artifact: Vec<String>,
    /// Forget a recorded file, by its name
    #[arg(long, value_name = "NAME", help_heading = "Content")]
    forget_artifact: Vec<String>,
    /// Record where a task stands
    #[arg(long, value_name = "ID=STATUS[,output=PATH][,after=ID+ID]", help_heading = "Content")]
    task: Vec<String>,
    /// What went wrong
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    error: Option<String>,
    /// A remark about this save
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    note: Option<String>,
    /// A word to find the workflow by
    #[arg(long, value_name = "L", help_heading = "Content")]
    label: Vec<String>,
    /// Read all of this from one JSON document instead
    #[arg(long, value_name = "FILE|-", value_hint = ValueHint::FilePath, help_heading = "Content")]
    from: Option<String>,

    /// Why the checkpoint is taken
    // Not clap's choice of a parser, which is `From<String>`: that accepts the words of later versions.
    #[arg(long, value_name = "T", value_parser = str::parse::<Trigger>, help_heading = "Conditions",
        add = ArgValueCandidates::new(complete::triggers))]
    trigger: Option<Trigger>,
    /// Where the workflow stands, if that does not follow from its phases
    #[arg(long, value_enum, value_name = "S", help_heading = "Conditions")]
    workflow_status: Option<WorkflowStatus>,
    /// Keep this checkpoint whatever the retention policy says
    #[arg(long, help_heading = "Conditions")]
    pin: bool,
    /// Save only if this is the newest checkpoint; ID/0: only if there is none
    #[arg(long, value_name = "HANDLE", help_heading = "Conditions")]
    expect: Option<Handle>,
    /// Saying the same save again under this key returns the first handle
    #[arg(long, value_name = "K", help_heading = "Conditions")]
    key: Option<String>,
    /// Write nothing if nothing is new
    #[arg(long, help_heading = "Conditions")]
    if_changed: bool,
    /// Write secrets as they are instead of replacing them
    #[arg(long, help_heading = "Conditions")]
    allow_secrets: bool,
    /// Keep a copy for another system up to date: kamiflow, dotagent, claude-dir, claude-plan or crunch
    #[arg(long, value_name = "DIALECT", value_parser = mirror_dialect, help_heading = "Conditions",
        add = ArgValueCandidates::new(complete::mirror_dialects))]
    mirror: Option<Dialect>,
}

fn run(args: &SaveArgs, session: &Session) -> Result<Exit, Failure> {
    let input = save_input(args)?;
    let typed = workflow_id(args, &input, session)?;

    let place = session.place()?;
    let is_new_store = matches!(place.location, Location::Absent(_));
    let store = Store::at(place.located())?;
    let config = session.config(&store)?;
    let workflow = store.find_workflow(&typed)?.unwrap_or(typed);
    let options = SaveOptions {
        expect: args.expect.as_ref().map(|expect| expected(expect, &workflow)).transpose()?,
        key: args.key.as_deref(),
        if_changed: args.if_changed,
        allow_secrets: args.allow_secrets,
        mirror: args.mirror,
    };
    let advice = advice(&input);
    let mut change = input.change;
    if let Some(NamedPipeline { name, total }) = input.pipeline {
        change.pipeline = Some(config.pipeline(&name, total)?);
    }
    let workspace = Workspace { place, store, config };
    let mut report = session.save(&workspace, &workflow, change, &options)?.of_save(advice);
    if report.created && is_new_store {
        report.new_store = Some(workspace.store.root().display().to_string());
    }
    session.answer(&report)
}

/// The number of the expected handle, which must belong to this workflow.
pub(super) fn expected(expect: &Handle, workflow: &WorkflowId) -> Result<u64, Failure> {
    if expect.workflow == *workflow {
        return Ok(expect.seq);
    }
    let message = format!("`--expect {expect}` is about another workflow than `{workflow}`");
    Err(Failure::new(ErrorCode::Usage, message).help(format!("write `--expect {workflow}/{}`", expect.seq)))
}

fn workflow_id(args: &SaveArgs, input: &SaveInput, session: &Session) -> Result<WorkflowId, Failure> {
    let variable = if args.id.is_none() { session.env.var("CKPT_WORKFLOW") } else { None };
    let typed = match variable {
        Some(id) => Some(id.parse::<WorkflowId>()?),
        None => args.id.clone(),
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
            .help("write `ckpt save ID ...`, or set `CKPT_WORKFLOW`")),
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

/// Reads the document of `--from`, if there is one, and then the flags, which win.
fn save_input(args: &SaveArgs) -> Result<SaveInput, Failure> {
    let reader = Input::default();
    let mut input = match &args.from {
        Some(path) => SaveInput::from_json(reader.document("--from", path)?)?,
        None => SaveInput::default(),
    };
    let change = &mut input.change;
    set(&mut change.phase, args.phase.clone());
    set(&mut change.status, args.status);
    set(&mut change.title, args.title.clone());
    set(&mut change.next_action, args.next.clone());
    set(&mut change.next_phase, args.next_phase.clone());
    set(&mut change.error, args.error.clone());
    set(&mut change.note, args.note.clone());
    set(&mut change.workflow_status, args.workflow_status);
    set(&mut change.trigger, args.trigger.clone());
    change.pin |= args.pin;
    change.labels.extend(args.label.iter().cloned());
    if let Some(data) = &args.data {
        change.data.push(Edit::Merge(reader.json("--data", data)?));
    }
    if let Some(state) = &args.state {
        change.state.push(Edit::Merge(reader.json("--state", state)?));
    }
    for argument in &args.set {
        change.state.push(set_argument(argument, &reader)?);
    }
    for argument in &args.task {
        change.tasks.push(task_argument(argument)?);
    }
    change.forgotten.extend(args.forget_artifact.iter().cloned());
    change.artifacts.extend(args.artifact.iter().map(|argument| artifact_argument(argument)));
    if let Some(name) = &args.pipeline {
        input.pipeline = Some(NamedPipeline { name: name.clone(), total: args.total });
    } else if let Some(phases) = listed_phases(args)? {
        input.pipeline = None;
        change.pipeline = Some(Pipeline::custom(phases)?);
    }
    Ok(input)
}

fn set<T>(place: &mut Option<T>, flag: Option<T>) {
    if flag.is_some() {
        *place = flag;
    }
}

/// The phases that `--phases` or `--total` declares.
fn listed_phases(args: &SaveArgs) -> Result<Option<Vec<PhaseId>>, Failure> {
    let Some(list) = &args.phases else {
        return Ok(args.total.map(|total| PhaseId::numbered(total).collect()));
    };
    let mut phases = Vec::new();
    for id in list.split(',') {
        phases.push(id.trim().parse()?);
    }
    Ok(Some(phases))
}

fn set_argument(argument: &str, reader: &Input) -> Result<Edit, Failure> {
    let Some((key, value)) = argument.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        return Err(Failure::new(ErrorCode::Usage, format!("`--set {argument}` has no `KEY=`"))
            .help("write `--set retries=2`"));
    };
    let value = reader.json("--set", value).map_err(|failure| {
        let quoted = serde_json::Value::from(value);
        failure.help(format!("a text is quoted twice, for the shell and as JSON: `--set '{key}={quoted}'`"))
    })?;
    Ok(Edit::Set(key.to_owned(), value))
}

fn artifact_argument(argument: &str) -> Artifact {
    // A path may contain `=`, so only a plain word before it is a name.
    let is_plain = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    };
    match argument.split_once('=') {
        Some((name, path)) if is_plain(name) => Artifact::new(name, path),
        _ => Artifact::new("", argument),
    }
}

fn task_argument(argument: &str) -> Result<TaskChange, Failure> {
    let usage = |message: String| {
        Failure::new(ErrorCode::Usage, message)
            .help("write `--task parser=complete,output=out.json,after=lexer+scanner`")
    };
    let name = |text: &str| text.parse::<TaskId>().map_err(|error| usage(error.to_string()));
    let (id, rest) =
        argument.split_once('=').ok_or_else(|| usage(format!("`--task {argument}` has no status")))?;
    let mut parts = rest.split(',');
    let status = match parts.next().unwrap_or_default() {
        "pending" => TaskStatus::Pending,
        "running" | "in_progress" => TaskStatus::Running,
        "complete" | "completed" | "done" => TaskStatus::Complete,
        "failed" => TaskStatus::Failed,
        "skipped" => TaskStatus::Skipped,
        other => {
            return Err(usage(format!(
                "`{other}` is not the status of a task; it is one of pending, running, complete, failed, skipped"
            )));
        }
    };
    let mut task = TaskChange { id: name(id)?, status, output: None, after: None, error: None };
    for part in parts {
        match part.split_once('=') {
            Some(("output", path)) if !path.is_empty() => task.output = Some(path.to_owned()),
            Some(("after", ids)) => {
                let ids: Result<Vec<_>, _> = ids.split('+').map(name).collect();
                task.after.get_or_insert_default().extend(ids?);
            }
            _ => return Err(usage(format!("`{part}` is not `output=PATH` or `after=ID+ID`"))),
        }
    }
    if task.after.as_ref().is_some_and(|after| after.contains(&task.id)) {
        return Err(usage(format!("task `{}` cannot come after itself", task.id)));
    }
    Ok(task)
}
