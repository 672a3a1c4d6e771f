//! The subset of JSON Schema that a project may use.
//!
//! A validator cannot be interrupted, and a short schema can make it work for years: a definition that refers twice to
//! the next one doubles the work with every definition. So each keyword that works looks at a value once, definitions
//! cannot recurse, and a schema is measured with every `$ref` written out. The work is then at most the
//! [size](Extent) of the schema times the size of the document.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions};
use serde_json::Value;

use super::UnusableSchema;
use crate::json::below;

/// The largest size of a schema.
const MAX_SIZE: u64 = 20_000;
/// The most schemas inside each other, through references as well.
const MAX_LEVELS: usize = 32;
/// The longest JSON pointer to a schema: a validator keeps one per keyword.
const MAX_POINTER: usize = 1 << 10;
/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1000;
/// The memory of a compiled pattern, in bytes: some 400 states, each of which may look at each byte of a text.
const MAX_PATTERN_MEMORY: usize = 32 << 10;
/// The size of a pattern in a schema.
const PATTERN_SIZE: u64 = 100;

/// The parts of a keyword's value.
#[derive(Debug, Clone, Copy)]
enum Takes {
    /// A value that documents are compared with.
    Value,
    /// A regular expression.
    Pattern,
    /// A schema.
    Schema,
    /// A list of schemas.
    List,
    /// Schemas by the names of members.
    Members,
    /// Schemas by the names that references use; only at the root.
    Definitions,
    /// The name of a definition.
    Reference,
    /// A note, which has no effect.
    Note,
    /// A note about the whole schema; only at the root.
    RootNote,
}

use Takes::{Definitions, List, Members, Note, Pattern, Reference, RootNote, Schema, Value as Plain};

/// The keywords that work.
const KEYWORDS: [(Takes, &[&str]); 10] = [
    (Plain, &["type", "enum", "const", "required", "minProperties", "maxProperties", "minItems", "maxItems"]),
    (Plain, &["minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
    (Pattern, &["pattern"]),
    (Members, &["properties"]),
    (Schema, &["additionalProperties", "items", "not"]),
    (List, &["allOf", "anyOf", "oneOf"]),
    (Reference, &["$ref"]),
    (Definitions, &["$defs", "definitions"]),
    (RootNote, &["$schema", "$id"]),
    (Note, &["title", "description", "default", "examples", "format", "deprecated", "$comment"]),
];

/// Returns the names of the keywords that work.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().flat_map(|(_, names)| *names).copied()
}

/// Measures a schema of a project.
///
/// # Errors
/// It uses what does not work, or is too large.
pub(super) fn measure(schema: &Value) -> Result<Extent, UnusableSchema> {
    Measure { root: schema, definitions: HashMap::new() }.schema(schema, "", 0)
}

/// Returns options for patterns that match in linear time, unlike the default.
pub(super) fn patterns() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(MAX_PATTERN_MEMORY).dfa_size_limit(8 * MAX_PATTERN_MEMORY)
}

/// Returns the options that the schema of a project is compiled with.
pub(super) fn options() -> jsonschema::ValidationOptions<'static> {
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(false);
    options.with_pattern_options(patterns())
}

/// The size of a part of a schema, with every `$ref` written out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// The values in it, and eighths of the bytes of their texts.
    pub(super) size: u64,
    /// The schemas inside each other.
    levels: usize,
    /// True with `anyOf` or `oneOf`: a validator explains their failure by the failures of all branches.
    pub(super) has_alternatives: bool,
}

/// Returns the number of values in a value, itself included, and eighths of the bytes of their texts.
pub(super) fn size(value: &Value) -> u64 {
    let text = |text: &str| text.len() as u64 / 8;
    match value {
        Value::String(value) => 1 + text(value),
        Value::Number(number) => 1 + text(number.as_str()),
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.iter().map(|(name, value)| text(name) + size(value)).sum::<u64>(),
        Value::Null | Value::Bool(_) => 1,
    }
}

fn refuse<T>(pointer: &str, reason: impl Into<String>) -> Result<T, UnusableSchema> {
    Err(UnusableSchema { pointer: pointer.to_owned(), reason: reason.into() })
}

fn too_deep<T>(pointer: &str) -> Result<T, UnusableSchema> {
    refuse(pointer, format!("more than {MAX_LEVELS} schemas inside each other"))
}

struct Measure<'a> {
    root: &'a Value,
    /// Each definition is measured once; `None` while that is being done.
    definitions: HashMap<&'a str, Option<Extent>>,
}

impl<'a> Measure<'a> {
    fn schema(&mut self, schema: &'a Value, pointer: &str, depth: usize) -> Result<Extent, UnusableSchema> {
        if pointer.len() > MAX_POINTER {
            return refuse(pointer, format!("a JSON pointer of more than {MAX_POINTER} bytes"));
        }
        if depth >= MAX_LEVELS {
            return too_deep(pointer);
        }
        let mut extent = Extent { size: 1, levels: 1, has_alternatives: false };
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(_) => return Ok(extent),
            _ => return refuse(pointer, "a schema is an object, true or false"),
        };
        for (keyword, value) in keywords {
            let pointer = below(pointer, keyword);
            let part = self.keyword(keyword, value, &pointer, depth)?;
            extent.size += part.size;
            extent.levels = extent.levels.max(1 + part.levels);
            extent.has_alternatives |= part.has_alternatives;
            if extent.size > MAX_SIZE {
                let reason = format!("more than {MAX_SIZE} values with every `$ref` written out");
                return refuse(&pointer, reason);
            }
        }
        Ok(extent)
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'a Value,
        pointer: &str,
        depth: usize,
    ) -> Result<Extent, UnusableSchema> {
        let Some((takes, _)) = KEYWORDS.iter().find(|(_, names)| names.contains(&keyword)) else {
            let names: Vec<&str> = keywords().collect();
            let reason = format!("`{keyword}` is not a keyword that works here: {}", names.join(", "));
            return refuse(pointer, reason);
        };
        if matches!(takes, Definitions | RootNote) && depth > 0 {
            return refuse(pointer, format!("`{keyword}` works only at the root of a schema"));
        }
        let has_alternatives = matches!(keyword, "anyOf" | "oneOf");
        let mut extent = Extent { size: 1, levels: 0, has_alternatives };
        let mut add = |part: Extent| {
            extent.size += part.size;
            extent.levels = extent.levels.max(part.levels);
            extent.has_alternatives |= part.has_alternatives;
        };
        match (takes, value) {
            (Note | RootNote, _) => {}
            (Plain, _) => extent.size = size(value),
            (Pattern, _) => extent.size = pattern(value, pointer)?,
            (Reference, _) => add(self.reference(value, pointer, depth)?),
            (Schema, _) => add(self.schema(value, pointer, depth + 1)?),
            (List, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    add(self.schema(schema, &below(pointer, &index.to_string()), depth + 1)?);
                }
            }
            (Members | Definitions, Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    add(self.schema(schema, &below(pointer, name), depth + 1)?);
                }
            }
            (List, _) => return refuse(pointer, "not a list of schemas"),
            (Members | Definitions, _) => return refuse(pointer, "not an object with schemas"),
        }
        Ok(extent)
    }

    fn reference(&mut self, reference: &'a Value, pointer: &str, depth: usize) -> Result<Extent, UnusableSchema> {
        let reference = reference.as_str().unwrap_or_default();
        let place = reference.strip_prefix("#/").and_then(|place| place.split_once('/'));
        let Some((group @ ("$defs" | "definitions"), name)) = place.filter(|(_, name)| !name.contains(['/', '~', '%']))
        else {
            return refuse(pointer, format!("only references such as `#/$defs/NAME` work, not `{reference}`"));
        };
        let Some(schema) = self.root.get(group).and_then(|definitions| definitions.get(name)) else {
            return refuse(pointer, format!("there is no `{reference}`"));
        };
        let extent = match self.definitions.insert(reference, None) {
            Some(None) => return refuse(pointer, format!("`{reference}` refers to itself")),
            Some(Some(extent)) => extent,
            None => self.schema(schema, &below(&below("", group), name), depth + 1)?,
        };
        self.definitions.insert(reference, Some(extent));
        if depth + 1 + extent.levels > MAX_LEVELS {
            return too_deep(pointer);
        }
        Ok(extent)
    }
}

/// Returns the size of a pattern that works.
fn pattern(value: &Value, pointer: &str) -> Result<u64, UnusableSchema> {
    let Value::String(pattern) = value else { return refuse(pointer, "a pattern is a text") };
    // Classes of thousands of characters, and those that `(?i)` makes, take a millisecond each to be read.
    let has_large_classes = pattern.contains(r"\p") || pattern.contains(r"\P");
    let has_flags = pattern.split("(?").skip(1).any(|group| !group.starts_with([':', '<']));
    if pattern.len() > MAX_PATTERN || has_large_classes || has_flags {
        let reason =
            format!("a pattern has at most {MAX_PATTERN} bytes, no `\\p`, and no group such as `(?i)` or `(?=`");
        return refuse(pointer, reason);
    }
    if options().build(&serde_json::json!({ "pattern": pattern })).is_err() {
        let reason = "the pattern is too large, or has look-around, a back-reference or a mistake";
        return refuse(pointer, reason);
    }
    Ok(PATTERN_SIZE)
}
