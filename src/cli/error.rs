//! Failures: errors as the user sees them, with code, message, help lines and exit code.
//!
//! The errors of `core` are data. Each area has one exhaustive match here that turns its errors into failures.

mod code;
mod files;
mod names;
mod save;
mod settings;
mod store;
mod sync;

pub use code::ErrorCode;
pub(crate) use names::SELECTOR_GRAMMAR;

use std::fmt::Display;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::escape::inline;
use super::exit::Exit;
use super::words::left_out;
use ckpt_model::Handle;
use ckpt_model::schema::Violation;

/// A failure. Serialises to `ckpt.error.v1`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Failure {
    format: &'static str,
    pub(crate) code: ErrorCode,
    exit_code: u8,
    /// Lower case, no full stop.
    pub(crate) message: String,
    /// Things to type or to do.
    pub(crate) help: Vec<String>,
    /// True if the same call may succeed later.
    retryable: bool,
    pub(crate) context: Map<String, Value>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            format: "ckpt.error.v1",
            code,
            exit_code: code.exit().code(),
            message: inline_lines(&message.into()),
            help: Vec::new(),
            retryable: false,
            context: Map::new(),
        }
    }

    /// The failure of a command whose plan is not the expected one. `again` shows the plan of today.
    pub(crate) fn plan_changed(plan: String, again: &str) -> Self {
        Self::new(ErrorCode::PlanChanged, format!("the plan is `{plan}`, not the expected one"))
            .context("plan", plan)
            .help(format!("look again with `{again}`, and give the plan that it prints"))
    }

    pub(crate) fn exit(&self) -> Exit {
        self.code.exit()
    }

    /// Adds a line of help.
    pub(crate) fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(inline(&line.into()).into_owned());
        self
    }

    /// Offers a command line that can be typed instead, before all other help.
    pub(crate) fn instead(mut self, line: String) -> Self {
        self.help.insert(0, inline(&line).into_owned());
        self.context("command", line)
    }

    fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Adds a member to `context`, for programs.
    pub(crate) fn context(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.insert(key.to_owned(), value.into());
        self
    }

    fn at_path(self, path: &Path) -> Self {
        self.context("path", path.display().to_string())
    }

    fn about(self, handle: &Handle) -> Self {
        self.context("handle", handle.to_string())
    }

    fn violations(mut self, violations: &[Violation]) -> Self {
        const MOST_LINES: usize = 20;
        for Violation { pointer, message } in violations.iter().take(MOST_LINES) {
            let place = if pointer.is_empty() { "the document" } else { pointer };
            self.message.push_str(&format!("\n{}: {}", inline(place), inline(message)));
        }
        if let Some(more) = left_out(violations.len(), MOST_LINES) {
            self.message.push_str(&format!("\n... and {more} more"));
        }
        self.context("violations", json!(violations))
    }
}

/// Escapes each line of a message. Messages may have several lines.
fn inline_lines(text: &str) -> String {
    text.split('\n').map(inline).collect::<Vec<_>>().join("\n")
}

fn quoted<T: Display>(names: &[T]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

const USE_NEWER: &str = "use the version of ckpt that wrote it, or a newer one";
