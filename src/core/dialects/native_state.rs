//! Members of the state that a dialect has a member for, under the same name: `team_state` of crunch, for instance.
//!
//! They are written there, whether the checkpoint was imported or not, and what the system changes in them is merged into
//! the state.

use serde_json::{Map, Value};

use super::merge::three_way;
use crate::core::checkpoint::Checkpoint;

/// The names in the state, and the object of the document that has members of these names.
type NativeMembers = (&'static [&'static str], &'static str);

/// Writes the members of the state to a rendered document. Of an object that the document has too, the rendered members
/// take precedence: they are of tasks, labels and artifacts.
pub(super) fn write((names, place): NativeMembers, checkpoint: &Checkpoint, document: &mut Value) {
    if names.is_empty() {
        return;
    }
    let Ok(state) = checkpoint.content.state.to_value() else { return };
    let Some(document) = document.pointer_mut(place).and_then(Value::as_object_mut) else { return };
    for name in names {
        let Some(native) = state.get(name) else { continue };
        let is_object = document.get(*name).is_some_and(Value::is_object);
        if native.is_object() || !is_object {
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

/// Merges into a state what the system has changed in its members: they were written as in `base`, and are now as in
/// `theirs`.
pub(super) fn merge(
    (names, place): NativeMembers,
    state: &mut Map<String, Value>,
    base: &Value,
    theirs: &Value,
) {
    for name in names {
        let member = |document: &Value| document.pointer(place)?.get(*name).cloned();
        let (Some(native), Some(base), Some(theirs)) = (state.get_mut(*name), member(base), member(theirs))
        else {
            continue;
        };
        *native = three_way(native, &base, &theirs);
    }
}
