//! The execution graph: its nodes are the tasks of the current phase.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::dialects::members::{first_member, pointer, text_or_number};
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::PhaseId;
use ckpt_model::status_word::parse_status_word;
use ckpt_model::task::{Task, TaskId, TaskStatus};

const NODES: &str = "/execution_graph/node_states";
/// Where the nodes are declared, in documents that keep their states apart.
const DECLARED: &str = "/execution_graph/nodes";

/// Reads the nodes: an object with a status, or the bare status. What a state does not say, the declaration of its node does.
pub(super) fn read(main: &Value, phase: Option<&PhaseId>, log: &mut ReadLog<'_>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut seen = HashSet::new();
    let (states, declared) = (nodes(main, NODES), nodes(main, DECLARED));
    let by_id: HashMap<_, _> =
        declared.iter().rev().filter_map(|(_, key, node)| Some((task_id(key)?, *node))).collect();
    let (list, listed) = if states.is_empty() { (DECLARED, &declared) } else { (NODES, &states) };
    for (place, key, node) in listed {
        let place = format!("{list}{}", pointer(&[place]));
        match task_id(key).filter(|id| seen.insert(id.clone())) {
            Some(id) => {
                let mut task = read_node(id, node, phase, &place, log);
                if let Some(node) = by_id.get(&task.id)
                    && task.depends_on.is_empty()
                {
                    task.depends_on = dependencies(node);
                }
                tasks.push(task);
            }
            None => {
                let message = "this cannot be the name of a task; it is kept, but not followed";
                log.finding_at(Severity::Advice, Code::PhaseUnreadable, &place, message);
            }
        }
    }
    tasks
}

/// Returns the nodes with their keys and names: an object by name, or a list in which each has its name.
fn nodes<'v>(main: &'v Value, place: &str) -> Vec<(String, String, &'v Value)> {
    match main.pointer(place) {
        Some(Value::Object(nodes)) => nodes.iter().map(|(key, node)| (key.clone(), key.clone(), node)).collect(),
        Some(Value::Array(nodes)) => {
            let name = |node: &Value| {
                let (_, name) = first_member(node, &["id", "node_id", "task_id", "node", "task", "name"])?;
                text_or_number(name)
            };
            let named = nodes.iter().enumerate();
            named.map(|(index, node)| (index.to_string(), name(node).unwrap_or_default(), node)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the dependencies of a node, under any of their names: a list, a name, or names with commas between them.
fn dependencies(node: &Value) -> Vec<TaskId> {
    const NAMES: [&str; 11] = [
        "depends_on",
        "dependsOn",
        "depends-on",
        "dependencies",
        "deps",
        "depends",
        "requires",
        "needs",
        "prerequisites",
        "blocked_by",
        "after",
    ];
    let Some((_, value)) = first_member(node, &NAMES) else { return Vec::new() };
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let names = values.iter().filter_map(|value| {
        text_or_number(value).or_else(|| text_or_number(first_member(value, &["id", "task", "node"])?.1))
    });
    let mut seen = HashSet::new();
    let ids = names.flat_map(|name| name.split(',').filter_map(task_id).collect::<Vec<_>>());
    ids.filter(|id| seen.insert(id.clone())).collect()
}

fn read_node(id: TaskId, node: &Value, phase: Option<&PhaseId>, place: &str, log: &mut ReadLog<'_>) -> Task {
    let fact = |name: &str| format!("tasks/{id}/{name}");
    let text = |key: &str| node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (word, at) = match node.get("status") {
        Some(status) => (status.as_str(), format!("{place}/status")),
        None => (node.as_str(), place.to_owned()),
    };
    let status = word.and_then(|word| {
        let status = parse_status_word(word).map(TaskStatus::from);
        match status {
            Some(status) => log.origin(fact("status"), status.word(), &at),
            None => log.unknown_status(Severity::Advice, word, &at),
        }
        status
    });
    let status = status.unwrap_or_default();
    let mut time = |key: &str| {
        let value = node.get(key).unwrap_or(&Value::Null);
        log.time(&fact(key), value, &format!("{place}/{key}"))
    };
    let (started_at, completed_at) = (time("started_at"), time("completed_at"));
    let was_started = matches!(status, TaskStatus::Running | TaskStatus::Complete | TaskStatus::Failed);
    let attempts = node.get("attempts").and_then(Value::as_u64);
    let error = if status == TaskStatus::Failed { text("error").or(text("result")) } else { None };
    Task {
        status,
        depends_on: dependencies(node),
        attempts: attempts.map_or(u32::from(was_started), |n| u32::try_from(n).unwrap_or(u32::MAX)),
        output: text("output_location").map(str::to_owned),
        error: error.map(str::to_owned),
        started_at,
        completed_at: if status.is_done() { completed_at } else { None },
        ..Task::pending(id, phase.cloned())
    }
}

/// Parses the id of a node. One that is too long or has a separator of task lists is made to fit.
fn task_id(key: &str) -> Option<TaskId> {
    let fitting = || key.trim().replace([',', '=', '+'], ";").chars().take(64).collect::<String>();
    key.parse().ok().or_else(|| fitting().trim().parse().ok())
}

/// Writes the tasks as nodes, by name.
pub(super) fn write(tasks: &[Task]) -> Value {
    tasks.iter().map(|task| (task.id.to_string(), write_node(task))).collect::<Map<_, _>>().into()
}

fn write_node(task: &Task) -> Value {
    let mut node = Map::from_iter([("status".to_owned(), Value::from(word(task.status)))]);
    let mut set = |key: &str, value: Value| {
        node.insert(key.to_owned(), value);
    };
    if let Some(at) = task.started_at {
        set("started_at", json!(at));
    }
    if let Some(at) = task.completed_at {
        set("completed_at", json!(at));
    }
    if task.attempts > 1 {
        set("attempts", json!(task.attempts));
    }
    if let Some(path) = &task.output {
        set("output_location", json!(path));
    }
    if let Some(error) = &task.error {
        set("error", json!(error));
    }
    if !task.depends_on.is_empty() {
        set("depends_on", json!(task.depends_on));
    }
    node.into()
}

fn word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Complete => "completed",
        other => other.word(),
    }
}
