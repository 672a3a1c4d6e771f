//! The encoding of one file as one line of a bundle.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::layout::{compact, expand};

/// The most bytes of a line besides those of the file.
const FRAME: u64 = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    seq: u64,
    #[serde(borrow, default)]
    checkpoint: Option<&'a RawValue>,
    #[serde(default)]
    text: Option<String>,
    #[serde(borrow, default)]
    base64: Option<&'a str>,
}

/// Returns the length of the longest line for a file of `bytes` bytes: base64 makes four bytes of three.
pub(super) fn longest(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 3).saturating_add(FRAME)
}

/// Encodes a file as a line, without the newline.
pub(super) fn encode(seq: u64, bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let short = compact(text);
        let is_json = || serde_json::from_str::<&RawValue>(&short).is_ok_and(|raw| raw.get() == short);
        if short.starts_with('{') && expand(&short, bytes.len()).is_some_and(|again| again == bytes) && is_json() {
            return format!("{{\"seq\":{seq},\"checkpoint\":{short}}}");
        }
        let line = format!("{{\"seq\":{seq},\"text\":{}}}", serde_json::Value::from(text));
        // A control character takes six bytes, so text with many of them is shorter in base64.
        if line.len() as u64 <= longest(bytes.len() as u64) {
            return line;
        }
    }
    format!("{{\"seq\":{seq},\"base64\":\"{}\"}}", BASE64.encode(bytes))
}

/// Decodes the file of number `seq` and size `bytes` from its line.
pub(super) fn decode(line: &[u8], seq: u64, bytes: u64) -> Result<Vec<u8>, &'static str> {
    let line = std::str::from_utf8(line).map_err(|_| "is not UTF-8")?;
    let line: Line<'_> = serde_json::from_str(line).map_err(|_| "is not a line of a bundle")?;
    if line.seq != seq {
        return Err("stands in the place of another one");
    }
    let limit = usize::try_from(bytes).map_err(|_| "is too large")?;
    match line {
        Line { checkpoint: Some(raw), text: None, base64: None, .. } => {
            expand(raw.get(), limit).ok_or("has more bytes than the manifest says")
        }
        Line { checkpoint: None, text: Some(text), base64: None, .. } => Ok(text.into_bytes()),
        Line { checkpoint: None, text: None, base64: Some(digits), .. } => {
            BASE64.decode(digits).map_err(|_| "is not base64")
        }
        _ => Err("is not a line of a bundle"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_kind_of_file_has_its_form() {
        for (file, form) in [
            (&b"{\n  \"a\": 1\n}\n"[..], r#"{"seq":7,"checkpoint":{"a":1}}"#),
            (b"{\"a\": 1}\n", r#"{"seq":7,"text":"{\"a\": 1}\n"}"#),
            (b"{\n  \"a\": 1\n}", r#"{"seq":7,"text":"{\n  \"a\": 1\n}"}"#),
            (b"{\n  \"a\": 1,\n", r#"{"seq":7,"text":"{\n  \"a\": 1,\n"}"#),
            (b"null\n", r#"{"seq":7,"text":"null\n"}"#),
            (b"\xff\0", r#"{"seq":7,"base64":"/wA="}"#),
            (b"", r#"{"seq":7,"text":""}"#),
        ] {
            let line = encode(7, file);
            assert_eq!(line, form);
            assert_eq!(decode(line.as_bytes(), 7, file.len() as u64).unwrap(), file, "{line}");
            assert!(decode(line.as_bytes(), 8, file.len() as u64).is_err());
        }
        assert!(encode(7, &[0; 3000]).len() as u64 <= longest(3000));
    }

    #[test]
    fn lines_that_are_none_are_refused() {
        for line in [
            "",
            "{}",
            r#"{"seq":7}"#,
            r#"{"seq":7,"text":"a","base64":"YQ=="}"#,
            r#"{"seq":7,"text":"a","more":1}"#,
            r#"{"seq":7,"base64":"Y"}"#,
            r#"{"seq":7,"text":"a"}{}"#,
            r#"{"seq":7,"checkpoint":[1}"#,
        ] {
            assert!(decode(line.as_bytes(), 7, 100).is_err(), "{line}");
        }
        assert!(decode(b"{\"seq\":7,\"text\":\"\xff\"}", 7, 100).is_err());
    }

    proptest! {
        #[test]
        fn every_file_comes_back(file in prop::collection::vec(any::<u8>(), 0..200)) {
            let line = encode(3, &file);
            prop_assert!(line.len() as u64 <= longest(file.len() as u64) && !line.contains('\n'));
            prop_assert_eq!(decode(line.as_bytes(), 3, file.len() as u64).unwrap(), file);
        }

        #[test]
        fn every_text_comes_back(file in ".{0,200}") {
            let line = encode(3, file.as_bytes());
            prop_assert_eq!(decode(line.as_bytes(), 3, file.len() as u64).unwrap(), file.into_bytes());
        }
    }
}
