//! Errors of ids, names, selectors and triggers.

use super::{ErrorCode, Failure};
use crate::cli::escape::inline;
use ckpt_model::name::InvalidName;
use ckpt_model::selector::SelectorError;
use ckpt_model::trigger::UnknownTrigger;
use ckpt_model::workflow_id::{InvalidId, WorkflowId};

/// Explains how a checkpoint is named.
pub(crate) const SELECTOR_GRAMMAR: &str =
    "write `042` for the newest, `042/7` for that one, `042~1` for the one before the newest";

impl From<InvalidId> for Failure {
    fn from(error: InvalidId) -> Self {
        let message = format!("`{}` is not a workflow id: {}", shortened(&error.given), error.reason);
        let failure = Self::new(ErrorCode::InvalidId, message);
        // A handle or selector where a workflow id is expected.
        let (workflow, behind) = error.given.split_once(['/', '~', ':', '@', '#']).unwrap_or_default();
        if workflow.parse::<WorkflowId>().is_ok() && behind.parse::<u64>().is_ok() {
            return failure.help(format!("it names a checkpoint; the workflow is `{workflow}`"));
        }
        match &error.suggestion {
            Some(suggestion) => failure
                .help(format!("the nearest legal id is `{suggestion}`"))
                .context("suggestion", suggestion.as_str()),
            None => failure.help("use letters, digits, `.`, `_` and `-`, such as `oauth-integration`"),
        }
    }
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Self {
        Self::new(ErrorCode::InvalidName, error.to_string())
    }
}

impl From<UnknownTrigger> for Failure {
    fn from(error: UnknownTrigger) -> Self {
        Self::new(ErrorCode::UnknownTrigger, error.to_string())
    }
}

/// Returns a text that was typed, cut to a length that fits into a message.
fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(80).collect();
    let cut = if shown.len() < text.len() { "..." } else { "" };
    format!("{}{cut}", inline(&shown))
}

impl From<SelectorError> for Failure {
    fn from(error: SelectorError) -> Self {
        let help = match error {
            SelectorError::Id(invalid) => return invalid.into(),
            SelectorError::NotAHandle(_) => "write the id and the number of the checkpoint: `042/7`",
            SelectorError::Number(_) | SelectorError::Back(_) | SelectorError::Notation(_) => SELECTOR_GRAMMAR,
        };
        let error = match error {
            SelectorError::Number(text) => SelectorError::Number(shortened(&text)),
            SelectorError::Back(text) => SelectorError::Back(shortened(&text)),
            SelectorError::Notation(text) => SelectorError::Notation(shortened(&text)),
            other => other,
        };
        Self::new(ErrorCode::InvalidSelector, error.to_string()).help(help)
    }
}
