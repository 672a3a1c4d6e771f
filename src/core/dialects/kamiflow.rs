use super::reading::{Draft, Notes};
use crate::core::checkpoint::Checkpoint;
use serde_json::Value;
pub(super) fn recognises(_: &Value) -> bool {
    false
}
pub(super) fn read(_: &Value, _: &mut Notes<'_>) -> Draft {
    Draft::default()
}
pub(super) fn write(_: &Checkpoint) -> Value {
    Value::Null
}
