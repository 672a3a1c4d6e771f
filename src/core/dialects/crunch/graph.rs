//! The execution graph: its nodes are the tasks of the current phase.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::core::dialects::reading::{Notes, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseId;
use crate::core::status_word::StatusWord;
use crate::core::task::{Task, TaskId, TaskStatus};

const NODES: &str = "/execution_graph/node_states";

/// Reads the nodes: an object with a status, or the bare status.
pub(super) fn read(main: &Value, phase: Option<&PhaseId>, notes: &mut Notes<'_>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut seen = HashSet::new();
    for (key, node) in main.pointer(NODES).and_then(Value::as_object).into_iter().flatten() {
        let place = format!("{NODES}{}", pointer(&[key]));
        match task_id(key).filter(|id| seen.insert(id.clone())) {
            Some(id) => tasks.push(read_node(id, node, phase, &place, notes)),
            None => {
                let message = "this cannot be the name of a task; it is kept, but not followed";
                notes.doubt_at(Severity::Advice, Code::PhaseUnreadable, &place, message);
            }
        }
    }
    tasks
}

fn read_node(id: TaskId, node: &Value, phase: Option<&PhaseId>, place: &str, notes: &mut Notes<'_>) -> Task {
    let fact = |what: &str| format!("tasks/{id}/{what}");
    let text = |key: &str| node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (word, at) = match node.get("status") {
        Some(status) => (status.as_str(), format!("{place}/status")),
        None => (node.as_str(), place.to_owned()),
    };
    let status = word.and_then(|word| {
        let status = StatusWord::understand(word).map(TaskStatus::from);
        match status {
            Some(status) => notes.found(fact("status"), status.word(), &at),
            None => {
                let message = format!("the status \"{word}\" is not known; nothing is concluded from it");
                notes.doubt_at(Severity::Advice, Code::StatusUnknown, &at, &message);
            }
        }
        status
    });
    let status = status.unwrap_or_default();
    let mut time = |key: &str| {
        let value = node.get(key).unwrap_or(&Value::Null);
        notes.time(&fact(key), value, &format!("{place}/{key}"))
    };
    let (started_at, completed_at) = (time("started_at"), time("completed_at"));
    let before = node.get("depends_on").and_then(Value::as_array).into_iter().flatten();
    let begun = u32::from(matches!(status, TaskStatus::Running | TaskStatus::Complete | TaskStatus::Failed));
    let attempts = node.get("attempts").and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    Task {
        status,
        depends_on: before.filter_map(Value::as_str).filter_map(task_id).collect(),
        attempts: attempts.unwrap_or(begun),
        output: text("output_location").map(str::to_owned),
        error: text("error").or(text("result")).filter(|_| status == TaskStatus::Failed).map(str::to_owned),
        started_at,
        completed_at: completed_at.filter(|_| status.is_done()),
        ..Task::pending(id, phase.cloned())
    }
}

/// The id of a node as that of a task, made to fit if it is too long or has a character that separates tasks.
fn task_id(key: &str) -> Option<TaskId> {
    let fitting = || key.trim().replace([',', '=', '+'], ";").chars().take(64).collect::<String>();
    key.parse().ok().or_else(|| fitting().trim().parse().ok())
}

/// Writes the tasks, in the spelling that the original has for them.
pub(super) fn write(tasks: &[Task], original: Option<&Value>) -> Value {
    let nodes = original.and_then(|main| main.pointer(NODES)).and_then(Value::as_object);
    // Of two nodes that mean the same task the first counts.
    let nodes: HashMap<_, _> = nodes
        .into_iter()
        .flat_map(|nodes| nodes.iter().rev())
        .filter_map(|(key, node)| Some((task_id(key)?, (key, node))))
        .collect();
    let mut written = Map::new();
    for task in tasks {
        let spelled = nodes.get(&task.id);
        let (key, node) = spelled.map_or((task.id.as_str(), None), |(key, node)| (key.as_str(), Some(*node)));
        let told_more = task.error.is_some() || !task.depends_on.is_empty();
        let value = match node {
            Some(Value::String(_)) if !told_more => word(task.status).into(),
            _ => write_node(task),
        };
        written.insert(key.to_owned(), value);
    }
    written.into()
}

fn write_node(task: &Task) -> Value {
    let mut node = Map::from_iter([("status".to_owned(), Value::from(word(task.status)))]);
    let members = [
        ("started_at", task.started_at.map(|at| json!(at))),
        ("completed_at", task.completed_at.map(|at| json!(at))),
        ("attempts", Some(task.attempts).filter(|attempts| *attempts > 1).map(|attempts| json!(attempts))),
        ("output_location", task.output.as_ref().map(|path| json!(path))),
        ("error", task.error.as_ref().map(|error| json!(error))),
        (
            "depends_on",
            Some(&task.depends_on).filter(|before| !before.is_empty()).map(|before| json!(before)),
        ),
    ];
    node.extend(members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    node.into()
}

fn word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Complete => "completed",
        other => other.word(),
    }
}
