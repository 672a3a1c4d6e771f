//! Writing plain data as YAML that every parser reads the same way.
//!
//! Parsers disagree about plain scalars: `no` is a boolean for some, `12:30` a number, `2025-01-14` a date. So a text is
//! written plain only if it is a text in every version of YAML, and in double quotes otherwise, with escapes that YAML
//! has in common with JSON.

use std::fmt::Write as _;

use serde_json::Value;

/// The longest key that is written on the line of its value; YAML itself allows 1024 characters.
const MAX_SIMPLE_KEY: usize = 1000;

/// Writes a value as one YAML document in block style.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(_) | Value::Array(_) if !is_inline(value) => block(value, 0, &mut text),
        scalar => line(scalar, &mut text),
    }
    text
}

/// True if a value is written on the line of its key.
fn is_inline(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// Writes the members or items of a value. The first one continues the current line, which is indented already.
fn block(value: &Value, depth: usize, text: &mut String) {
    let start_line = |index: usize, text: &mut String| {
        if index > 0 {
            indent(depth, text);
        }
    };
    match value {
        Value::Object(members) => {
            for (index, (key, value)) in members.iter().enumerate() {
                start_line(index, text);
                write_key(key, depth, text);
                if is_inline(value) {
                    text.push(' ');
                    line(value, text);
                } else {
                    text.push('\n');
                    indent(depth + 1, text);
                    block(value, depth + 1, text);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                start_line(index, text);
                text.push_str("- ");
                if is_inline(item) {
                    line(item, text);
                } else {
                    block(item, depth + 1, text);
                }
            }
        }
        scalar => line(scalar, text),
    }
}

fn write_key(key: &str, depth: usize, text: &mut String) {
    let mut written = String::new();
    scalar(key, &mut written);
    if written.len() > MAX_SIMPLE_KEY {
        text.push_str("? ");
        text.push_str(&written);
        text.push('\n');
        indent(depth, text);
    } else {
        text.push_str(&written);
    }
    text.push(':');
}

fn indent(depth: usize, text: &mut String) {
    text.extend(std::iter::repeat_n("  ", depth));
}

fn line(value: &Value, text: &mut String) {
    match value {
        Value::String(content) => scalar(content, text),
        // Null, booleans, numbers, `[]` and `{}` are written as in JSON.
        other => text.push_str(&other.to_string()),
    }
    text.push('\n');
}

fn scalar(content: &str, text: &mut String) {
    if is_plain(content) {
        text.push_str(content);
    } else {
        quote(content, text);
    }
}

/// True if a text without quotes is a text for every parser.
fn is_plain(content: &str) -> bool {
    const WORDS: [&str; 12] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "none", ".nan", ".inf"];
    // A leading digit, sign or dot may start a number or a time; a dot before a letter is a hidden file.
    let start = content.strip_prefix('.').unwrap_or(content).chars().next();
    start.is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '/'))
        && !WORDS.iter().any(|word| content.eq_ignore_ascii_case(word))
        && content.chars().all(|c| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric())
        && !content.contains(": ")
        && !content.contains(" #")
        && !content.ends_with([' ', ':'])
}

fn quote(content: &str, text: &mut String) {
    text.push('"');
    for c in content.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if is_printable(c) => text.push(c),
            // Writing to a `String` cannot fail.
            c if c > '\u{ffff}' => drop(write!(text, "\\U{:08x}", u32::from(c))),
            c => drop(write!(text, "\\u{:04x}", u32::from(c))),
        }
    }
    text.push('"');
}

/// True if a character needs no escape in quotes: no control character, line break or byte order mark, and nothing that
/// Unicode reserves.
fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fdd0}'..='\u{fdef}')
        && u32::from(c) & 0xfffe != 0xfffe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::dialects::yaml_parse;
    use ckpt_model::json::InvalidJson;

    fn parse(text: &str) -> Result<Value, InvalidJson> {
        yaml_parse::parse(text).map(|(value, _)| value)
    }

    #[test]
    fn a_document_is_written_in_block_style() {
        let value = json!({
            "checkpoint_id": "CP-ready-7",
            "issue_number": 42,
            "labels": ["state:ready", "type: bug"],
            "nodes": {"a": {"status": "completed", "batches": [1, 2]}, "b": {}},
            "files": [{"path": "src/lib.rs", "staged": true}, [], [["x"], "z"]],
            "note": null,
        });
        let expected = r#"checkpoint_id: CP-ready-7
issue_number: 42
labels:
  - state:ready
  - "type: bug"
nodes:
  a:
    status: completed
    batches:
      - 1
      - 2
  b: {}
files:
  - path: src/lib.rs
    staged: true
  - []
  - - - x
    - z
note: null
"#;
        assert_eq!(to_yaml(&value), expected);
        assert_eq!(parse(expected).unwrap(), value);
    }

    #[test]
    fn a_text_that_is_anything_else_for_some_parser_is_quoted() {
        for text in [
            "",
            " ",
            "yes",
            "No",
            "ON",
            "off",
            "null",
            "Null",
            "~",
            "true",
            "y",
            "N",
            "1",
            "-1",
            "0x1F",
            "0o7",
            "1e5",
            ".5",
            "1_000",
            "12:30",
            "2025-01-14",
            "2025-01-14T10:00:00Z",
            ".nan",
            ".Inf",
            "-.inf",
            "- a",
            "? a",
            ": a",
            "#c",
            "a #c",
            "a: b",
            "a:",
            "a ",
            " a",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
            "`a",
            "'a",
            "\"a",
            "[a",
            "{a",
            "|",
            ">",
            "<<",
            "=",
            "---",
            "...",
            "a\nb",
            "a\tb",
            "\u{7f}",
            "a\u{85}b",
            "a\u{2028}b",
            "\u{feff}a",
            ",a",
        ] {
            let written = to_yaml(&json!(text));
            assert!(written.starts_with('"'), "{written}");
            assert_eq!(parse(&written).unwrap(), json!(text));
        }
        for text in ["a", "state:enrich", ".claude/x.md", "/tmp/a b", "it's", "a#b", "gr\u{fc}n", "nobody"] {
            assert_eq!(to_yaml(&json!(text)), format!("{text}\n"));
        }
    }

    #[test]
    fn keys_are_quoted_by_the_same_rules_at_any_length() {
        let value = json!({"no": 1, "a b": {"x".repeat(3000): {"1": [2]}}, "y: z": "\u{10ffff}\u{1f504}"});
        let written = to_yaml(&value);
        assert_eq!(parse(&written).unwrap(), value);
        assert!(written.starts_with("\"no\": 1\n"));
    }

    fn value() -> impl Strategy<Value = Value> {
        let text =
            || prop_oneof!["\\PC{0,12}", "[ -~]{0,12}", "(?s).{0,12}", "[-:#?,\\[\\]{}&*!|>'\"%@` \n0-9a-z]{0,8}"];
        let number = prop_oneof!["-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,30})?", "-?[1-9][eE][+-]?[0-9]{1,3}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            number.prop_map(|digits| serde_json::from_str(&digits).unwrap()),
            text().prop_map(Value::String),
        ];
        leaf.prop_recursive(20, 80, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec((text(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_written_value_is_read_back(value in value()) {
            let written = to_yaml(&value);
            let read = parse(&written);
            prop_assert!(read.as_ref() == Ok(&value), "{written}\n{read:?}");
            prop_assert_eq!(read.unwrap().to_string(), value.to_string());
        }
    }
}
