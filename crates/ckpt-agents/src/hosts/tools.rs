//! The reports of a host's tools about the work: the agent's plan, and the files that it edits.

use serde_json::Value;

use super::host::Host;
use super::payload::ToolUse;
use ckpt_model::change::{PlanItem, PlanKind, PlanUpdate};
use ckpt_model::phase::PhaseStatus;
use ckpt_model::status_word::parse_status_word;

/// The most items of a plan that are read.
const MOST_ITEMS: usize = 500;
/// The most files of one use of a tool.
const MOST_FILES: usize = 100;

/// The report of a tool that keeps a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanReport {
    /// The items.
    pub update: PlanUpdate,
    /// The remark of the agent about it.
    pub note: Option<String>,
}

impl ToolUse {
    /// Returns what the tool tells about the plan of the agent; none if it does not keep one.
    #[must_use]
    pub fn plan(&self, host: Host, session: Option<&str>) -> Option<PlanReport> {
        let (kind, items) = match host {
            Host::Claude => self.claude_plan()?,
            Host::Codex => self.codex_plan()?,
            Host::Gemini => self.gemini_plan()?,
        };
        let update = PlanUpdate { session: session.map(str::to_owned), kind, items };
        let note = ["explanation", "summary"].into_iter().find_map(|name| text(&self.input, name));
        Some(PlanReport { update, note })
    }

    fn claude_plan(&self) -> Option<(PlanKind, Vec<PlanItem>)> {
        let status = |word: Option<String>| word.as_deref().and_then(status);
        match self.name.as_str() {
            "TodoWrite" => Some((PlanKind::Whole, items(self.input.get("todos")?, &["content"]))),
            "TaskCreate" => {
                let task = self.response.get("task").unwrap_or(&Value::Null);
                let item = PlanItem {
                    key: key(task, "id"),
                    text: Some(text(task, "subject").or_else(|| text(&self.input, "subject"))?),
                    status: status(text(task, "status").or_else(|| text(&self.input, "status"))),
                };
                Some((PlanKind::Part, vec![item]))
            }
            "TaskUpdate" => {
                let item = PlanItem {
                    key: Some(key(&self.input, "taskId")?),
                    text: text(&self.input, "subject"),
                    status: status(text(&self.input, "status")),
                };
                Some((PlanKind::Part, vec![item]))
            }
            _ => None,
        }
    }

    fn codex_plan(&self) -> Option<(PlanKind, Vec<PlanItem>)> {
        match self.name.as_str() {
            "update_plan" => Some((PlanKind::Whole, items(self.input.get("plan")?, &["step"]))),
            "create_goal" | "update_goal" => {
                let goal = self.response.get("goal").unwrap_or(&Value::Null);
                let objective = text(goal, "objective").or_else(|| text(&self.input, "objective"))?;
                let word = text(goal, "status").or_else(|| text(&self.input, "status"));
                let item = PlanItem {
                    key: None,
                    text: Some(objective),
                    status: word.map_or(Some(PhaseStatus::InProgress), |word| status(&word)),
                };
                Some((PlanKind::Goal, vec![item]))
            }
            _ => None,
        }
    }

    fn gemini_plan(&self) -> Option<(PlanKind, Vec<PlanItem>)> {
        match self.name.as_str() {
            "update_topic" => {
                let status = Some(PhaseStatus::InProgress);
                let item = PlanItem { key: None, text: Some(text(&self.input, "title")?), status };
                Some((PlanKind::Chapter, vec![item]))
            }
            name if name == "write_todos" || name.starts_with("tracker_") => {
                let shown = self.response.get("returnDisplay").and_then(|shown| shown.get("todos"));
                let mut items = items(shown.or_else(|| self.input.get("todos"))?, &["description", "title"]);
                if name != "write_todos" {
                    items.iter_mut().for_each(split_tracked);
                }
                Some((PlanKind::Whole, items))
            }
            _ => None,
        }
    }

    /// Returns the paths of the files that the tool has edited, as the host writes them.
    #[must_use]
    pub fn edited_files(&self, host: Host) -> Vec<String> {
        if !host.edit_tools().contains(&self.name.as_str()) {
            return Vec::new();
        }
        if host == Host::Codex {
            let patch = text(&self.input, "command").or_else(|| text(&self.input, "input")).unwrap_or_default();
            return patched_files(&patch);
        }
        let path = ["file_path", "notebook_path", "path"].into_iter().find_map(|name| text(&self.input, name));
        path.into_iter().collect()
    }
}

/// Returns the files that a patch of Codex adds, updates or moves to.
fn patched_files(patch: &str) -> Vec<String> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
    let path = |line: &str| marks.iter().find_map(|mark| line.strip_prefix(mark)).map(|path| path.trim().to_owned());
    patch.lines().filter_map(path).filter(|path| !path.is_empty()).take(MOST_FILES).collect()
}

/// Reads a list of items: the text is in one of `names`, and each may have a status.
fn items(list: &Value, names: &[&str]) -> Vec<PlanItem> {
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let item = |entry: &Value| {
        let words = names.iter().find_map(|name| text(entry, name)).or_else(|| entry.as_str().map(str::to_owned))?;
        let status = text(entry, "status").and_then(|word| status(&word));
        // A list states everything, so an item without a known status is one that waits.
        Some(PlanItem { key: None, text: Some(words), status: status.or(Some(PhaseStatus::Pending)) })
    };
    entries.iter().filter_map(item).take(MOST_ITEMS).collect()
}

/// Splits `task: Plan the parser (5aa8b1)`, as Gemini's tracker shows a task, into its title and its id.
fn split_tracked(item: &mut PlanItem) {
    let Some(shown) = &item.text else { return };
    let kinds = ["task: ", "epic: ", "bug: "];
    let title = kinds.iter().find_map(|kind| shown.trim_start().strip_prefix(kind)).unwrap_or(shown);
    let id = title.trim_end().strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    let is_id = |id: &str| id.len() == 6 && id.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some((title, id)) = id.filter(|(_, id)| is_id(id)) {
        (item.key, item.text) = (Some(id.to_owned()), Some(title.to_owned()));
    }
}

/// Returns the meaning of a host's word for a status; none for one that says nothing.
fn status(word: &str) -> Option<PhaseStatus> {
    match word {
        "closed" => Some(PhaseStatus::Complete),
        "blocked" | "paused" => Some(PhaseStatus::InProgress),
        "cancelled" | "canceled" | "deleted" => Some(PhaseStatus::Skipped),
        "open" => Some(PhaseStatus::Pending),
        word => parse_status_word(word),
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// Returns an id, which may be a number.
fn key(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) if !text.is_empty() && text.len() <= 64 => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(host: Host, name: &str, input: Value, response: Value) -> Option<(PlanKind, Vec<PlanItem>)> {
        let report = ToolUse { name: name.to_owned(), input, response }.plan(host, Some("s"))?;
        Some((report.update.kind, report.update.items))
    }

    fn item(key: Option<&str>, text: Option<&str>, status: Option<PhaseStatus>) -> PlanItem {
        PlanItem { key: key.map(str::to_owned), text: text.map(str::to_owned), status }
    }

    #[test]
    fn every_tool_that_keeps_a_plan_is_understood() {
        use PhaseStatus::{Complete, InProgress, Pending, Skipped};
        let todos = json!({"todos": [{"content": "A", "status": "completed"}, {"content": "B", "status": "odd"}, {}]});
        let listed = vec![item(None, Some("A"), Some(Complete)), item(None, Some("B"), Some(Pending))];
        assert_eq!(plan(Host::Claude, "TodoWrite", todos, Value::Null), Some((PlanKind::Whole, listed)));
        let made =
            plan(Host::Claude, "TaskCreate", json!({"subject": "A"}), json!({"task": {"id": 7, "subject": "A"}}));
        assert_eq!(made, Some((PlanKind::Part, vec![item(Some("7"), Some("A"), None)])));
        let updated = plan(Host::Claude, "TaskUpdate", json!({"taskId": "7", "status": "deleted"}), Value::Null);
        assert_eq!(updated, Some((PlanKind::Part, vec![item(Some("7"), None, Some(Skipped))])));
        let steps = json!({"plan": [{"step": "A", "status": "in_progress"}], "explanation": "why"});
        let listed = vec![item(None, Some("A"), Some(InProgress))];
        assert_eq!(plan(Host::Codex, "update_plan", steps, Value::Null), Some((PlanKind::Whole, listed)));
        let goal =
            plan(Host::Codex, "update_goal", json!({"status": "complete"}), json!({"goal": {"objective": "ship"}}));
        assert_eq!(goal, Some((PlanKind::Goal, vec![item(None, Some("ship"), Some(Complete))])));
        let shown = json!({"returnDisplay": {"todos": [{"description": "bug: Fix it (0a1b2c)", "status": "closed"}]}});
        let listed = vec![item(Some("0a1b2c"), Some("Fix it"), Some(Complete))];
        assert_eq!(plan(Host::Gemini, "tracker_update_task", json!({}), shown), Some((PlanKind::Whole, listed)));
        let topic = plan(Host::Gemini, "update_topic", json!({"title": "A", "summary": "s"}), Value::Null);
        assert_eq!(topic, Some((PlanKind::Chapter, vec![item(None, Some("A"), Some(InProgress))])));
        for (host, name) in [(Host::Claude, "update_plan"), (Host::Codex, "Bash"), (Host::Gemini, "write_file")] {
            assert_eq!(plan(host, name, json!({"plan": []}), Value::Null), None, "{host} {name}");
        }
    }

    #[test]
    fn edited_files_are_those_of_edit_tools() {
        let files = |host, name: &str, input| {
            ToolUse { name: name.to_owned(), input, response: Value::Null }.edited_files(host)
        };
        assert_eq!(files(Host::Claude, "Write", json!({"file_path": "/p/a.rs"})), ["/p/a.rs"]);
        assert_eq!(files(Host::Claude, "Read", json!({"file_path": "/p/a.rs"})), Vec::<String>::new());
        assert_eq!(files(Host::Gemini, "replace", json!({"file_path": "a.rs"})), ["a.rs"]);
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n-x\n*** Delete File: c\n*** Add File: d\n*** End Patch\n";
        assert_eq!(files(Host::Codex, "apply_patch", json!({"command": patch})), ["a.rs", "b.rs", "d"]);
    }
}
