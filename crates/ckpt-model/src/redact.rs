//! Replaces secrets in text and in JSON by `[REDACTED:rule]` before anything is stored.
//!
//! A checkpoint is read by many and kept for long, and an agent pastes what it sees. The rules are for
//! precision: a well-known prefix, an alphabet, a length and a boundary, a name that suggests a secret in front, or a shape that hardly
//! anything else has. A false alarm destroys somebody's data, so there is no rule for "looks random", and what merely
//! stands in for a secret (`your-token-here`, `process.env.TOKEN`) is left alone.
//!
//! # Invariants
//!
//! - Text without secrets costs no allocation and one table look-up per byte.
//! - The time is linear in the length of the text, whatever the text: a failed attempt looks at a bounded
//!   number of bytes, or remembers how far it looked.
//! - Redacting twice changes nothing.
//! - Reported JSON pointers never contain a secret: keys are redacted before they become part of a pointer.
//!
//! # Limitations
//!
//! - A password is found by the name in front of it or by its place in a URL or a command line, not by itself; secrets
//!   that are encoded, split, or of a vendor that is not in the table are not found.
//! - A private key without its last line takes everything up to the end of the text with it.
//! - A URL password spelled like a placeholder (`$VAR`, `{x}`, `***`) is taken for one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use scan::{Scan, marker};

#[cfg(test)]
mod corpus;
mod named;
mod rules;
mod scan;
#[cfg(test)]
mod tests_of_rules;
mod words;

/// Replaces every secret in the text, or returns `None` when there is none.
#[must_use]
pub fn redact_text(text: &str) -> Option<String> {
    let mut redacted = pass(text)?;
    // Where a key with a slash in it is taken out of a URL, what is left may read as a password. Each pass
    // leaves fewer bytes outside replacements, so this ends; in practice the second pass finds nothing.
    while let Some(again) = pass(&redacted) {
        redacted = again;
    }
    Some(redacted)
}

/// Replaces every secret in the strings and keys of a JSON value and adds the places to `found`.
///
/// The places are JSON pointers (RFC 6901) below `pointer`. Keys keep their order; where redacted keys
/// collide, the later ones end with `-2`, `-3` and so on. The recursion is as deep as the value, which its
/// parser bounds.
pub fn redact_value(value: &mut Value, pointer: &str, found: &mut Vec<String>) {
    let key = pointer.rsplit('/').next().map(|key| key.replace("~1", "/").replace("~0", "~"));
    walk(value, key.as_deref(), &mut pointer.to_owned(), found);
}

/// Finds the first secret in a text: the name of the rule.
#[must_use]
pub fn find_secret(text: &str) -> Option<&'static str> {
    Scan::new(text).next().map(|hit| hit.rule)
}

/// Finds the secrets in the strings and keys of a JSON value: for each its JSON pointer and the name of the rule.
#[must_use]
pub fn find_secrets(value: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    search(value, None, &mut String::new(), &mut found);
    found
}

fn search(value: &Value, key: Option<&str>, path: &mut String, found: &mut Vec<(String, &'static str)>) {
    let here = path.len();
    match value {
        Value::String(text) => {
            let before = found.len();
            found.extend(Scan::new(text).map(|hit| (path.clone(), hit.rule)));
            if found.len() == before {
                let by_key = key.and_then(|key| named::member(key, text));
                found.extend(by_key.map(|rule| (path.clone(), rule)));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let _ = write!(path, "/{index}");
                search(item, None, path, found);
                path.truncate(here);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                path.push('/');
                push_escaped(path, redact_text(key).as_deref().unwrap_or(key));
                found.extend(Scan::new(key).map(|hit| (path.clone(), hit.rule)));
                search(item, Some(key), path, found);
                path.truncate(here);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn walk(value: &mut Value, key: Option<&str>, path: &mut String, found: &mut Vec<String>) {
    let here = path.len();
    match value {
        Value::String(text) => {
            // The text alone says more about whose secret it is than the key does.
            let by_key = || key.and_then(|key| named::member(key, text)).map(marker);
            let redacted = redact_text(text).or_else(by_key);
            if let Some(redacted) = redacted {
                *text = redacted;
                report(path, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                // Writing to a `String` has no way to fail.
                let _ = write!(path, "/{index}");
                walk(item, None, path, found);
                path.truncate(here);
            }
        }
        Value::Object(members) => {
            let renamed = redact_keys(members);
            for (key, item) in members.iter_mut() {
                path.push('/');
                push_escaped(path, key);
                if renamed.contains(key) {
                    report(path, found);
                }
                walk(item, Some(key), path, found);
                path.truncate(here);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds a pointer unless it is there already, as for a member whose key and value were both redacted.
fn report(path: &str, found: &mut Vec<String>) {
    if found.last().is_none_or(|last| last != path) {
        found.push(path.to_owned());
    }
}

fn push_escaped(path: &mut String, key: &str) {
    for c in key.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            c => path.push(c),
        }
    }
}

/// Redacts the keys of one object and returns the new ones.
fn redact_keys(members: &mut Map<String, Value>) -> BTreeSet<String> {
    let mut renamed = BTreeSet::new();
    if members.keys().all(|key| redact_text(key).is_none()) {
        return renamed;
    }
    let old = std::mem::take(members);
    // A key that stays as it is keeps its name, even when it comes after the one that collides with it.
    let kept: BTreeSet<String> = old.keys().filter(|key| redact_text(key).is_none()).cloned().collect();
    let mut uses = BTreeMap::new();
    for (key, item) in old {
        let Some(base) = redact_text(&key) else {
            members.insert(key, item);
            continue;
        };
        let count = uses.entry(base.clone()).or_insert(0_usize);
        let name = loop {
            *count += 1;
            let name = if *count == 1 { base.clone() } else { format!("{base}-{count}") };
            if !kept.contains(&name) && !renamed.contains(&name) {
                break name;
            }
        };
        renamed.insert(name.clone());
        members.insert(name, item);
    }
    renamed
}

fn pass(text: &str) -> Option<String> {
    let mut scan = Scan::new(text);
    let mut hit = scan.next()?;
    let mut redacted = String::with_capacity(text.len());
    let mut copied = 0;
    // Hits lie between ASCII characters, so they never cut through a longer one.
    loop {
        redacted.push_str(&text[copied..hit.range.start]);
        redacted.push_str(&marker(hit.rule));
        copied = hit.range.end;
        match scan.next() {
            Some(next) => hit = next,
            None => break,
        }
    }
    redacted.push_str(&text[copied..]);
    Some(redacted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn aws(last: char) -> String {
        format!("AKIA{}{last}", "Q7".repeat(7) + "Z")
    }

    fn redacted(mut value: Value) -> (Value, Vec<String>) {
        let mut found = Vec::new();
        redact_value(&mut value, "/data", &mut found);
        (value, found)
    }

    #[test]
    fn strings_are_redacted_wherever_they_are() {
        let (value, found) = redacted(json!({
            "plain": "text", "n": 1, "none": null,
            "deep": [{"a/b": {"c~d": format!("key {}", aws('A'))}}, "x", aws('B')],
        }));
        assert_eq!(
            value,
            json!({
                "plain": "text", "n": 1, "none": null,
                "deep": [{"a/b": {"c~d": "key [REDACTED:aws-access-key]"}}, "x", "[REDACTED:aws-access-key]"],
            })
        );
        assert_eq!(found, ["/data/deep/0/a~1b/c~0d", "/data/deep/2"]);
    }

    #[test]
    fn the_value_itself_may_be_the_secret() {
        let (value, found) = redacted(json!(aws('A')));
        assert_eq!((value, found), (json!("[REDACTED:aws-access-key]"), vec!["/data".to_owned()]));
    }

    #[test]
    fn keys_are_redacted_in_place_and_never_appear_in_pointers() {
        let mut value = Value::Object(Map::from_iter([
            ("first".to_owned(), json!(1)),
            (aws('A'), json!({"inner": aws('C')})),
            (aws('B'), json!(aws('C'))),
            ("[REDACTED:aws-access-key]".to_owned(), json!("was here before")),
            (aws('D'), json!(true)),
            ("last".to_owned(), json!(2)),
        ]));
        let mut found = Vec::new();
        redact_value(&mut value, "", &mut found);
        assert_eq!(
            value.to_string(),
            concat!(
                r#"{"first":1,"[REDACTED:aws-access-key]-2":{"inner":"[REDACTED:aws-access-key]"},"#,
                r#""[REDACTED:aws-access-key]-3":"[REDACTED:aws-access-key]","#,
                r#""[REDACTED:aws-access-key]":"was here before","[REDACTED:aws-access-key]-4":true,"last":2}"#,
            )
        );
        assert_eq!(
            found,
            [
                "/[REDACTED:aws-access-key]-2",
                "/[REDACTED:aws-access-key]-2/inner",
                "/[REDACTED:aws-access-key]-3",
                "/[REDACTED:aws-access-key]-4",
            ]
        );
    }

    #[test]
    fn a_key_can_give_its_value_away() {
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY".to_owned() + "0123456789";
        for key in ["aws_secret_access_key", "secretAccessKey", "AWS-Secret-Access-Key", "awsSecretKey"] {
            let (value, found) = redacted(json!({key: secret}));
            assert_eq!(value, json!({key: "[REDACTED:aws-secret-key]"}));
            assert_eq!(found, [format!("/data/{key}")]);
        }
        let untouched = [
            json!({"sha1": secret}),
            json!({"secretAccessKey": "see the vault"}),
            json!({"secretAccessKey": [1, null, {"is": "set"}]}),
            json!({"secret_access_key_id": secret}),
        ];
        for value in untouched {
            assert_eq!(redacted(value.clone()), (value, vec![]));
        }
    }

    #[test]
    fn secrets_are_found_without_being_replaced_where_they_would_be() {
        let value = json!({
            "a": [aws('A'), {"password": "hunter2", "note": format!("{} {}", aws('A'), aws('B'))}],
            aws('C'): "[REDACTED:jwt]",
            "plain": "text",
        });
        assert_eq!(
            find_secrets(&value),
            [
                ("/a/0".to_owned(), "aws-access-key"),
                ("/a/1/password".to_owned(), "password"),
                ("/a/1/note".to_owned(), "aws-access-key"),
                ("/a/1/note".to_owned(), "aws-access-key"),
                ("/[REDACTED:aws-access-key]".to_owned(), "aws-access-key"),
            ]
        );
        let (replaced, _) = redacted(value);
        assert_eq!(find_secrets(&replaced), []);
    }

    #[test]
    fn numbers_keep_their_digits() {
        let text = r#"{"a":1.10,"b":123456789012345678901234567890123456789,"c":1e+400}"#;
        let mut value: Value = serde_json::from_str(text).expect("JSON");
        redact_value(&mut value, "", &mut Vec::new());
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn the_deepest_value_that_parses_is_walked() {
        let text = format!("{}{:?}{}", "[".repeat(127), aws('A'), "]".repeat(127));
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        let mut found = Vec::new();
        redact_value(&mut value, "", &mut found);
        assert_eq!(found, ["/0".repeat(127)]);
    }

    #[test]
    fn thousands_of_equal_keys_stay_apart() {
        let mut value: Value = (0..3000).map(|n| (format!("AKIAQ7Z2{n:0>12}"), json!(n))).collect::<Map<_, _>>().into();
        let mut found = Vec::new();
        redact_value(&mut value, "", &mut found);
        assert_eq!(value.as_object().map(Map::len), Some(3000));
        assert_eq!(found.len(), 3000);
        assert_eq!(value["[REDACTED:aws-access-key]-3000"], json!(2999));
    }

    proptest! {
        #[test]
        fn redacting_a_value_twice_changes_nothing(
            keys in proptest::collection::vec("[A-Z7]{0,2}(AKIA[A-Z2-7]{16})?", 0..6),
        ) {
            let members: Map<_, _> = keys.into_iter().map(|key| (key.clone(), json!([key]))).collect();
            let (once, _) = redacted(members.into());
            prop_assert_eq!(redacted(once.clone()), (once, vec![]));
        }
    }
}
