//! The text of a foreign file, turned into data: JSON, YAML or `KEY=VALUE` lines.
//!
//! All of it is untrusted. Nothing in a file is executed, expanded, included or looked up; YAML gives plain data only.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{key_values, yaml};
use crate::core::json::MAX_DEPTH;
use crate::core::json::{InvalidJson, parse_strict};

/// The largest foreign file that is read.
pub const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// The deepest nesting of a foreign file: one level less than a state, because it becomes a member of one.
pub const MAX_SOURCE_DEPTH: usize = MAX_DEPTH - 1;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Lines of `KEY=VALUE`, as a shell would source them.
    KeyValues,
}

/// A file that has been turned into data.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// How it was written.
    pub notation: Notation,
    /// What it says.
    pub value: Value,
    /// For `KEY=VALUE` lines, the line of each key.
    pub lines: BTreeMap<String, usize>,
}

impl Document {
    /// Reads a text by what it looks like.
    ///
    /// # Errors
    /// Says where the text stops making sense, as the notation that it most resembles.
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
                    let value = yaml::parse(text)?;
                    Ok(Self { notation: Notation::Yaml, value, lines: BTreeMap::new() })
                }
            },
        }
    }

    /// Where a fact with this JSON pointer stands: the pointer, or the line of its key.
    #[must_use]
    pub fn place(&self, pointer: &str) -> String {
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
    fn the_notation_is_seen_from_the_text() {
        let read = |text: &str| Document::parse(text.as_bytes()).map(|d| (d.notation, d.value)).unwrap();
        assert_eq!(read("{\"a\": 1}"), (Notation::Json, json!({"a": 1})));
        assert_eq!(read("\u{feff}  [1]"), (Notation::Json, json!([1])));
        assert_eq!(read("# c\nA=1\nB='x y'\n"), (Notation::KeyValues, json!({"A": "1", "B": "x y"})));
        assert_eq!(read("a: 1\nb:\n  - x\n"), (Notation::Yaml, json!({"a": 1, "b": ["x"]})));
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let refused = |text: &[u8]| Document::parse(text).unwrap_err().to_string();
        assert_eq!(refused(b""), "the file is empty at line 1 column 1");
        assert_eq!(refused(b" \n"), "the file is empty at line 1 column 1");
        assert_eq!(refused(b"{\"a\": 1,\n}"), "trailing comma at line 2 column 1");
        assert_eq!(refused(b"a: \xff"), "not valid UTF-8 at line 1 column 4");
        assert!(refused(b"{} {}").starts_with("trailing characters at line 1 column 4"));
    }

    #[test]
    fn a_fact_is_placed_by_its_pointer_or_its_line() {
        let lines = Document::parse(b"# c\nSTEP_1_STATUS=done\n").unwrap();
        assert_eq!(lines.place("/STEP_1_STATUS"), "line 2");
        assert_eq!(Document::parse(b"{}").unwrap().place("/a/0"), "/a/0");
    }
}
