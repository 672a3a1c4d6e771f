//! The flags that `save`, `start`, `done` and `fail` share.

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCandidates;
use serde_json::Value;

use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::input::Input;
use ckpt_model::change::{Approve, Edit, NamedPipeline, SaveInput, TaskChange};
use ckpt_model::checkpoint::{Artifact, Fact};
use ckpt_model::pipeline::Pipeline;
use ckpt_model::{Handle, PhaseId, TaskId, TaskStatus, Trigger};

#[derive(Debug, Default, Args)]
pub(super) struct SaveFlags {
    /// Follow a pipeline; `ckpt pipeline list` shows them
    #[arg(long, value_name = "NAME", conflicts_with = "phases", help_heading = "Phases",
        add = ArgValueCandidates::new(complete::pipelines))]
    pub(super) pipeline: Option<String>,
    /// Declare the phases, in their order
    #[arg(long, value_name = "A,B,C", conflicts_with = "total", help_heading = "Phases")]
    pub(super) phases: Option<String>,
    /// Declare the phases 1 to N
    #[arg(long, value_name = "N", help_heading = "Phases")]
    pub(super) total: Option<u32>,

    /// What the workflow is about, in a line
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    pub(super) title: Option<String>,
    /// What to do next
    #[arg(long, value_name = "ACTION", help_heading = "Content")]
    pub(super) next: Option<String>,
    /// The phase to continue with, if it is not the first one that is not done
    #[arg(long, value_name = "P", help_heading = "Content", add = ArgValueCandidates::new(complete::phases))]
    pub(super) next_phase: Option<PhaseId>,
    /// Merge into the data of the phase (RFC 7396: null removes)
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, help_heading = "Content")]
    pub(super) data: Option<String>,
    /// Merge into the state of the workflow (RFC 7396: null removes)
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, help_heading = "Content")]
    pub(super) state: Option<String>,
    /// Set one member of the state, such as `retries=2`; `/a/b` is a JSON pointer
    #[arg(long, value_name = "KEY=JSON", help_heading = "Content")]
    pub(super) set: Vec<String>,
    /// Append to an array of the state, unless it is in there; `/a/b` is a JSON pointer
    #[arg(long, value_name = "KEY=JSON", help_heading = "Content")]
    pub(super) add: Vec<String>,
    /// Record a file by size and SHA-256
    #[arg(long, value_name = "[NAME=]PATH", value_hint = ValueHint::FilePath, help_heading = "Content")]
    pub(super) artifact: Vec<String>,
    /// Keep the contents of the files that this save records, so that they can be brought back
    #[arg(long, help_heading = "Content")]
    pub(super) capture: bool,
    /// Forget a recorded file, by its name
    #[arg(long, value_name = "NAME", help_heading = "Content")]
    pub(super) forget_artifact: Vec<String>,
    /// Record where a task stands: pending, running, complete, failed or skipped
    #[arg(long, value_name = "ID=STATUS[,output=PATH][,after=ID+ID]", help_heading = "Content")]
    pub(super) task: Vec<String>,
    /// The person who has just agreed to the result of the phase
    #[arg(long, value_name = "NAME", help_heading = "Content")]
    pub(super) approved_by: Option<String>,
    /// A remark about this save
    #[arg(long, value_name = "TEXT", help_heading = "Content")]
    pub(super) note: Option<String>,
    /// A word to find the workflow by, as with `list --label`
    #[arg(long, value_name = "L", help_heading = "Content")]
    pub(super) label: Vec<String>,
    /// Take a label away
    #[arg(long, value_name = "L", help_heading = "Content")]
    pub(super) unlabel: Vec<String>,
    /// Remember a JSON document from outside, such as an issue; `resume --fact` compares it
    #[arg(long, value_name = "NAME=JSON|@FILE|-", help_heading = "Content")]
    pub(super) fact: Vec<String>,
    /// Forget an external fact, by its name
    #[arg(long, value_name = "NAME", help_heading = "Content")]
    pub(super) forget_fact: Vec<String>,

    /// Why the checkpoint is taken, if that does not follow from what is saved: phase_transition, batch_complete, agent_complete, conflict_start, conflict_resolved, user_interrupt,
    /// pre_compact, session_end or manual
    // Not clap's choice of a parser, which is `From<String>`: that accepts the words of later versions.
    #[arg(long, value_name = "T", value_parser = str::parse::<Trigger>, help_heading = "Conditions",
        add = ArgValueCandidates::new(complete::triggers))]
    pub(super) trigger: Option<Trigger>,
    /// Keep this checkpoint whatever the retention policy says
    #[arg(long, help_heading = "Conditions")]
    pub(super) pin: bool,
    /// Save only if this is the newest checkpoint; ID/0: only if there is none
    #[arg(long, value_name = "HANDLE", help_heading = "Conditions")]
    pub(super) expect: Option<Handle>,
    /// Name this save: repeated under the same key, it saves nothing and prints the first handle
    #[arg(long, value_name = "K", help_heading = "Conditions")]
    pub(super) key: Option<String>,
    /// Save nothing if the content is that of the newest checkpoint
    #[arg(long, help_heading = "Conditions")]
    pub(super) if_changed: bool,
    /// Start over: archive what the workflow has, and make this the first save of another run
    #[arg(long, conflicts_with = "if_changed", help_heading = "Conditions")]
    pub(super) fresh: bool,
    /// Write secrets as they are instead of replacing them
    #[arg(long, help_heading = "Conditions")]
    pub(super) allow_secrets: bool,
}

impl SaveFlags {
    /// Adds the flags to what a document says; the flags win.
    pub(super) fn add_to(&self, input: &mut SaveInput, reader: &Input) -> Result<(), Failure> {
        let change = &mut input.change;
        set(&mut change.title, self.title.clone());
        set(&mut change.next_action, self.next.clone());
        set(&mut change.next_phase, self.next_phase.clone());
        set(&mut change.note, self.note.clone());
        set(&mut change.trigger, self.trigger.clone());
        change.pin |= self.pin;
        if self.approved_by.is_some() {
            change.approve = Some(Approve { phase: None, by: self.approved_by.clone(), recorded_by: None });
        }
        change.labels.extend(self.label.iter().cloned());
        if let Some(data) = &self.data {
            change.data.push(Edit::Merge(reader.json("--data", data)?));
        }
        if let Some(state) = &self.state {
            change.state.push(Edit::Merge(reader.json("--state", state)?));
        }
        for argument in &self.set {
            let (key, value) = named_json("--set", argument, reader)?;
            change.state.push(Edit::Set(key, value));
        }
        for argument in &self.add {
            let (key, value) = named_json("--add", argument, reader)?;
            change.state.push(Edit::Add(key, value));
        }
        change.unlabels.extend(self.unlabel.iter().cloned());
        for argument in &self.fact {
            let (name, document) = named_json("--fact", argument, reader)?;
            change.facts.push(Fact::new(name, document));
        }
        change.forgotten_facts.extend(self.forget_fact.iter().cloned());
        for argument in &self.task {
            change.tasks.push(task_argument(argument)?);
        }
        change.forgotten.extend(self.forget_artifact.iter().cloned());
        change.artifacts.extend(self.artifact.iter().map(|argument| artifact_argument(argument)));
        if let Some(name) = &self.pipeline {
            input.pipeline = Some(NamedPipeline { name: name.clone(), total: self.total });
        } else if let Some(phases) = listed_phases(self)? {
            input.pipeline = None;
            change.pipeline = Some(Pipeline::custom(phases)?);
        }
        Ok(())
    }
}

/// Replaces a value of a document by that of a flag, if the flag is there.
pub(super) fn set<T>(place: &mut Option<T>, flag: Option<T>) {
    if flag.is_some() {
        *place = flag;
    }
}

/// The phases that `--phases` or `--total` declares.
fn listed_phases(args: &SaveFlags) -> Result<Option<Vec<PhaseId>>, Failure> {
    let Some(list) = &args.phases else {
        return Ok(args.total.map(|total| PhaseId::numbered(total).collect()));
    };
    let mut phases = Vec::new();
    for id in list.split(',') {
        phases.push(id.trim().parse()?);
    }
    Ok(Some(phases))
}

/// Reads `KEY=JSON`, `KEY=@FILE` or `KEY=-`.
pub(super) fn named_json(flag: &'static str, argument: &str, reader: &Input) -> Result<(String, Value), Failure> {
    let Some((key, value)) = argument.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        let example = match flag {
            "--fact" => "issue=@issue.json",
            "--add" => "notes='\"read the log\"'",
            _ => "retries=2",
        };
        return Err(Failure::new(ErrorCode::Usage, format!("`{flag} {argument}` has no `KEY=`"))
            .help(format!("write `{flag} {example}`")));
    };
    let value = reader.json(flag, value).map_err(|failure| {
        let quoted = Value::from(value);
        failure.help(format!("a text is quoted twice, for the shell and as JSON: `{flag} '{key}={quoted}'`"))
    })?;
    Ok((key.to_owned(), value))
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
    let (id, rest) = argument.split_once('=').ok_or_else(|| usage(format!("`--task {argument}` has no status")))?;
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
