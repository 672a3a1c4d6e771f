//! Bringing a document up to date without touching what has not moved.

use serde_json::{Map, Value};

/// Lays over `original` what lies between `before` and `now`, two renderings of it.
///
/// Where both renderings agree, the original stays as it is, whatever its spelling, order or members nobody knows.
/// Where they differ, the new one is taken. A list of plain values is one fact: position says nothing about which of them
/// belong together, so it is kept or replaced as a whole. So with `before == now` the result is `original`, always.
pub(super) fn three_way(original: Value, before: &Value, now: &Value) -> Value {
    if before == now {
        return original;
    }
    match (original, before, now) {
        (Value::Object(original), Value::Object(before), Value::Object(now)) => {
            objects(original, before, now).into()
        }
        (Value::Array(original), Value::Array(before), Value::Array(now))
            if original.len() == before.len() && original.iter().any(is_composed) =>
        {
            arrays(original, before, now).into()
        }
        (_, _, now) => now.clone(),
    }
}

/// Plain values in another order than the rendering has cannot be told apart; such a list is taken as a whole.
fn is_composed(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// What stands at both ends in both renderings is the same elements; between them, elements pair up by their place.
fn arrays(original: Vec<Value>, before: &[Value], now: &[Value]) -> Vec<Value> {
    let equal = |(before, now): &(&Value, &Value)| before == now;
    let head = before.iter().zip(now).take_while(equal).count();
    let (before, now) = (&before[head..], &now[head..]);
    let tail = before.iter().rev().zip(now.iter().rev()).take_while(equal).count();
    let (before, now) = (&before[..before.len() - tail], &now[..now.len() - tail]);

    let mut original = original.into_iter();
    let mut merged: Vec<Value> = original.by_ref().take(head).collect();
    let mut between = original.by_ref().take(before.len()).zip(before);
    for now in now {
        merged.push(match between.next() {
            Some((original, before)) => three_way(original, before, now),
            None => now.clone(),
        });
    }
    between.for_each(drop);
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
    fn what_has_not_moved_stays_as_it_was_spelled() {
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
    fn an_element_put_between_others_takes_nothing_from_them() {
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
    fn what_is_gone_now_goes() {
        let merged = three_way(json!({"a": 1, "b": 2, "c": 3}), &json!({"a": 1, "b": 2}), &json!({"a": 1}));
        assert_eq!(merged, json!({"a": 1, "c": 3}));
        assert_eq!(three_way(json!([1, 2]), &json!([1, 2]), &json!([1])), json!([1]));
    }

    #[test]
    fn a_list_of_plain_values_is_replaced_as_a_whole() {
        let merged = three_way(json!([3, 1]), &json!([1, 3]), &json!([1, 2, 3]));
        assert_eq!(merged, json!([1, 2, 3]));
    }
}
