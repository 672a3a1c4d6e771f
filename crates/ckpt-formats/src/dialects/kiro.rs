//! Kiro: `spec.json`, which has the approvals of requirements, design and tasks, and `tasks.md`, which has the tasks.
//!
//! A document that is generated and not approved waits for a person. The numbered check boxes of `tasks.md` are the phases
//! of the implementation, and those below them their tasks; one with a star is optional.

use serde_json::Value;

use super::checklist::{CheckBox, check_boxes, read_boxes, split_id, title};
use super::draft::Draft;
use super::format::Format;
use super::members::{first_member, pointer};
use super::plausibility::is_clearly_true;
use super::read_log::ReadLog;
use super::worklist::{Worklist, name};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{Approval, PhaseStatus};

const DOCUMENTS: [&str; 3] = ["requirements", "design", "tasks"];
const IMPLEMENTATION: &str = "implementation";

pub(super) static FORMAT: Format = Format {
    word: "kiro",
    text: "Kiro, the approvals of a specification, or its tasks",
    places: &[".kiro/specs/*/spec.json", ".kiro/specs/*/tasks.md"],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    let approvals = main.get("approvals").and_then(Value::as_object);
    let has_approvals = approvals.is_some_and(|approvals| {
        let known = approvals.iter().filter(|(key, _)| DOCUMENTS.contains(&key.as_str()));
        known.filter(|(_, value)| value.get("generated").is_some() || value.get("approved").is_some()).count() > 1
    });
    has_approvals || tasks(main).is_some()
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    if let Some(text) = tasks(main) {
        let mut content = read_boxes(text, "line", log);
        content.title = title(text);
        return Draft { content, ..Draft::default() };
    }
    let mut worklist = Worklist::default();
    let approvals = main.get("approvals").unwrap_or(&Value::Null);
    let recorded_at =
        ["updated_at", "created_at"].iter().find_map(|key| log.time("saved_at", main.get(key)?, &pointer(&[key])));
    for document in DOCUMENTS {
        let Some(entry) = approvals.get(document) else { continue };
        let place = pointer(&["approvals", document]);
        let is = |key: &str| entry.get(key).is_some_and(is_clearly_true);
        let status = if is("generated") || is("approved") { PhaseStatus::Complete } else { PhaseStatus::Pending };
        let Some(item) = worklist.add(&document.into(), status, entry, &place, log) else { continue };
        let approved_at = if is("approved") { recorded_at } else { None };
        let required = !is("approved");
        if required || approved_at.is_some() {
            item.phase.approval = Some(Approval { required, approved_at, ..Approval::default() });
        }
    }
    let phase = main.get("phase").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let all_done = ["complete", "completed", "done", "implemented", "implementation-complete"];
    let status = match phase.as_str() {
        phase if all_done.contains(&phase) => PhaseStatus::Complete,
        "implementation" | "implementing" | "implementation-in-progress" => PhaseStatus::InProgress,
        _ => PhaseStatus::Pending,
    };
    worklist.add(&IMPLEMENTATION.into(), status, &Value::Null, "/phase", log);
    let mut content = worklist.into_content();
    content.title = name(main, &["description"]);
    if content.phases.iter().any(|phase| phase.lacks_approval() && phase.status.is_done()) {
        // A person comes first, and not the implementation.
        content.next = None;
        if main.get("ready_for_implementation").is_some_and(is_clearly_true) {
            let message = "this says that the implementation can begin, but not everything before it is approved";
            log.finding_at(Severity::Confirm, Code::RecordsDisagree, "/ready_for_implementation", message);
        }
    }
    let workflow = first_member(main, &["feature_name", "spec_name", "name"]).map(|(_, id)| id);
    Draft { workflow: workflow.and_then(Value::as_str).map(str::to_owned), recorded_at, content, ..Draft::default() }
}

/// Returns the text of a `tasks.md`: an implementation plan with numbered check boxes.
fn tasks(main: &Value) -> Option<&str> {
    let text = main.get("markdown").and_then(Value::as_str)?;
    let is_plan = title(text).is_some_and(|title| title.starts_with("Implementation Plan"));
    let is_task = |found: &CheckBox<'_>| !found.is_nested && split_id(found.text).is_some();
    (is_plan && check_boxes(text).iter().filter(|found| is_task(found)).count() > 1).then_some(text)
}
