//! The JSON Schemas of all documents that this program writes, and validation.
//!
//! Compiling a schema takes longer than a save, so a save does not validate: the types guarantee valid documents, and
//! tests check it.
//!
//! A pipeline may have schemas of its own, for the data of a phase and for its outputs. They come from the settings or
//! the checkpoints of a project that may be somebody else's, so only a subset (`allowed`) of JSON Schema works in them.

mod allowed;
#[cfg(test)]
mod tests;
mod validator;

pub use validator::{MAX_VIOLATIONS, OutOfSteps, Steps, Validator, validate, violations};

use serde_json::Value;

/// The schema of a checkpoint file.
pub const CHECKPOINT: &str = "checkpoint.v1";

/// An embedded schema.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Its name: `checkpoint.v1`, `ckpt.list.v1`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$( Schema { name: $name, text: include_str!(concat!("../../../schemas/", $name, ".json")) } ),*]
    };
}

/// All embedded schemas.
pub const ALL: &[Schema] = &embedded![
    "checkpoint.v1",
    "save-input.v1",
    "ckpt.save.v1",
    "ckpt.resume.v1",
    "ckpt.context.v1",
    "ckpt.brief.v1",
    "ckpt.status.v1",
    "ckpt.list.v1",
    "ckpt.log.v1",
    "ckpt.show.v1",
    "ckpt.diff.v1",
    "ckpt.rollback.v1",
    "ckpt.fork.v1",
    "ckpt.merge.v1",
    "ckpt.archive.v1",
    "ckpt.restore.v1",
    "ckpt.verify.v1",
    "ckpt.cleanup.v1",
    "ckpt.remote-cleanup.v1",
    "ckpt.stats.v1",
    "ckpt.remote.v1",
    "ckpt.report.v1",
    "ckpt.ui.v1",
    "ckpt.import.v1",
    "ckpt.export.v1",
    "ckpt.pipelines.v1",
    "ckpt.pipeline.v1",
    "ckpt.init.v1",
    "ckpt.setup.v1",
    "ckpt.setup-check.v1",
    "ckpt.doctor.v1",
    "ckpt.schema.v1",
    "ckpt.sync.v1",
    "ckpt.text.v1",
    "ckpt.error.v1",
];

/// Finds a schema by its name; `checkpoint` is enough for `checkpoint.v1`, `list` for `ckpt.list.v1`.
#[must_use]
pub fn find(name: &str) -> Option<Schema> {
    let base = |full: &'static str| full.strip_prefix("ckpt.").unwrap_or(full);
    let exact = ALL.iter().copied().find(|schema| schema.name == name || base(schema.name) == name);
    exact.or_else(|| ALL.iter().copied().find(|schema| base(schema.name).split('.').next() == Some(name)))
}

/// A place where a document does not match its schema.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// The JSON pointer.
    pub pointer: String,
    /// The problem.
    pub message: String,
}

/// A schema that cannot be used, or a document that would take too long to check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", if pointer.is_empty() { String::new() } else { format!(" (at {})", brief(pointer.clone())) })]
pub struct UnusableSchema {
    /// The JSON pointer of the place in the schema.
    pub pointer: String,
    /// The problem.
    pub reason: String,
}

impl From<OutOfSteps> for UnusableSchema {
    fn from(error: OutOfSteps) -> Self {
        Self { pointer: String::new(), reason: error.to_string() }
    }
}

/// Checks that a schema of a project uses only what works. Values of keywords, other than patterns, are not checked.
///
/// # Errors
/// It uses something else, or is too large.
pub fn check(schema: &Value) -> Result<(), UnusableSchema> {
    allowed::measure(schema).map(|_| ())
}

/// Shortens a message that quotes a large value.
fn brief(mut message: String) -> String {
    const LONGEST: usize = 200;
    if message.len() > LONGEST {
        let head: String = message.chars().take(LONGEST / 2).collect();
        let tail: Vec<char> = message.chars().rev().take(LONGEST / 2).collect();
        message = format!("{head} ... {}", tail.into_iter().rev().collect::<String>());
    }
    message
}
