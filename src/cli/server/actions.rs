//! Actions: a form becomes a command. First its plan is shown, then exactly that is done.

use super::Site;
use super::http::Request;
use super::routes::Content;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::pages::View;
use crate::cli::pages::action::{Action, confirmation, done};
use crate::cli::session::Session;
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::text::shell_word;
use ckpt_model::{Checkpoint, Handle, WorkflowId};
use ckpt_store::observe::Selected;

/// Shows the plan of an action.
pub(super) fn plan(site: &Site, session: &Session, view: &View, request: &Request) -> Result<Content, Failure> {
    let mut action = read(request);
    let command = Command::new(&action)?;
    let newest = command.newest(session, &action)?;
    let text = match (command.name, newest) {
        ("approve" | "revise", Some(newest)) => command.described(&newest),
        ("cleanup", _) => {
            let fingerprint = site.program.run(&["cleanup", "--dry-run", "--quiet"])?.out;
            action.plan = String::from_utf8_lossy(&fingerprint).trim().to_owned();
            text(site, &["cleanup".to_owned(), "--dry-run".to_owned()])?
        }
        _ => text(site, &[&command.args[..], &["--dry-run".to_owned()]].concat())?,
    };
    Ok((format!("Confirm {}", action.name), confirmation(view, &action, &command.line(), &text)))
}

/// Does what the plan said.
pub(super) fn apply(site: &Site, session: &Session, view: &View, request: &Request) -> Result<Content, Failure> {
    let action = read(request);
    let command = Command::new(&action)?;
    command.newest(session, &action)?;
    let answer = text(site, &command.args)?;
    Ok((format!("Done: {}", action.name), done(view, &action, &answer)))
}

/// Runs a command and returns its text for people: the answer, then what it says beside it.
fn text(site: &Site, args: &[String]) -> Result<String, Failure> {
    let written = site.program.run(&args.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(String::from_utf8_lossy(&written.out).into_owned() + &written.err)
}

fn read(request: &Request) -> Action {
    let field = |name: &str| request.field(name).to_owned();
    Action {
        name: field("name"),
        workflow: field("workflow"),
        head: field("head"),
        what: field("what"),
        plan: field("plan"),
    }
}

/// The command of an action. Everything in it was parsed, so that nothing is taken for a flag.
struct Command {
    name: &'static str,
    workflow: Option<WorkflowId>,
    phase: Option<PhaseId>,
    args: Vec<String>,
}

impl Command {
    fn new(action: &Action) -> Result<Self, Failure> {
        let workflow = || -> Result<WorkflowId, Failure> { action.workflow.parse().map_err(Failure::from) };
        let phase =
            || action.what.parse::<PhaseId>().map_err(|error| Failure::new(ErrorCode::InvalidName, error.to_string()));
        let command = |name, workflow: WorkflowId, phase: Option<PhaseId>, args: &[String]| {
            let mut all = vec![String::from(name), workflow.to_string()];
            all.extend_from_slice(args);
            Self { name, workflow: Some(workflow), phase, args: all }
        };
        match action.name.as_str() {
            "approve" => {
                let phase = phase()?;
                Ok(command("approve", workflow()?, Some(phase.clone()), &[format!("--phase={phase}")]))
            }
            "revise" => {
                let phase = phase()?;
                Ok(command("revise", workflow()?, Some(phase.clone()), &[format!("--from={phase}")]))
            }
            "rollback" => {
                let to: Handle = action.what.parse().map_err(Failure::from)?;
                let head: Handle = action.head.parse().map_err(Failure::from)?;
                if to.workflow != workflow()? {
                    return Err(Failure::new(ErrorCode::InvalidSelector, format!("{to} is of another workflow")));
                }
                let args = vec!["rollback".to_owned(), to.to_string(), format!("--expect={head}")];
                Ok(Self { name: "rollback", workflow: Some(to.workflow), phase: None, args })
            }
            "archive" => {
                let reasons = ["completed", "failed", "abandoned"];
                let Some(reason) = reasons.into_iter().find(|reason| *reason == action.what) else {
                    return Err(Failure::new(
                        ErrorCode::Usage,
                        "the reason is none of completed, failed and abandoned",
                    ));
                };
                Ok(command("archive", workflow()?, None, &[format!("--as={reason}")]))
            }
            "restore" => Ok(command("restore", workflow()?, None, &[])),
            "cleanup" => {
                let mut args = vec!["cleanup".to_owned(), "--yes".to_owned()];
                if !action.plan.is_empty() {
                    let digits = action.plan.chars().filter(char::is_ascii_hexdigit).collect::<String>();
                    args.push(format!("--expect-plan={digits}"));
                }
                Ok(Self { name: "cleanup", workflow: None, phase: None, args })
            }
            _ => Err(Failure::new(ErrorCode::NoSuchCommand, "there is no such action")),
        }
    }

    /// Returns the command as it would be typed.
    fn line(&self) -> String {
        format!("ckpt {}", self.args.iter().map(shell_word).collect::<Vec<_>>().join(" "))
    }

    /// Returns the newest checkpoint; none if the action is not about one workflow. Refuses if something was saved since the
    /// person looked.
    fn newest(&self, session: &Session, action: &Action) -> Result<Option<Box<Checkpoint>>, Failure> {
        let Some(workflow) = &self.workflow else { return Ok(None) };
        let store = session.store()?;
        let newest = Selected::newest(&store, &store.resolve_workflow(workflow)?)?.checkpoint;
        if newest.handle().to_string() == action.head {
            return Ok(Some(newest));
        }
        let message = format!("{} was saved meanwhile; look at the workflow again", newest.handle());
        Err(Failure::new(ErrorCode::Conflict, message))
    }

    /// Describes a command that has no dry run.
    fn described(&self, newest: &Checkpoint) -> String {
        let (Some(workflow), Some(phase)) = (&self.workflow, &self.phase) else { return String::new() };
        if self.name == "approve" {
            return format!("Records your approval of phase {phase} of {workflow}, in a new checkpoint.");
        }
        let phases = newest.content.phases.iter().skip_while(|found| found.id != *phase);
        let reopened: Vec<String> = phases
            .filter(|found| found.status != PhaseStatus::Pending)
            .map(|found| format!("  {} ({})", found.id, found.status.word().replace('_', " ")))
            .collect();
        format!("Reopens these phases of {workflow}, in a new checkpoint:\n{}", reopened.join("\n"))
    }
}
