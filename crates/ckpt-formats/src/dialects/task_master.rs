//! Task Master's `tasks.json`: tasks with subtasks, dependencies and priorities, under tags or without them.
//!
//! A task is a phase, and its subtasks are the tasks of it. The tasks of another tag than `master` are called `tag/3`.
//! `deferred` and `cancelled` tasks are not to be done, so they count as skipped.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::format::{Format, Layout};
use super::members::{elements, pointer, text_or_number};
use super::phase_list::phase_id;
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use super::worklist::{Worklist, item_status, meaning, mostly, name};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
use ckpt_model::task::{MAX_TASKS, Task, TaskId, TaskStatus};

const MASTER: &str = "master";

const WORDS: [(&str, PhaseStatus); 4] = [
    ("review", PhaseStatus::InProgress),
    ("deferred", PhaseStatus::Skipped),
    ("cancelled", PhaseStatus::Skipped),
    ("blocked", PhaseStatus::Pending),
];

pub(super) static FORMAT: Format = Format {
    word: "task-master",
    text: "Task Master, tasks with subtasks and dependencies",
    places: &[".taskmaster/tasks/tasks.json", "tasks/tasks.json"],
    recognises,
    read,
    write,
    layout: Some(&LAYOUT),
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout { path: |_, _, _| Some(".taskmaster/tasks/tasks.json".to_owned()), ..Layout::PLAIN };

fn recognises(main: &Value) -> bool {
    let is_task = |task: &Value| {
        let has = |key: &str| task.get(key).is_some();
        has("id") && has("title") && has("status") && (has("dependencies") || has("subtasks") || has("priority"))
    };
    // Without tags, many other lists look alike.
    let is_plain = |tag: &str| tag.is_empty() && main.as_object().is_none_or(|members| members.len() > 3);
    tags(main).iter().any(|(tag, value)| !is_plain(tag) && mostly(value.get("tasks"), is_task))
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let mut draft = Draft::default();
    let mut worklist = Worklist::default();
    for (tag, value) in tags(main) {
        let place = if tag.is_empty() { String::new() } else { pointer(&[tag]) };
        for (index, task) in elements(value, "tasks").enumerate() {
            let place = format!("{place}/tasks/{index}");
            read_task(tag, task, &place, &mut worklist, &mut draft.content.tasks, log);
        }
        let updated = value.pointer("/metadata/updated").unwrap_or(&Value::Null);
        let updated = log.time("saved_at", updated, &format!("{place}/metadata/updated"));
        draft.recorded_at = draft.recorded_at.max(updated);
    }
    let tasks = std::mem::take(&mut draft.content.tasks);
    draft.content = worklist.into_content();
    draft.content.tasks = tasks;
    draft.content.title = name(main, &["projectName"]).or_else(|| {
        let description = main.pointer("/master/metadata/description")?;
        text_or_number(description)
    });
    draft
}

fn write(checkpoint: &Checkpoint, imported: Option<&DialectFiles>) -> Option<DialectFiles> {
    let Some(imported) = imported else {
        let mut of_phase: HashMap<Option<&PhaseId>, Vec<&Task>> = HashMap::new();
        for task in &checkpoint.content.tasks {
            of_phase.entry(task.phase.as_ref()).or_default().push(task);
        }
        let new_tasks = checkpoint.content.phases.iter().map(|phase| {
            let tasks = of_phase.get(&Some(&phase.id)).map(Vec::as_slice).unwrap_or_default();
            new_task(phase, tasks)
        });
        let tasks: Vec<Value> = new_tasks.collect();
        let metadata = json!({"updated": checkpoint.saved_at, "description": checkpoint.content.title});
        return Some(DialectFiles::single(json!({MASTER: {"tasks": tasks, "metadata": metadata}})));
    };
    let known = Known {
        phases: checkpoint.content.phases.iter().map(|phase| (&phase.id, phase.status)).collect(),
        tasks: checkpoint.content.tasks.iter().map(|task| (&task.id, task.status)).collect(),
    };
    let mut main = imported.main.clone();
    let names: Vec<String> = tags(&main).iter().map(|(tag, _)| (*tag).to_owned()).collect();
    for tag in names {
        let value = if tag.is_empty() { Some(&mut main) } else { main.get_mut(&tag) };
        let tasks = value.and_then(|value| value.get_mut("tasks")).and_then(Value::as_array_mut);
        for task in tasks.into_iter().flatten() {
            update_task(&tag, task, &known);
        }
    }
    Some(DialectFiles::single(main))
}

/// Returns the objects that have tasks, by tag: that of older versions has none.
fn tags(main: &Value) -> Vec<(&str, &Value)> {
    if main.get("tasks").is_some_and(Value::is_array) {
        return vec![("", main)];
    }
    let members = main.as_object().into_iter().flatten();
    let mut tags: Vec<_> = members
        .filter(|(_, value)| value.get("tasks").is_some_and(Value::is_array))
        .map(|(tag, value)| (tag.as_str(), value))
        .collect();
    tags.sort_by_key(|(tag, _)| *tag != MASTER);
    tags
}

/// Returns the id of a task as a phase.
fn id_in(tag: &str, id: &Value) -> Value {
    match text_or_number(id) {
        Some(id) if !tag.is_empty() && tag != MASTER => format!("{tag}/{id}").into(),
        _ => id.clone(),
    }
}

fn read_task(
    tag: &str,
    task: &Value,
    place: &str,
    worklist: &mut Worklist,
    tasks: &mut Vec<Task>,
    log: &mut ReadLog<'_>,
) {
    let word = task.get("status").unwrap_or(&Value::Null);
    let status = item_status(word, &format!("{place}/status"), &WORDS, log);
    let id = id_in(tag, task.get("id").unwrap_or(&Value::Null));
    let Some(item) = worklist.add(&id, status, word, place, log) else { return };
    item.phase.name = name(task, &["title"]);
    item.depends_on = elements(task, "dependencies").filter_map(|id| phase_id(&id_in(tag, id))).collect();
    item.rank = match task.get("priority").and_then(Value::as_str) {
        Some("critical" | "high") => 0,
        Some("low") => 2,
        _ => 1,
    };
    let phase = item.phase.id.clone();
    for (index, subtask) in elements(task, "subtasks").enumerate() {
        let place = format!("{place}/subtasks/{index}");
        let Some(id) = subtask.get("id").and_then(|id| subtask_id(&phase, id)) else { continue };
        if tasks.len() >= MAX_TASKS {
            return;
        }
        let word = subtask.get("status").unwrap_or(&Value::Null);
        let status = TaskStatus::from(item_status(word, &format!("{place}/status"), &WORDS, log));
        let depends_on = elements(subtask, "dependencies").filter_map(|id| subtask_id(&phase, id)).collect();
        let attempts = u32::from(!matches!(status, TaskStatus::Pending | TaskStatus::Skipped));
        tasks.push(Task { status, depends_on, attempts, ..Task::pending(id, Some(phase.clone())) });
    }
}

/// Returns the id of a subtask: `3.1` for the first one of task 3.
fn subtask_id(phase: &PhaseId, id: &Value) -> Option<TaskId> {
    let id = text_or_number(id)?;
    let full = if id.contains('.') { id } else { format!("{phase}.{id}") };
    full.parse().ok()
}

/// The statuses of a checkpoint.
struct Known<'c> {
    phases: HashMap<&'c PhaseId, PhaseStatus>,
    tasks: HashMap<&'c TaskId, TaskStatus>,
}

fn update_task(tag: &str, task: &mut Value, known: &Known<'_>) {
    let Some(id) = task.get("id").and_then(|id| phase_id(&id_in(tag, id))) else { return };
    let Some(status) = known.phases.get(&id) else { return };
    set_status(task, *status);
    for subtask in task.get_mut("subtasks").and_then(Value::as_array_mut).into_iter().flatten() {
        let of = subtask.get("id").and_then(|of| subtask_id(&id, of));
        if let Some(status) = of.and_then(|of| known.tasks.get(&of)) {
            set_status(subtask, phase_status(*status));
        }
    }
}

/// Writes a status, unless the word that is there means the same.
fn set_status(task: &mut Value, status: PhaseStatus) {
    let there = task.get("status").and_then(Value::as_str).and_then(|word| meaning(word, &WORDS));
    if there != Some(status)
        && let Value::Object(members) = task
    {
        members.insert("status".to_owned(), word(status).into());
    }
}

fn phase_status(status: TaskStatus) -> PhaseStatus {
    match status {
        TaskStatus::Pending => PhaseStatus::Pending,
        TaskStatus::Running => PhaseStatus::InProgress,
        TaskStatus::Complete => PhaseStatus::Complete,
        TaskStatus::Failed => PhaseStatus::Failed,
        TaskStatus::Skipped => PhaseStatus::Skipped,
    }
}

fn word(status: PhaseStatus) -> &'static str {
    match status {
        PhaseStatus::Complete => "done",
        PhaseStatus::InProgress => "in-progress",
        PhaseStatus::Skipped => "cancelled",
        PhaseStatus::Pending | PhaseStatus::Failed => "pending",
    }
}

fn new_task(phase: &Phase, tasks: &[&Task]) -> Value {
    let subtasks = tasks.iter().map(|task| {
        json!({"id": task.id, "title": task.id, "status": word(phase_status(task.status)), "dependencies": task.depends_on})
    });
    let mut members = Map::new();
    for (key, value) in [
        ("id", super::numbered_phases::to_json(&phase.id)),
        ("title", json!(phase.name.as_deref().unwrap_or(phase.id.as_str()))),
        ("description", json!(phase.action.as_deref().unwrap_or_default())),
        ("status", word(phase.status).into()),
        ("dependencies", json!([])),
        ("priority", json!("medium")),
        ("subtasks", subtasks.collect::<Vec<_>>().into()),
    ] {
        members.insert(key.to_owned(), value);
    }
    members.into()
}
