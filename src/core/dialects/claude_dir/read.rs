//! Reading a document.

use std::collections::HashSet;

use serde_json::Value;

use super::members::{compare, member, text};
use super::{error, phases, replans};
use crate::core::checkpoint::{Artifact, Content, Next, WorkflowStatus};
use crate::core::dialects::reading::{Draft, Notes, Watch, pointer};
use crate::core::dialects::times::Time;
use crate::core::finding::{Code, Severity};
use crate::core::time::Timestamp;

/// The newest version that is known.
const NEWEST: (u64, u64) = (2, 1);

pub(in super::super) fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    main.get("checkpoint_id").is_some_and(|id| id.is_string() || id.is_number())
        && (has("workflow_type") || has("workflow_description"))
        && ["current_phase", "completed_phases", "total_phases", "state_machine", "workflow_state"]
            .iter()
            .any(|key| has(key))
}

pub(in super::super) fn read(main: &Value, notes: &mut Notes<'_>) -> Draft {
    check_version(main, notes);
    let recorded_at = recorded_at(main, notes);
    let mut found = phases::read(main, notes);
    let status = status(main, found.ended, notes);
    let error = error::read(main, status, recorded_at, &mut found, notes);
    check_tests(main, notes);
    let listed = found.current.clone().filter(|id| found.phases.iter().any(|phase| phase.id == *id));
    let next = found.current.map(|id| Next { phase: Some(id), action: None, extra: Default::default() });
    Draft {
        workflow: workflow(main, notes),
        recorded_at,
        content: Content {
            status,
            phase: listed,
            next,
            title: title(main, notes),
            pipeline: found.whole.then(|| "claude-dir".to_owned()),
            phases: found.phases,
            artifacts: artifacts(main, notes),
            replans: replans::read(main, recorded_at, notes),
            last_error: error.dated,
            ..Content::default()
        },
        watched: watched(main, notes),
        undated_error: error.undated,
        ..Draft::default()
    }
}

fn check_version(main: &Value, notes: &mut Notes<'_>) {
    let Some(version) = main.get("schema_version").filter(|version| !version.is_null()) else { return };
    let written = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    let (major, minor) = written.trim().split_once('.').unwrap_or((written.trim(), "0"));
    match (major.parse::<u64>(), minor.parse::<u64>()) {
        (Ok(major), Ok(minor)) if (major, minor) <= NEWEST => {}
        (Ok(_), Ok(_)) => {
            let message =
                format!("schema {written} is newer than {}.{}, the newest that is known", NEWEST.0, NEWEST.1);
            notes.doubt_at(Severity::Blocker, Code::FormatNewer, "/schema_version", &message);
        }
        _ => {
            let message = format!("{version} is no version that is known; it is read as far as possible");
            notes.doubt_at(Severity::Advice, Code::FormatNewer, "/schema_version", &message);
        }
    }
}

/// The workflow is what the names of its checkpoints have in common: the id without the time behind it.
fn workflow(main: &Value, notes: &mut Notes<'_>) -> Option<String> {
    let (id, place) = checkpoint_id(main)?;
    let workflow = split_id(&id).0.to_owned();
    notes.found("workflow", &workflow, place);
    Some(workflow)
}

fn checkpoint_id(main: &Value) -> Option<(String, &'static str)> {
    ["/checkpoint_id", "/metadata/checkpoint_id"].into_iter().find_map(|place| match main.pointer(place)? {
        Value::String(id) if !id.trim().is_empty() => Some((id.trim().to_owned(), place)),
        Value::Number(id) => Some((id.to_string(), place)),
        _ => None,
    })
}

/// `implement_auth_20251003_184530` is `implement_auth` and its time.
fn split_id(id: &str) -> (&str, Option<&str>) {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let behind = id.len().checked_sub("_YYYYMMDD_HHMMSS".len()).and_then(|at| id.split_at_checked(at));
    match behind.and_then(|(name, stamp)| Some((name, stamp.strip_prefix('_')?))) {
        Some((name, stamp))
            if !name.is_empty()
                && stamp.split_once('_').is_some_and(|(date, time)| {
                    digits(date) && digits(time) && date.len() == "YYYYMMDD".len()
                }) =>
        {
            (name, Some(stamp))
        }
        _ => (id, None),
    }
}

fn recorded_at(main: &Value, notes: &mut Notes<'_>) -> Option<Timestamp> {
    for place in ["/updated_at", "/metadata/updated_at", "/created_at", "/metadata/created_at"] {
        let value = main.pointer(place).unwrap_or(&Value::Null);
        if let Some(at) = notes.time("saved_at", value, place) {
            return Some(at);
        }
    }
    // The time in the name is UTC by definition.
    let (id, place) = checkpoint_id(main)?;
    let at = Time::understand(&split_id(&id).1?.into()).timestamp()?;
    notes.found("saved_at", at, place);
    Some(at)
}

fn title(main: &Value, notes: &mut Notes<'_>) -> Option<String> {
    let (title, place) = text(main, "workflow_description")?;
    notes.found("title", title, &place);
    Some(title.to_owned())
}

fn status(main: &Value, ended: bool, notes: &mut Notes<'_>) -> WorkflowStatus {
    compare(main, "status", notes);
    let recorded = member(main, "status").and_then(|(word, place)| notes.workflow_status(word, &place));
    if ended && recorded.is_some_and(|recorded| recorded != WorkflowStatus::Complete) {
        let message = "this is not the end, but the state machine stands at its end";
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, "/status", message);
    }
    match recorded {
        None | Some(WorkflowStatus::InProgress) if ended => WorkflowStatus::Complete,
        recorded => recorded.unwrap_or_default(),
    }
}

fn check_tests(main: &Value, notes: &mut Notes<'_>) {
    compare(main, "tests_passing", notes);
    let failing = [pointer(&["tests_passing"]), pointer(&["workflow_state", "tests_passing"])]
        .into_iter()
        .find(|place| main.pointer(place).is_some_and(|passing| *passing == false || *passing == "false"));
    if let Some(place) = failing {
        let message = "the tests did not pass when it was saved";
        notes.doubt_at(Severity::Confirm, Code::TestsFailing, &place, message);
    }
}

fn watched(main: &Value, notes: &mut Notes<'_>) -> Vec<Watch> {
    let Some((path, place)) = text(main, "plan_path") else { return Vec::new() };
    notes.found("watched", path, &place);
    let modified_at = member(main, "plan_modification_time")
        .and_then(|(value, place)| notes.time("watched/modified_at", value, &place));
    vec![Watch { path: path.to_owned(), modified_at }]
}

/// The files in the registry: by name, lists by name, or a bare list.
fn artifacts(main: &Value, notes: &mut Notes<'_>) -> Vec<Artifact> {
    let Some((registry, place)) = member(main, "artifact_registry") else { return Vec::new() };
    let mut entries: Vec<(Option<String>, &Value, String)> = Vec::new();
    match registry {
        Value::Object(members) => {
            for (name, value) in members {
                let place = format!("{place}{}", pointer(&[name]));
                match value {
                    Value::Array(items) => entries.extend(items.iter().enumerate().map(|(index, item)| {
                        (Some(format!("{name}/{index}")), item, format!("{place}/{index}"))
                    })),
                    value => entries.push((Some(name.clone()), value, place)),
                }
            }
        }
        Value::Array(items) => entries.extend(items.iter().enumerate().map(|(index, item)| {
            let name = item.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            (name.map(str::to_owned), item, format!("{place}/{index}"))
        })),
        _ => {}
    }
    let mut found: Vec<Artifact> = Vec::new();
    let mut seen = HashSet::new();
    for (name, value, place) in entries {
        let Some(path) = registered_path(value) else { continue };
        let name = name.unwrap_or_else(|| path.to_owned());
        if seen.insert(name.clone()) {
            notes.found("artifact", path, &place);
            found.push(Artifact::new(name, path));
        }
    }
    found
}

/// The path in an entry of the registry: the entry itself, or its member of that name.
pub(super) fn registered_path(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("path")?.as_str()).filter(|path| !path.trim().is_empty())
}
