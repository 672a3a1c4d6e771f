//! Updating a document without touching what has not changed.

use serde_json::Value;

use crate::core::three_way::{self, Settle, Sides};

/// Applies to `original` the difference between `before` and `now`, two renderings of it.
///
/// Where both renderings are equal, the original stays as it is, with its spelling, order and unknown members. Where
/// they differ, the new one is taken. A list of scalars is kept or replaced as a whole, because its elements cannot be
/// paired by position. So with `before == now` the result is always `original`.
pub(super) fn three_way(original: &Value, before: &Value, now: &Value) -> Value {
    let merged = three_way::three_way(&mut TakeNew, "", [Some(before), Some(original), Some(now)]);
    merged.unwrap_or_default()
}

/// Takes the new rendering wherever it differs from the one before.
struct TakeNew;

impl Settle for TakeNew {
    const MERGES_ADDED: bool = false;

    fn arrays(&mut self, _: &str, [before, original, now]: [&[Value]; 3]) -> Option<Vec<Value>> {
        let is_container = |value: &Value| value.is_object() || value.is_array();
        let is_paired = original.len() == before.len() && original.iter().any(is_container);
        is_paired.then(|| arrays(original, before, now))
    }

    fn settle(&mut self, _: &str, [_, _, now]: Sides<'_>) -> Option<Value> {
        now.cloned()
    }
}

/// Merges arrays. Equal elements at both ends of the renderings are the same; those between are paired by position.
fn arrays(original: &[Value], before: &[Value], now: &[Value]) -> Vec<Value> {
    let equal = |(before, now): &(&Value, &Value)| before == now;
    let head = before.iter().zip(now).take_while(equal).count();
    let (before, now) = (&before[head..], &now[head..]);
    let tail = before.iter().rev().zip(now.iter().rev()).take_while(equal).count();
    let (before, now) = (&before[..before.len() - tail], &now[..now.len() - tail]);

    let (first, rest) = original.split_at(head);
    let (middle, last) = rest.split_at(before.len());
    let mut pairs = middle.iter().zip(before);
    let changed = now.iter().map(|now| match pairs.next() {
        Some((original, before)) => three_way(original, before, now),
        None => now.clone(),
    });
    first.iter().cloned().chain(changed).chain(last.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unchanged_values_keep_their_spelling() {
        let original =
            json!({"phase": 2, "status": "SUCCESS", "mine": {"a": [1]}, "list": [{"id": 1, "x": 0}]});
        let before = json!({"phase": "2", "status": "complete", "error": null, "list": [{"id": "1"}]});
        assert_eq!(three_way(&original, &before, &before.clone()).to_string(), original.to_string());

        let mut now = before.clone();
        now["phase"] = json!("3A");
        now["error"] = json!("disk full");
        now["list"] = json!([{"id": "1"}, {"id": "2"}]);
        assert_eq!(
            three_way(&original, &before, &now),
            json!({"phase": "3A", "status": "SUCCESS", "mine": {"a": [1]}, "list": [{"id": 1, "x": 0}, {"id": "2"}],
                "error": "disk full"})
        );
    }

    #[test]
    fn an_inserted_element_leaves_the_others_unchanged() {
        let original = json!([{"id": 1, "x": "one"}, {"id": 3, "x": "three"}]);
        let before = json!([{"id": "1"}, {"id": "3"}]);
        let inserted = three_way(&original, &before, &json!([{"id": "1"}, {"id": "2"}, {"id": "3"}]));
        assert_eq!(inserted, json!([{"id": 1, "x": "one"}, {"id": "2"}, {"id": 3, "x": "three"}]));
        let removed = three_way(&original, &before, &json!([{"id": "3"}]));
        assert_eq!(removed, json!([{"id": 3, "x": "three"}]));
        let changed = three_way(&original, &before, &json!([{"id": "1", "done": true}, {"id": "3"}]));
        assert_eq!(changed, json!([{"id": 1, "x": "one", "done": true}, {"id": 3, "x": "three"}]));
    }

    #[test]
    fn removed_members_are_removed() {
        let merged = three_way(&json!({"a": 1, "b": 2, "c": 3}), &json!({"a": 1, "b": 2}), &json!({"a": 1}));
        assert_eq!(merged, json!({"a": 1, "c": 3}));
        assert_eq!(three_way(&json!([1, 2]), &json!([1, 2]), &json!([1])), json!([1]));
    }

    #[test]
    fn a_list_of_scalars_is_replaced_as_a_whole() {
        let merged = three_way(&json!([3, 1]), &json!([1, 3]), &json!([1, 2, 3]));
        assert_eq!(merged, json!([1, 2, 3]));
    }
}
