//! The JSON Schemas of all documents that this program writes, and validation.
//!
//! Compiling a schema takes longer than a save, so a save does not validate: the types guarantee valid documents, and
//! tests check it.
//!
//! A pipeline may have schemas of its own, for the data of a phase and for its outputs. They come from the settings or
//! the checkpoints of a project that may be somebody else's, so their work is limited: their [size], the
//! [graph] of their references, their [patterns](pattern), and the [steps] that a document takes.

mod build;
mod graph;
mod pattern;
mod size;
mod steps;
#[cfg(test)]
mod tests;

pub use steps::{OutOfSteps, Steps};

use std::sync::LazyLock;

use jsonschema::PatternOptions;
use serde_json::{Value, json};

use graph::Graph;

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
        [$( Schema { name: $name, text: include_str!(concat!("../../schemas/", $name, ".json")) } ),*]
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

/// Returns the violations of an embedded schema; none if there is no such schema.
#[must_use]
pub fn violations(name: &str, document: &Value) -> Vec<Violation> {
    let Some(validator) = Validator::named(name) else { return Vec::new() };
    let violations = validator.violations(document, &mut Steps::default());
    violations.unwrap_or_else(|error| vec![Violation { pointer: String::new(), message: error.to_string() }])
}

/// Returns violations of `schema`, at most [`MAX_VIOLATIONS`]. The check is paid from a budget.
///
/// # Errors
/// The schema is invalid, too large or refers to another document, or the check would take too long.
pub fn validate(
    schema: &Value,
    document: &Value,
    steps: &mut Steps,
) -> Result<Vec<Violation>, UnusableSchema> {
    Ok(Validator::compile(schema)?.violations(document, steps)?)
}

/// Checks that a schema can be used without much work, whatever the document is. Its keywords are not checked.
///
/// # Errors
/// It is too large, refers to another document, or multiplies its own subschemas.
pub fn check(schema: &Value) -> Result<(), UnusableSchema> {
    Graph::of(schema).map(|_| ())
}

/// The most violations that are listed.
pub const MAX_VIOLATIONS: usize = 100;

/// Up to this number of steps, violations are listed. A validator keeps all of them in memory.
const MAX_LISTED_STEPS: u64 = 100_000;

/// The memory of a compiled pattern, in bytes.
const MAX_PATTERN_MEMORY: usize = 4 << 20;

/// A compiled schema.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
    graph: Graph,
    /// True if the schema is one of ours, which take a few steps per value.
    is_embedded: bool,
}

impl Validator {
    /// Compiles an embedded schema; `None` if there is no such schema.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let schema: Value = serde_json::from_str(find(name)?.text).ok()?;
        let id = schema["$id"].as_str()?;
        let registry = jsonschema::Registry::new().add(id, &schema).ok()?.prepare().ok()?;
        // What is compiled is checked against the schema of schemas first, and to compile that of 2020-12 takes longer than
        // everything else here. That ours are valid is tested, so one that only refers to them is compiled, by older rules.
        let options = jsonschema::options().with_draft(jsonschema::Draft::Draft7).with_registry(&registry);
        let validator = Self::build(options, &json!({"$ref": id}), Graph::of(&schema).ok()?).ok()?;
        Some(Self { is_embedded: true, ..validator })
    }

    /// Returns the schema of a checkpoint file, compiled once.
    #[must_use]
    pub fn of_checkpoints() -> Option<&'static Self> {
        static COMPILED: LazyLock<Option<Validator>> = LazyLock::new(|| Validator::named(CHECKPOINT));
        COMPILED.as_ref()
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// It is invalid, too large, or refers to another document: nothing is ever fetched.
    pub fn compile(schema: &Value) -> Result<Self, UnusableSchema> {
        Self::build(jsonschema::options(), schema, Graph::of(schema)?)
    }

    fn build(
        options: jsonschema::ValidationOptions<'_>,
        schema: &Value,
        graph: Graph,
    ) -> Result<Self, UnusableSchema> {
        // Matched in linear time, unlike the default.
        let patterns =
            PatternOptions::regex().size_limit(MAX_PATTERN_MEMORY).dfa_size_limit(MAX_PATTERN_MEMORY);
        let compiled = options.with_pattern_options(patterns).build(schema).map_err(|error| {
            UnusableSchema { pointer: error.instance_path().to_string(), reason: brief(error.to_string()) }
        })?;
        Ok(Self { compiled, graph, is_embedded: false })
    }

    /// Returns violations in `document`: at most [`MAX_VIOLATIONS`], and only one if the document is large. The check is
    /// paid from a budget, except for a document that follows an embedded schema.
    ///
    /// # Errors
    /// The check would take too long.
    pub fn violations(&self, document: &Value, steps: &mut Steps) -> Result<Vec<Violation>, OutOfSteps> {
        if self.is_embedded && self.compiled.is_valid(document) {
            return Ok(Vec::new());
        }
        let before = *steps;
        self.graph.charge(document, steps)?;
        // Nearly all are valid, and that is told without collecting what is wrong.
        if self.compiled.is_valid(document) {
            return Ok(Vec::new());
        }
        let violation = |error: jsonschema::ValidationError<'_>| Violation {
            pointer: error.instance_path().to_string(),
            message: brief(error.to_string()),
        };
        if steps.since(before) <= MAX_LISTED_STEPS {
            return Ok(self.compiled.iter_errors(document).take(MAX_VIOLATIONS).map(violation).collect());
        }
        if self.graph.has_alternatives() {
            let message = "does not match, and is too large to tell where".to_owned();
            return Ok(vec![Violation { pointer: String::new(), message }]);
        }
        Ok(self.compiled.validate(document).err().map(violation).into_iter().collect())
    }
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
