//! PREVC's `.context/workflow/status.yaml`: planning, review, execution, validation and confirmation.

use serde_json::Value;

use super::draft::Draft;
use super::format::Format;
use super::members::{pointer, text_or_number};
use super::read_log::ReadLog;
use super::worklist::{Worklist, item_status, name};
use crate::core::checkpoint::Next;
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseStatus;

const PHASES: [(&str, &str); 5] =
    [("P", "Planning"), ("R", "Review"), ("E", "Execution"), ("V", "Validation"), ("C", "Confirmation")];

/// A phase is `filled` once its documents are.
const WORDS: [(&str, PhaseStatus); 2] =
    [("filled", PhaseStatus::Complete), ("unfilled", PhaseStatus::Pending)];

pub(super) static FORMAT: Format = Format {
    word: "prevc",
    text: "PREVC, five phases from planning to confirmation",
    places: &[".context/workflow/status.yaml", ".context/harness/workflows/prevc.json"],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    let phases = main.get("phases").and_then(Value::as_object);
    phases.is_some_and(|phases| {
        phases.contains_key("P") && phases.contains_key("E") && phases.contains_key("V")
    }) && main.get("project").is_some_and(Value::is_object)
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let mut worklist = Worklist::default();
    for (id, title) in PHASES {
        let Some(entry) = main.pointer(&pointer(&["phases", id])) else { continue };
        let place = pointer(&["phases", id, "status"]);
        let word = entry.get("status").unwrap_or(&Value::Null);
        let status = item_status(word, &place, &WORDS, log);
        let time = |key: &str, log: &mut ReadLog<'_>| {
            log.parse_time(entry.get(key).unwrap_or(&Value::Null), &pointer(&["phases", id, key]))
        };
        let (started, completed) = (time("started_at", log), time("completed_at", log));
        let Some(item) = worklist.add(&id.into(), status, word, &place, log) else { continue };
        item.phase.name = Some(title.to_owned());
        item.phase.started_at = started;
        item.phase.completed_at = if status == PhaseStatus::Complete { completed } else { None };
    }
    let mut content = worklist.into_content();
    let current = main.pointer("/project/current_phase").and_then(text_or_number);
    if let (Some(current), Some(Next { phase: Some(next), .. })) = (&current, &content.next)
        && !next.as_str().eq_ignore_ascii_case(current)
    {
        let message = format!("the project stands at {current}, but {next} is not done; the phases count");
        log.finding_at(Severity::Confirm, Code::RecordsDisagree, "/project/current_phase", &message);
    }
    let action = main.pointer("/execution/resume_context").and_then(text_or_number);
    if let (Some(next), Some(_)) = (&mut content.next, &action) {
        next.action = action;
    }
    let project = main.get("project").unwrap_or(&Value::Null);
    let times = ["/execution/last_activity", "/project/updated", "/project/started"];
    let recorded_at = times.iter().find_map(|place| log.time("saved_at", main.pointer(place)?, place));
    Draft { workflow: name(project, &["name"]), recorded_at, content, ..Draft::default() }
}
