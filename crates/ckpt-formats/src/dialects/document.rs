//! The parsed text of a foreign file: JSON, JSON Lines, YAML, Markdown or `KEY=VALUE` lines.
//!
//! All of it is untrusted. Nothing in a file is executed, expanded or included; YAML gives plain data only. Of a key that
//! is there twice, the last value counts, as in most parsers; the document knows both places.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{key_values, markdown, yaml_parse};
use ckpt_model::json::{InvalidJson, MAX_DEPTH, RepeatedKey, parse_repeated};

/// The largest foreign file that is read.
pub const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// The deepest nesting of a foreign file: one level less than a state, because the file becomes a member of one.
pub const MAX_SOURCE_DEPTH: usize = MAX_DEPTH - 1;

/// The notation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON.
    Json,
    /// A JSON object on each line; the content is the array of them.
    JsonLines,
    /// YAML.
    Yaml,
    /// Markdown, with YAML as its front matter or without any.
    Markdown,
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
    /// True if it is in lines, and the last one does not end: it may have been cut off.
    pub is_cut: bool,
    /// The keys that an object of it has twice.
    pub repeated: Vec<RepeatedKey>,
}

impl Document {
    /// Parses a text in the notation that it looks like.
    ///
    /// # Errors
    /// Names the place where the text is not valid in that notation.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidJson> {
        let document = Self::parse_text(bytes)?;
        let is_cut = document.notation != Notation::Json && !bytes.ends_with(b"\n");
        Ok(Self { is_cut, ..document })
    }

    fn parse_text(bytes: &[u8]) -> Result<Self, InvalidJson> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes)
            .map_err(|error| InvalidJson::at(bytes, error.valid_up_to(), "not valid UTF-8"))?;
        match text.trim_ascii_start().as_bytes().first() {
            None => return Err(InvalidJson::at(bytes, 0, "the file is empty")),
            Some(b'{' | b'[') => {
                return match parse_repeated(text) {
                    Ok((value, repeated)) => Ok(Self { repeated, ..Self::of(value) }),
                    Err(error) => json_lines(text).ok_or(error),
                };
            }
            Some(_) => {}
        }
        if let Some((value, lines)) = key_values::parse(text) {
            return Ok(Self { notation: Notation::KeyValues, lines, ..Self::of(value) });
        }
        if let Some((front, below)) = markdown::split_front_matter(text)
            && let Ok((Value::Object(members), mut repeated)) = yaml_parse::parse(front)
        {
            for RepeatedKey { first_line, line, .. } in &mut repeated {
                (*first_line, *line) = (*first_line + 1, *line + 1);
            }
            let value = markdown::to_object(members, below).into();
            return Ok(Self { notation: Notation::Markdown, repeated, ..Self::of(value) });
        }
        match yaml_parse::parse(text) {
            Ok((value @ (Value::Object(_) | Value::Array(_)), repeated)) => {
                Ok(Self { notation: Notation::Yaml, repeated, ..Self::of(value) })
            }
            _ if markdown::is_markdown(text) => {
                let value = markdown::to_object(Default::default(), text).into();
                Ok(Self { notation: Notation::Markdown, ..Self::of(value) })
            }
            parsed => {
                let (value, repeated) = parsed?;
                Ok(Self { notation: Notation::Yaml, repeated, ..Self::of(value) })
            }
        }
    }

    /// Returns a document with this content, as if it were written in JSON.
    #[must_use]
    pub fn of(value: Value) -> Self {
        Self { notation: Notation::Json, value, lines: BTreeMap::new(), is_cut: false, repeated: Vec::new() }
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

/// Parses an object on each line, as logs have them.
fn json_lines(text: &str) -> Option<Document> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let objects = lines.map(|line| parse_repeated(line).ok().map(|(value, _)| value).filter(Value::is_object));
    let objects: Vec<Value> = objects.collect::<Option<_>>()?;
    Some(Document { notation: Notation::JsonLines, ..Document::of(objects.into()) })
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
        let lines = (Notation::JsonLines, json!([{"a": 1}, {"a": 2}]));
        assert_eq!(read("{\"a\": 1}\n{\"a\": 2}\n\n"), lines);
        assert_eq!(read("# c\nA=1\nB='x y'\n"), (Notation::KeyValues, json!({"A": "1", "B": "x y"})));
        assert_eq!(read("a: 1\nb:\n  - x\n"), (Notation::Yaml, json!({"a": 1, "b": ["x"]})));
    }

    #[test]
    fn the_front_matter_of_markdown_is_yaml() {
        let text = "---\nphase: 2\nphase: 3\n---\n# State\n- [x] a\n";
        let document = Document::parse(text.as_bytes()).unwrap();
        assert_eq!(document.notation, Notation::Markdown);
        assert_eq!(document.value, json!({"phase": 3, "checklist": ["[x] a"], "markdown": "# State\n- [x] a\n"}));
        assert_eq!((document.repeated[0].first_line, document.repeated[0].line), (2, 3));
        let prose = Document::parse(b"# Notes\n\nNothing here is data.\n").unwrap();
        assert_eq!(prose.notation, Notation::Markdown);
    }

    #[test]
    fn the_last_of_two_equal_keys_counts_and_both_lines_are_known() {
        let document = Document::parse(b"{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2},\n \"a\": 3}").unwrap();
        assert_eq!(document.value, json!({"a": 3, "b": {"c": 2}}));
        let repeated: Vec<_> =
            document.repeated.iter().map(|key| (key.key.as_str(), key.first_line, key.line)).collect();
        assert_eq!(repeated, [("c", 2, 2), ("a", 1, 3)]);
        let often = format!("{{{}\"a\": 1}}", "\"a\": 1, ".repeat(30));
        assert!(Document::parse(often.as_bytes()).unwrap_err().message.contains("given twice"));
    }

    #[test]
    fn damage_is_reported_with_line_and_column() {
        let refused = |text: &[u8]| Document::parse(text).unwrap_err().to_string();
        assert_eq!(refused(b""), "the file is empty at line 1 column 1");
        assert_eq!(refused(b" \n"), "the file is empty at line 1 column 1");
        assert_eq!(refused(b"{\"a\": 1,\n}"), "trailing comma at line 2 column 1");
        assert_eq!(refused(b"a: \xff"), "not valid UTF-8 at line 1 column 4");
        assert!(refused(b"{} {}").starts_with("trailing characters at line 1 column 4"));
        assert!(refused(b"{}\n{\"cut").starts_with("trailing characters at line 2 column 1"));
    }

    #[test]
    fn the_place_of_a_value_is_its_pointer_or_its_line() {
        let lines = Document::parse(b"# c\nSTEP_1_STATUS=done\n").unwrap();
        assert_eq!(lines.place_of("/STEP_1_STATUS"), "line 2");
        assert_eq!(Document::parse(b"{}").unwrap().place_of("/a/0"), "/a/0");
    }
}
