//! The resources: `ckpt://workflow/ID` is everything that an agent must reload to continue a workflow.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::document::document;
use super::message::{RpcCode, RpcError};
use super::server::Era;

use crate::cli::commands::resume;
use crate::cli::commands::unfinished::Selection;
use crate::cli::error::Failure;
use crate::cli::session::Session;
use crate::cli::views::context::ContextReport;

const PREFIX: &str = "ckpt://workflow/";
const MIME_TYPE: &str = "application/json";
/// A client shows them to a person, who looks at the newest; any other can be named.
const MOST_LISTED: usize = 100;
/// The characters of an id that are escaped in a URI.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns the answer to `resources/list`: the live workflows, the newest first. Without a store there are none.
pub(super) fn list(session: &Session) -> Value {
    let found = session.store().and_then(|store| {
        Selection::scan(session, &store, MOST_LISTED, |workflow| !workflow.archived && workflow.head.is_ok())
    });
    let ids = found.map(|selection| selection.ids()).unwrap_or_default();
    let resources: Vec<Value> = ids
        .iter()
        .map(|id| {
            let uri = format!("{PREFIX}{}", utf8_percent_encode(id.as_str(), RESERVED));
            json!({"uri": uri, "name": id.as_str(), "mimeType": MIME_TYPE})
        })
        .collect();
    json!({"resources": resources})
}

/// Returns the answer to `resources/templates/list`.
pub(super) fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": format!("{PREFIX}{{id}}"),
        "name": "workflow",
        "description": "Where a workflow stands, and what to reload to continue it",
        "mimeType": MIME_TYPE,
    }]})
}

/// Returns the answer to `resources/read`.
pub(super) fn read(session: &Session, params: &Map<String, Value>, era: Era) -> Result<Value, RpcError> {
    let Some(uri) = params.get("uri").and_then(Value::as_str) else {
        return Err(RpcError::invalid_params("`uri` must be a text"));
    };
    let text = context(session, uri).map_err(|message| {
        let code = match era {
            Era::Handshake => RpcCode::ResourceNotFound,
            Era::Stateless => RpcCode::InvalidParams,
        };
        RpcError { data: Some(json!({"uri": uri})), ..RpcError::new(code, message) }
    })?;
    Ok(json!({"contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": text}]}))
}

/// Returns the context of the workflow that a URI names, or the reason why there is none.
fn context(session: &Session, uri: &str) -> Result<String, String> {
    let id = uri.strip_prefix(PREFIX).ok_or_else(|| format!("a resource is named `{PREFIX}ID`"))?;
    let id = percent_decode_str(id).decode_utf8().map_err(|error| error.to_string())?;
    let said = |failure: Failure| failure.message;
    let session = session.with_current_time().map_err(said)?;
    let (workspace, judgement) = resume::judge(&session, &id).map_err(said)?;
    document(&ContextReport::new(&judgement, &workspace.store)).map(|document| document.get().to_owned()).map_err(said)
}
