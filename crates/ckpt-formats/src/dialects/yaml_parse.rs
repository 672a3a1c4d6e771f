//! Parsing YAML as plain data.
//!
//! Only what JSON can express is accepted: no tags, no anchors and aliases (and so no exponential expansion), no second
//! document, few duplicate keys (the last one counts), no keys but scalars. Scalars follow the core schema of YAML 1.2; numbers keep their
//! digits; any scalar that is not a number, a boolean or null is text, times included.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};
use serde_json::{Map, Number, Value};

use super::document::MAX_SOURCE_DEPTH;
use ckpt_model::json::{InvalidJson, MAX_REPEATED_KEYS, RepeatedKey, is_reserved};

/// Parses one document.
///
/// # Errors
/// Names the place where the text is not YAML, or more than plain data.
pub(super) fn parse(text: &str) -> Result<(Value, Vec<RepeatedKey>), InvalidJson> {
    let mut builder = Builder::default();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| scan_error(&error))?;
        builder.handle(event, span)?;
    }
    let document = builder.document.ok_or_else(|| refuse_at(1, 1, "the file is empty"))?;
    Ok((document, builder.repeated))
}

fn scan_error(error: &ScanError) -> InvalidJson {
    refuse(error.marker(), error.info())
}

fn refuse(at: &Marker, message: impl Into<String>) -> InvalidJson {
    refuse_at(at.line().max(1), at.col() + 1, message)
}

fn refuse_at(line: usize, column: usize, message: impl Into<String>) -> InvalidJson {
    InvalidJson { message: message.into(), line, column }
}

/// Builds the value from parser events. Open containers are kept in a `Vec`, so that deep nesting cannot overflow the
/// call stack.
#[derive(Default)]
struct Builder {
    open: Vec<OpenContainer>,
    document: Option<Value>,
    repeated: Vec<RepeatedKey>,
}

enum OpenContainer {
    Sequence(Vec<Value>),
    Mapping(OpenMapping),
}

#[derive(Default)]
struct OpenMapping {
    members: Map<String, Value>,
    /// The key whose value is next.
    key: Option<String>,
    /// The line of each key.
    lines: HashMap<String, usize>,
}

impl Builder {
    fn handle(&mut self, event: Event<'_>, span: Span) -> Result<(), InvalidJson> {
        let at = &span.start;
        match event {
            Event::DocumentStart(_) if self.document.is_some() => {
                Err(refuse(at, "a second document begins here; there must be one"))
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
            Event::Alias(_) => Err(refuse(at, "aliases are not accepted; write the value out")),
            Event::Scalar(_, _, 1.., _) | Event::SequenceStart(1.., _) | Event::MappingStart(1.., _) => {
                Err(refuse(at, "anchors are not accepted; write the value out"))
            }
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                Err(refuse(at, "tags are not accepted"))
            }
            Event::Scalar(text, style, ..) => {
                if let Some(OpenContainer::Mapping(OpenMapping { key: key @ None, lines, .. })) = self.open.last_mut() {
                    let name = || Value::from(text.as_ref());
                    if is_reserved(&text) {
                        return Err(refuse(at, format!("the key {} is reserved", name())));
                    }
                    let line = at.line().max(1);
                    if let Some(first_line) = lines.insert(text.clone().into_owned(), line) {
                        if self.repeated.len() >= MAX_REPEATED_KEYS {
                            return Err(refuse(at, format!("the key {} is given twice", name())));
                        }
                        self.repeated.push(RepeatedKey { key: text.clone().into_owned(), first_line, line });
                    }
                    *key = Some(text.into_owned());
                    return Ok(());
                }
                self.add(if style == ScalarStyle::Plain { parse_plain(&text) } else { text.into() });
                Ok(())
            }
            Event::SequenceStart(..) => self.enter(OpenContainer::Sequence(Vec::new()), at),
            Event::MappingStart(..) => self.enter(OpenContainer::Mapping(OpenMapping::default()), at),
            Event::SequenceEnd | Event::MappingEnd => {
                match self.open.pop() {
                    Some(OpenContainer::Sequence(items)) => self.add(Value::Array(items)),
                    Some(OpenContainer::Mapping(mapping)) => self.add(Value::Object(mapping.members)),
                    None => {}
                }
                Ok(())
            }
        }
    }

    fn enter(&mut self, open: OpenContainer, at: &Marker) -> Result<(), InvalidJson> {
        if matches!(self.open.last(), Some(OpenContainer::Mapping(OpenMapping { key: None, .. }))) {
            return Err(refuse(at, "a key must be a text or a number"));
        }
        if self.open.len() >= MAX_SOURCE_DEPTH {
            return Err(refuse(at, format!("nested deeper than {MAX_SOURCE_DEPTH} levels")));
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(OpenContainer::Sequence(items)) => items.push(value),
            Some(OpenContainer::Mapping(OpenMapping { members, key, .. })) => {
                if let Some(key) = key.take() {
                    members.insert(key, value);
                }
            }
            None => self.document = Some(value),
        }
    }
}

/// Parses a plain scalar.
fn parse_plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    // JSON numbers are a subset of those of YAML: `007`, `.5` and `0x1F` stay text. The check of the last character
    // excludes the white space that the JSON parser would skip.
    if text.ends_with(|last: char| last.is_ascii_digit())
        && let Ok(number) = serde_json::from_str::<Number>(text)
    {
        return Value::Number(number);
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_follow_the_core_schema_and_numbers_keep_their_digits() {
        let text = "a: 42\nb: 0.50\nc: \"42\"\nd: 3A\ne: 06\nf: ~\ng: yes\nh: 2025-01-14T10:00:00Z\ni: []\nj: -1\n";
        let (value, _) = parse(text).unwrap();
        assert_eq!(
            value.to_string(),
            concat!(
                r#"{"a":42,"b":0.50,"c":"42","d":"3A","e":"06","f":null,"g":"yes","#,
                r#""h":"2025-01-14T10:00:00Z","i":[],"j":-1}"#
            )
        );
        assert_eq!(
            parse("- x\n- y: 1\n  z: |\n    two\n    lines\n").unwrap().0,
            json!(["x", {"y": 1, "z": "two\nlines\n"}])
        );
        assert_eq!(parse("---\na: 1\n...\n").unwrap().0, json!({"a": 1}));
    }

    #[test]
    fn the_last_of_two_equal_keys_counts_and_both_lines_are_known() {
        let (value, repeated) = parse("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n").unwrap();
        assert_eq!(value, json!({"a": 2, "b": {"c": 3, "d": 2}}));
        let lines: Vec<_> = repeated.iter().map(|key| (key.key.as_str(), key.first_line, key.line)).collect();
        assert_eq!(lines, [("c", 3, 5), ("a", 1, 6)]);
    }

    #[test]
    fn anything_beyond_plain_data_is_refused_with_its_place() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(refused("a: !!python/object x"), "tags are not accepted at line 1 column 4");
        assert!(refused("a: &x 1\nb: *x").starts_with("anchors are not accepted"));
        assert!(refused("a: 1\n---\nb: 2").starts_with("a second document begins here"));
        let often = "a: 1\n".repeat(MAX_REPEATED_KEYS + 2);
        assert_eq!(refused(&often), "the key \"a\" is given twice at line 22 column 1");
        assert!(refused("$serde_json::private::Number: 1").contains("is reserved at line 1 column 1"));
        assert!(refused("? [a, b]\n: 1").starts_with("a key must be a text or a number"));
        assert!(refused(&"[".repeat(120)).starts_with("nested deeper than"));
        assert!(refused(&"[".repeat(100_000)).contains("at line 1 column"));
        assert!(refused("a: [1, 2").contains("line"));
        assert!(refused("# nothing").starts_with("the file is empty"));
    }
}
