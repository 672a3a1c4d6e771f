//! The prompt `resume`, which a person picks: the brief, with the request to continue.

use serde_json::{Map, Value, json};

use super::message::RpcError;
use crate::cli::commands::brief::{DEFAULT_TOKENS, brief};
use crate::cli::session::Session;
use crate::cli::views::brief::BriefReport;

const DESCRIPTION: &str = "Continue unfinished work where its last checkpoint left it";

/// Returns the answer to `prompts/list`.
pub(super) fn list() -> Value {
    let id = json!({"name": "id", "description": "The workflow; all unfinished work if not given", "required": false});
    json!({"prompts": [{"name": "resume", "description": DESCRIPTION, "arguments": [id]}]})
}

/// Returns the answer to `prompts/get`.
pub(super) fn get(session: &Session, params: &Map<String, Value>) -> Result<Value, RpcError> {
    if params.get("name").and_then(Value::as_str) != Some("resume") {
        return Err(RpcError::invalid_params("there is one prompt: `resume`"));
    }
    let id = params.get("arguments").and_then(|arguments| arguments.get("id")).and_then(Value::as_str);
    let report = session
        .with_current_time()
        .and_then(|session| brief(&session, id.filter(|id| !id.is_empty()), DEFAULT_TOKENS))
        .unwrap_or_else(|failure| BriefReport::of_failure(&failure.message, DEFAULT_TOKENS));
    let text = match report.text.trim_end() {
        "" => "No work is unfinished. Say so.".to_owned(),
        text => format!("Continue this work.\n\n{text}"),
    };
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    Ok(json!({"description": DESCRIPTION, "messages": [message]}))
}
