//! The tasks of dotagent: `execution.json`.
//!
//! Its layout is not fixed. Tasks are a list, or an object by id, under `tasks` or as the whole document. They are
//! written as a list under `tasks`.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::TASK_PHASE;
use crate::dialects::members::{error_text, first_member, paths, pointer, text_or_number};
use crate::dialects::phase_list;
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{Phase, PhaseId};
use ckpt_model::task::{Task, TaskId, TaskStatus};

/// The container of the tasks.
#[derive(Clone, Copy)]
enum TaskLayout<'v> {
    List(&'v [Value]),
    ById(&'v Map<String, Value>),
}

/// Returns the member that holds the tasks, `None` if the whole document does, and their layout.
fn layout(document: &Value) -> (Option<&'static str>, Option<TaskLayout<'_>>) {
    match (document, document.get("tasks")) {
        (_, Some(Value::Array(list))) => (Some("tasks"), Some(TaskLayout::List(list))),
        (_, Some(Value::Object(members))) => (Some("tasks"), Some(TaskLayout::ById(members))),
        (Value::Array(list), _) => (None, Some(TaskLayout::List(list))),
        (Value::Object(members), None) if members.values().any(is_task) => (None, Some(TaskLayout::ById(members))),
        _ => (Some("tasks"), None),
    }
}

/// True if a member of the document itself is a task.
fn is_task(value: &Value) -> bool {
    value.is_object() && first_member(value, &STATUS).is_some()
}

const STATUS: [&str; 2] = ["status", "state"];

pub(super) fn read(document: &Value, phases: &[Phase], log: &mut ReadLog<'_>) -> Vec<Task> {
    let (member, layout) = layout(document);
    let root = member.map_or_else(|| "execution.json#".to_owned(), |member| format!("execution.json#/{member}"));
    let mut tasks = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |id: Option<String>, value: &Value, key: &str| {
        let at = format!("{root}{}", pointer(&[key]));
        match id.and_then(|id| id.parse::<TaskId>().ok()) {
            Some(id) if !seen.insert(id.clone()) => {
                let message = format!("task {id} is there twice; the first one counts");
                log.finding_at(Severity::Advice, Code::RecordsDisagree, &at, &message);
            }
            Some(id) => tasks.push(read_task(id, value, &at, phases, log)),
            None => {
                let message = "this task has no name that can be used; it is kept, but not followed";
                log.finding_at(Severity::Advice, Code::Imported, &at, message);
            }
        }
    };
    match layout {
        Some(TaskLayout::List(list)) => {
            for (index, value) in list.iter().enumerate() {
                let id = first_member(value, &["id", "task_id", "taskId", "name"]).map_or(value, |(_, id)| id);
                add(text_or_number(id), value, &index.to_string());
            }
        }
        Some(TaskLayout::ById(members)) => {
            for (key, value) in members {
                if member.is_some() || is_task(value) {
                    add(Some(key.clone()), value, key);
                }
            }
        }
        None => {}
    }
    tasks
}

fn read_task(id: TaskId, value: &Value, at: &str, phases: &[Phase], log: &mut ReadLog<'_>) -> Task {
    let find_phase = |id: &str| phase_list::position(phases, id).map(|index| phases[index].id.clone());
    let named_phase = first_member(value, &["phase"]).and_then(|(_, phase)| text_or_number(phase));
    let phase = named_phase.and_then(|id| find_phase(&id)).or_else(|| find_phase(TASK_PHASE));
    let fact = format!("tasks/{id}");
    let mut task = Task::pending(id, phase);
    // A task by id may be its bare status, and a task in a list its bare id.
    let (status, place) = match first_member(value, &STATUS) {
        Some((key, status)) => (status, format!("{at}/{key}")),
        None => (value, at.to_owned()),
    };
    let is_bare_id = value.as_str() == Some(task.id.as_str());
    if !is_bare_id && let Some(status) = log.status(&format!("{fact}/status"), status, &place) {
        task.status = TaskStatus::from(status);
    }
    let was_started = !matches!(task.status, TaskStatus::Pending | TaskStatus::Skipped);
    let attempts = first_member(value, &["attempts", "retries", "attempt", "retry_count"]);
    task.attempts = attempts.and_then(|(_, count)| read_count(count)).unwrap_or_else(|| u32::from(was_started));
    if let Some((_, depends)) = first_member(value, &["depends_on", "dependencies", "dependsOn"]) {
        task.depends_on = read_dependencies(depends);
    }
    let output = first_member(value, &["output", "output_file", "output_path", "outputFile"]);
    task.output = output.and_then(|(_, output)| paths(output).first().map(|path| (*path).to_owned()));
    task.error = if task.status == TaskStatus::Failed { error_text(value) } else { None };
    let mut time = |name: &str, keys: &[&'static str]| {
        let (key, value) = first_member(value, keys)?;
        log.time(&format!("{fact}/{name}"), value, &format!("{at}/{key}"))
    };
    task.started_at = time("started_at", &["started_at", "startedAt"]);
    let completed = time("completed_at", &["completed_at", "completedAt", "finished_at"]);
    task.completed_at = if task.status.is_done() { completed } else { None };
    task
}

fn read_count(value: &Value) -> Option<u32> {
    let count: u64 = text_or_number(value)?.parse().ok()?;
    Some(u32::try_from(count).unwrap_or(u32::MAX))
}

fn read_dependencies(value: &Value) -> Vec<TaskId> {
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let ids = values.iter().filter_map(|id| text_or_number(id)?.parse().ok());
    let mut seen = HashSet::new();
    ids.filter(|id: &TaskId| seen.insert(id.clone())).collect()
}

/// Writes the tasks as a list.
pub(super) fn write(tasks: &[Task]) -> Value {
    json!({"tasks": tasks.iter().map(write_task).collect::<Vec<_>>()})
}

fn write_task(task: &Task) -> Map<String, Value> {
    let mut members = Map::new();
    let mut set = |key: &str, value: Value| drop(members.insert(key.to_owned(), value));
    set("id", json!(task.id));
    set("status", task.status.word().into());
    set("attempts", task.attempts.into());
    set("depends_on", json!(task.depends_on));
    let other_phase = task.phase.as_ref().filter(|phase| phase.as_str() != TASK_PHASE);
    for (key, value) in [
        ("phase", other_phase.map(PhaseId::to_string)),
        ("output", task.output.clone()),
        ("error", task.error.clone()),
        ("started_at", task.started_at.map(|at| at.to_string())),
        ("completed_at", task.completed_at.map(|at| at.to_string())),
    ] {
        if let Some(value) = value {
            set(key, value.into());
        }
    }
    members
}
