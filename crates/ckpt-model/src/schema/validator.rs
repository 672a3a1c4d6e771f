//! Validation, paid from a budget.

use std::sync::LazyLock;

use jsonschema::Draft;
use serde_json::{Value, json};

use super::{CHECKPOINT, UnusableSchema, Violation, allowed, brief, find};

/// The most violations that are listed.
pub const MAX_VIOLATIONS: usize = 100;

/// Up to this number of steps, violations are listed. A validator keeps all of them in memory.
const MAX_LISTED_STEPS: u64 = 200_000;

/// The steps of compiling a schema. It takes longer than to validate a small document.
const COMPILE_STEPS: u64 = 100_000;

/// The things that our own schemas count as: they look at most values with a few keywords.
const EMBEDDED_SIZE: u64 = 16;

/// A budget of steps. A step is about one keyword of a schema at one value of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps(u64);

impl Default for Steps {
    /// The budget of one command: a few seconds.
    fn default() -> Self {
        Self(100_000_000)
    }
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the check would take too many steps")]
pub struct OutOfSteps;

impl Steps {
    /// Takes steps from the budget.
    ///
    /// # Errors
    /// There are not enough left.
    pub fn take(&mut self, steps: u64) -> Result<(), OutOfSteps> {
        self.0 = self.0.checked_sub(steps).ok_or(OutOfSteps)?;
        Ok(())
    }
}

/// Returns the violations of an embedded schema; none if there is no such schema.
#[must_use]
pub fn violations(name: &str, document: &Value) -> Vec<Violation> {
    let Some(validator) = Validator::named(name) else { return Vec::new() };
    let violations = validator.violations(document, &mut Steps::default());
    violations.unwrap_or_else(|error| vec![Violation { pointer: String::new(), message: error.to_string() }])
}

/// Returns violations of the schema of a project, at most [`MAX_VIOLATIONS`].
///
/// # Errors
/// The schema cannot be used, or the check would take too long.
pub fn validate(schema: &Value, document: &Value, steps: &mut Steps) -> Result<Vec<Violation>, UnusableSchema> {
    Ok(Validator::compile(schema, steps)?.violations(document, steps)?)
}

/// A compiled schema.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
    size: u64,
    has_alternatives: bool,
    is_embedded: bool,
}

impl Validator {
    /// Compiles an embedded schema; `None` if there is no such schema.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let schema: Value = serde_json::from_str(find(name)?.text).ok()?;
        let id = schema["$id"].as_str()?;
        let registry = jsonschema::Registry::new().add(id, &schema).ok()?.prepare().ok()?;
        // What is compiled is checked against the schema of schemas first, and to compile the one of 2020-12 takes longer than
        // everything else here. That ours are valid is tested, so one that only refers to them is compiled, by older rules.
        let options = jsonschema::options()
            .with_draft(Draft::Draft7)
            .with_registry(&registry)
            .with_pattern_options(allowed::patterns());
        let compiled = options.build(&json!({"$ref": id})).ok()?;
        Some(Self { compiled, size: EMBEDDED_SIZE, has_alternatives: true, is_embedded: true })
    }

    /// Returns the schema of a checkpoint file, compiled once.
    #[must_use]
    pub fn of_checkpoints() -> Option<&'static Self> {
        static COMPILED: LazyLock<Option<Validator>> = LazyLock::new(|| Validator::named(CHECKPOINT));
        COMPILED.as_ref()
    }

    /// Compiles the schema of a project. It is read by the rules of draft 2020-12, whatever its `$schema` is.
    ///
    /// # Errors
    /// It is invalid, too large, or uses a keyword that does not work.
    pub fn compile(schema: &Value, steps: &mut Steps) -> Result<Self, UnusableSchema> {
        let extent = allowed::measure(schema)?;
        steps.take(COMPILE_STEPS)?;
        let mut schema = schema.clone();
        if let Value::Object(keywords) = &mut schema {
            keywords.shift_remove("$id");
            keywords.shift_remove("$schema");
        }
        let compiled = allowed::options().build(&schema).map_err(|error| UnusableSchema {
            pointer: error.instance_path().to_string(),
            reason: brief(error.to_string()),
        })?;
        let allowed::Extent { size, has_alternatives, .. } = extent;
        Ok(Self { compiled, size, has_alternatives, is_embedded: false })
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
        let work = allowed::size(document).saturating_mul(self.size);
        steps.take(work)?;
        // Nearly all are valid, and that is told without collecting what is wrong.
        if self.compiled.is_valid(document) {
            return Ok(Vec::new());
        }
        let violation = |error: jsonschema::ValidationError<'_>| Violation {
            pointer: error.instance_path().to_string(),
            message: brief(error.to_string()),
        };
        if work <= MAX_LISTED_STEPS {
            return Ok(self.compiled.iter_errors(document).take(MAX_VIOLATIONS).map(violation).collect());
        }
        if self.has_alternatives {
            let message = "does not match, and is too large to tell where".to_owned();
            return Ok(vec![Violation { pointer: String::new(), message }]);
        }
        Ok(self.compiled.validate(document).err().map(violation).into_iter().collect())
    }
}
