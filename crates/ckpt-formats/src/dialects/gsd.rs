//! GSD's `.planning/STATE.md`: YAML front matter with counters, and the current position in the text.
//!
//! The text says `Phase: 7 of 9 (Video Analysis) -- COMPLETE` or `Phase: 05 (name) - EXECUTING`, and what of it is done. A
//! milestone may begin with a later number than 1, so the counters of the front matter are used only where they fit.

use serde_json::Value;

use super::draft::Draft;
use super::format::Format;
use super::members::count;
use super::numbered_phases;
use super::phase_list::set_status;
use super::read_log::ReadLog;
use super::worklist::name;
use ckpt_model::checkpoint::{CUSTOM_PIPELINE, Content, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};

pub(super) static FORMAT: Format = Format {
    word: "gsd",
    text: "GSD, the state of a milestone",
    places: &[".planning/STATE.md"],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    let Some(text) = main.get("markdown").and_then(Value::as_str) else { return false };
    main.get("gsd_state_version").is_some() || (text.contains("## Current Position") && line(text, "Phase").is_some())
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let text = main.get("markdown").and_then(Value::as_str).unwrap_or_default();
    let mut draft = Draft { workflow: Some(workflow(main)), ..Draft::default() };
    let updated = main.get("last_updated").or_else(|| main.get("last_activity"));
    draft.recorded_at = updated.and_then(|time| log.time("saved_at", time, "/last_updated"));
    draft.content.title = name(main, &["milestone_name"]).filter(|name| name != "milestone");
    draft.note = name(main, &["stopped_at"]);
    let status = main.get("status").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let position = line(text, "Phase").unwrap_or_default();
    let is_over = ["complete", "shipped", "archived"].iter().any(|word| status.contains(word));
    let all_done = position.to_lowercase().starts_with("complete") || (is_over && !status.contains("phase"));
    if all_done {
        log.origin("status", "complete", "Phase");
        draft.content.status = WorkflowStatus::Complete;
    } else if let Some(number) = leading_number(position) {
        read_position(main, text, number, position, &mut draft.content, log);
    } else {
        let message = "the text does not say which phase the work is at";
        log.finding(Severity::Advice, Code::PhasesUnknown, message);
    }
    draft
}

fn workflow(main: &Value) -> String {
    name(main, &["milestone"]).map_or_else(|| "gsd".to_owned(), |milestone| format!("gsd-{milestone}"))
}

/// Returns the rest of the first line `Phase: ...` of the text, with or without emphasis and bullets.
fn line<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let below = text.split_once("## Current Position").map_or(text, |(_, below)| below);
    below.lines().find_map(|line| {
        let line = line.trim_start_matches(['-', '*', ' ']);
        let rest = line.strip_prefix(key)?.trim_start_matches('*').strip_prefix(':')?;
        Some(rest.trim_start_matches(['*', ' ']).trim())
    })
}

/// Returns the number that a text begins with, without leading zeros.
fn leading_number(text: &str) -> Option<u64> {
    let text = text.strip_prefix("Phase ").unwrap_or(text);
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

fn read_position(main: &Value, text: &str, number: u64, position: &str, content: &mut Content, log: &mut ReadLog<'_>) {
    let behind = position.split_once(" of ").and_then(|(_, behind)| leading_number(behind.trim_start()));
    let counted = main.pointer("/progress/total_phases").and_then(count);
    let total = behind.or(counted).filter(|total| *total >= number);
    let Ok(current) = number.to_string().parse::<PhaseId>() else { return };
    let ids = numbered_phases::range([&current], total).unwrap_or_else(|| vec![current.clone()]);
    log.origin("phase", &current, "Phase");
    let state = format!("{} {}", position, line(text, "Status").unwrap_or_default()).to_lowercase();
    let is_done = position.to_lowercase().contains("complete") && !position.to_lowercase().contains("incomplete");
    let status = if is_done {
        PhaseStatus::Complete
    } else if state.contains("ready to plan") || state.contains("not started") || state.contains("ready to discuss") {
        PhaseStatus::Pending
    } else {
        PhaseStatus::InProgress
    };
    for id in ids {
        let mut phase = Phase::pending(id);
        let is_before = numbered_phases::number_of(&phase.id) < Some(number);
        if is_before {
            set_status(&mut phase, PhaseStatus::Complete);
        } else if phase.id == current {
            set_status(&mut phase, status);
            phase.name = title(position);
        }
        content.phases.push(phase);
    }
    if number > 1 {
        let message = format!("the phases before {current} are taken as complete");
        log.finding(Severity::Info, Code::PhasesImplied, message);
    }
    let all_done = content.phases.iter().all(|phase| phase.status.is_done());
    content.pipeline = total.map(|_| CUSTOM_PIPELINE.to_owned());
    if total.is_some() && all_done {
        content.status = WorkflowStatus::Complete;
    } else if !status.is_done() {
        let action =
            line(text, "Plan").filter(|plan| plan.contains(" of ")).map(|plan| format!("Go on with plan {plan}"));
        content.next = Some(Next { phase: Some(current.clone()), action, explicit: true, ..Next::default() });
    }
    content.phase = Some(current);
}

/// Returns the name in parentheses.
fn title(position: &str) -> Option<String> {
    let (_, rest) = position.split_once('(')?;
    let name = rest.split_once(')')?.0.trim();
    if name.is_empty() { None } else { Some(name.chars().take(200).collect()) }
}
