//! Parsing `KEY=VALUE` lines, as scripts write them to be sourced. Nothing is expanded or run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Parses the lines into an object and the line number of each key; `None` if the text has any other line.
///
/// Comments, blank lines and `export` before a key are skipped. A value may be in single or double quotes; `$`,
/// backquotes and backslashes have no meaning. The last value of a key is taken, as in a shell.
pub(super) fn parse(text: &str) -> Option<(Value, BTreeMap<String, usize>)> {
    let mut lines = BTreeMap::new();
    let mut assignments = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let key = key.trim();
        let is_name = key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        if !is_name || key.is_empty() {
            return None;
        }
        lines.insert(key.to_owned(), index + 1);
        assignments.push((key, unquote(value.trim()), index + 1));
    }
    // Removing each earlier value from a map would take quadratic time.
    assignments.retain(|(key, _, line)| lines.get(*key) == Some(line));
    let members: Map<_, _> =
        assignments.into_iter().map(|(key, value, _)| (key.to_owned(), Value::from(value))).collect();
    if members.is_empty() { None } else { Some((Value::Object(members), lines)) }
}

fn unquote(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_plain_text_and_the_last_one_of_a_key_is_taken() {
        let text = "# note\n\nexport RUN=\"wf_1\"\nSTEP_0_STATUS=\u{2705}\nX='$(rm -rf /)'\nY=`id`\nZ=a=b\nRUN=wf_2\n";
        let (value, lines) = parse(text).unwrap();
        assert_eq!(
            value,
            json!({"STEP_0_STATUS": "\u{2705}", "X": "$(rm -rf /)", "Y": "`id`", "Z": "a=b", "RUN": "wf_2"})
        );
        assert_eq!(lines["RUN"], 8);
    }

    #[test]
    fn many_repeated_keys_keep_their_last_value() {
        let line = |n: usize| format!("KEY_{}={n}\n", n % 100_000);
        let text: String = (0..200_000).map(line).collect();
        let (value, lines) = parse(&text).unwrap();
        assert_eq!((value["KEY_7"].as_str(), lines.len()), (Some("100007"), 100_000));
        assert_eq!(lines["KEY_7"], 100_008);
    }

    #[test]
    fn other_text_is_not_parsed() {
        for text in ["a: 1", "a: b=c", "x y=1", "- a=b", "=1", "# only a comment", "just words"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
