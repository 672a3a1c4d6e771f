//! The tasks of dotagent: `execution.json`.
//!
//! Its form is not fixed. Tasks are a list, or an object by id, under `tasks` or as the whole document. They are written
//! in the form in which they were imported, so that whatever else stands in the file keeps its place.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::of_tasks;
use crate::core::dialects::known_phases;
use crate::core::dialects::members::{error_text, first, paths, word};
use crate::core::dialects::reading::Notes;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::task::{Task, TaskId, TaskStatus};

/// How the tasks stand in the file.
#[derive(Clone, Copy)]
enum Form<'v> {
    List(&'v [Value]),
    ById(&'v Map<String, Value>),
}

/// Under which member the tasks stand, if not the whole document is tasks, and how.
fn form(document: &Value) -> (Option<&'static str>, Option<Form<'_>>) {
    match (document, document.get("tasks")) {
        (_, Some(Value::Array(list))) => (Some("tasks"), Some(Form::List(list))),
        (_, Some(Value::Object(members))) => (Some("tasks"), Some(Form::ById(members))),
        (Value::Array(list), _) => (None, Some(Form::List(list))),
        (Value::Object(members), None) if members.values().any(is_task) => (None, Some(Form::ById(members))),
        _ => (Some("tasks"), None),
    }
}

/// Whether a member of the document itself is a task.
fn is_task(value: &Value) -> bool {
    value.is_object() && first(value, &STATUS).is_some()
}

const STATUS: [&str; 2] = ["status", "state"];

pub(super) fn read(document: &Value, phases: &[Phase], notes: &mut Notes<'_>) -> Vec<Task> {
    let (under, form) = form(document);
    let root = under.map_or_else(|| "execution.json#".to_owned(), |under| format!("execution.json#/{under}"));
    let mut tasks = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |given: Option<String>, value: &Value, key: &str| {
        let at = format!("{root}{}", super::pointer(&[key]));
        match given.and_then(|given| given.parse::<TaskId>().ok()) {
            Some(id) if !seen.insert(id.clone()) => {
                let message = format!("task {id} is there twice; the first one counts");
                notes.doubt_at(Severity::Advice, Code::RecordsDisagree, &at, &message);
            }
            Some(id) => tasks.push(read_task(id, value, &at, phases, notes)),
            None => {
                let message = "this task has no name that can be used; it is kept, but not followed";
                notes.doubt_at(Severity::Advice, Code::Imported, &at, message);
            }
        }
    };
    match form {
        Some(Form::List(list)) => {
            for (index, value) in list.iter().enumerate() {
                let given = first(value, &["id", "task_id", "taskId", "name"]).map_or(value, |(_, id)| id);
                add(word(given), value, &index.to_string());
            }
        }
        Some(Form::ById(members)) => {
            let follows = |value: &Value| under.is_some() || is_task(value);
            for (key, value) in members.iter().filter(|(_, value)| follows(value)) {
                add(Some(key.clone()), value, key);
            }
        }
        None => {}
    }
    tasks
}

fn read_task(id: TaskId, value: &Value, at: &str, phases: &[Phase], notes: &mut Notes<'_>) -> Task {
    let belongs = first(value, &["phase"]).and_then(|(_, phase)| word(phase));
    let belongs = belongs.and_then(|phase| Some(phases[known_phases::position(phases, &phase)?].id.clone()));
    let fact = format!("tasks/{id}");
    let mut task = Task::pending(id, belongs.or_else(|| of_tasks(phases)));
    // A task by id may be nothing but its status.
    let (key, status) = first(value, &STATUS).map_or((None, value), |(key, status)| (Some(key), status));
    let place = key.map_or_else(|| at.to_owned(), |key| format!("{at}/{key}"));
    let bare = key.is_none() && status.as_str() == Some(task.id.as_str());
    if !bare && let Some(status) = notes.status(&format!("{fact}/status"), status, &place) {
        task.status = of_task(status);
    }
    let begun = !matches!(task.status, TaskStatus::Pending | TaskStatus::Skipped);
    let attempts = first(value, &["attempts", "retries", "attempt", "retry_count"]);
    task.attempts = attempts.and_then(|(_, count)| read_count(count)).unwrap_or_else(|| u32::from(begun));
    if let Some((_, depends)) = first(value, &["depends_on", "dependencies", "dependsOn"]) {
        task.depends_on = read_dependencies(depends);
    }
    let output = first(value, &["output", "output_file", "output_path", "outputFile"]);
    task.output = output.and_then(|(_, output)| paths(output).first().map(|path| (*path).to_owned()));
    task.error = error_text(value).filter(|_| task.status == TaskStatus::Failed);
    let mut time = |name: &str, keys: &[&'static str]| {
        let (key, value) = first(value, keys)?;
        notes.time(&format!("{fact}/{name}"), value, &format!("{at}/{key}"))
    };
    task.started_at = time("started_at", &["started_at", "startedAt"]);
    let completed = time("completed_at", &["completed_at", "completedAt", "finished_at"]);
    task.completed_at = completed.filter(|_| task.status.is_done());
    task
}

fn of_task(status: PhaseStatus) -> TaskStatus {
    match status {
        PhaseStatus::Pending => TaskStatus::Pending,
        PhaseStatus::InProgress => TaskStatus::Running,
        PhaseStatus::Complete => TaskStatus::Complete,
        PhaseStatus::Failed => TaskStatus::Failed,
        PhaseStatus::Skipped => TaskStatus::Skipped,
    }
}

fn read_count(value: &Value) -> Option<u32> {
    let count: u64 = word(value)?.parse().ok()?;
    Some(u32::try_from(count).unwrap_or(u32::MAX))
}

fn read_dependencies(value: &Value) -> Vec<TaskId> {
    let several = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let named = several.iter().filter_map(|id| word(id)?.parse().ok());
    let mut seen = HashSet::new();
    named.filter(|id: &TaskId| seen.insert(id.clone())).collect()
}

/// Writes the tasks in the form of the imported file, or as a list.
pub(super) fn write(tasks: &[Task], kept: Option<&Value>) -> Value {
    let (under, kept) = kept.map_or((Some("tasks"), None), form);
    let written: Value = match kept {
        Some(Form::ById(_)) => tasks
            .iter()
            .map(|task| (task.id.to_string(), write_task(task, false).into()))
            .collect::<Map<_, _>>()
            .into(),
        _ => tasks.iter().map(|task| Value::from(write_task(task, true))).collect::<Vec<_>>().into(),
    };
    match under {
        Some(under) => json!({ under: written }),
        None => written,
    }
}

fn write_task(task: &Task, with_id: bool) -> Map<String, Value> {
    let mut members = Map::new();
    let mut set = |key: &str, value: Value| drop(members.insert(key.to_owned(), value));
    if with_id {
        set("id", json!(task.id));
    }
    set("status", task.status.word().into());
    set("attempts", task.attempts.into());
    set("depends_on", json!(task.depends_on));
    let elsewhere = task.phase.as_ref().filter(|phase| phase.as_str() != "IMPLEMENTATION");
    for (key, value) in [
        ("phase", elsewhere.map(PhaseId::to_string)),
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
