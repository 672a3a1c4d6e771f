//! Reading the file of a run.

use std::collections::HashSet;

use serde_json::Value;

use super::members::{compare, member, text};
use super::{error, phases};
use crate::dialects::draft::{Draft, WatchedPath};
use crate::dialects::members::{count, pointer, text_or_number};
use crate::dialects::read_log::ReadLog;
use crate::dialects::replans::{self, Replans};
use crate::dialects::times::ParsedTime;
use ckpt_model::checkpoint::{Artifact, Content, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::time::Timestamp;

/// The newest schema version that this reader supports.
const NEWEST: (u64, u64) = (2, 1);

pub(super) fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    main.get("checkpoint_id").is_some_and(|id| id.is_string() || id.is_number())
        && (has("workflow_type") || has("workflow_description"))
        && ["current_phase", "completed_phases", "total_phases", "state_machine", "workflow_state"]
            .iter()
            .any(|key| has(key))
}

pub(super) fn read(main: &Value, log: &mut ReadLog<'_>) -> Draft {
    check_version(main, log);
    let recorded_at = recorded_at(main, log);
    let mut phases = phases::read(main, log);
    let status = status(main, phases.ended, log);
    let error = error::read(main, status, recorded_at, &mut phases, log);
    check_tests(main, log);
    let replans = read_replans(main, recorded_at, log);
    let listed = phases.current.clone().filter(|id| phases.list.iter().any(|phase| phase.id == *id));
    let next = phases.current.map(|id| Next { phase: Some(id), ..Next::default() });
    Draft {
        workflow: workflow(main, log),
        recorded_at,
        content: Content {
            status,
            phase: listed,
            next,
            title: title(main, log),
            pipeline: phases.is_complete.then(|| "claude-dir".to_owned()),
            phases: phases.list,
            artifacts: artifacts(main, log),
            replans: replans.dated,
            last_error: error.dated,
            ..Content::default()
        },
        watched: watched(main, log),
        undated_error: error.undated,
        undated_replans: replans.undated,
        ..Draft::default()
    }
}

fn check_version(main: &Value, log: &mut ReadLog<'_>) {
    let Some(version) = main.get("schema_version").filter(|version| !version.is_null()) else { return };
    let written = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    let (major, minor) = written.trim().split_once('.').unwrap_or((written.trim(), "0"));
    match (major.parse::<u64>(), minor.parse::<u64>()) {
        (Ok(major), Ok(minor)) if (major, minor) <= NEWEST => {}
        (Ok(_), Ok(_)) => {
            let message = format!("schema {written} is newer than {}.{}, the newest that is known", NEWEST.0, NEWEST.1);
            log.finding_at(Severity::Blocker, Code::FormatNewer, "/schema_version", &message);
        }
        _ => {
            let message = format!("{version} is no version that is known; it is read as far as possible");
            log.finding_at(Severity::Advice, Code::FormatNewer, "/schema_version", &message);
        }
    }
}

/// Returns the workflow: the id of the checkpoint without its time.
fn workflow(main: &Value, log: &mut ReadLog<'_>) -> Option<String> {
    let (id, place) = checkpoint_id(main)?;
    let workflow = split_id(&id).0.to_owned();
    log.origin("workflow", &workflow, place);
    Some(workflow)
}

fn checkpoint_id(main: &Value) -> Option<(String, &'static str)> {
    ["/checkpoint_id", "/metadata/checkpoint_id"]
        .into_iter()
        .find_map(|place| Some((text_or_number(main.pointer(place)?)?, place)))
}

/// Splits `implement_auth_20251003_184530` into `implement_auth` and the time.
fn split_id(id: &str) -> (&str, Option<&str>) {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let suffix_start = id.len().checked_sub("_YYYYMMDD_HHMMSS".len());
    if let Some((name, suffix)) = suffix_start.and_then(|at| id.split_at_checked(at))
        && !name.is_empty()
        && let Some(stamp) = suffix.strip_prefix('_')
        && let Some((date, time)) = stamp.split_once('_')
        && date.len() == "YYYYMMDD".len()
        && digits(date)
        && digits(time)
    {
        return (name, Some(stamp));
    }
    (id, None)
}

fn recorded_at(main: &Value, log: &mut ReadLog<'_>) -> Option<Timestamp> {
    for place in ["/updated_at", "/metadata/updated_at", "/created_at", "/metadata/created_at"] {
        let value = main.pointer(place).unwrap_or(&Value::Null);
        if let Some(at) = log.time("saved_at", value, place) {
            return Some(at);
        }
    }
    // The time in the id is UTC by definition.
    let (id, place) = checkpoint_id(main)?;
    let at = ParsedTime::parse(&split_id(&id).1?.into()).timestamp()?;
    log.origin("saved_at", at, place);
    Some(at)
}

fn title(main: &Value, log: &mut ReadLog<'_>) -> Option<String> {
    let (title, place) = text(main, "workflow_description")?;
    log.origin("title", title, &place);
    Some(title.to_owned())
}

fn status(main: &Value, ended: bool, log: &mut ReadLog<'_>) -> WorkflowStatus {
    compare(main, "status", log);
    let recorded = member(main, "status").and_then(|(word, place)| log.workflow_status(word, &place));
    if ended && recorded.is_some_and(|recorded| recorded != WorkflowStatus::Complete) {
        let message = "this is not the end, but the state machine stands at its end";
        log.finding_at(Severity::Advice, Code::RecordsDisagree, "/status", message);
    }
    match recorded {
        None | Some(WorkflowStatus::InProgress) if ended => WorkflowStatus::Complete,
        recorded => recorded.unwrap_or_default(),
    }
}

fn read_replans(main: &Value, recorded_at: Option<Timestamp>, log: &mut ReadLog<'_>) -> Replans {
    let counts = member(main, "replan_phase_counts");
    let replans = replans::read(member(main, "replan_history"), counts, recorded_at, log);
    let known = replans.dated.len() + replans.undated.len();
    if let Some((value, place)) = member(main, "replanning_count")
        && let Some(total) = count(value).filter(|total| *total != known as u64)
    {
        let message = format!("{total} replans are counted, but {known} are known by phase");
        log.finding_at(Severity::Info, Code::RecordsDisagree, &place, &message);
    }
    replans
}

fn check_tests(main: &Value, log: &mut ReadLog<'_>) {
    compare(main, "tests_passing", log);
    let failing = [pointer(&["tests_passing"]), pointer(&["workflow_state", "tests_passing"])]
        .into_iter()
        .find(|place| main.pointer(place).is_some_and(|passing| *passing == false || *passing == "false"));
    if let Some(place) = failing {
        let message = "the tests did not pass when it was saved";
        log.finding_at(Severity::Confirm, Code::TestsFailing, &place, message);
    }
}

fn watched(main: &Value, log: &mut ReadLog<'_>) -> Vec<WatchedPath> {
    let Some((path, place)) = text(main, "plan_path") else { return Vec::new() };
    log.origin("watched", path, &place);
    let modified_at = member(main, "plan_modification_time")
        .and_then(|(value, place)| log.time("watched/modified_at", value, &place));
    vec![WatchedPath { path: path.to_owned(), modified_at }]
}

/// Reads the registry of artifacts: paths by name, lists by name, or a bare list.
fn artifacts(main: &Value, log: &mut ReadLog<'_>) -> Vec<Artifact> {
    let Some((registry, place)) = member(main, "artifact_registry") else { return Vec::new() };
    let mut entries: Vec<(Option<String>, &Value, String)> = Vec::new();
    match registry {
        Value::Object(members) => {
            for (name, value) in members {
                let place = format!("{place}{}", pointer(&[name]));
                match value {
                    Value::Array(items) => entries.extend(
                        items
                            .iter()
                            .enumerate()
                            .map(|(index, item)| (Some(format!("{name}/{index}")), item, format!("{place}/{index}"))),
                    ),
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
    let mut artifacts: Vec<Artifact> = Vec::new();
    let mut seen = HashSet::new();
    for (name, value, place) in entries {
        let Some(path) = registered_path(value) else { continue };
        let name = name.unwrap_or_else(|| path.to_owned());
        if seen.insert(name.clone()) {
            log.origin("artifact", path, &place);
            artifacts.push(Artifact::new(name, path));
        }
    }
    artifacts
}

/// Returns the path in an entry of the registry: the entry itself, or its `path`.
pub(super) fn registered_path(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("path")?.as_str()).filter(|path| !path.trim().is_empty())
}
