//! Spec-Flow's `state.yaml` of a feature: the phases of its workflow, and the one that comes next.

use serde_json::Value;

use super::draft::Draft;
use super::format::Format;
use super::members::{first_member, paths, pointer};
use super::phase_list::phase_id;
use super::plausibility::is_clearly_true;
use super::read_log::ReadLog;
use super::worklist::{Worklist, item_status, name};
use crate::core::checkpoint::{Artifact, GitContext, Next};
use crate::core::phase::{Approval, PhaseStatus};

pub(super) static FORMAT: Format = Format {
    word: "spec-flow",
    text: "Spec-Flow, the phases of a feature",
    places: &["specs/*/state.yaml", "specs/*/workflow-state.yaml"],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    main.get("feature").is_some_and(Value::is_object)
        && main.pointer("/workflow/phases").is_some_and(Value::is_object)
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let mut worklist = Worklist::default();
    for (id, entry) in main.pointer("/workflow/phases").and_then(Value::as_object).into_iter().flatten() {
        let place = pointer(&["workflow", "phases", id, "status"]);
        let word = entry.get("status").unwrap_or(entry);
        let status = item_status(word, &place, &[("blocked", PhaseStatus::Failed)], log);
        let time = |key: &str, log: &mut ReadLog<'_>| {
            log.parse_time(entry.get(key).unwrap_or(&Value::Null), &pointer(&["workflow", "phases", id, key]))
        };
        let (started, completed) = (time("started", log), time("completed", log));
        let Some(item) = worklist.add(&id.as_str().into(), status, word, &place, log) else { continue };
        item.phase.started_at = started;
        item.phase.completed_at = if status == PhaseStatus::Complete { completed } else { None };
        let gate = main.pointer(&pointer(&["manual_gates", id]));
        if gate.is_some_and(|gate| gate.get("required").is_some_and(is_clearly_true)) {
            let approved = gate.and_then(|gate| gate.get("approved")).is_some_and(is_clearly_true);
            item.phase.approval = Some(Approval { required: !approved, ..Approval::default() });
        }
    }
    let mut content = worklist.into_content();
    let next = first_member(main, &["next_phase"]).and_then(|(_, next)| phase_id(next));
    if let Some(next) =
        next.filter(|next| content.find_phase(next).is_some_and(|phase| !phase.status.is_done()))
    {
        log.origin("next/phase", &next, "/next_phase");
        content.next = Some(Next { phase: Some(next), explicit: true, ..Next::default() });
    }
    for (key, value) in main.get("artifacts").and_then(Value::as_object).into_iter().flatten() {
        content.artifacts.extend(paths(value).first().map(|path| Artifact::new(key, *path)));
    }
    let feature = main.get("feature").unwrap_or(&Value::Null);
    content.title = name(feature, &["title"]);
    let branch = feature.get("branch_name").and_then(Value::as_str).map(str::to_owned);
    let times = ["/feature/updated", "/feature/last_updated", "/feature/created"];
    let recorded_at = times.iter().find_map(|place| log.time("saved_at", main.pointer(place)?, place));
    Draft {
        workflow: name(feature, &["slug", "number"]),
        recorded_at,
        content,
        git: branch.map(|branch| GitContext {
            branch: Some(branch),
            commit: None,
            extra: Default::default(),
        }),
        ..Draft::default()
    }
}
