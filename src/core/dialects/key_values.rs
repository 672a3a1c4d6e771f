//! Lines of `KEY=VALUE`, as scripts leave them for `source`. They are data here: nothing is expanded or run.

use serde_json::{Map, Value};

/// Reads the lines; `None` if the text is not of that kind.
///
/// Comments and blank lines are skipped, `export` before a key too. A value may stand in single or double quotes;
/// `$`, backquotes and backslashes are characters like any other. Of a key that is set twice the last value counts, as
/// it would for a shell.
pub(super) fn parse(text: &str) -> Option<(Value, Vec<(String, usize)>)> {
    let mut members = Map::new();
    let mut lines = Vec::new();
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
        members.shift_remove(key);
        members.insert(key.to_owned(), Value::String(unquote(value.trim()).to_owned()));
        lines.retain(|(known, _)| known != key);
        lines.push((key.to_owned(), index + 1));
    }
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
        assert_eq!(lines.iter().find(|(key, _)| key == "RUN").unwrap().1, 8);
    }

    #[test]
    fn other_text_is_not_taken_for_such_lines() {
        for text in ["a: 1", "a: b=c", "x y=1", "- a=b", "=1", "# only a comment", "just words"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
