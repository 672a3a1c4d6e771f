//! Lists of phases or tasks, each with what is recorded about it.

use std::collections::HashSet;

use serde_json::Value;

use super::keys::{classify, fold, is_spelled};
use super::scope::is_nothing;
use super::status::{Said, checkbox, is_said, of_entry, of_word};
use crate::core::dialects::reading::{Notes, phase_id, pointer, spelled};
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::task::{Task, TaskId, TaskStatus};
use crate::core::time::Timestamp;

const IDS: [&str; 9] = ["id", "phase_id", "step_id", "phase", "step", "stage", "number", "name", "title"];
const TASK_IDS: [&str; 10] =
    ["id", "task_id", "item_id", "key", "number", "name", "title", "task", "content", "description"];
const NAMES: [&str; 7] = ["name", "title", "label", "description", "content", "text", "summary"];
const ITEMS: [&str; 8] =
    ["tasks", "items", "objectives", "steps", "subtasks", "todos", "checklist", "sub_steps"];

/// What is recorded about one phase.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub(super) id: Option<PhaseId>,
    pub(super) name: Option<String>,
    pub(super) status: Option<PhaseStatus>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) error: Option<String>,
    pub(super) output: Option<String>,
    pub(super) tasks: Vec<Task>,
    /// Where the status stands.
    pub(super) pointer: String,
    /// The status as it was spelled.
    pub(super) spelled: String,
    /// Whether a status is recorded that is not understood.
    pub(super) unknown: bool,
}

/// Whether a value is a list of things with a status each: an object of objects, of status words or of flags, an array
/// of objects, a check list.
pub(super) fn is_list(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let entries = members.values().filter(|value| is_entry(value)).count();
            // `{"done": true, "required": true}` and `{"status": "done"}` are about one thing.
            let flags = members.values().any(Value::is_boolean);
            let named = || members.keys().all(|key| classify(&fold(key)).is_none() && key != "enabled");
            entries > 0
                && (!flags || members.values().all(Value::is_boolean))
                && (members.values().any(Value::is_object) || named())
                && (entries == members.len()
                    || members.values().all(|value| value.is_object() || value.is_null() || is_entry(value)))
        }
        Value::Array(items) => {
            items.iter().any(|item| item.is_object() && is_entry(item))
                || (!items.is_empty() && is_checklist(items))
        }
        _ => false,
    }
}

fn is_checklist(items: &[Value]) -> bool {
    items.iter().all(|item| item.as_str().and_then(checkbox).is_some())
}

fn is_entry(value: &Value) -> bool {
    is_said(value)
        || member(value, &ITEMS).is_some()
        || member(value, &["completed_at", "finished_at"]).is_some()
}

/// Whether a value is a list of things that have at least a name each.
pub(super) fn is_named_list(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| member(item, &IDS).is_some()),
        Value::Object(members) => {
            let things = members.values().all(|value| value.is_object() || value.is_null());
            !members.is_empty() && things && members.keys().all(|key| classify(&fold(key)).is_none())
        }
        _ => false,
    }
}

/// The records of a list, in its order.
pub(super) fn records(list: &Value, place: &str, notes: &mut Notes<'_>) -> Vec<Record> {
    match list {
        Value::Object(members) => {
            let records = members.iter().map(|(key, value)| {
                let place = format!("{place}{}", pointer(&[key]));
                Record { id: phase_id(&Value::from(key.as_str())), ..record(value, &place, notes) }
            });
            records.collect()
        }
        Value::Array(items) => {
            let records = items.iter().enumerate().filter_map(|(index, value)| {
                let place = format!("{place}/{index}");
                if let Some((status, mark, name)) = value.as_str().and_then(checkbox) {
                    let (id, spelled) = (phase_id(&Value::from(name)), spelled(status, &Value::from(mark)));
                    return Some(Record {
                        id,
                        status: Some(status),
                        spelled,
                        pointer: place,
                        ..Record::default()
                    });
                }
                // A name among records is a phase of which nothing is recorded.
                if !value.is_object() {
                    let id = notes.phase(value, &place)?;
                    return Some(Record { id: Some(id), pointer: place, ..Record::default() });
                }
                let record = record(value, &place, notes);
                let id = member(value, &IDS).and_then(|(_, id)| phase_id(id));
                Some(Record { id: id.or_else(|| phase_id(&Value::from(index + 1))), ..record })
            });
            records.collect()
        }
        _ => Vec::new(),
    }
}

/// The entries that say that they failed, whatever else the value holds.
pub(super) fn failures(value: &Value) -> Vec<PhaseId> {
    let failed = |value: &Value| match value {
        Value::Object(_) => matches!(of_entry(value), Said::Known(PhaseStatus::Failed, ..)),
        value => of_word(value) == Some(PhaseStatus::Failed),
    };
    match value {
        Value::Object(members) => {
            let failed = members.iter().filter(|(_, value)| failed(value));
            failed.filter_map(|(key, _)| phase_id(&Value::from(key.as_str()))).collect()
        }
        Value::Array(items) => {
            let failed = items.iter().filter(|value| value.is_object() && failed(value));
            failed.filter_map(|value| member(value, &IDS).and_then(|(_, id)| phase_id(id))).collect()
        }
        _ => Vec::new(),
    }
}

/// What one entry says about its phase; the id is the caller's business.
pub(super) fn record(value: &Value, place: &str, notes: &mut Notes<'_>) -> Record {
    let mut record = Record { pointer: place.to_owned(), ..Record::default() };
    if !value.is_object() {
        record.status = of_word(value);
        record.spelled = record.status.map(|status| spelled(status, value)).unwrap_or_default();
        record.unknown = record.status.is_none() && !is_nothing(value);
        if record.unknown {
            doubt_word(value, place, notes);
        }
        return record;
    }
    let time = |names: &[&str], notes: &mut Notes<'_>| {
        member(value, names)
            .and_then(|(key, time)| notes.understand_time(time, &format!("{place}{}", pointer(&[key]))))
    };
    record.started_at = time(&["started_at", "start_time", "started", "begun_at"], notes);
    let finished = ["completed_at", "finished_at", "ended_at", "end_time", "completed_on", "timestamp"];
    record.completed_at = time(&finished, notes);
    read_status(value, place, &mut record, notes);
    record.name = text_member(value, &NAMES);
    record.error = text_member(value, &["error", "last_error", "error_message", "failure_reason"]);
    record.output = text_member(value, &["output_file", "output_path", "output", "artifact"])
        .filter(|path| is_path(path));
    if let Some((key, items)) = member(value, &ITEMS) {
        record.tasks = tasks(items, &format!("{place}{}", pointer(&[key])), notes);
    }
    let unsaid = !record.unknown;
    record.status = record.status.or_else(|| of_tasks(&record.tasks).filter(|_| unsaid));
    record
}

/// Reads the status of an entry: what it says, or the time it was finished at.
fn read_status(value: &Value, place: &str, record: &mut Record, notes: &mut Notes<'_>) {
    let at = |key: &str| format!("{place}{}", pointer(&[key]));
    match of_entry(value) {
        Said::Known(status, key, word) => {
            record.pointer = at(key);
            record.status = Some(status);
            record.spelled = spelled(status, word);
        }
        Said::Unknown(key, word) => {
            record.pointer = at(key);
            record.unknown = true;
            doubt_word(word, &record.pointer, notes);
        }
        Said::Nothing => {
            let finished = member(value, &["completed_at", "finished_at"]).is_some();
            record.status = (finished && record.completed_at.is_some()).then_some(PhaseStatus::Complete);
        }
    }
}

fn doubt_word(word: &Value, place: &str, notes: &mut Notes<'_>) {
    let word = match word {
        Value::String(word) => format!("\"{word}\""),
        Value::Object(_) | Value::Array(_) => "that is recorded".to_owned(),
        other => other.to_string(),
    };
    let message = format!("the status {word} is not known; nothing is concluded from it");
    notes.doubt_at(Severity::Advice, Code::StatusUnknown, place, &message);
}

/// What the tasks of a phase say about it, if it says nothing itself.
pub(super) fn of_tasks(tasks: &[Task]) -> Option<PhaseStatus> {
    let all =
        |wanted: fn(TaskStatus) -> bool| !tasks.is_empty() && tasks.iter().all(|task| wanted(task.status));
    if all(TaskStatus::is_done) {
        Some(PhaseStatus::Complete)
    } else if all(|status| status == TaskStatus::Pending) {
        Some(PhaseStatus::Pending)
    } else {
        (!tasks.is_empty()).then_some(PhaseStatus::InProgress)
    }
}

/// The tasks of a list. Those whose status is not recorded, or not understood, are pending.
pub(super) fn tasks(list: &Value, place: &str, notes: &mut Notes<'_>) -> Vec<Task> {
    let entries: Vec<(Option<&str>, &Value, String)> = match list {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (Some(key.as_str()), value, format!("{place}{}", pointer(&[key]))))
            .collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (None, value, format!("{place}/{index}"))).collect()
        }
        _ => return Vec::new(),
    };
    let mut tasks: Vec<Task> = Vec::new();
    let mut known = HashSet::new();
    for (index, (key, value, place)) in entries.into_iter().enumerate() {
        let ticked = value.as_str().filter(|_| key.is_none()).and_then(checkbox);
        let named = key.map(str::to_owned).or_else(|| match (value, ticked) {
            (_, Some((.., name))) => Some(name.to_owned()),
            (Value::Object(_), _) => text_member(value, &TASK_IDS),
            (value, _) => super::scope::text(value),
        });
        let id = named.as_deref().and_then(task_id).or_else(|| task_id(&(index + 1).to_string()));
        let Some(id) = id.filter(|id| known.insert(id.clone())) else { continue };
        // An array of plain words names tasks; an object from names to words says how they stand.
        let status = match (key, value) {
            (None, Value::String(_) | Value::Number(_)) => ticked.map(|(status, ..)| status),
            _ => record(value, &place, notes).status,
        };
        let status = match status.unwrap_or_default() {
            PhaseStatus::Pending => TaskStatus::Pending,
            PhaseStatus::InProgress => TaskStatus::Running,
            PhaseStatus::Complete => TaskStatus::Complete,
            PhaseStatus::Failed => TaskStatus::Failed,
            PhaseStatus::Skipped => TaskStatus::Skipped,
        };
        let phase = member(value, &["phase", "phase_id", "stage"]).and_then(|(_, phase)| phase_id(phase));
        let mut task = Task::pending(id, phase);
        task.status = status;
        task.attempts = u32::from(!matches!(status, TaskStatus::Pending | TaskStatus::Skipped));
        task.output =
            text_member(value, &["output_file", "output_path", "output"]).filter(|path| is_path(path));
        task.error = text_member(value, &["error", "last_error"]);
        if let Some((_, Value::Array(needed))) = member(value, &["depends_on", "dependencies", "after"]) {
            task.depends_on =
                needed.iter().filter_map(super::scope::text).filter_map(|id| task_id(&id)).collect();
        }
        tasks.push(task);
    }
    tasks
}

/// A task id, made to fit.
fn task_id(text: &str) -> Option<TaskId> {
    text.parse().ok().or_else(|| {
        let line = text.trim().lines().next().unwrap_or_default();
        let fitting: String = line.replace([',', '=', '+'], "-").chars().take(64).collect();
        fitting.trim().parse().ok()
    })
}

/// The first member of an object that has one of these names and says something.
pub(super) fn member<'a>(value: &'a Value, names: &[&str]) -> Option<(&'a str, &'a Value)> {
    let Value::Object(members) = value else { return None };
    names.iter().find_map(|name| {
        let found = members.iter().find(|(key, value)| is_spelled(key, name) && !is_nothing(value));
        found.map(|(key, value)| (key.as_str(), value))
    })
}

fn text_member(value: &Value, names: &[&str]) -> Option<String> {
    member(value, names).and_then(|(_, value)| super::scope::text(value))
}

/// Whether a text looks like the path of a file.
pub(super) fn is_path(text: &str) -> bool {
    let plain =
        !text.contains(['\n', '\t', '*', '?', '<', '>', '|']) && text.len() <= 1024 && !text.contains("://");
    let last = text.rsplit('/').next().unwrap_or_default();
    let dotted = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=12).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    plain && (dotted || (text.contains('/') && !text.contains(' ')))
}
