//! The member of a document that holds the embedded data.

use serde_json::{Map, Value};

use crate::core::dialects::dialect::Dialect;
use crate::core::time::Timestamp;

pub(in crate::core::dialects) const KEY: &str = "ckpt";

/// Returns the member whose content is up to the users of the system.
pub(in crate::core::dialects) fn container(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Kamiflow => Some("metadata"),
        Dialect::ClaudeDir => Some("workflow_state"),
        Dialect::ClaudePlan => Some("context_metadata"),
        Dialect::Crunch => Some("knowledge_context"),
        Dialect::Dotagent | Dialect::Ckpt | Dialect::Generic => None,
    }
}

/// Returns the embedded data of a document, and the time at which it was written.
pub(super) fn find(dialect: Dialect, main: &Value) -> Option<(&Map<String, Value>, Timestamp)> {
    let members = main.get(container(dialect)?)?.get(KEY)?.as_object()?;
    let saved_at = members.get("saved_at")?.as_str().and_then(Timestamp::parse)?;
    Some((members, saved_at))
}

/// Removes the embedded data from a document.
pub(in crate::core::dialects) fn remove(dialect: Dialect, main: &mut Value) {
    if find(dialect, main).is_some()
        && let Some(container) = container(dialect).and_then(|key| main.get_mut(key)?.as_object_mut())
    {
        container.shift_remove(KEY);
    }
}

/// Embeds data in a document, unless its place is taken.
pub(in crate::core::dialects) fn insert(dialect: Dialect, main: &mut Value, data: Map<String, Value>) {
    let (Some(key), Value::Object(members)) = (container(dialect), main) else { return };
    let container = members.entry(key).or_insert(Value::Null);
    if container.is_null() {
        *container = Value::Object(Map::new());
    }
    if let Value::Object(container) = container {
        container.entry(KEY).or_insert(data.into());
    }
}

/// True if a document of the dialect has the status of each phase, but not always the list of all phases. Only then is
/// the list embedded: in other dialects it would contradict what the document implies.
pub(super) fn needs_phase_list(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::ClaudeDir | Dialect::ClaudePlan)
}

/// True if a document of the dialect has one place for the tasks and the data of all phases, so that their phases are
/// embedded.
pub(super) fn needs_phase_owners(dialect: Dialect) -> bool {
    dialect == Dialect::Crunch
}
