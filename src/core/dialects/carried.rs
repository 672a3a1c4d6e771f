//! The whole checkpoint inside a file of another system, for its own way back.
//!
//! A file that is written for another system cannot say all that a checkpoint has. So the checkpoint itself is carried in
//! it, in a member `ckpt`, with a digest of the rest of the file. On import the checkpoint is taken if the rest was not
//! changed since. Otherwise the file is read as if there were no such member, and a finding says so: the system has gone
//! on with its own members, and what it has no place for may not hold any more.
//!
//! A member `ckpt` that was not written by this program is left alone.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::document::MAX_SOURCE_DEPTH;
use super::reading::DialectFiles;
use crate::core::checkpoint::{Checkpoint, Writer};
use crate::core::digest::{Digest, Hasher};
use crate::core::json::{Json, depth};
use crate::core::schema::{Steps, Validator};

const KEY: &str = "ckpt";

/// The checkpoint in a file.
pub(super) enum Carried {
    /// There is none.
    Absent,
    /// The file was changed since, or the checkpoint is not one.
    Changed,
    /// The checkpoint that the file was made from.
    Intact(Box<Checkpoint>),
}

/// Looks for the checkpoint in a document and its companion. A companion that is missing counts as unchanged.
pub(super) fn find(dialect: Dialect, main: &Value, companion: Option<&Value>) -> Carried {
    let Some(carried) = member(dialect, main) else { return Carried::Absent };
    if !is_intact(carried, main, companion) {
        return Carried::Changed;
    }
    let document = &carried["checkpoint"];
    let violations = |schema: &Validator| schema.violations(document, &mut Steps::default());
    let is_valid = Validator::of_checkpoints().map(violations).is_some_and(|found| found == Ok(Vec::new()));
    match serde_json::from_str(&document.to_string()) {
        Ok(checkpoint) if is_valid => Carried::Intact(checkpoint),
        _ => Carried::Changed,
    }
}

/// Returns the member of a document that this program has written.
fn member(dialect: Dialect, main: &Value) -> Option<&Map<String, Value>> {
    if !dialect.format().carries() {
        return None;
    }
    let carried = main.get(KEY)?.as_object()?;
    let is_ours = carried.get("sha256").is_some_and(Value::is_string)
        && carried.get("checkpoint").is_some_and(Value::is_object);
    is_ours.then_some(carried)
}

/// True if a document carries a checkpoint.
pub(super) fn is_there(dialect: Dialect, main: &Value) -> bool {
    member(dialect, main).is_some()
}

fn is_intact(carried: &Map<String, Value>, main: &Value, companion: Option<&Value>) -> bool {
    let is = |key: &str, digest: Digest| carried.get(key).and_then(Value::as_str) == Some(&digest.to_hex());
    is("sha256", digest(main))
        && companion.is_none_or(|companion| {
            !carried.contains_key("companion_sha256") || is("companion_sha256", digest(companion))
        })
}

/// Puts a checkpoint into its files, unless the place is taken or the result would be nested too deeply to be read.
pub(super) fn embed(dialect: Dialect, files: &mut DialectFiles, checkpoint: &Checkpoint) {
    if !dialect.format().carries() || files.main.get(KEY).is_some() {
        return;
    }
    let mut content = checkpoint.content.clone();
    content.state = Json::Given(state_without_files(dialect, checkpoint));
    // What describes the save belongs to the store that made it.
    let document = Checkpoint {
        sha256: Digest::ZERO,
        content,
        writer: Writer { ckpt: checkpoint.writer.ckpt.clone(), ..Writer::default() },
        parent: None,
        run: None,
        pinned: false,
        copy_of: None,
        keys: Vec::new(),
        imported: None,
        ..checkpoint.clone()
    };
    let Ok(document) = serde_json::to_value(&document) else { return };
    let mut carried = json!({"sha256": digest(&files.main), "checkpoint": document});
    if let Some(companion) = &files.companion {
        carried["companion_sha256"] = json!(digest(companion));
    }
    if let Value::Object(members) = &mut files.main
        && depth(&carried) < MAX_SOURCE_DEPTH
    {
        members.insert(KEY.to_owned(), carried);
    }
}

/// Removes the checkpoint from a document.
pub(super) fn remove(dialect: Dialect, main: &mut Value) {
    if member(dialect, main).is_some()
        && let Value::Object(members) = main
    {
        members.shift_remove(KEY);
    }
}

/// Returns the state of a checkpoint without the imported files of the dialect, and without the checkpoints that files of
/// other dialects carry: they are part of this one by now.
pub(super) fn state_without_files(dialect: Dialect, checkpoint: &Checkpoint) -> Value {
    let mut members = match checkpoint.content.state.to_value().unwrap_or_default() {
        Value::Null => Map::new(),
        Value::Object(members) => members,
        other => return other,
    };
    members.shift_remove(dialect.word());
    if let Some(companion) = dialect.companion() {
        members.shift_remove(companion.key);
    }
    for other in Dialect::ALL {
        if let Some(main) = members.get_mut(other.word()) {
            remove(*other, main);
        }
    }
    members.into()
}

impl Dialect {
    /// Makes a change to a document that does not count as one: of a file that was intact, the digest is renewed.
    pub fn change_unnoticed(
        self,
        main: &mut Value,
        companion: &mut Option<Value>,
        change: impl FnOnce(&mut Value, &mut Option<Value>),
    ) {
        let intact = member(self, main).is_some_and(|carried| is_intact(carried, main, companion.as_ref()));
        change(main, companion);
        if !intact {
            return;
        }
        let renewed = json!(digest(main));
        if let Some(carried) = main.get_mut(KEY) {
            carried["sha256"] = renewed;
            if let Some(companion) = &companion
                && carried.get("companion_sha256").is_some()
            {
                carried["companion_sha256"] = json!(digest(companion));
            }
        }
    }
}

/// Returns the digest of a document without what it carries. The order of members does not matter.
fn digest(document: &Value) -> Digest {
    let mut hasher = Hasher::default();
    match document {
        Value::Object(members) => {
            feed_members(members.iter().filter(|(key, _)| *key != KEY).collect(), &mut hasher);
        }
        other => feed(other, &mut hasher),
    }
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut Hasher) {
    match value {
        Value::Object(members) => feed_members(members.iter().collect(), hasher),
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                feed(item, hasher);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        scalar => hasher.update(scalar.to_string().as_bytes()),
    }
}

fn feed_members(mut members: Vec<(&String, &Value)>, hasher: &mut Hasher) {
    members.sort_by_key(|(key, _)| *key);
    hasher.update(b"{");
    for (key, value) in members {
        hasher.update(Value::from(key.as_str()).to_string().as_bytes());
        hasher.update(b":");
        feed(value, hasher);
        hasher.update(b",");
    }
    hasher.update(b"}");
}
