//! Conductor: `conductor/setup_state.json`, which has the last step of the setup, `conductor/tracks.md`, which lists the
//! tracks, and the `metadata.json` and `plan.md` of each track.
//!
//! The `metadata.json` of a track has a status and no phases: those are in its `plan.md`.

use serde_json::Value;

use super::checklist::{CheckBox, check_box, check_boxes, read_phases, title};
use super::draft::Draft;
use super::format::Format;
use super::members::{first_member, pointer};
use super::read_log::ReadLog;
use super::worklist::{Worklist, meaning, name};
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::PhaseStatus;

/// The steps of the setup, in their order.
const STEPS: [&str; 6] = [
    "2.1_product_guide",
    "2.2_product_guidelines",
    "2.3_tech_stack",
    "2.4_code_styleguides",
    "2.5_workflow",
    "3.3_initial_track_generated",
];

pub(super) static FORMAT: Format = Format {
    word: "conductor",
    text: "Conductor, the setup of a project, its tracks, or one track",
    places: &[
        "conductor/setup_state.json",
        "conductor/tracks.md",
        "conductor/tracks/*/metadata.json",
        "conductor/tracks/*/plan.md",
    ],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    let is_setup = |members: &serde_json::Map<String, Value>| members.len() <= 4 && has("last_successful_step");
    let text = main.get("markdown").and_then(Value::as_str).unwrap_or_default();
    main.as_object().is_some_and(is_setup)
        || !tracks(text).is_empty()
        || check_boxes(text).iter().filter(|found| is_task(found)).count() > 1
        || (has("track_id") && has("status") && (has("type") || has("description")))
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let saved = first_member(main, &["updated_at", "last_updated", "created_at"]);
    let recorded_at = saved.and_then(|(key, time)| log.time("saved_at", time, &pointer(&[key])));
    let mut draft = Draft { recorded_at, ..Draft::default() };
    if let Some(step) = main.get("last_successful_step") {
        read_setup(step, &mut draft, log);
    } else if let Some(text) = main.get("markdown").and_then(Value::as_str) {
        read_text(text, &mut draft, log);
    } else {
        read_track(main, &mut draft, log);
    }
    draft
}

fn read_setup(step: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let step = step.as_str().unwrap_or_default().trim();
    let is_over = meaning(step, &[]) == Some(PhaseStatus::Complete);
    let at = STEPS.iter().position(|known| is_over || known.eq_ignore_ascii_case(step));
    draft.workflow = Some("conductor-setup".to_owned());
    if at.is_none() && !step.is_empty() {
        let message = format!("{step} is no step that is known; what comes behind it cannot be told");
        return log.finding_at(Severity::Advice, Code::PhasesUnknown, "/last_successful_step", &message);
    }
    let mut worklist = Worklist::default();
    for (index, known) in STEPS.iter().enumerate() {
        let is_done = is_over || at.is_some_and(|at| index <= at);
        let status = if is_done { PhaseStatus::Complete } else { PhaseStatus::Pending };
        worklist.add(&(*known).into(), status, &Value::Null, "/last_successful_step", log);
    }
    draft.content = worklist.into_content();
}

fn read_track(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    const WORDS: [(&str, PhaseStatus); 2] = [("new", PhaseStatus::Pending), ("archived", PhaseStatus::Complete)];
    draft.workflow = name(main, &["track_id"]);
    draft.content.title = name(main, &["description", "title"]);
    let word = main.get("status").and_then(Value::as_str).unwrap_or_default();
    draft.content.status = match meaning(word, &WORDS) {
        Some(PhaseStatus::Complete) => WorkflowStatus::Complete,
        Some(PhaseStatus::Failed) => WorkflowStatus::Failed,
        Some(PhaseStatus::Skipped) => WorkflowStatus::Abandoned,
        Some(_) => WorkflowStatus::InProgress,
        None => return log.unknown_status(Severity::Confirm, word, "/status"),
    };
    log.origin("status", draft.content.status.word(), "/status");
}

/// Reads the list of tracks, or the plan of one.
fn read_text(text: &str, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let tracks = tracks(text);
    if tracks.is_empty() {
        let id = |found: &CheckBox<'_>, phase: &str, number| is_task(found).then(|| format!("{phase}.{number}"));
        let boxes: Vec<_> = check_boxes(text).into_iter().filter(is_task).collect();
        draft.content = read_phases(&boxes, id, log);
        draft.content.title = title(text);
        // Every plan has the same file name.
        draft.workflow = draft.content.title.as_deref().and_then(|title| title.rsplit(": ").next()).map(str::to_owned);
        return;
    }
    let mut worklist = Worklist::default();
    for Track { id, name, status, line } in tracks {
        let added = worklist.add(&id.unwrap_or(name).into(), status, &Value::Null, &format!("line {line}"), log);
        if let Some(item) = added {
            item.phase.name = Some(name.chars().take(200).collect());
        }
    }
    draft.workflow = Some("conductor-tracks".to_owned());
    draft.content = worklist.into_content();
}

/// A task of a plan; the boxes below it are its parts.
fn is_task(found: &CheckBox<'_>) -> bool {
    !found.is_nested && found.text.starts_with("Task:")
}

/// A track in the list of all.
struct Track<'t> {
    /// The name of its directory, from the link below it.
    id: Option<&'t str>,
    name: &'t str,
    status: PhaseStatus,
    line: usize,
}

/// Finds `## [~] Track: NAME` or `- [~] **Track: NAME**`, each with a link to the directory of the track below it.
fn tracks(text: &str) -> Vec<Track<'_>> {
    let mut tracks: Vec<Track<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let boxed = check_box(line.trim_start_matches(['#', ' ']));
        let track = boxed.and_then(|(mark, text)| Some((mark, text.strip_prefix("Track:")?.trim())));
        if let Some((mark, name)) = track {
            tracks.push(Track { id: None, name, status: mark.status(), line: index + 1 });
        } else if let (Some(track), Some((_, link))) = (tracks.last_mut(), line.split_once("](")) {
            let path = link.split(')').next().unwrap_or_default().trim_end_matches('/');
            if path.contains("tracks/") {
                track.id = track.id.or(path.rsplit('/').next());
            }
        }
    }
    tracks
}
