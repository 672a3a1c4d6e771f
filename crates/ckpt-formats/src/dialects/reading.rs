//! The result of reading a foreign checkpoint.

use serde_json::Value;

use super::dialect::Dialect;
use super::draft::Draft;
use ckpt_model::checkpoint::Content;
use ckpt_model::finding::Finding;

/// The JSON values of the files that make up one checkpoint in a dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct DialectFiles {
    /// The checkpoint file itself.
    pub main: Value,
    /// The second file of some dialects: the tasks of dotagent, the index entry of crunch.
    pub companion: Option<Value>,
}

impl DialectFiles {
    /// Returns the files of a dialect that has one.
    pub(super) fn single(main: Value) -> Self {
        Self { main, companion: None }
    }
}

/// A foreign checkpoint as a draft, with the origin of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The dialect that it was read as.
    pub dialect: Dialect,
    /// Its content.
    pub draft: Draft,
    /// Where each value of the draft was found.
    pub origins: Vec<Origin>,
    /// Contradictions, and values that could not be interpreted.
    pub findings: Vec<Finding>,
}

/// The place in a foreign document where a value of a draft was found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// The name of the value: `phase`, `status`, `phases/build/status`.
    pub fact: String,
    /// The value as it was interpreted.
    pub value: String,
    /// A JSON pointer, or a line number.
    pub from: String,
}

impl Reading {
    /// True if it has anything to do with work in phases. A status alone does not, and neither does a time: many files
    /// have one. `import` and `resume --file` both refuse everything else.
    #[must_use]
    pub fn is_about_work(&self) -> bool {
        let Draft { content, idle, mentions_work, workflow, recorded_at, .. } = &self.draft;
        let Content { phases, tasks, next, phase, .. } = content;
        let has_status = self.origins.iter().any(|origin| origin.fact == "status");
        !phases.is_empty()
            || !tasks.is_empty()
            || next.is_some()
            || phase.is_some()
            || *idle
            || *mentions_work
            || (has_status && (workflow.is_some() || recorded_at.is_some()))
    }
}
