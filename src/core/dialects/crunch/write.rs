//! Writing a checkpoint of an issue and its entry in the index.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::graph;
use super::phases::NO_PHASE;
use super::read::{ISSUE, is_label, labels, modified_path};
use crate::core::checkpoint::{Artifact, Checkpoint, WorkflowStatus};
use crate::core::dialects::members::elements;
use crate::core::dialects::phase_list::{completed_word, completed_workflow_word, phase_data};
use crate::core::dialects::reading::DialectFiles;
use crate::core::phase::{Phase, PhaseStatus};

/// Writes the members that the checkpoint determines, in the spelling of the imported document.
pub(super) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> DialectFiles {
    let has_status = imported.is_some_and(|main| main.pointer("/workflow_state/status").is_some());
    let current = current(checkpoint, has_status);
    let id = checkpoint_id(checkpoint, current);
    let can_resume = !matches!(checkpoint.content.status, WorkflowStatus::Failed | WorkflowStatus::Abandoned);
    let outputs = agent_outputs(checkpoint);
    let mut main = json!({
        "checkpoint_id": id,
        "created_at": checkpoint.saved_at,
        "workflow_state": workflow_state(current, has_status),
        "issue_snapshot": issue_snapshot(checkpoint, imported),
        "execution_graph": {"node_states": graph::write(&checkpoint.content.tasks, imported)},
        "files_modified": files_modified(checkpoint, &outputs, imported),
        "agent_outputs": outputs,
        "recovery_info": {
            "can_resume": can_resume,
            "resume_from": checkpoint.content.next.as_ref().and_then(|next| next.action.as_ref()),
            "warnings": warnings(checkpoint, imported),
        },
    });
    match imported {
        None => {
            main["version"] = json!("1.0");
            main["issue_number"] = issue_number(checkpoint);
            main["session_id"] = json!(checkpoint.writer.session);
            main["recovery_info"]["prerequisites_met"] = json!(true);
        }
        Some(original) => {
            if original.get("status").is_some() {
                main["status"] = json!(completed_workflow_word(checkpoint.content.status));
            }
            if original.get("trigger").is_some() {
                main["trigger"] = json!(checkpoint.trigger);
            }
        }
    }
    let entry = json!({
        "checkpoint_id": id,
        "created_at": checkpoint.saved_at,
        "trigger": checkpoint.trigger,
        "phase": current.map(|phase| &phase.id),
        "can_resume": can_resume,
    });
    DialectFiles { main, companion: Some(entry) }
}

/// Returns the current phase: the first that is not done, because those before it are taken as complete. In a document
/// that has the status of its phase, that may also be the last one that is done.
fn current(checkpoint: &Checkpoint, has_status: bool) -> Option<&Phase> {
    let content = &checkpoint.content;
    let phases = &content.phases;
    let first_open = phases.iter().position(|phase| !phase.status.is_done()).unwrap_or(phases.len());
    let recorded = content.phase.as_ref().and_then(|id| content.find_phase(id));
    if has_status && first_open > 0 && recorded.is_some_and(|phase| phase.status.is_done()) {
        return phases.get(first_open - 1);
    }
    phases.get(first_open).or(phases.last())
}

/// Returns `CP-{phase}-{time}-{hash}`. The time has seconds, so that two saves have different ids.
fn checkpoint_id(checkpoint: &Checkpoint, current: Option<&Phase>) -> String {
    let phase = current.map_or(NO_PHASE, |phase| phase.id.as_str());
    let phase: String =
        phase.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    let time = checkpoint.saved_at.to_chrono().format("%Y%m%d%H%M%S");
    let hash: String = checkpoint.save_id.chars().take(4).collect();
    format!("CP-{phase}-{time}-{hash}")
}

fn issue_number(checkpoint: &Checkpoint) -> Value {
    let id = checkpoint.workflow.as_str();
    let number = id.parse::<u64>().ok().filter(|number| number.to_string() == id);
    number.map_or_else(|| id.into(), Value::from)
}

fn workflow_state(current: Option<&Phase>, has_status: bool) -> Value {
    let Some(phase) = current else { return json!({}) };
    let mut state = json!({
        "current_phase": phase.id,
        "current_state_label": format!("state:{}", phase.id),
        "phase_started_at": phase.started_at,
        "phase_attempt": phase.attempts.max(1),
    });
    // The format has no status for a phase that failed or was the last one; `read` understands this member.
    if has_status
        || matches!(phase.status, PhaseStatus::Failed | PhaseStatus::Complete | PhaseStatus::Skipped)
    {
        state["status"] = json!(completed_word(phase.status));
    }
    state
}

fn issue_snapshot(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let current: HashSet<&str> = checkpoint.content.labels.iter().map(String::as_str).collect();
    let mut list: Vec<&str> = imported.into_iter().flat_map(labels).collect();
    let imported_labels: HashSet<&str> = list.iter().copied().collect();
    list.retain(|label| !is_label(label) || current.contains(label));
    let labels = checkpoint.content.labels.iter().map(String::as_str);
    list.extend(labels.filter(|label| !imported_labels.contains(label)));
    // A checkpoint saved outside git has no branch; the issue still has one.
    let branch = checkpoint.context.git.as_ref().and_then(|git| git.branch.as_deref());
    let branch = branch.or_else(|| imported?.pointer("/issue_snapshot/branch")?.as_str());
    let fact = checkpoint.content.facts.iter().find(|fact| fact.name == ISSUE);
    let document = fact.and_then(|fact| fact.document.to_value().ok()).unwrap_or_default();
    let mut snapshot = json!({"title": checkpoint.content.title, "labels": list, "branch": branch});
    for (key, value) in document.as_object().into_iter().flatten() {
        let is_set = snapshot.get(key).is_some_and(|set| !set.is_null());
        if !is_set && key != "branch" {
            snapshot[key] = value.clone();
        }
    }
    snapshot
}

/// Returns the outputs of the agents of all phases.
fn agent_outputs(checkpoint: &Checkpoint) -> Map<String, Value> {
    let mut outputs: Map<String, Value> = Map::new();
    for phase in &checkpoint.content.phases {
        outputs.extend(phase_data(phase).into_iter().filter(|(_, steps)| steps.is_object()));
    }
    for artifact in &checkpoint.content.artifacts {
        if let Some((agent, step)) = producer(&outputs, artifact) {
            outputs[agent][step]["output_location"] = artifact.path.as_str().into();
        }
    }
    outputs
}

/// Returns the agent and the step that produced an artifact, from its name `agent/step`.
fn producer<'a>(outputs: &Map<String, Value>, artifact: &'a Artifact) -> Option<(&'a str, &'a str)> {
    let name = artifact.name.as_str();
    let mut splits = name.match_indices('/').map(|(at, slash)| (&name[..at], &name[at + slash.len()..]));
    splits.find(|(agent, step)| {
        let output = outputs.get(*agent).and_then(|steps| steps.get(step));
        output.is_some_and(|output| output.get("output_location").is_some())
    })
}

fn files_modified(checkpoint: &Checkpoint, outputs: &Map<String, Value>, imported: Option<&Value>) -> Value {
    let mut new: Vec<&Artifact> = checkpoint.content.artifacts.iter().collect();
    new.retain(|artifact| producer(outputs, artifact).is_none());
    // Imported files are named by their paths, unless somebody has given them a name.
    let names = checkpoint.content.artifacts.iter().rev().map(|artifact| (artifact.name.as_str(), artifact));
    let paths = new.iter().rev().map(|artifact| (artifact.path.as_str(), *artifact));
    let (names, paths): (HashMap<_, _>, HashMap<_, _>) = (names.collect(), paths.collect());
    let mut listed: HashSet<&str> = HashSet::new();
    let mut files: Vec<Value> = Vec::new();
    for file in imported.into_iter().flat_map(|main| elements(main, "files_modified")) {
        let Some(path) = modified_path(file) else {
            files.push(file.clone());
            continue;
        };
        if let Some(artifact) = names.get(path).or_else(|| paths.get(path)) {
            files.push(if file.is_string() { json!(artifact.path) } else { json!({"path": artifact.path}) });
            listed.insert(&artifact.name);
        }
    }
    new.retain(|artifact| !listed.contains(artifact.name.as_str()));
    files.extend(
        new.into_iter().map(|artifact| json!({"path": artifact.path, "status": "modified", "staged": false})),
    );
    files.into()
}

/// Returns the imported warnings and the last error.
fn warnings(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let mut warnings: Vec<Value> = match imported.and_then(|main| main.pointer("/recovery_info/warnings")) {
        Some(Value::Array(warnings)) => warnings.clone(),
        Some(Value::Null) | None => Vec::new(),
        Some(warning) => vec![warning.clone()],
    };
    let error = checkpoint.content.last_error.as_ref().map(|error| Value::from(error.message.as_str()));
    warnings.extend(error.filter(|error| !warnings.contains(error)));
    warnings.into()
}
