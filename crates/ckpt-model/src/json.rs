//! JSON values: parsed strictly, kept exactly.
//!
//! Numbers keep their digits (2^53+1, 40 digits, `1e999`), objects keep their order, and nothing is dropped silently:
//! duplicate keys and unpaired surrogates are errors with a position, and so are the keys that `serde_json` reserves for
//! itself. Only the spelling of exponents changes: `1E5` is written back as `1e+5`.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The maximum depth of state and data. JSON parsers commonly stop at 128 levels, and a file adds a few of its own.
pub const MAX_DEPTH: usize = 100;

/// A JSON value inside a checkpoint. An unchanged value is copied from one checkpoint to the next as text.
#[derive(Debug, Clone)]
pub enum Json {
    /// The text from a file.
    Stored(Box<RawValue>),
    /// A value that has not been written yet.
    Given(Value),
}

impl Json {
    /// Returns the value, parsed if necessary.
    ///
    /// # Errors
    /// The text is nested too deeply.
    pub fn to_value(&self) -> Result<Value, InvalidJson> {
        match self {
            Self::Stored(raw) => serde_json::from_str(raw.get()).map_err(|error| InvalidJson::from_serde(&error)),
            Self::Given(value) => Ok(value.clone()),
        }
    }

    /// Returns true for an object without members.
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

/// An object key, borrowed from the input where possible.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

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

/// A text that is not one JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line} column {column}")]
pub struct InvalidJson {
    /// The problem.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
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

/// Parses exactly one JSON document.
///
/// # Errors
/// The position of the first problem: only white space, a byte order mark, invalid UTF-8, an unpaired surrogate, a key
/// that is duplicate or [reserved](is_reserved), more than 127 levels, or trailing characters.
pub fn parse_strict(bytes: &[u8]) -> Result<Value, InvalidJson> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(InvalidJson::at(bytes, 0, "starts with a byte order mark"));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| InvalidJson::at(bytes, error.valid_up_to(), "not valid UTF-8"))?;
    if text.trim_ascii().is_empty() {
        return Err(InvalidJson::at(bytes, bytes.len(), "no JSON here, only white space"));
    }
    let (value, _) = parse_checked(text, 0)?;
    Ok(value)
}

/// A key that an object has twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedKey {
    /// The key.
    pub key: String,
    /// The line of the first one, from 1.
    pub first_line: usize,
    /// The line of the one that counts.
    pub line: usize,
}

/// The most repeated keys of a document that are accepted and named.
pub(crate) const MAX_REPEATED_KEYS: usize = 20;

/// Parses a document like [`parse_strict`], but accepts some repeated keys: the last one counts, as in most parsers.
///
/// # Errors
/// The position of the first problem.
pub(crate) fn parse_repeated(text: &str) -> Result<(Value, Vec<RepeatedKey>), InvalidJson> {
    parse_checked(text, MAX_REPEATED_KEYS)
}

fn parse_checked(text: &str, most_repeated: usize) -> Result<(Value, Vec<RepeatedKey>), InvalidJson> {
    let located = |error: serde_json::Error| InvalidJson::from_serde(&error);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let checks = KeyChecks { text, most_repeated, repeated: RefCell::default(), last_key: Cell::default() };
    CheckedKeys(&checks).deserialize(&mut deserializer).map_err(located)?;
    deserializer.end().map_err(located)?;
    Ok((serde_json::from_str(text).map_err(located)?, checks.repeated.into_inner()))
}

/// Returns true if `serde_json` would take an object with this key for a number or raw text.
#[must_use]
pub fn is_reserved(key: &str) -> bool {
    key.starts_with("$serde_json::private::")
}

/// Fails at a reserved key, and at more repeated keys than are accepted. It runs before the document is parsed, because a
/// map drops the first of two equal keys.
#[derive(Clone, Copy)]
struct CheckedKeys<'c>(&'c KeyChecks<'c>);

/// The state of the check of the keys.
struct KeyChecks<'t> {
    text: &'t str,
    most_repeated: usize,
    repeated: RefCell<Vec<RepeatedKey>>,
    /// The offset of the last key whose place is known.
    last_key: Cell<usize>,
}

impl KeyChecks<'_> {
    /// Returns true if a key is part of the document. `serde_json` passes numbers as objects with a key of its own.
    fn is_written(&self, Key(key): &Key<'_>) -> bool {
        match key {
            Cow::Borrowed(key) => self.text.as_bytes().as_ptr_range().contains(&key.as_ptr()),
            Cow::Owned(_) => true,
        }
    }

    /// Returns the offset of a key; of one with escapes, that of the key before it.
    fn offset(&self, Key(key): &Key<'_>) -> usize {
        if let Cow::Borrowed(key) = key {
            let offset = key.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
            self.last_key.set(if offset < self.text.len() { offset } else { self.last_key.get() });
        }
        self.last_key.get()
    }

    fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
    }

    /// Notes a repeated key. Returns false if there are too many.
    fn note(&self, key: &str, first: usize, second: usize) -> bool {
        let mut repeated = self.repeated.borrow_mut();
        let accepted = repeated.len() < self.most_repeated;
        if accepted {
            let (first_line, line) = (self.line(first), self.line(second));
            repeated.push(RepeatedKey { key: key.to_owned(), first_line, line });
        }
        accepted
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
        let Self(checks) = self;
        let mut seen: HashMap<Cow<'de, str>, usize> = HashMap::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let offset = checks.offset(&key);
            let reserved = is_reserved(&key.0) && checks.is_written(&key);
            let Key(key) = key;
            let repeated = seen.get(&key).is_some_and(|first| !checks.note(&key, *first, offset));
            if reserved || repeated {
                let _ = map.next_value::<IgnoredAny>();
                let problem = if reserved { "reserved" } else { "given twice" };
                return Err(A::Error::custom(format_args!("the key {} is {problem}", Value::from(key))));
            }
            seen.insert(key, offset);
            map.next_value_seed(self)?;
        }
        Ok(())
    }
}

/// Applies an RFC 7396 merge patch: members of `patch` replace those of `target`, and `null` removes.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    remove_nulled(target, patch);
    json_patch::merge(target, patch);
}

/// Removes the members that are `null` in the patch. The merge itself would not keep the order of the others.
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

/// Merges a document into another: objects member by member; everything else, `null` included, is replaced. A merge
/// patch could not set `null`.
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

/// Sets one member of an object, by its key or by a JSON pointer such as `/build/retries`. Missing objects are created.
///
/// # Errors
/// The part of the pointer whose parent is not an object.
pub fn set_member(target: &mut Value, key: &str, value: Value) -> Result<(), String> {
    *member_mut(target, key)? = value;
    Ok(())
}

/// Appends a value to an array, which is named as in [`set_member`] and created if it is missing. A value that the array
/// has already is not appended again. Returns false if the member is not an array.
///
/// # Errors
/// The part of the pointer whose parent is not an object.
pub fn append_member(target: &mut Value, key: &str, value: Value) -> Result<bool, String> {
    let member = member_mut(target, key)?;
    if member.is_null() {
        *member = Value::Array(Vec::new());
    }
    let Value::Array(items) = member else { return Ok(false) };
    if !items.contains(&value) {
        items.push(value);
    }
    Ok(true)
}

/// Returns a member of an object, by its key or by a JSON pointer; `null` if it was missing.
fn member_mut<'v>(target: &'v mut Value, key: &str) -> Result<&'v mut Value, String> {
    let path: Vec<String> = match key.strip_prefix('/') {
        Some(pointer) => pointer.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect(),
        None => vec![key.to_owned()],
    };
    let mut current = target;
    let mut is_new = false;
    for part in path {
        if is_new {
            *current = Value::Object(serde_json::Map::new());
        }
        let Value::Object(members) = current else { return Err(part) };
        is_new = !members.contains_key(&part);
        current = members.entry(part).or_insert(Value::Null);
    }
    Ok(current)
}

/// Appends a member to a JSON pointer.
pub(crate) fn below(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}

/// Returns the number of nested arrays and objects.
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
            (json!({"a":"b","c":{"d":"e","f":"g"}}), json!({"a":"z","c":{"f":null}}), json!({"a":"z","c":{"d":"e"}})),
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

    #[test]
    fn values_are_appended_once() {
        let mut target = json!({"n": 1, "none": null});
        for value in [json!("a"), json!({"b": 1}), json!("a"), json!(["a"])] {
            assert_eq!(append_member(&mut target, "/list/of", value), Ok(true));
        }
        assert_eq!(append_member(&mut target, "none", json!(1)), Ok(true));
        assert_eq!(append_member(&mut target, "n", json!(1)), Ok(false));
        assert_eq!(append_member(&mut target, "/n/x", json!(1)), Err("x".to_owned()));
        assert_eq!(target.to_string(), r#"{"n":1,"none":[1],"list":{"of":["a",{"b":1},["a"]]}}"#);
    }
}
