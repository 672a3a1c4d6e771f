//! Actions: a form becomes a command. First its plan is shown, then exactly that is done.

use super::Site;
use super::http::Request;
use super::routes::Content;
use crate::cli::content::WorkflowDocuments;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::pages::View;
use crate::cli::pages::action::{Action, confirmation, done};
use crate::core::phase::PhaseId;
use crate::core::{Handle, WorkflowId};

/// Shows the plan of an action.
pub(super) fn plan(site: &Site, view: &View, request: &Request) -> Result<Content, Failure> {
    let mut action = read(request);
    let command = Command::new(&action)?;
    command.check_head(site, &action)?;
    let (text, is_empty) = match command.name {
        "approve" | "revise" => (command.described(site)?, false),
        "cleanup" => {
            let document = site.program.document(&["cleanup", "--dry-run"])?;
            action.plan = document["plan"].as_str().unwrap_or_default().to_owned();
            let nothing = document["removed"]["count"] == 0
                && document["stale_files"] == 0
                && document["objects"]["count"] == 0
                && document["deleted_runs"].as_array().is_none_or(Vec::is_empty);
            (site.program.text(&["cleanup", "--dry-run"])?, nothing)
        }
        _ => (site.program.text(&with(&command.args, "--dry-run"))?, false),
    };
    let main = confirmation(view, &action, &command.line(), &text, is_empty);
    Ok((format!("Confirm {}", action.name), main))
}

/// Does what the plan said.
pub(super) fn apply(site: &Site, view: &View, request: &Request) -> Result<Content, Failure> {
    let action = read(request);
    let command = Command::new(&action)?;
    command.check_head(site, &action)?;
    let args: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let answer = site.program.text(&args)?;
    Ok((format!("Done: {}", action.name), done(view, &action, &answer)))
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

fn with<'a>(args: &'a [String], more: &'a str) -> Vec<&'a str> {
    args.iter().map(String::as_str).chain([more]).collect()
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
        let phase = || {
            action
                .what
                .parse::<PhaseId>()
                .map_err(|error| Failure::new(ErrorCode::InvalidName, error.to_string()))
        };
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
                    return Err(Failure::new(
                        ErrorCode::InvalidSelector,
                        format!("{to} is of another workflow"),
                    ));
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
        let quoted = |arg: &String| {
            let plain = arg.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=~".contains(c));
            if plain { arg.clone() } else { format!("'{}'", arg.replace('\'', "'\\''")) }
        };
        format!("ckpt {}", self.args.iter().map(quoted).collect::<Vec<_>>().join(" "))
    }

    /// Refuses if something was saved since the person looked.
    fn check_head(&self, site: &Site, action: &Action) -> Result<(), Failure> {
        let Some(workflow) = &self.workflow else { return Ok(()) };
        let status = site.program.document(&["status", workflow.as_str()])?;
        let head = status["handle"].as_str().unwrap_or_default();
        if head == action.head {
            return Ok(());
        }
        let message = format!("{head} was saved meanwhile; look at the workflow again");
        Err(Failure::new(ErrorCode::Conflict, message))
    }

    /// Describes a command that has no dry run.
    fn described(&self, site: &Site) -> Result<String, Failure> {
        let (Some(workflow), Some(phase)) = (&self.workflow, &self.phase) else { return Ok(String::new()) };
        if self.name == "approve" {
            return Ok(format!("Records your approval of phase {phase} of {workflow}, in a new checkpoint."));
        }
        let documents = WorkflowDocuments::read(&site.program, workflow)?;
        let phases = documents.borrowed().show.get("checkpoint").list("phases");
        let reopened: Vec<String> = phases
            .skip_while(|found| found.word("id") != phase.as_str())
            .filter(|found| found.word("status") != "pending")
            .map(|found| format!("  {} ({})", found.word("id"), found.word("status").replace('_', " ")))
            .collect();
        Ok(format!("Reopens these phases of {workflow}, in a new checkpoint:\n{}", reopened.join("\n")))
    }
}
