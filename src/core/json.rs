//! JSON as people and agents give it: read strictly, kept exactly.
//!
//! Numbers keep their digits (2^53+1, 40 digits, `1e999`), objects keep their order, and nothing is dropped silently:
//! what another JSON reader would quietly change (a key given twice, half a surrogate pair) is refused with its place.
//! So is what this one would: an object whose first key is one of those that it hands numbers over with.
//! The one liberty taken is the spelling of exponents: `1E5` is written back as `1e+5`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The deepest that state and data can be nested. JSON readers commonly stop at 128 levels, and both lie a few levels
/// below the top of the file: what is written must be readable, by this program and by others.
pub const MAX_DEPTH: usize = 100;

/// A JSON value inside a checkpoint: as it was read, or as it will be written.
///
/// A value that nobody touches is copied from one checkpoint to the next as text; only what changes is parsed.
#[derive(Debug, Clone)]
pub enum Json {
    /// The text found in a file, with its own layout.
    Stored(Box<RawValue>),
    /// A value that has not been written yet.
    Given(Value),
}

impl Json {
    /// The value, parsed if necessary.
    ///
    /// # Errors
    /// Text that is nested deeper than this program reads.
    pub fn to_value(&self) -> Result<Value, InvalidJson> {
        match self {
            Self::Stored(raw) => {
                serde_json::from_str(raw.get()).map_err(|error| InvalidJson::from_serde(&error))
            }
            Self::Given(value) => Ok(value.clone()),
        }
    }

    /// Whether this is an object without members.
    #[must_use]
    pub fn is_empty_object(&self) -> bool {
        match self {
            Self::Stored(raw) => raw.get() == "{}",
            Self::Given(value) => value.as_object().is_some_and(serde_json::Map::is_empty),
        }
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::Given(Value::Object(serde_json::Map::new()))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::Given(value)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stored(a), Self::Stored(b)) if a.get() == b.get() => true,
            (a, b) => matches!((a.to_value(), b.to_value()), (Ok(a), Ok(b)) if a == b),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stored(raw) => raw.serialize(serializer),
            Self::Given(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::Stored)
    }
}

/// An object key, borrowed from the input where it can be.
#[derive(Debug)]
pub(crate) struct Key<'a>(Cow<'a, str>);

impl AsRef<str> for Key<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Says where a text stops being one JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line} column {column}")]
pub struct InvalidJson {
    /// What is wrong.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in that line, counted in bytes from 1.
    pub column: usize,
}

impl InvalidJson {
    pub(crate) fn from_serde(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column().max(1));
        let full = error.to_string();
        let message = full.split(" at line ").next().unwrap_or(&full).to_owned();
        Self { message, line: line.max(1), column }
    }

    pub(crate) fn at(bytes: &[u8], offset: usize, message: &str) -> Self {
        let before = &bytes[..offset];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = offset - before.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1) + 1;
        Self { message: message.to_owned(), line, column }
    }
}

/// Reads exactly one JSON document and refuses whatever could be understood in two ways.
///
/// # Errors
/// Names the place of the first problem: nothing but white space, a byte order mark, invalid UTF-8, half a surrogate
/// pair, a key given twice or [reserved](is_reserved), more than 127 levels, anything behind the document.
pub fn parse_strict(bytes: &[u8]) -> Result<Value, InvalidJson> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(InvalidJson::at(bytes, 0, "starts with a byte order mark"));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| InvalidJson::at(bytes, error.valid_up_to(), "not valid UTF-8"))?;
    if text.trim_ascii().is_empty() {
        return Err(InvalidJson::at(bytes, bytes.len(), "no JSON here, only white space"));
    }
    let located = |error: serde_json::Error| InvalidJson::from_serde(&error);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    CheckedKeys { text }.deserialize(&mut deserializer).map_err(located)?;
    deserializer.end().map_err(located)?;
    serde_json::from_str(text).map_err(located)
}

/// Whether a key cannot be kept: `serde_json` hands numbers and raw text over as objects with such a key, and takes an
/// object that has it for one of those.
#[must_use]
pub fn is_reserved(key: &str) -> bool {
    key.starts_with("$serde_json::private::")
}

/// Walks over a document and fails at a key that its object has already, and at one that cannot be kept.
///
/// It runs before the document is built, because a map in memory has forgotten the first of two equal keys.
#[derive(Clone, Copy)]
struct CheckedKeys<'t> {
    text: &'t str,
}

impl CheckedKeys<'_> {
    /// Whether a key stands in the document, and is not that of a number which is being handed over.
    fn is_written(self, Key(key): &Key<'_>) -> bool {
        match key {
            Cow::Borrowed(key) => self.text.as_bytes().as_ptr_range().contains(&key.as_ptr()),
            Cow::Owned(_) => true,
        }
    }
}

impl<'de> DeserializeSeed<'de> for CheckedKeys<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CheckedKeys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        use serde::de::Error as _;
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let reserved = is_reserved(key.as_ref()) && self.is_written(&key);
            let Key(key) = key;
            if reserved || seen.contains(&key) {
                let _ = map.next_value::<IgnoredAny>();
                let problem = if reserved { "reserved" } else { "given twice" };
                return Err(A::Error::custom(format_args!("the key {} is {problem}", Value::from(key))));
            }
            seen.insert(key);
            map.next_value_seed(self)?;
        }
        Ok(())
    }
}

/// Applies an RFC 7396 merge patch: members of `patch` replace those of `target`, `null` removes.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    remove_nulled(target, patch);
    json_patch::merge(target, patch);
}

/// Takes out what the patch removes, keeping the order of the rest; the merge itself would swap the last member into
/// the hole.
fn remove_nulled(target: &mut Value, patch: &Value) {
    let (Value::Object(target), Value::Object(patch)) = (target, patch) else { return };
    for (key, value) in patch {
        match value {
            Value::Null => drop(target.shift_remove(key)),
            value => {
                if let Some(inner) = target.get_mut(key) {
                    remove_nulled(inner, value);
                }
            }
        }
    }
}

/// Lays a document over another: objects merge member by member, everything else, `null` included, replaces.
///
/// This is what a whole document means, where a merge patch could not say `null`.
pub fn overlay(target: &mut Value, document: Value) {
    match (target, document) {
        (Value::Object(target), Value::Object(document)) => {
            for (key, value) in document {
                match target.get_mut(&key) {
                    Some(inner) => overlay(inner, value),
                    None => drop(target.insert(key, value)),
                }
            }
        }
        (target, document) => *target = document,
    }
}

/// Sets one member of an object: `key`, or a JSON pointer such as `/build/retries` whose missing objects are made.
///
/// # Errors
/// A pointer that leads through something that is not an object.
pub fn set_member(target: &mut Value, key: &str, value: Value) -> Result<(), String> {
    let path: Vec<String> = match key.strip_prefix('/') {
        Some(pointer) => pointer.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect(),
        None => vec![key.to_owned()],
    };
    let mut place = target;
    for part in path {
        let Value::Object(members) = place else {
            return Err(part);
        };
        place = members.entry(part).or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    *place = value;
    Ok(())
}

/// The JSON pointer of a member of what a pointer leads to.
pub(crate) fn below(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}

/// How many levels of lists and objects there are.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(text: impl AsRef<[u8]>) -> String {
        parse_strict(text.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn values_survive_exactly() {
        for text in [
            "9007199254740993",
            "1e999",
            "-0",
            "0.10",
            "1234567890123456789012345678901234567890",
            r#"{"z":1,"a":{"y":false,"b":0,"c":"","d":null}}"#,
            r#"{"__proto__":{"x":1}}"#,
            r#"[null,[],{}]"#,
        ] {
            assert_eq!(parse_strict(text.as_bytes()).unwrap().to_string().replace("1e+999", "1e999"), text);
        }
    }

    #[test]
    fn what_could_be_misread_is_refused_with_its_place() {
        assert_eq!(refused(""), "no JSON here, only white space at line 1 column 1");
        assert_eq!(refused(" \n  "), "no JSON here, only white space at line 2 column 3");
        assert_eq!(refused("\u{feff}{}"), "starts with a byte order mark at line 1 column 1");
        assert_eq!(refused(b"{\n \"a\": \"\xff\"}"), "not valid UTF-8 at line 2 column 8");
        assert_eq!(refused("{\"a\":1,\n\"a\":2}"), "the key \"a\" is given twice at line 2 column 6");
        for key in ["$serde_json::private::Number", "\\u0024serde_json::private::RawValue"] {
            let text = format!("{{\"a\": [{{\"{key}\": \"12\"}}]}}");
            assert!(refused(text).contains("is reserved at line 1 column"), "{key}");
        }
        assert_eq!(refused("{\"a\": tru"), "EOF while parsing a value at line 1 column 9");
        assert_eq!(refused("{} {}"), "trailing characters at line 1 column 4");
        assert_eq!(refused("[1] x"), "trailing characters at line 1 column 5");
        assert!(refused("\"\\ud800\"").starts_with("unexpected end of hex escape"));
        assert!(refused("[".repeat(100_000)).starts_with("recursion limit exceeded at line 1 column 128"));
        assert!(refused("NaN").contains("line 1"));
    }

    #[test]
    fn merge_patch_follows_rfc_7396_and_keeps_the_order() {
        let cases = [
            (
                json!({"a":"b","c":{"d":"e","f":"g"}}),
                json!({"a":"z","c":{"f":null}}),
                json!({"a":"z","c":{"d":"e"}}),
            ),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"e":null,"a":1})),
            (json!({}), json!({"a":{"bb":{"ccc":null}}}), json!({"a":{"bb":{}}})),
            (json!({"a":1,"b":2,"c":3}), json!({"a":null}), json!({"b":2,"c":3})),
        ];
        for (mut target, patch, expected) in cases {
            merge_patch(&mut target, &patch);
            assert_eq!(target.to_string(), expected.to_string());
        }
    }

    #[test]
    fn an_overlay_keeps_null_as_a_value() {
        let mut target = json!({"a":{"x":1,"y":2},"b":1});
        overlay(&mut target, json!({"a":{"y":null},"b":{"c":null}}));
        assert_eq!(target.to_string(), r#"{"a":{"x":1,"y":null},"b":{"c":null}}"#);
    }

    #[test]
    fn members_are_set_by_name_or_pointer() {
        let mut target = json!({});
        set_member(&mut target, "a.b", json!(null)).unwrap();
        set_member(&mut target, "/build/re~1tries", json!(2)).unwrap();
        assert_eq!(target.to_string(), r#"{"a.b":null,"build":{"re/tries":2}}"#);
        assert_eq!(set_member(&mut target, "/build/re~1tries/x", json!(1)), Err("x".to_owned()));
    }
}
