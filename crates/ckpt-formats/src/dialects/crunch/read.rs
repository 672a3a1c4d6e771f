//! Reading a checkpoint of an issue.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{graph, phases};
use crate::dialects::draft::Draft;
use crate::dialects::members::{elements, pointer, text_or_number};
use crate::dialects::plausibility::is_clearly_true;
use crate::dialects::read_log::ReadLog;
use ckpt_model::checkpoint::{Artifact, Fact, GitContext, Next, WorkflowStatus};
use ckpt_model::external::MAX_FACT_BYTES;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::name::check_name;
use ckpt_model::trigger::Trigger;

/// The name of the external fact that is the snapshot of the issue.
pub(super) const ISSUE: &str = "issue";

pub(super) fn recognises(main: &Value) -> bool {
    main.get("issue_number").is_some()
        && main.get("workflow_state").is_some_and(Value::is_object)
        && ["recovery_info", "issue_snapshot", "execution_graph", "agent_outputs"]
            .iter()
            .any(|key| main.get(key).is_some())
}

pub(super) fn read(main: &Value, companion: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    check_version(main, log);
    let recorded_at = log.time("saved_at", main.get("created_at").unwrap_or(&Value::Null), "/created_at");
    let created = companion.and_then(|entry| entry.get("created_at")).unwrap_or(&Value::Null);
    let recorded_at = recorded_at.or_else(|| log.time("saved_at", created, "index: /created_at"));
    let mut draft = Draft { recorded_at, ..Draft::default() };
    if let Some(id) = main.get("issue_number").and_then(issue_id) {
        log.origin("workflow", &id, "/issue_number");
        draft.workflow = Some(id);
    }
    draft.content.title = text(main, "/issue_snapshot/title").map(|title| {
        log.origin("title", title, "/issue_snapshot/title");
        title.to_owned()
    });
    draft.trigger = trigger(main, companion, log);
    phases::read(main, companion, &mut draft, log);
    let action = text(main, "/recovery_info/resume_from").map(|action| {
        log.origin("next/action", action, "/recovery_info/resume_from");
        action.to_owned()
    });
    let next_phase = if draft.content.status == WorkflowStatus::Complete { None } else { draft.content.phase.clone() };
    if next_phase.is_some() || action.is_some() {
        draft.content.next = Some(Next { phase: next_phase, action, ..Next::default() });
    }
    check_recovery(main, companion, log);
    read_issue(main, &mut draft, log);
    draft.content.tasks = graph::read(main, draft.content.phase.as_ref(), log);
    read_outputs(main, &mut draft, log);
    draft
}

fn check_version(main: &Value, log: &mut ReadLog<'_>) {
    let Some(version) = main.get("version").and_then(text_or_number) else { return };
    let (major, minor) = version.split_once('.').unwrap_or((&version, "0"));
    if let (Ok(major), Ok(minor)) = (major.parse::<u64>(), minor.parse::<u64>())
        && (major, minor) > (1, 0)
    {
        let message = format!("version {version} is newer than 1.0, the newest that is known");
        log.finding_at(Severity::Blocker, Code::FormatNewer, "/version", &message);
    }
}

/// Returns the text at a JSON pointer, trimmed, unless it is blank.
pub(super) fn text<'a>(main: &'a Value, place: &str) -> Option<&'a str> {
    main.pointer(place)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Parses the number of an issue: `42`, `#42`.
fn issue_id(value: &Value) -> Option<String> {
    let text = text_or_number(value)?;
    let id = text.trim_start_matches('#');
    if id.is_empty() { None } else { Some(id.to_owned()) }
}

/// Reads the trigger from the index entry, else from the checkpoint.
fn trigger(main: &Value, companion: Option<&Value>, log: &mut ReadLog<'_>) -> Option<Trigger> {
    let indexed = companion.and_then(|entry| text(entry, "/trigger")).map(|word| (word, "index: /trigger"));
    let (word, place) = indexed.or_else(|| text(main, "/trigger").map(|word| (word, "/trigger")))?;
    log.origin("trigger", word, place);
    Some(Trigger::from(word.replace('-', "_")))
}

/// Reads `recovery_info`: a checkpoint that cannot be resumed, and warnings.
fn check_recovery(main: &Value, companion: Option<&Value>, log: &mut ReadLog<'_>) {
    let recovery = main.get("recovery_info").unwrap_or(&Value::Null);
    let warnings: Vec<String> = match recovery.get("warnings") {
        Some(Value::Array(warnings)) => warnings.iter().filter_map(warning_text).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(warning) => warning_text(warning).into_iter().collect(),
    };
    let own = recovery.get("can_resume").map(is_clearly_true);
    let indexed = companion.and_then(|entry| entry.get("can_resume")).map(is_clearly_true);
    if let (Some(own), Some(indexed)) = (own, indexed)
        && own != indexed
    {
        let message = format!("the index says {indexed}; the checkpoint counts");
        log.finding_at(Severity::Advice, Code::RecordsDisagree, "/recovery_info/can_resume", &message);
    }
    if own.or(indexed) == Some(false) {
        let why = if warnings.is_empty() { String::new() } else { format!(": {}", warnings.join("; ")) };
        let message = format!("it was saved as one that cannot be resumed{why}");
        log.finding_at(Severity::Blocker, Code::CannotResume, "/recovery_info/can_resume", &message);
    } else {
        for warning in &warnings {
            log.finding_at(Severity::Advice, Code::Imported, "/recovery_info/warnings", warning);
        }
    }
    if recovery.get("prerequisites_met").is_some_and(|met| !is_clearly_true(met)) {
        let message = "what it needs to go on was not there when it was saved";
        log.finding_at(Severity::Blocker, Code::CannotResume, "/recovery_info/prerequisites_met", message);
    }
}

fn warning_text(value: &Value) -> Option<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    if text.is_empty() { None } else { Some(text) }
}

fn read_issue(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    if let Some(branch) = text(main, "/issue_snapshot/branch") {
        log.origin("branch", branch, "/issue_snapshot/branch");
        let branch = Some(branch.to_owned());
        draft.git = Some(GitContext { branch, commit: None, extra: Default::default() });
    }
    let mut seen = HashSet::new();
    let labels = labels(main).filter(|label| is_label(label) && seen.insert(*label));
    draft.content.labels.extend(labels.map(str::to_owned));
    // What the issue was is compared with what it is. Its branch is compared with the checkout.
    if let Some(Value::Object(snapshot)) = main.get("issue_snapshot") {
        let mut snapshot = snapshot.clone();
        snapshot.remove("branch");
        let document = Value::Object(snapshot);
        if document != json!({}) && document.to_string().len() <= MAX_FACT_BYTES {
            draft.content.facts.push(Fact::new(ISSUE, document));
        }
    }
}

/// Returns the labels of the issue.
pub(super) fn labels(main: &Value) -> impl Iterator<Item = &str> {
    let labels = main.pointer("/issue_snapshot/labels").and_then(Value::as_array);
    labels.into_iter().flatten().filter_map(Value::as_str)
}

/// True if a label of an issue is a valid label of a checkpoint.
pub(super) fn is_label(label: &str) -> bool {
    check_name("a label", label, &[',']).is_ok()
}

/// Reads the outputs of agents and the modified files as artifacts. Deleted files are not artifacts.
fn read_outputs(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let mut seen = HashSet::new();
    let mut add = |file: Artifact, place: &str| {
        if seen.insert(file.name.clone()) {
            log.origin("artifact", &file.path, place);
            draft.content.artifacts.push(file);
        }
    };
    let outputs = main.get("agent_outputs").and_then(Value::as_object);
    for (agent, steps) in outputs.into_iter().flatten() {
        for (step, output) in steps.as_object().into_iter().flatten() {
            let location = output.get("output_location").and_then(Value::as_str);
            if let Some(path) = location.filter(|path| !path.trim().is_empty()) {
                let place = pointer(&["agent_outputs", agent, step, "output_location"]);
                add(Artifact::new(format!("{agent}/{step}"), path), &place);
            }
        }
    }
    for (index, file) in elements(main, "files_modified").enumerate() {
        if let Some(path) = modified_path(file) {
            add(Artifact::new(path, path), &pointer(&["files_modified", &index.to_string()]));
        }
    }
}

/// Returns the path of a modified file, unless it was deleted.
pub(super) fn modified_path(file: &Value) -> Option<&str> {
    let is_deleted = file
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(|status| matches!(status.trim().to_lowercase().as_str(), "deleted" | "removed" | "d"));
    let path = file.as_str().or_else(|| file.get("path")?.as_str());
    path.filter(|path| !is_deleted && !path.trim().is_empty())
}
