//! The JSON Schemas of everything this program writes, and validation against them.
//!
//! Compiling a schema costs more than a whole save. So nothing on the way of a save comes here: what is written is
//! valid by construction of the types, and tests check that it is.

use std::sync::LazyLock;

use serde_json::Value;

/// The schema of a checkpoint file.
pub const CHECKPOINT: &str = "checkpoint.v1";
/// The schema of a document for `save --from`.
pub const SAVE_INPUT: &str = "save-input.v1";

/// A schema that the program carries.
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

/// All of them.
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

/// One way in which a document breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// The JSON pointer of the place.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// Everything that is wrong with `document` by the schema of that name; nothing if there is no such schema.
#[must_use]
pub fn violations(name: &str, document: &Value) -> Vec<Violation> {
    let Some(schema) = find(name).and_then(|schema| serde_json::from_str(schema.text).ok()) else {
        return Vec::new();
    };
    validate(&schema, document).unwrap_or_default()
}

/// Everything that is wrong with `document` by a schema that somebody supplied.
///
/// # Errors
/// Says why the schema itself is none. It never fetches anything: a reference to another document is an error.
pub fn validate(schema: &Value, document: &Value) -> Result<Vec<Violation>, String> {
    Ok(Validator::compile(schema)?.violations(document))
}

/// A schema that has been compiled, for many documents.
#[derive(Debug)]
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Compiles the schema of that name; none if there is no such schema.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let schema = serde_json::from_str(find(name)?.text).ok()?;
        Self::compile(&schema).ok()
    }

    /// The schema of a checkpoint file, compiled when it is first asked for, and only once.
    #[must_use]
    pub fn of_checkpoints() -> Option<&'static Self> {
        static COMPILED: LazyLock<Option<Validator>> = LazyLock::new(|| Validator::named(CHECKPOINT));
        COMPILED.as_ref()
    }

    /// Compiles a schema that somebody supplied.
    ///
    /// # Errors
    /// Says why it is none. It never fetches anything: a reference to another document is an error.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema).map(Self).map_err(|error| error.to_string())
    }

    /// Everything that is wrong with `document`.
    #[must_use]
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        let violation = |error: jsonschema::ValidationError<'_>| Violation {
            pointer: error.instance_path().to_string(),
            message: brief(error.to_string()),
        };
        self.0.iter_errors(document).map(violation).collect()
    }
}

/// Cuts a message that quotes a large value.
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
