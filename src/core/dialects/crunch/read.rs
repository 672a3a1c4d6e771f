//! Reading a checkpoint of an issue.

use std::collections::HashSet;

use serde_json::Value;

use super::{graph, phases};
use crate::core::checkpoint::{Artifact, GitContext, Next, WorkflowStatus};
use crate::core::dialects::reading::{Draft, Notes, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::name::check_name;
use crate::core::trigger::Trigger;

pub(in super::super) fn recognises(main: &Value) -> bool {
    main.get("issue_number").is_some()
        && main.get("workflow_state").is_some_and(Value::is_object)
        && ["recovery_info", "issue_snapshot", "execution_graph", "agent_outputs"]
            .iter()
            .any(|key| main.get(key).is_some())
}

pub(in super::super) fn read(main: &Value, beside: Option<&Value>, notes: &mut Notes<'_>) -> Draft {
    check_version(main, notes);
    let recorded_at = notes.time("saved_at", main.get("created_at").unwrap_or(&Value::Null), "/created_at");
    let created = beside.and_then(|entry| entry.get("created_at")).unwrap_or(&Value::Null);
    let recorded_at = recorded_at.or_else(|| notes.time("saved_at", created, "index: /created_at"));
    let mut draft = Draft { recorded_at, ..Draft::default() };
    if let Some(id) = text_or_number(main, "/issue_number") {
        notes.found("workflow", &id, "/issue_number");
        draft.workflow = Some(id);
    }
    draft.content.title = text(main, "/issue_snapshot/title").map(|title| {
        notes.found("title", title, "/issue_snapshot/title");
        title.to_owned()
    });
    draft.trigger = trigger(main, beside, notes);
    phases::read(main, beside, &mut draft, notes);
    let action = text(main, "/recovery_info/resume_from").map(|action| {
        notes.found("next/action", action, "/recovery_info/resume_from");
        action.to_owned()
    });
    if draft.content.phase.is_some() || action.is_some() {
        let open = draft.content.phase.clone().filter(|_| draft.content.status != WorkflowStatus::Complete);
        draft.content.next = Some(Next { phase: open, action, extra: Default::default() })
            .filter(|next| next.phase.is_some() || next.action.is_some());
    }
    check_recovery(main, beside, notes);
    read_issue(main, &mut draft, notes);
    draft.content.tasks = graph::read(main, draft.content.phase.as_ref(), notes);
    read_outputs(main, &mut draft, notes);
    draft
}

fn check_version(main: &Value, notes: &mut Notes<'_>) {
    let Some(version) = text_or_number(main, "/version") else { return };
    let (major, minor) = version.split_once('.').unwrap_or((&version, "0"));
    if let (Ok(major), Ok(minor)) = (major.parse::<u64>(), minor.parse::<u64>())
        && (major, minor) > (1, 0)
    {
        let message = format!("version {version} is newer than 1.0, the newest that is known");
        notes.doubt_at(Severity::Blocker, Code::FormatNewer, "/version", &message);
    }
}

/// A text at a place that is not empty.
pub(super) fn text<'a>(main: &'a Value, place: &str) -> Option<&'a str> {
    main.pointer(place)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

fn text_or_number(main: &Value, place: &str) -> Option<String> {
    match main.pointer(place)? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => {
            Some(text.trim().trim_start_matches('#').to_owned()).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// The index knows why a checkpoint was taken; a checkpoint may say it too.
fn trigger(main: &Value, beside: Option<&Value>, notes: &mut Notes<'_>) -> Option<Trigger> {
    let indexed = beside.and_then(|entry| text(entry, "/trigger")).map(|word| (word, "index: /trigger"));
    let (word, place) = indexed.or_else(|| text(main, "/trigger").map(|word| (word, "/trigger")))?;
    notes.found("trigger", word, place);
    Some(Trigger::from(word.replace('-', "_")))
}

/// Whether the system that saved it thought that it could be resumed.
fn check_recovery(main: &Value, beside: Option<&Value>, notes: &mut Notes<'_>) {
    let recovery = main.get("recovery_info").unwrap_or(&Value::Null);
    let warnings: Vec<String> = match recovery.get("warnings") {
        Some(Value::Array(warnings)) => {
            warnings.iter().map(sentence).filter(|text| !text.is_empty()).collect()
        }
        Some(Value::Null) | None => Vec::new(),
        Some(warning) => vec![sentence(warning)].into_iter().filter(|text| !text.is_empty()).collect(),
    };
    let own = recovery.get("can_resume").and_then(Value::as_bool);
    let indexed = beside.and_then(|entry| entry.get("can_resume")).and_then(Value::as_bool);
    if let (Some(own), Some(indexed)) = (own, indexed)
        && own != indexed
    {
        let message = format!("the index says {indexed}; the checkpoint counts");
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, "/recovery_info/can_resume", &message);
    }
    if own.or(indexed) == Some(false) {
        let why = if warnings.is_empty() { String::new() } else { format!(": {}", warnings.join("; ")) };
        let message = format!("it was saved as one that cannot be resumed{why}");
        notes.doubt_at(Severity::Blocker, Code::CannotResume, "/recovery_info/can_resume", &message);
    } else {
        for warning in &warnings {
            notes.doubt_at(Severity::Advice, Code::Imported, "/recovery_info/warnings", warning);
        }
    }
    if recovery.get("prerequisites_met") == Some(&Value::Bool(false)) {
        let message = "what it needs to go on was not there when it was saved";
        notes.doubt_at(Severity::Confirm, Code::Imported, "/recovery_info/prerequisites_met", message);
    }
}

fn sentence(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

fn read_issue(main: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    if let Some(branch) = text(main, "/issue_snapshot/branch") {
        notes.found("branch", branch, "/issue_snapshot/branch");
        let branch = Some(branch.to_owned());
        draft.git = Some(GitContext { branch, commit: None, extra: Default::default() });
    }
    let mut seen = HashSet::new();
    let labels = labels(main).filter(|label| is_label(label) && seen.insert(*label));
    draft.content.labels.extend(labels.map(str::to_owned));
}

/// The labels of the issue.
pub(super) fn labels(main: &Value) -> impl Iterator<Item = &str> {
    let labels = main.pointer("/issue_snapshot/labels").and_then(Value::as_array);
    labels.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a label of an issue can be one of a checkpoint.
pub(super) fn is_label(label: &str) -> bool {
    check_name("a label", label, &[',']).is_ok()
}

/// What agents produced, and the files that were changed; one that was deleted is nothing that must be there.
fn read_outputs(main: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    let mut seen = HashSet::new();
    let mut mention = |file: Artifact, place: &str| {
        if seen.insert(file.name.clone()) {
            notes.found("artifact", &file.path, place);
            draft.content.artifacts.push(file);
        }
    };
    let outputs = main.get("agent_outputs").and_then(Value::as_object);
    for (agent, steps) in outputs.into_iter().flatten() {
        for (step, output) in steps.as_object().into_iter().flatten() {
            let location = output.get("output_location").and_then(Value::as_str);
            if let Some(path) = location.filter(|path| !path.trim().is_empty()) {
                let place = pointer(&["agent_outputs", agent, step, "output_location"]);
                mention(Artifact::new(format!("{agent}/{step}"), path), &place);
            }
        }
    }
    for (index, file) in
        main.get("files_modified").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        if let Some(path) = modified_path(file) {
            mention(Artifact::new(path, path), &pointer(&["files_modified", &index.to_string()]));
        }
    }
}

/// The path of a file that was changed and is still there.
pub(super) fn modified_path(file: &Value) -> Option<&str> {
    let gone = file
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(|status| matches!(status.trim().to_lowercase().as_str(), "deleted" | "removed" | "d"));
    let path = file.as_str().or_else(|| file.get("path")?.as_str());
    path.filter(|path| !gone && !path.trim().is_empty())
}
