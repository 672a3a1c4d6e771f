//! Lists of items that pass or do not: `prd.json` of Ralph, and `feature_list.json`.

use serde_json::{Map, Value, json};

use super::members::{count, first_member, pointer};
use super::read_log::ReadLog;
use super::worklist::{Worklist, ids, item_status, mostly, name};
use ckpt_model::checkpoint::{Checkpoint, Content};
use ckpt_model::phase::{Phase, PhaseStatus};

/// The words that both systems use for statuses, besides the common ones.
const WORDS: [(&str, PhaseStatus); 4] = [
    ("blocked", PhaseStatus::Pending),
    ("backlog", PhaseStatus::Pending),
    ("review", PhaseStatus::InProgress),
    ("wontfix", PhaseStatus::Skipped),
];

const STATUS: [&str; 4] = ["passes", "status", "completed", "done"];

/// True if a list has items with `passes`.
pub(super) fn has_passes(list: Option<&Value>) -> bool {
    mostly(list, |item| item.get("passes").is_some_and(Value::is_boolean))
}

/// Reads the items of a list. One without an id is called by its number.
pub(super) fn read(list: &Value, place: &str, log: &mut ReadLog<'_>) -> Content {
    let mut worklist = Worklist::default();
    for (index, item) in list.as_array().into_iter().flatten().enumerate() {
        let place = format!("{place}{}", pointer(&[&index.to_string()]));
        if !item.is_object() {
            log.unreadable_phase(&place);
            continue;
        }
        let status = status_of(item);
        let at = status.map_or_else(|| place.clone(), |(key, _)| format!("{place}/{key}"));
        let word = status.map_or(&Value::Null, |(_, word)| word);
        let status = item_status(word, &at, &WORDS, log);
        let Some(added) = worklist.add(&id_of(index, item), status, word, &at, log) else { continue };
        added.phase.name = name(item, &["title", "name", "description"]);
        added.depends_on = ids(first_member(item, &["dependencies", "depends_on", "dependsOn"]).map(|(_, ids)| ids));
        added.rank = item.get("priority").and_then(count).unwrap_or(u64::MAX);
    }
    worklist.into_content()
}

/// Returns the member with the status. An item in progress does not pass yet, so its word says more.
fn status_of(item: &Value) -> Option<(&'static str, &Value)> {
    let word = if item["passes"] == true { None } else { first_member(item, &["status"]) };
    word.or_else(|| first_member(item, &STATUS))
}

fn id_of(index: usize, item: &Value) -> Value {
    first_member(item, &["id", "key", "name"]).map_or_else(|| (index + 1).into(), |(_, id)| id.clone())
}

/// Writes the phases into the items of an imported list; new ones are added at its end.
pub(super) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let mut items = imported.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut by_id: Map<String, Value> = Map::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.is_object()) {
        if let Some(id) = super::phase_list::phase_id(&id_of(index, item)) {
            by_id.entry(id.to_string()).or_insert(index.into());
        }
    }
    for (index, phase) in checkpoint.content.phases.iter().enumerate() {
        let known = by_id.get(phase.id.as_str()).and_then(Value::as_u64);
        match known.and_then(|at| items.get_mut(usize::try_from(at).ok()?)) {
            Some(item) => update(item, phase),
            None => items.push(new_item(phase, index + 1)),
        }
    }
    items.into()
}

fn update(item: &mut Value, phase: &Phase) {
    let done = phase.status.is_done();
    if item.get("passes").is_some() {
        item["passes"] = done.into();
    }
    if let Some(word) = item.get("status").and_then(Value::as_str)
        && super::worklist::meaning(word, &WORDS) != Some(phase.status)
    {
        item["status"] = if done { "done" } else { phase.status.word() }.into();
    }
}

fn new_item(phase: &Phase, priority: usize) -> Value {
    let title = phase.name.as_deref().unwrap_or(phase.id.as_str());
    json!({"id": phase.id, "title": title, "priority": priority, "passes": phase.status.is_done(), "notes": ""})
}
