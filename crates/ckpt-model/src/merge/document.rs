//! Contents as documents to merge: entries of lists by their names instead of their places.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Settler, order};
use crate::checkpoint::Content;
use crate::diff::NAMED;
use crate::json::InvalidJson;
use crate::three_way::three_way;

/// The fields that are merged by their meaning, in `derive`.
const DERIVED: [&str; 4] = ["phase", "next", "labels", "replans"];

/// A content as a document.
pub(super) struct Document {
    members: Map<String, Value>,
    /// The names of the entries of each list of [`NAMED`], in order; none if they do not tell the entries apart.
    orders: [Option<Vec<String>>; NAMED.len()],
}

/// Returns true if a pointer leads to an entry of a list.
pub(super) fn is_entry(pointer: &str) -> bool {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    matches!(steps[..], [list, _] if NAMED.iter().any(|(name, _)| *name == list))
}

impl Document {
    /// Merges three contents: the origin and its descendants.
    pub(super) fn merge(sides: [&Content; 3], settler: &mut Settler<'_>) -> Result<Content, InvalidJson> {
        let [origin, ours, theirs] = sides.map(Self::new);
        let mut documents = [origin?, ours?, theirs?];
        for (index, (list, _)) in NAMED.into_iter().enumerate() {
            if documents.iter().all(|document| document.orders[index].is_some()) {
                documents.iter_mut().for_each(|document| document.name_entries(index, list));
            } else {
                documents.iter_mut().for_each(|document| document.orders[index] = None);
            }
        }
        let [origin, ours, theirs] = &documents;
        let values = [origin, ours, theirs].map(|document| Value::Object(document.members.clone()));
        let mut merged = match three_way(settler, "", values.each_ref().map(Some)) {
            Some(Value::Object(merged)) => merged,
            _ => Map::new(),
        };
        for (index, (list, _)) in NAMED.into_iter().enumerate() {
            let (Some(Value::Object(entries)), [Some(origin), Some(ours), Some(theirs)]) =
                (merged.get_mut(list), [origin, ours, theirs].map(|document| document.orders[index].as_ref()))
            else {
                continue;
            };
            let mut entries = std::mem::take(entries);
            let kept: BTreeSet<String> = entries.keys().cloned().collect();
            let mut order = order::merge(origin, ours, theirs, &kept);
            // Only phases follow one another; the order of the others has no meaning.
            if order.contradictory && list == "phases" {
                let sides = [origin, ours, theirs].map(|names| Value::from(names.clone()));
                let chosen = settler.resolve("/phases", sides.each_ref().map(Some));
                let names = |value: Value| serde_json::from_value(value).ok();
                order.names = chosen.and_then(names).unwrap_or_default();
            }
            let mut ordered: Vec<Value> = order.names.iter().filter_map(|name| entries.shift_remove(name)).collect();
            ordered.extend(entries.into_iter().map(|(_, entry)| entry));
            merged.insert(list.to_owned(), ordered.into());
        }
        // Through text, because raw values are only read from text.
        let text = Value::Object(merged).to_string();
        serde_json::from_str(&text).map_err(|error| InvalidJson::from_serde(&error))
    }

    fn new(content: &Content) -> Result<Self, InvalidJson> {
        let value = serde_json::to_value(content).map_err(|error| InvalidJson::from_serde(&error))?;
        let Value::Object(mut members) = value else {
            return Ok(Self { members: Map::new(), orders: Default::default() });
        };
        members.retain(|name, _| !DERIVED.contains(&name.as_str()));
        let orders = NAMED.map(|(list, key)| {
            let entries = members.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let name = |entry: &Value| entry.get(key).and_then(Value::as_str).map(str::to_owned);
            let names: Vec<String> = entries.iter().map_while(name).collect();
            let distinct: BTreeSet<&String> = names.iter().collect();
            (distinct.len() == entries.len()).then_some(names)
        });
        Ok(Self { members, orders })
    }

    /// Turns a list into an object of its entries by their names.
    fn name_entries(&mut self, index: usize, list: &str) {
        let Some(names) = &self.orders[index] else { return };
        let entries = match self.members.get_mut(list).map(Value::take) {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        };
        let named: Map<String, Value> = names.iter().cloned().zip(entries).collect();
        self.members.insert(list.to_owned(), named.into());
    }
}
