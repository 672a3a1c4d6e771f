//! The three-way merge of JSON values: two descendants of one origin become one value.
//!
//! What only one side has changed is taken from that side, member by member. What both have changed differently is a
//! conflict, which the caller settles.

use serde_json::{Map, Value};

use super::json::below;

/// The origin and its two descendants at one place; none where there is nothing.
pub type Sides<'v> = [Option<&'v Value>; 3];

/// The decisions that a merge leaves to its caller. `place` is always a JSON pointer.
pub trait Settle {
    /// Returns true if a value is taken as a whole, never member by member.
    fn is_whole(&self, _place: &str) -> bool {
        false
    }

    /// Merges arrays element by element; none if they are taken as a whole.
    fn arrays(&mut self, _place: &str, _sides: [&[Value]; 3]) -> Option<Vec<Value>> {
        None
    }

    /// Returns what becomes of a value that both sides have changed differently; none if nothing.
    fn settle(&mut self, place: &str, sides: Sides<'_>) -> Option<Value>;
}

/// Merges `ours` and `theirs`, which both come from `origin`. Members keep the order that they have in `ours`.
pub fn three_way<S: Settle>(settle: &mut S, place: &str, [origin, ours, theirs]: Sides<'_>) -> Option<Value> {
    if origin == theirs {
        return ours.cloned();
    }
    if !settle.is_whole(place) {
        match (origin, ours, theirs) {
            (Some(Value::Object(origin)), Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
                return Some(objects(settle, place, [origin, ours, theirs]).into());
            }
            (None, Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
                return Some(objects(settle, place, [&Map::new(), ours, theirs]).into());
            }
            (Some(Value::Array(origin)), Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
                if let Some(merged) = settle.arrays(place, [origin, ours, theirs]) {
                    return Some(merged.into());
                }
            }
            _ => {}
        }
    }
    if ours == origin || ours == theirs {
        return theirs.cloned();
    }
    settle.settle(place, [origin, ours, theirs])
}

fn objects<S: Settle>(
    settle: &mut S,
    place: &str,
    [origin, ours, theirs]: [&Map<String, Value>; 3],
) -> Map<String, Value> {
    let mut merged = Map::new();
    for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
        let sides = [origin.get(key), ours.get(key), theirs.get(key)];
        if let Some(value) = three_way(settle, &below(place, key), sides) {
            merged.insert(key.clone(), value);
        }
    }
    merged
}
