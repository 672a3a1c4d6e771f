//! The index that the crunch dialect keeps beside its checkpoints.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// Adds entries to an index, the newest last. Entries with the same id are replaced; other members stay.
pub(super) fn update(index: Option<Value>, issue: &Value, entries: Vec<Value>) -> Value {
    let mut members = match index {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let latest = entries.last().and_then(|entry| entry.get("checkpoint_id").cloned());
    let mut all = match members.get_mut("checkpoints").map(Value::take) {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    };
    let id = |entry: &Value| entry.get("checkpoint_id").map(Value::to_string);
    let mut places = HashMap::new();
    for (place, entry) in all.iter().enumerate() {
        places.entry(id(entry)).or_insert(place);
    }
    for entry in entries {
        let place = *places.entry(id(&entry)).or_insert(all.len());
        if place < all.len() {
            all[place] = entry;
        } else {
            all.push(entry);
        }
    }
    members.entry("issue_number").or_insert_with(|| issue.clone());
    members.insert("total_checkpoints".to_owned(), json!(all.len()));
    members.insert("checkpoints".to_owned(), Value::Array(all));
    members.insert("latest".to_owned(), latest.unwrap_or_default());
    // The order in which the system itself writes them.
    let order = ["issue_number", "checkpoints", "latest", "total_checkpoints"];
    let mut sorted: Map<String, Value> =
        order.iter().filter_map(|key| Some(((*key).to_owned(), members.shift_remove(*key)?))).collect();
    sorted.extend(members);
    Value::Object(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_or_replaced_and_the_last_is_the_latest() {
        let entry = |id: &str, phase: &str| json!({"checkpoint_id": id, "phase": phase});
        let first = update(None, &json!(42), vec![entry("a", "enrich"), entry("b", "ready")]);
        assert_eq!(
            first.to_string(),
            json!({"issue_number": 42, "checkpoints": [entry("a", "enrich"), entry("b", "ready")], "latest": "b",
                "total_checkpoints": 2})
            .to_string()
        );
        let mut grown = first;
        grown["mine"] = json!(true);
        let second = update(Some(grown), &json!(42), vec![entry("b", "docs"), entry("c", "docs")]);
        assert_eq!(
            second["checkpoints"],
            json!([entry("a", "enrich"), entry("b", "docs"), entry("c", "docs")])
        );
        assert_eq!(
            (&second["latest"], &second["total_checkpoints"], &second["mine"]),
            (&json!("c"), &json!(3), &json!(true))
        );
    }
}
