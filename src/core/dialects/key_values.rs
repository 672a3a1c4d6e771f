//! Lines of `KEY=VALUE`, as scripts leave them for `source`. They are data here: nothing is expanded or run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Reads the lines; `None` if the text is not of that kind.
///
/// Comments and blank lines are skipped, `export` before a key too. A value may stand in single or double quotes;
/// `$`, backquotes and backslashes are characters like any other. Of a key that is set twice the last value counts, as
/// it would for a shell.
pub(super) fn parse(text: &str) -> Option<(Value, BTreeMap<String, usize>)> {
    let mut lines = BTreeMap::new();
    let mut read = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let key = key.trim();
        let named = key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        if !named || key.is_empty() {
            return None;
        }
        lines.insert(key.to_owned(), index + 1);
        read.push((key, unquote(value.trim()), index + 1));
    }
    // Taking out each earlier value by itself would take hours for a file as large as is read.
    read.retain(|(key, _, line)| lines.get(*key) == Some(line));
    let members: Map<_, _> =
        read.into_iter().map(|(key, value, _)| (key.to_owned(), Value::from(value))).collect();
    (!members.is_empty()).then_some((Value::Object(members), lines))
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
    fn lines_are_data_whatever_they_say() {
        let text = "# note\n\nexport RUN=\"wf_1\"\nSTEP_0_STATUS=\u{2705}\nX='$(rm -rf /)'\nY=`id`\nZ=a=b\nRUN=wf_2\n";
        let (value, lines) = parse(text).unwrap();
        assert_eq!(
            value,
            json!({"STEP_0_STATUS": "\u{2705}", "X": "$(rm -rf /)", "Y": "`id`", "Z": "a=b", "RUN": "wf_2"})
        );
        assert_eq!(lines["RUN"], 8);
    }

    #[test]
    fn many_keys_take_no_longer_than_their_number() {
        let line = |n: usize| format!("KEY_{}={n}\n", n % 100_000);
        let text: String = (0..200_000).map(line).collect();
        let (value, lines) = parse(&text).unwrap();
        assert_eq!((value["KEY_7"].as_str(), lines.len()), (Some("100007"), 100_000));
        assert_eq!(lines["KEY_7"], 100_008);
    }

    #[test]
    fn other_text_is_not_taken_for_such_lines() {
        for text in ["a: 1", "a: b=c", "x y=1", "- a=b", "=1", "# only a comment", "just words"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
