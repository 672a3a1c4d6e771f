//! Members of the state that a dialect has a member for, under the same name: `team_state` of crunch, for instance.
//!
//! They are written there, whether the checkpoint was imported or not. The embedded data has their names only, by which
//! they return to the state on import, with the values that the system has given them since.

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::embedded;
use crate::core::checkpoint::Checkpoint;

/// The path of a member in the state: a member that the dialect has, or one below it.
pub(super) type MemberPath = Vec<String>;

/// Returns the names in the state, and the object of the document that has a member of that name.
fn members(dialect: Dialect) -> (&'static [&'static str], &'static str) {
    match dialect {
        Dialect::Kamiflow => (&["command", "metadata"], ""),
        Dialect::ClaudeDir => (
            &[
                "artifact_registry",
                "plan_modification_time",
                "plan_path",
                "project_name",
                "research_results",
                "tests_passing",
            ],
            "/workflow_state",
        ),
        Dialect::ClaudePlan => (&["artifact_paths", "context_metadata", "plan_path"], ""),
        Dialect::Crunch => {
            (&["acp_state", "execution_graph", "issue_snapshot", "knowledge_context", "team_state"], "")
        }
        Dialect::Dotagent | Dialect::Ckpt | Dialect::Generic => (&[], ""),
    }
}

/// Writes the members of the state to a rendered document. Of an object that the document has too, the rendered members
/// take precedence: they are of tasks, labels and artifacts. A member that would leave no place for the embedded data is
/// embedded itself.
pub(super) fn write(dialect: Dialect, checkpoint: &Checkpoint, document: &mut Value) {
    let (names, place) = members(dialect);
    let Ok(state) = checkpoint.content.state.to_value() else { return };
    let Some(document) = document.pointer_mut(place).and_then(Value::as_object_mut) else { return };
    for name in names {
        let Some(native) = state.get(name) else { continue };
        let is_object = document.get(*name).is_some_and(Value::is_object);
        let fits = if embedded::container(dialect) == Some(name) {
            native.as_object().is_some_and(|members| !members.contains_key(embedded::KEY))
        } else {
            native.is_object() || !is_object
        };
        if fits {
            let rendered = document.entry(*name).or_insert(Value::Null);
            let native = native.clone();
            *rendered = if native.is_object() { complete(native, rendered.take()) } else { native };
        }
    }
}

/// Completes a member of the state by what was rendered.
fn complete(native: Value, rendered: Value) -> Value {
    match (native, rendered) {
        (Value::Object(mut native), Value::Object(rendered)) => {
            for (key, rendered) in rendered {
                let value = native.entry(key).or_insert(Value::Null);
                *value = complete(value.take(), rendered);
            }
            native.into()
        }
        (native, rendered) if is_blank(&rendered) => native,
        (_, rendered) => rendered,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Removes from a state what a document has. Returns the paths of it.
pub(super) fn take_written(
    dialect: Dialect,
    document: &Value,
    state: &mut Map<String, Value>,
) -> Vec<MemberPath> {
    let (names, place) = members(dialect);
    let mut paths = Vec::new();
    for name in names {
        let written = document.pointer(place).and_then(|object| object.get(*name));
        let (Some(written), Some(native)) = (written, state.get_mut(*name)) else { continue };
        let path = || vec![(*name).to_owned()];
        if native == written {
            paths.push(path());
            state.shift_remove(*name);
            continue;
        }
        let Some(members) = native.as_object_mut().filter(|members| !members.is_empty()) else { continue };
        members.retain(|key, value| {
            let is_written = written.get(key) == Some(&*value);
            if is_written {
                paths.push([path(), vec![key.clone()]].concat());
            }
            !is_written
        });
        if members.is_empty() {
            state.shift_remove(*name);
        }
    }
    paths
}

/// Adds what a document has at these paths to a state. Paths that the dialect does not have are ignored: the document is
/// untrusted.
pub(super) fn restore(
    dialect: Dialect,
    document: &Value,
    paths: Vec<MemberPath>,
    state: &mut Map<String, Value>,
) {
    let (names, place) = members(dialect);
    for path in paths {
        let [name, below @ ..] = path.as_slice() else { continue };
        let written = document.pointer(place).and_then(|object| object.get(name));
        let Some(written) = written.filter(|_| names.contains(&name.as_str())) else { continue };
        match below {
            [] => drop(state.insert(name.clone(), written.clone())),
            [key] => {
                let parent = state.entry(name.clone()).or_insert_with(|| Map::new().into());
                if let (Some(value), Value::Object(parent)) = (written.get(key), parent) {
                    parent.insert(key.clone(), value.clone());
                }
            }
            _ => {}
        }
    }
}
