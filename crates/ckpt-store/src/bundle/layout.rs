//! Removing the white space of a JSON document, and adding it again.
//!
//! This works on the text, not on a parsed document: numbers, escapes, order and repeated keys stay as they are, and
//! the depth of nesting does not matter.

/// Removes the white space between the tokens of a JSON document.
pub(super) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(['"', ' ', '\n', '\r', '\t']) {
        out.push_str(&rest[..place]);
        rest = &rest[place..];
        match string_length(rest) {
            Some(length) => {
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => rest = &rest[1..],
        }
    }
    out.push_str(rest);
    out
}

/// Formats compact JSON like a checkpoint file: two spaces for each level, a newline at the end.
///
/// Returns none if that would be more than `limit` bytes: deep nesting makes a short document very long.
pub(super) fn expand(compact: &str, limit: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(limit.min(compact.len().saturating_mul(2)));
    let mut level: usize = 0;
    let mut rest = compact;
    while let Some(first) = rest.bytes().next() {
        let mut length = 1;
        match first {
            b'"' => {
                length = string_length(rest)?;
                out.extend_from_slice(&rest.as_bytes()[..length]);
            }
            b'{' | b'[' if matches!(rest.as_bytes().get(1), Some(b'}' | b']')) => {
                length = 2;
                out.extend_from_slice(&rest.as_bytes()[..2]);
            }
            b'{' | b'[' => {
                level += 1;
                out.push(first);
                indent(&mut out, level, limit)?;
            }
            b'}' | b']' => {
                level = level.checked_sub(1)?;
                indent(&mut out, level, limit)?;
                out.push(first);
            }
            b',' => {
                out.push(first);
                indent(&mut out, level, limit)?;
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                length = rest.find(['"', '{', '[', '}', ']', ',', ':']).unwrap_or(rest.len());
                out.extend_from_slice(&rest.as_bytes()[..length]);
            }
        }
        if out.len() > limit {
            return None;
        }
        rest = &rest[length..];
    }
    out.push(b'\n');
    (out.len() <= limit).then_some(out)
}

fn indent(out: &mut Vec<u8>, level: usize, limit: usize) -> Option<()> {
    let length = out.len().checked_add(1)?.checked_add(level.checked_mul(2)?)?;
    if length > limit {
        return None;
    }
    out.push(b'\n');
    out.resize(length, b' ');
    Some(())
}

/// Returns the length of the string literal at the start of `text`; none if there is none or it does not end.
fn string_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    if bytes.first() != Some(&b'"') {
        return None;
    }
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn layout_comes_back_exactly() {
        for text in [
            "{}\n",
            "[]\n",
            "7\n",
            "\"a b\\\" {c\"\n",
            "{\n  \"a\": 1,\n  \"a\": [\n    {},\n    [],\n    \"x, y: {\\\\\"\n  ]\n}\n",
            "[\n  1E5,\n  0.10,\n  \"\\u00e9\\ud834\\udd1e\",\n  \"\u{e9}\"\n]\n",
        ] {
            let short = compact(text);
            assert!(!short.contains('\n'), "{short}");
            assert_eq!(expand(&short, text.len()).unwrap(), text.as_bytes(), "{text}");
            assert_eq!(expand(&short, text.len() - 1), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_does_not_expand_without_bound() {
        let deep = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        assert_eq!(expand(&deep, 8 << 20), None);
    }

    #[test]
    fn nonsense_is_no_reason_to_panic() {
        for text in ["", "\"", "\"\\", "}", "]]", "{\"a", "{\"\u{e9}", ",:,", "{]", "\u{e9}"] {
            let _ = expand(text, 100);
            let _ = compact(text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[\\[\\]{}:,\" \\\\\n\u{e9}a1]{0,40}") {
            let _ = expand(&compact(&text), 1000);
        }

        #[test]
        fn the_layout_is_that_of_a_checkpoint_file(value in values()) {
            let mut text = serde_json::to_string_pretty(&value).unwrap();
            text.push('\n');
            prop_assert_eq!(&compact(&text), &value.to_string());
            prop_assert_eq!(expand(&value.to_string(), text.len()).unwrap(), text.into_bytes());
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((".{0,6}", inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}
