//! Limits on the size of a schema, checked before anything else looks at it.

use serde_json::Value;

use super::UnusableSchema;
use crate::core::json::below;

/// The most values in a schema.
const MAX_VALUES: u64 = 20_000;
/// The most bytes in its texts, numbers and keys.
const MAX_TEXT: u64 = 512 << 10;
/// The most levels.
const MAX_LEVELS: usize = 64;
/// The most bytes in a JSON pointer into it: a validator keeps one per keyword.
const MAX_POINTER: usize = 1 << 10;

/// Refuses a schema that is too large.
pub(super) fn check(schema: &Value) -> Result<(), UnusableSchema> {
    Size::default().add(schema, 0, &mut String::new())
}

/// The size of a schema so far.
#[derive(Default)]
struct Size {
    values: u64,
    text: u64,
}

impl Size {
    fn add(&mut self, value: &Value, level: usize, pointer: &mut String) -> Result<(), UnusableSchema> {
        self.values += 1;
        let refuse = |reason: String| Err(UnusableSchema { pointer: pointer.clone(), reason });
        if self.values > MAX_VALUES {
            return refuse(format!("the schema has more than {MAX_VALUES} values"));
        }
        if level > MAX_LEVELS {
            return refuse(format!("the schema has more than {MAX_LEVELS} levels"));
        }
        self.text += match value {
            Value::String(text) => text.len() as u64,
            Value::Number(number) => number.as_str().len() as u64,
            Value::Object(members) => members.keys().map(|key| key.len() as u64).sum(),
            Value::Null | Value::Bool(_) | Value::Array(_) => 0,
        };
        if self.text > MAX_TEXT {
            return refuse(format!("the texts of the schema have more than {MAX_TEXT} bytes"));
        }
        let above = pointer.len();
        let mut descend = |name: &str, child: &Value| {
            if above + name.len() > MAX_POINTER {
                let reason =
                    format!("a place of the schema has a JSON pointer of more than {MAX_POINTER} bytes");
                return Err(UnusableSchema { pointer: pointer.clone(), reason });
            }
            *pointer = below(pointer, name);
            self.add(child, level + 1, pointer)?;
            pointer.truncate(above);
            Ok(())
        };
        match value {
            Value::Array(items) => {
                items.iter().enumerate().try_for_each(|(index, item)| descend(&index.to_string(), item))
            }
            Value::Object(members) => members.iter().try_for_each(|(name, member)| descend(name, member)),
            _ => Ok(()),
        }
    }
}

/// Returns the number of values in a value, itself included.
pub(super) fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<u64>(),
        _ => 1,
    }
}
