//! The parsed text of a foreign file: JSON, YAML or `KEY=VALUE` lines.
//!
//! All of it is untrusted. Nothing in a file is executed, expanded or included; YAML gives plain data only.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{key_values, yaml_parse};
use crate::core::json::{InvalidJson, MAX_DEPTH, parse_strict};

/// The largest foreign file that is read.
pub const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// The deepest nesting of a foreign file: one level less than a state, because the file becomes a member of one.
pub const MAX_SOURCE_DEPTH: usize = MAX_DEPTH - 1;

/// The notation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Lines of `KEY=VALUE`, as sourced by a shell.
    KeyValues,
}

/// A parsed file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its notation.
    pub notation: Notation,
    /// Its content.
    pub value: Value,
    /// The line number of each key, for `KEY=VALUE` lines.
    pub lines: BTreeMap<String, usize>,
}

impl Document {
    /// Parses a text in the notation that it looks like.
    ///
    /// # Errors
    /// Names the place where the text is not valid in that notation.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidJson> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes)
            .map_err(|error| InvalidJson::at(bytes, error.valid_up_to(), "not valid UTF-8"))?;
        match text.trim_ascii_start().as_bytes().first() {
            None => Err(InvalidJson::at(bytes, 0, "the file is empty")),
            Some(b'{' | b'[') => {
                let value = parse_strict(bytes)?;
                Ok(Self { notation: Notation::Json, value, lines: BTreeMap::new() })
            }
            Some(_) => match key_values::parse(text) {
                Some((value, lines)) => Ok(Self { notation: Notation::KeyValues, value, lines }),
                None => {
                    let value = yaml_parse::parse(text)?;
                    Ok(Self { notation: Notation::Yaml, value, lines: BTreeMap::new() })
                }
            },
        }
    }

    /// Returns the place of a value for a message: its JSON pointer, or the line of its key.
    pub(super) fn place_of(&self, pointer: &str) -> String {
        let key = pointer.strip_prefix('/').unwrap_or(pointer);
        match self.lines.get(key) {
            Some(line) => format!("line {line}"),
            None if pointer.is_empty() => "/".to_owned(),
            None => pointer.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_notation_is_detected_from_the_text() {
        let read = |text: &str| Document::parse(text.as_bytes()).map(|d| (d.notation, d.value)).unwrap();
        assert_eq!(read("{\"a\": 1}"), (Notation::Json, json!({"a": 1})));
        assert_eq!(read("\u{feff}  [1]"), (Notation::Json, json!([1])));
        assert_eq!(read("# c\nA=1\nB='x y'\n"), (Notation::KeyValues, json!({"A": "1", "B": "x y"})));
        assert_eq!(read("a: 1\nb:\n  - x\n"), (Notation::Yaml, json!({"a": 1, "b": ["x"]})));
    }

    #[test]
    fn damage_is_reported_with_line_and_column() {
        let refused = |text: &[u8]| Document::parse(text).unwrap_err().to_string();
        assert_eq!(refused(b""), "the file is empty at line 1 column 1");
        assert_eq!(refused(b" \n"), "the file is empty at line 1 column 1");
        assert_eq!(refused(b"{\"a\": 1,\n}"), "trailing comma at line 2 column 1");
        assert_eq!(refused(b"a: \xff"), "not valid UTF-8 at line 1 column 4");
        assert!(refused(b"{} {}").starts_with("trailing characters at line 1 column 4"));
    }

    #[test]
    fn the_place_of_a_value_is_its_pointer_or_its_line() {
        let lines = Document::parse(b"# c\nSTEP_1_STATUS=done\n").unwrap();
        assert_eq!(lines.place_of("/STEP_1_STATUS"), "line 2");
        assert_eq!(Document::parse(b"{}").unwrap().place_of("/a/0"), "/a/0");
    }
}
