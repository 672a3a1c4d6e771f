//! The three tools. Their answers are the reports of the commands, without the members that are null or empty.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::document::document;
use super::message::{Answer, RpcError, ToolAnswer};
use crate::cli::caller::{Caller, agent};
use crate::cli::commands::{brief, diff, resume, save, show};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::session::Session;
use crate::cli::views::context::ContextReport;
use crate::cli::views::resume::ResumeReport;

/// The description of the tools. An agent pays for every word of it, so a test counts them.
const TOOLS: &str = include_str!("tools.json");

/// Returns the answer to `tools/list`.
pub(super) fn list() -> Value {
    serde_json::from_str(TOOLS).unwrap_or_default()
}

/// Runs a tool. What the command refuses is an answer, which the model can act on; only a call that names no tool, or has
/// arguments that are not an object, is an error of the protocol.
///
/// `caller` is the agent by its own account; its variables say more, if they are set.
pub(super) fn call(
    session: &Session,
    caller: Option<Caller>,
    mut params: Map<String, Value>,
) -> Result<Answer, RpcError> {
    let arguments = match params.remove("arguments") {
        Some(Value::Object(arguments)) => arguments,
        None | Some(Value::Null) => Map::new(),
        Some(_) => return Err(RpcError::invalid_params("`arguments` must be an object")),
    };
    let tool = match params.get("name").and_then(Value::as_str) {
        Some("save") => save_tool,
        Some("resume") => resume_tool,
        Some("show") => show_tool,
        Some(name) => return Err(RpcError::invalid_params(format!("there is no tool {name:?}"))),
        None => return Err(RpcError::invalid_params("`name` must be the name of a tool")),
    };
    let outcome = session.with_current_time().and_then(|mut session| {
        if caller.is_some() && agent(&session.env).is_none() {
            session.env.agent = caller;
        }
        tool(&session, Arguments(arguments))
    });
    let is_error = outcome.is_err();
    let document = outcome.or_else(|failure| to_raw_value(&failure)).unwrap_or_default();
    Ok(Answer::Tool(ToolAnswer { document, is_error }))
}

fn save_tool(session: &Session, mut arguments: Arguments) -> Result<Box<RawValue>, Failure> {
    let id = arguments.text("id")?.map(|id| id.parse()).transpose()?;
    let report = save::save_document(session, id.as_ref(), Value::Object(arguments.0));
    let report = report.map_err(|failure| match failure.code {
        ErrorCode::NoWorkflow => Failure::new(ErrorCode::NoWorkflow, failure.message)
            .help("`id` is the workflow, such as 042; a new one begins with its first save"),
        _ => failure,
    });
    document(&report?)
}

fn resume_tool(session: &Session, mut arguments: Arguments) -> Result<Box<RawValue>, Failure> {
    let id = arguments.text("id")?;
    let with_context = arguments.flag("context")?;
    arguments.end("`id` and `context`")?;
    let Some(id) = id else {
        return document(&brief::brief(session, None, brief::DEFAULT_TOKENS)?);
    };
    let (workspace, judgement) = resume::judge(session, &id)?;
    if with_context {
        return document(&ContextReport::new(&judgement, &workspace.store));
    }
    document(&ResumeReport::new(&judgement))
}

fn show_tool(session: &Session, mut arguments: Arguments) -> Result<Box<RawValue>, Failure> {
    let selector = arguments.text("selector")?;
    let against = arguments.text("against")?;
    arguments.end("`selector` and `against`")?;
    let selector = selector.ok_or_else(|| {
        Failure::new(ErrorCode::NoCheckpointNamed, "no checkpoint was named")
            .help("`selector` is a workflow such as 042, or a checkpoint such as 042/7")
    })?;
    match against {
        Some(against) => document(&diff::compare(session, &selector.parse()?, Some(&against.parse()?))?),
        None => document(&show::whole(session, &selector.parse()?)?),
    }
}

/// The arguments of a call, taken one by one.
struct Arguments(Map<String, Value>);

impl Arguments {
    fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // Models write ids such as 042 as numbers.
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(Failure::new(ErrorCode::Usage, format!("`{name}` must be a text"))),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Failure::new(ErrorCode::Usage, format!("`{name}` must be true or false"))),
        }
    }

    /// Refuses what is left: an argument that is passed over would be missed.
    fn end(&self, known: &str) -> Result<(), Failure> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Failure::new(ErrorCode::Usage, format!("there is no argument `{name}`"))
                .help(format!("the arguments are {known}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tools_costs_at_most_450_tokens() {
        let list = list();
        let names: Vec<_> = list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["save", "resume", "show"]);
        let tokens = list.to_string().len() / 4;
        assert!(tokens <= 450, "{tokens} tokens");
    }

    #[test]
    fn every_tool_says_that_it_destroys_nothing_and_stays_on_this_machine() {
        for tool in list()["tools"].as_array().unwrap() {
            let hints = &tool["annotations"];
            assert_eq!(hints["destructiveHint"], false, "{tool}");
            assert_eq!(hints["openWorldHint"], false, "{tool}");
            assert_eq!(hints["readOnlyHint"], tool["name"] != "save", "{tool}");
        }
    }
}
