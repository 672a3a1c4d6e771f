//! The pages of a store: the documents of its commands, rendered. `report` and `ui` share it.

use maud::Markup;
use serde_json::Value;

use super::error::{ErrorCode, Failure};
use super::invoke::Program;
use super::pages::workflow::{Documents, LOG_ROWS};
use super::pages::workflows::Query;
use super::pages::{self, Doc, View};
use crate::core::stats::Analytics;
use crate::core::{Handle, WorkflowId};

/// The documents of the page of a workflow.
pub(crate) struct WorkflowDocuments {
    resume: Value,
    status: Value,
    show: Value,
    log: Value,
}

impl WorkflowDocuments {
    pub(crate) fn read(program: &Program, id: &WorkflowId) -> Result<Self, Failure> {
        let id = id.as_str();
        Ok(Self {
            resume: program.document(&["resume", id])?,
            status: program.document(&["status", id])?,
            show: program.document(&["show", id])?,
            log: program.document(&["log", id, "--limit", &LOG_ROWS.to_string()])?,
        })
    }

    pub(crate) fn borrowed(&self) -> Documents<'_> {
        let Self { resume, status, show, log } = self;
        Documents { resume: Doc(resume), status: Doc(status), show: Doc(show), log: Doc(log) }
    }
}

/// Renders the page of all workflows, or of all archived ones.
pub(crate) fn workflows(program: &Program, view: &View, query: &Query) -> Result<Markup, Failure> {
    let mut args = vec!["list", "--all"];
    args.extend(query.archived.then_some("--archived"));
    let list = program.document(&args)?;
    Ok(pages::workflows::workflows(view, Doc(&list), query))
}

/// Renders the page of a workflow.
pub(crate) fn workflow(program: &Program, view: &View, id: &WorkflowId) -> Result<Markup, Failure> {
    Ok(pages::workflow::workflow(view, WorkflowDocuments::read(program, id)?.borrowed()))
}

/// Renders the page of a checkpoint.
pub(crate) fn checkpoint(program: &Program, view: &View, handle: &Handle) -> Result<Markup, Failure> {
    let show = of_checkpoints(program, "show", &[handle])?;
    Ok(pages::checkpoint::checkpoint(view, Doc(&show)))
}

/// Renders the page of the difference of two checkpoints.
pub(crate) fn diff(program: &Program, view: &View, from: &Handle, to: &Handle) -> Result<Markup, Failure> {
    let diff = of_checkpoints(program, "diff", &[from, to])?;
    Ok(pages::diff::diff(view, Doc(&diff)))
}

/// Renders the page of the figures.
pub(crate) fn analytics(program: &Program, view: &View) -> Result<Markup, Failure> {
    let stats = program.document(&["stats"])?;
    let document = &stats["analytics"];
    let figures: Analytics = serde_json::from_value(document.clone())
        .map_err(|error| Failure::new(ErrorCode::Output, format!("the figures cannot be read: {error}")))?;
    Ok(pages::analytics::analytics(view, &figures, Doc(document)))
}

/// Runs a command about checkpoints. A number that another store has used too means that of the main line.
fn of_checkpoints(program: &Program, command: &str, handles: &[&Handle]) -> Result<Value, Failure> {
    let run = |names: Vec<String>| {
        let args: Vec<&str> = std::iter::once(command).chain(names.iter().map(String::as_str)).collect();
        program.document(&args)
    };
    match run(handles.iter().map(ToString::to_string).collect()) {
        Err(failure) if failure.code == ErrorCode::Ambiguous => {
            run(handles.iter().map(|handle| exact(program, handle)).collect())
        }
        answer => answer,
    }
}

/// Returns a name that means one checkpoint, where a number of the main line was used by another store too.
fn exact(program: &Program, handle: &Handle) -> String {
    match program.document(&["show", &handle.to_string(), "--pointer", "/seq"]) {
        Err(failure) if failure.code == ErrorCode::Ambiguous => {
            // The one of the main line comes first.
            let own = failure.context.get("candidates").and_then(|candidates| candidates.get(0)?.as_str());
            own.map_or_else(|| handle.to_string(), str::to_owned)
        }
        _ => handle.to_string(),
    }
}
