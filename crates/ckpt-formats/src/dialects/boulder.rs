//! Sisyphus' `.sisyphus/boulder.json`, which points at a plan in `.sisyphus/plans/`. The check boxes of the plan are the
//! work; the file itself knows nothing of it.
//!
//! The plan is the one file that is followed: below the directory of the file, whatever the path before `.sisyphus/` is,
//! since that is of another machine as often as not.

use serde_json::Value;

use super::checklist::{read_boxes, title};
use super::draft::{Draft, WatchedPath};
use super::format::{Companion, Format};
use super::read_log::ReadLog;
use ckpt_model::checkpoint::{Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};

pub(super) static FORMAT: Format = Format {
    word: "boulder",
    text: "Sisyphus, a pointer to the plan at work",
    places: &[".sisyphus/boulder.json"],
    recognises,
    read,
    companion: Some(&Companion { key: "boulder-plan", names: &[], is_index: false }),
    follows,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    main.get("active_plan").is_some() && (main.get("plan_name").is_some() || main.get("session_ids").is_some())
}

fn read(main: &Value, plan: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let text = |key: &str| main.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let mut draft = Draft { workflow: text("plan_name").map(str::to_owned), ..Draft::default() };
    if let Some(id) = &draft.workflow {
        log.origin("workflow", id, "/plan_name");
    }
    let began = main.get("updated_at").or_else(|| main.get("started_at")).unwrap_or(&Value::Null);
    draft.recorded_at = log.time("saved_at", began, "/started_at");
    let path = text("active_plan");
    let Some(markdown) = plan.and_then(|plan| plan.get("markdown")).and_then(Value::as_str) else {
        let named = path.map_or_else(|| "no plan".to_owned(), |path| format!("the plan {path}, which is not here"));
        let message = format!("the file points at {named}; how far the work is, cannot be told");
        log.finding_at(Severity::Confirm, Code::PhasesUnknown, "/active_plan", &message);
        let action = path.map(|path| format!("Read the plan {path}, and go on with its first open task"));
        draft.content.next = action.map(|action| Next { action: Some(action), ..Next::default() });
        draft.content.status =
            main.get("status").and_then(|word| log.workflow_status(word, "/status")).unwrap_or_default();
        draft.idle = path.is_none();
        return draft;
    };
    draft.content = read_boxes(markdown, "plan, line", log);
    if draft.content.status == WorkflowStatus::Complete {
        log.origin("status", "complete", "plan");
    }
    if draft.content.phases.is_empty() {
        let message = "the plan has no check boxes; how far the work is, cannot be told";
        log.finding_at(Severity::Advice, Code::PhasesUnknown, "/active_plan", message);
    }
    draft.content.title = title(markdown);
    let plan = path.and_then(below_sisyphus).map(|plan| format!(".sisyphus/{plan}"));
    draft.watched.extend(plan.map(|path| WatchedPath { path, modified_at: None }));
    draft
}

fn follows(main: &Value) -> Option<&str> {
    below_sisyphus(main.get("active_plan")?.as_str()?)
}

fn below_sisyphus(path: &str) -> Option<&str> {
    let below = match path.rsplit_once(".sisyphus/") {
        Some((_, below)) => below,
        None => path.strip_prefix("plans/").map(|_| path)?,
    };
    if below.is_empty() { None } else { Some(below) }
}
