//! The JSON Schemas of all documents that this program writes, and validation.
//!
//! Compiling a schema takes longer than a save, so a save does not validate: the types guarantee valid documents, and
//! tests check it.

use std::sync::LazyLock;

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
    "ckpt.show.v1",
    "ckpt.diff.v1",
    "ckpt.rollback.v1",
    "ckpt.archive.v1",
    "ckpt.restore.v1",
    "ckpt.verify.v1",
    "ckpt.cleanup.v1",
    "ckpt.stats.v1",
    "ckpt.import.v1",
    "ckpt.export.v1",
    "ckpt.migrate.v1",
    "ckpt.pipelines.v1",
    "ckpt.pipeline.v1",
    "ckpt.init.v1",
    "ckpt.schema.v1",
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

/// Returns the violations of an embedded schema; none if there is no such schema.
#[must_use]
pub fn violations(name: &str, document: &Value) -> Vec<Violation> {
    let Some(schema) = find(name).and_then(|schema| serde_json::from_str(schema.text).ok()) else {
        return Vec::new();
    };
    validate(&schema, document).unwrap_or_default()
}

/// Returns the violations of `schema`.
///
/// # Errors
/// The schema is invalid, or refers to another document: nothing is ever fetched.
pub fn validate(schema: &Value, document: &Value) -> Result<Vec<Violation>, String> {
    Ok(Validator::compile(schema)?.violations(document))
}

/// A compiled schema.
#[derive(Debug)]
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Compiles an embedded schema; `None` if there is no such schema.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let schema = serde_json::from_str(find(name)?.text).ok()?;
        Self::compile(&schema).ok()
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
    /// It is invalid, or refers to another document: nothing is ever fetched.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema).map(Self).map_err(|error| error.to_string())
    }

    /// Returns all violations in `document`.
    #[must_use]
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        let violation = |error: jsonschema::ValidationError<'_>| Violation {
            pointer: error.instance_path().to_string(),
            message: brief(error.to_string()),
        };
        self.0.iter_errors(document).map(violation).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_schema_is_a_valid_2020_12_schema_with_its_name_in_it() {
        for schema in ALL {
            let parsed: Value = serde_json::from_str(schema.text).unwrap();
            assert_eq!(parsed["$schema"], "https://json-schema.org/draft/2020-12/schema", "{}", schema.name);
            assert!(parsed["$id"].as_str().unwrap().ends_with(schema.name), "{}", schema.name);
            jsonschema::draft202012::meta::validate(&parsed)
                .unwrap_or_else(|e| panic!("{}: {e}", schema.name));
        }
    }

    #[test]
    fn short_names_find_schemas() {
        assert_eq!(find("checkpoint").unwrap().name, "checkpoint.v1");
        assert_eq!(find("list").unwrap().name, "ckpt.list.v1");
        assert_eq!(find("ckpt.list.v1").unwrap().name, "ckpt.list.v1");
        assert!(find("nope").is_none());
    }

    #[test]
    fn all_violations_are_reported_and_long_values_are_cut() {
        let found = violations(CHECKPOINT, &json!({"version": 1, "seq": "x".repeat(5000)}));
        assert!(found.iter().any(|v| v.pointer == "/version"));
        assert!(found.iter().any(|v| v.pointer == "/seq" && v.message.len() < 300));
        assert!(found.len() > 3);
    }

    #[test]
    fn a_schema_never_fetches() {
        assert!(validate(&json!({"$ref": "http://localhost:1/x"}), &json!(1)).is_err());
        assert!(validate(&json!({"$ref": "file:///etc/passwd"}), &json!(1)).is_err());
    }
}
