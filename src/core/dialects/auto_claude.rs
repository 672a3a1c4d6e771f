//! Auto Claude's `implementation_plan.json`: phases without a status of their own, and subtasks that have one.

use serde_json::Value;

use super::draft::Draft;
use super::format::Format;
use super::members::{elements, first_member, pointer};
use super::read_log::ReadLog;
use super::worklist::{Worklist, ids, item_status, mostly, name};
use crate::core::phase::PhaseStatus;
use crate::core::task::{MAX_TASKS, Task, TaskStatus};

const SUBTASKS: [&str; 2] = ["subtasks", "chunks"];

pub(super) static FORMAT: Format = Format {
    word: "auto-claude",
    text: "Auto Claude, an implementation plan with subtasks",
    places: &[".auto-claude/specs/*/implementation_plan.json", "implementation_plan.json"],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    let has_subtasks = |phase: &Value| SUBTASKS.iter().any(|key| phase.get(key).is_some_and(Value::is_array));
    main.get("feature").is_some() && mostly(main.get("phases"), has_subtasks)
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let mut worklist = Worklist::default();
    let mut tasks: Vec<Task> = Vec::new();
    for (index, phase) in elements(main, "phases").enumerate() {
        let place = pointer(&["phases", &index.to_string()]);
        let (key, subtasks) = first_member(phase, &SUBTASKS).unwrap_or(("subtasks", &Value::Null));
        let subtasks = subtasks.as_array().map_or(&[][..], Vec::as_slice);
        let mut statuses = Vec::new();
        for (index, subtask) in subtasks.iter().enumerate() {
            let word = subtask.get("status").unwrap_or(&Value::Null);
            let place = format!("{place}/{key}/{index}/status");
            statuses.push(item_status(word, &place, &[("blocked", PhaseStatus::Failed)], log));
        }
        let has = |status: PhaseStatus| statuses.contains(&status);
        let status = if !statuses.is_empty() && statuses.iter().all(|status| status.is_done()) {
            PhaseStatus::Complete
        } else if has(PhaseStatus::Failed) {
            PhaseStatus::Failed
        } else if has(PhaseStatus::InProgress) || statuses.iter().any(|status| status.is_done()) {
            PhaseStatus::InProgress
        } else {
            PhaseStatus::Pending
        };
        let id = first_member(phase, &["id", "phase", "name"]).map_or(Value::Null, |(_, id)| id.clone());
        let Some(item) = worklist.add(&id, status, &Value::Null, &place, log) else { continue };
        item.phase.name = name(phase, &["name", "title"]);
        item.depends_on = ids(phase.get("depends_on"));
        let phase = item.phase.id.clone();
        for (subtask, status) in subtasks.iter().zip(statuses) {
            if tasks.len() >= MAX_TASKS {
                break;
            }
            let Some(id) = name(subtask, &["id"]).and_then(|id| id.parse().ok()) else { continue };
            let status = TaskStatus::from(status);
            let attempts = u32::from(!matches!(status, TaskStatus::Pending | TaskStatus::Skipped));
            tasks.push(Task { status, attempts, ..Task::pending(id, Some(phase.clone())) });
        }
    }
    let mut content = worklist.into_content();
    content.tasks = tasks;
    content.title = name(main, &["feature", "description"]);
    let saved = first_member(main, &["last_updated", "updated_at", "created_at"]);
    let recorded_at = saved.and_then(|(key, time)| log.time("saved_at", time, &pointer(&[key])));
    Draft { workflow: name(main, &["spec_id", "feature"]), recorded_at, content, ..Draft::default() }
}
