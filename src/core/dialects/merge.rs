//! The three-way merge of JSON values: updating a document without touching what has not changed.

use serde_json::{Map, Value};

/// Applies to `original` the difference between `before` and `now`, two renderings of it.
///
/// Where both renderings are equal, the original stays as it is, with its spelling, order and unknown members. Where
/// they differ, the new one is taken. A list of scalars is kept or replaced as a whole, because its elements cannot be
/// paired by position. So with `before == now` the result is always `original`.
pub(super) fn three_way(original: Value, before: &Value, now: &Value) -> Value {
    if before == now {
        return original;
    }
    match (original, before, now) {
        (Value::Object(original), Value::Object(before), Value::Object(now)) => {
            objects(original, before, now).into()
        }
        (Value::Array(original), Value::Array(before), Value::Array(now))
            if original.len() == before.len() && original.iter().any(is_container) =>
        {
            arrays(original, before, now).into()
        }
        (_, _, now) => now.clone(),
    }
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// Merges arrays. Equal elements at both ends of the renderings are the same; those between are paired by position.
fn arrays(original: Vec<Value>, before: &[Value], now: &[Value]) -> Vec<Value> {
    let equal = |(before, now): &(&Value, &Value)| before == now;
    let head = before.iter().zip(now).take_while(equal).count();
    let (before, now) = (&before[head..], &now[head..]);
    let tail = before.iter().rev().zip(now.iter().rev()).take_while(equal).count();
    let (before, now) = (&before[..before.len() - tail], &now[..now.len() - tail]);

    let mut original = original.into_iter();
    let mut merged: Vec<Value> = original.by_ref().take(head).collect();
    let mut middle = original.by_ref().take(before.len()).zip(before);
    for now in now {
        merged.push(match middle.next() {
            Some((original, before)) => three_way(original, before, now),
            None => now.clone(),
        });
    }
    middle.for_each(drop);
    merged.extend(original);
    merged
}

fn objects(
    original: Map<String, Value>,
    before: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = Map::new();
    for (key, value) in original {
        match (before.get(&key), now.get(&key)) {
            (Some(before), Some(now)) => drop(merged.insert(key, three_way(value, before, now))),
            (None, Some(now)) => drop(merged.insert(key, now.clone())),
            (Some(_), None) => {}
            (None, None) => drop(merged.insert(key, value)),
        }
    }
    for (key, now) in now {
        if !merged.contains_key(key) && before.get(key) != Some(now) {
            merged.insert(key.clone(), now.clone());
        }
    }
    merged
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
        assert_eq!(three_way(original.clone(), &before, &before.clone()).to_string(), original.to_string());

        let mut now = before.clone();
        now["phase"] = json!("3A");
        now["error"] = json!("disk full");
        now["list"] = json!([{"id": "1"}, {"id": "2"}]);
        assert_eq!(
            three_way(original, &before, &now),
            json!({"phase": "3A", "status": "SUCCESS", "mine": {"a": [1]}, "list": [{"id": 1, "x": 0}, {"id": "2"}],
                "error": "disk full"})
        );
    }

    #[test]
    fn an_inserted_element_leaves_the_others_unchanged() {
        let original = json!([{"id": 1, "x": "one"}, {"id": 3, "x": "three"}]);
        let before = json!([{"id": "1"}, {"id": "3"}]);
        let inserted = three_way(original.clone(), &before, &json!([{"id": "1"}, {"id": "2"}, {"id": "3"}]));
        assert_eq!(inserted, json!([{"id": 1, "x": "one"}, {"id": "2"}, {"id": 3, "x": "three"}]));
        let removed = three_way(original.clone(), &before, &json!([{"id": "3"}]));
        assert_eq!(removed, json!([{"id": 3, "x": "three"}]));
        let changed = three_way(original, &before, &json!([{"id": "1", "done": true}, {"id": "3"}]));
        assert_eq!(changed, json!([{"id": 1, "x": "one", "done": true}, {"id": 3, "x": "three"}]));
    }

    #[test]
    fn removed_members_are_removed() {
        let merged = three_way(json!({"a": 1, "b": 2, "c": 3}), &json!({"a": 1, "b": 2}), &json!({"a": 1}));
        assert_eq!(merged, json!({"a": 1, "c": 3}));
        assert_eq!(three_way(json!([1, 2]), &json!([1, 2]), &json!([1])), json!([1]));
    }

    #[test]
    fn a_list_of_scalars_is_replaced_as_a_whole() {
        let merged = three_way(json!([3, 1]), &json!([1, 3]), &json!([1, 2, 3]));
        assert_eq!(merged, json!([1, 2, 3]));
    }
}
