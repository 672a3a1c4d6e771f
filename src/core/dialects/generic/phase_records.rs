//! Lists of phases or tasks with a status each.

use std::collections::HashSet;

use serde_json::Value;

use super::keys::{classify, has_name, snake_case};
use super::sections::is_blank;
use super::status_words::{EntryStatus, entry_status, has_status, parse_checkbox, parse_status};
use crate::core::dialects::members::{pointer, text_or_number};
use crate::core::dialects::phase_list::{phase_id, task_status};
use crate::core::dialects::read_log::{ReadLog, with_original_word};
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::task::{Task, TaskId, TaskStatus};
use crate::core::time::Timestamp;

const IDS: [&str; 9] = ["id", "phase_id", "step_id", "phase", "step", "stage", "number", "name", "title"];
const TASK_IDS: [&str; 10] =
    ["id", "task_id", "item_id", "key", "number", "name", "title", "task", "content", "description"];
const NAMES: [&str; 7] = ["name", "title", "label", "description", "content", "text", "summary"];
const TASKS: [&str; 8] =
    ["tasks", "items", "objectives", "steps", "subtasks", "todos", "checklist", "sub_steps"];

/// One phase of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct PhaseRecord {
    pub(super) id: Option<PhaseId>,
    pub(super) name: Option<String>,
    pub(super) status: Option<PhaseStatus>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) error: Option<String>,
    pub(super) output: Option<String>,
    pub(super) tasks: Vec<Task>,
    /// The place of the status.
    pub(super) pointer: String,
    /// The status with its original word; empty if it was concluded from something else.
    pub(super) status_text: String,
    /// True if there is a status that is not known.
    pub(super) has_unknown_status: bool,
}

/// True if a value is a list of things with a status each: an object of objects, of status words or of flags, an array
/// of objects, or a checklist.
pub(super) fn is_list(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let entries = members.values().filter(|value| is_entry(value)).count();
            // `{"done": true, "required": true}` and `{"status": "done"}` describe one thing.
            let has_flags = members.values().any(Value::is_boolean);
            let has_only_names =
                || members.keys().all(|key| classify(&snake_case(key)).is_none() && key != "enabled");
            entries > 0
                && (!has_flags || members.values().all(Value::is_boolean))
                && (members.values().any(Value::is_object) || has_only_names())
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
    items.iter().all(|item| item.as_str().and_then(parse_checkbox).is_some())
}

fn is_entry(value: &Value) -> bool {
    has_status(value)
        || member(value, &TASKS).is_some()
        || member(value, &["completed_at", "finished_at"]).is_some()
}

/// True if a value is a list of things that have at least a name each.
pub(super) fn is_named_list(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| member(item, &IDS).is_some()),
        Value::Object(members) => {
            !members.is_empty()
                && members.values().all(|value| value.is_object() || value.is_null())
                && members.keys().all(|key| classify(&snake_case(key)).is_none())
        }
        _ => false,
    }
}

/// Reads the phases of a list, in its order.
pub(super) fn read_list(list: &Value, place: &str, log: &mut ReadLog<'_>) -> Vec<PhaseRecord> {
    match list {
        Value::Object(members) => {
            let records = members.iter().map(|(key, value)| {
                let place = format!("{place}{}", pointer(&[key]));
                PhaseRecord { id: phase_id(&Value::from(key.as_str())), ..read_entry(value, &place, log) }
            });
            records.collect()
        }
        Value::Array(items) => {
            let records = items.iter().enumerate();
            records.filter_map(|(index, value)| read_item(index, value, place, log)).collect()
        }
        _ => Vec::new(),
    }
}

fn read_item(index: usize, value: &Value, list_place: &str, log: &mut ReadLog<'_>) -> Option<PhaseRecord> {
    let place = format!("{list_place}/{index}");
    if let Some((status, mark, name)) = value.as_str().and_then(parse_checkbox) {
        return Some(PhaseRecord {
            id: phase_id(&Value::from(name)),
            status: Some(status),
            status_text: with_original_word(status, &Value::from(mark)),
            pointer: place,
            ..PhaseRecord::default()
        });
    }
    // A bare name is a phase without a status.
    if !value.is_object() {
        let id = log.phase_id(value, &place)?;
        return Some(PhaseRecord { id: Some(id), pointer: place, ..PhaseRecord::default() });
    }
    let record = read_entry(value, &place, log);
    let id = member(value, &IDS).and_then(|(_, id)| phase_id(id));
    Some(PhaseRecord { id: id.or_else(|| phase_id(&Value::from(index + 1))), ..record })
}

/// Returns the entries of a list that failed, whatever else the value holds.
pub(super) fn failures(value: &Value) -> Vec<PhaseId> {
    let is_failed = |value: &Value| match value {
        Value::Object(_) => matches!(entry_status(value), EntryStatus::Known(PhaseStatus::Failed, ..)),
        value => parse_status(value) == Some(PhaseStatus::Failed),
    };
    match value {
        Value::Object(members) => {
            let failed = members.iter().filter(|(_, value)| is_failed(value));
            failed.filter_map(|(key, _)| phase_id(&Value::from(key.as_str()))).collect()
        }
        Value::Array(items) => {
            let failed = items.iter().filter(|value| value.is_object() && is_failed(value));
            failed.filter_map(|value| member(value, &IDS).and_then(|(_, id)| phase_id(id))).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads one entry of a list, without its id.
pub(super) fn read_entry(value: &Value, place: &str, log: &mut ReadLog<'_>) -> PhaseRecord {
    let mut record = PhaseRecord { pointer: place.to_owned(), ..PhaseRecord::default() };
    if !value.is_object() {
        record.status = parse_status(value);
        if let Some(status) = record.status {
            record.status_text = with_original_word(status, value);
        } else if !is_blank(value) {
            record.has_unknown_status = true;
            log_unknown_status(value, place, log);
        }
        return record;
    }
    let time = |names: &[&str], log: &mut ReadLog<'_>| {
        let (key, time) = member(value, names)?;
        log.parse_time(time, &format!("{place}{}", pointer(&[key])))
    };
    record.started_at = time(&["started_at", "start_time", "started", "begun_at"], log);
    let finished = ["completed_at", "finished_at", "ended_at", "end_time", "completed_on", "timestamp"];
    record.completed_at = time(&finished, log);
    read_status(value, place, &mut record, log);
    record.name = text_member(value, &NAMES);
    record.error = text_member(value, &["error", "last_error", "error_message", "failure_reason"]);
    record.output = text_member(value, &["output_file", "output_path", "output", "artifact"])
        .filter(|path| is_path(path));
    if let Some((key, items)) = member(value, &TASKS) {
        record.tasks = read_tasks(items, &format!("{place}{}", pointer(&[key])), log);
    }
    if record.status.is_none() && !record.has_unknown_status {
        record.status = status_from_tasks(&record.tasks);
    }
    record
}

/// Reads the status of an entry. Without one, a time of completion means complete.
fn read_status(value: &Value, place: &str, record: &mut PhaseRecord, log: &mut ReadLog<'_>) {
    let place_of = |key: &str| format!("{place}{}", pointer(&[key]));
    match entry_status(value) {
        EntryStatus::Known(status, key, word) => {
            record.pointer = place_of(key);
            record.status = Some(status);
            record.status_text = with_original_word(status, word);
        }
        EntryStatus::Unknown(key, word) => {
            record.pointer = place_of(key);
            record.has_unknown_status = true;
            log_unknown_status(word, &record.pointer, log);
        }
        EntryStatus::Absent => {
            let is_finished = member(value, &["completed_at", "finished_at"]).is_some();
            if is_finished && record.completed_at.is_some() {
                record.status = Some(PhaseStatus::Complete);
            }
        }
    }
}

fn log_unknown_status(value: &Value, place: &str, log: &mut ReadLog<'_>) {
    let text = match value {
        Value::String(word) => return log.unknown_status(word, place),
        Value::Object(_) | Value::Array(_) => "that is recorded".to_owned(),
        other => other.to_string(),
    };
    let message = format!("the status {text} is not known; nothing is concluded from it");
    log.finding_at(Severity::Advice, Code::StatusUnknown, place, &message);
}

/// Returns the status of a phase without one, from its tasks.
pub(super) fn status_from_tasks(tasks: &[Task]) -> Option<PhaseStatus> {
    if tasks.is_empty() {
        None
    } else if tasks.iter().all(|task| task.status.is_done()) {
        Some(PhaseStatus::Complete)
    } else if tasks.iter().all(|task| task.status == TaskStatus::Pending) {
        Some(PhaseStatus::Pending)
    } else {
        Some(PhaseStatus::InProgress)
    }
}

/// Reads the tasks of a list. A task without a known status is pending.
pub(super) fn read_tasks(list: &Value, place: &str, log: &mut ReadLog<'_>) -> Vec<Task> {
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
    let mut seen = HashSet::new();
    for (index, (key, value, place)) in entries.into_iter().enumerate() {
        let checkbox = if key.is_none() { value.as_str().and_then(parse_checkbox) } else { None };
        let name = match (key, checkbox) {
            (Some(key), _) => Some(key.to_owned()),
            (None, Some((.., name))) => Some(name.to_owned()),
            (None, None) if value.is_object() => text_member(value, &TASK_IDS),
            (None, None) => text_or_number(value),
        };
        let id = name.as_deref().and_then(task_id).or_else(|| task_id(&(index + 1).to_string()));
        let Some(id) = id.filter(|id| seen.insert(id.clone())) else { continue };
        // A bare text is the name of a task in an array, and its status in an object.
        let status = match (key, value) {
            (None, Value::String(_) | Value::Number(_)) => checkbox.map(|(status, ..)| status),
            _ => read_entry(value, &place, log).status,
        };
        let phase = member(value, &["phase", "phase_id", "stage"]).and_then(|(_, phase)| phase_id(phase));
        let mut task = Task::pending(id, phase);
        task.status = task_status(status.unwrap_or_default());
        task.attempts = u32::from(!matches!(task.status, TaskStatus::Pending | TaskStatus::Skipped));
        task.output =
            text_member(value, &["output_file", "output_path", "output"]).filter(|path| is_path(path));
        task.error = text_member(value, &["error", "last_error"]);
        if let Some((_, Value::Array(ids))) = member(value, &["depends_on", "dependencies", "after"]) {
            task.depends_on = ids.iter().filter_map(text_or_number).filter_map(|id| task_id(&id)).collect();
        }
        tasks.push(task);
    }
    tasks
}

/// Parses a task id. A text that is too long or has a separator of task lists is made to fit.
fn task_id(text: &str) -> Option<TaskId> {
    text.parse().ok().or_else(|| {
        let line = text.trim().lines().next().unwrap_or_default();
        let fitting: String = line.replace([',', '=', '+'], "-").chars().take(64).collect();
        fitting.trim().parse().ok()
    })
}

/// Returns the first member with one of these names that is not blank, and its key.
pub(super) fn member<'a>(value: &'a Value, names: &[&str]) -> Option<(&'a str, &'a Value)> {
    let members = value.as_object()?;
    names.iter().find_map(|name| {
        let (key, value) = members.iter().find(|(key, value)| has_name(key, name) && !is_blank(value))?;
        Some((key.as_str(), value))
    })
}

/// Returns the text of the member that [`member`] finds.
pub(super) fn text_member(value: &Value, names: &[&str]) -> Option<String> {
    member(value, names).and_then(|(_, value)| text_or_number(value))
}

/// True if a text looks like the path of a file.
pub(super) fn is_path(text: &str) -> bool {
    let is_plain =
        !text.contains(['\n', '\t', '*', '?', '<', '>', '|']) && text.len() <= 1024 && !text.contains("://");
    let file_name = text.rsplit('/').next().unwrap_or_default();
    let has_extension = file_name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=12).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    is_plain && (has_extension || (text.contains('/') && !text.contains(' ')))
}
