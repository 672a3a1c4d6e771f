//! BMAD: `sprint-status.yaml`, the stories of each epic, and `bmm-workflow-status.yaml`, the documents before them.
//!
//! In a sprint the stories are the phases, in the order of the keys. A retrospective is optional. An epic counts through
//! its stories; one that has none yet is a phase itself.

use std::collections::HashMap;

use serde_json::Value;

use super::draft::Draft;
use super::format::Format;
use super::members::{first_member, pointer};
use super::read_log::ReadLog;
use super::worklist::{Worklist, item_status, name};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::PhaseStatus;
use ckpt_model::status_word::parse_status_word;

const WORDS: [(&str, PhaseStatus); 9] = [
    ("backlog", PhaseStatus::Pending),
    ("drafted", PhaseStatus::Pending),
    ("contexted", PhaseStatus::Pending),
    ("ready-for-dev", PhaseStatus::Pending),
    ("blocked", PhaseStatus::Pending),
    ("review", PhaseStatus::InProgress),
    ("optional", PhaseStatus::Skipped),
    ("deferred", PhaseStatus::Skipped),
    ("cancelled", PhaseStatus::Skipped),
];

/// The words of a document that need not be written.
const NOT_REQUIRED: [&str; 4] = ["optional", "recommended", "conditional", "skipped"];

pub(super) static SPRINT: Format = Format {
    word: "bmad-sprint",
    text: "BMAD, the stories of a sprint",
    places: &[
        "_bmad-output/implementation-artifacts/sprint-status.yaml",
        "docs/sprint-artifacts/sprint-status.yaml",
        "docs/sprint-status.yaml",
        "sprint-status.yaml",
    ],
    recognises: is_sprint,
    read: read_sprint,
    ..Format::ONLY_READ
};

fn is_sprint(main: &Value) -> bool {
    let statuses = main.get("development_status").and_then(Value::as_object);
    statuses.is_some_and(|statuses| !statuses.is_empty() && statuses.values().any(Value::is_string))
}

fn read_sprint(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let mut worklist = Worklist::default();
    let statuses = main.get("development_status").and_then(Value::as_object);
    let open_stories = open_stories(statuses.into_iter().flatten());
    for (key, word) in statuses.into_iter().flatten() {
        let place = pointer(&["development_status", key]);
        if let Some(open) = key.strip_prefix("epic-").and_then(|epic| open_stories.get(epic)) {
            if let Some(story) = open
                && is_done(word)
            {
                let message = format!("{key} is done, but its story {story} is not; the story counts");
                log.finding_at(Severity::Advice, Code::RecordsDisagree, &place, &message);
            }
            continue;
        }
        let status = item_status(word, &place, &WORDS, log);
        // What need not be done is no gap before what was done.
        if key.ends_with("-retrospective") && status != PhaseStatus::Complete {
            continue;
        }
        worklist.add(&key.as_str().into(), status, word, &place, log);
    }
    draft(main, worklist, "", log)
}

/// Returns the epics that have stories, each with the first story that is not done: `4-1-vocabulary` belongs to epic 4.
fn open_stories<'v>(statuses: impl Iterator<Item = (&'v String, &'v Value)>) -> HashMap<&'v str, Option<&'v str>> {
    let mut epics = HashMap::new();
    for (key, word) in statuses {
        if let Some((epic, _)) = key.split_once('-').filter(|(epic, _)| *epic != "epic") {
            let open = epics.entry(epic).or_insert(None);
            if open.is_none() && !is_done(word) {
                *open = Some(key.as_str());
            }
        }
    }
    epics
}

fn is_done(word: &Value) -> bool {
    word.as_str().and_then(parse_status_word).is_some_and(PhaseStatus::is_done)
}

pub(super) static WORKFLOW: Format = Format {
    word: "bmad-workflow",
    text: "BMAD, the documents before the first sprint",
    places: &[
        "docs/bmm-workflow-status.yaml",
        "_bmad-output/bmm-workflow-status.yaml",
        "_bmad-output/planning-artifacts/bmm-workflow-status.yaml",
        "bmm-workflow-status.yaml",
    ],
    recognises: has_documents,
    read: read_documents,
    ..Format::ONLY_READ
};

fn has_documents(main: &Value) -> bool {
    let has_documents = match main.get("workflow_status") {
        Some(Value::Object(documents)) => documents.values().any(Value::is_string),
        Some(Value::Array(documents)) => documents.iter().any(|document| document.get("status").is_some()),
        _ => false,
    };
    has_documents && ["workflow_path", "selected_track", "project_type"].iter().any(|key| main.get(key).is_some())
}

fn read_documents(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let mut worklist = Worklist::default();
    let documents: Vec<(Value, &Value, String)> = match main.get("workflow_status") {
        Some(Value::Object(documents)) => {
            let place = |key: &String| pointer(&["workflow_status", key]);
            documents.iter().map(|(key, word)| (key.as_str().into(), word, place(key))).collect()
        }
        Some(Value::Array(documents)) => {
            let parts = documents.iter().enumerate().filter_map(|(index, document)| {
                let (_, id) = first_member(document, &["id", "name", "workflow"])?;
                Some((id.clone(), document.get("status")?, format!("/workflow_status/{index}/status")))
            });
            parts.collect()
        }
        _ => Vec::new(),
    };
    for (id, word, place) in documents {
        let is_required = |word: &str| !NOT_REQUIRED.iter().any(|not| word.to_ascii_lowercase().starts_with(not));
        if word.as_str().map(str::trim).is_none_or(is_required) {
            worklist.add(&id, document_status(word, &place, log), word, &place, log);
        }
    }
    draft(main, worklist, "-planning", log)
}

/// Returns the status of a document: it has the path of its file once that is written.
fn document_status(word: &Value, place: &str, log: &mut ReadLog<'_>) -> PhaseStatus {
    let text = word.as_str().unwrap_or_default().trim();
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("required") {
        PhaseStatus::Pending
    } else if text.contains(['/', '.']) && !text.contains(' ') {
        PhaseStatus::Complete
    } else {
        item_status(word, place, &WORDS, log)
    }
}

/// Returns the draft of a workflow that is named by the project. A project has both files, which are two workflows.
fn draft(main: &Value, worklist: Worklist, suffix: &str, log: &mut ReadLog<'_>) -> Draft {
    let times = ["last_updated", "updated", "generated"];
    let saved = first_member(main, &times);
    let recorded_at = saved.and_then(|(key, time)| log.time("saved_at", time, &pointer(&[key])));
    let project = name(main, &["project", "project_name"]);
    let workflow = project.map(|project| project + suffix);
    Draft { workflow, recorded_at, content: worklist.into_content(), ..Draft::default() }
}
