//! Writing a checkpoint of an issue and its entry in the index.

use serde_json::{Map, Value, json};

use super::graph;
use super::phases::NO_PHASE;
use super::read::ISSUE;
use crate::dialects::phase_list::{completed_word, phase_data};
use crate::dialects::reading::DialectFiles;
use ckpt_model::checkpoint::{Artifact, Checkpoint, WorkflowStatus};
use ckpt_model::phase::{Phase, PhaseStatus};

/// Writes a checkpoint and its entry.
pub(super) fn write(checkpoint: &Checkpoint) -> DialectFiles {
    let content = &checkpoint.content;
    // Those before the current phase are taken as complete, so it is the first that is not done.
    let current = content.phases.iter().find(|phase| !phase.status.is_done()).or(content.phases.last());
    let id = checkpoint_id(checkpoint, current);
    let can_resume = !matches!(content.status, WorkflowStatus::Failed | WorkflowStatus::Abandoned);
    let outputs = agent_outputs(checkpoint);
    let main = json!({
        "version": "1.0",
        "checkpoint_id": id,
        "created_at": checkpoint.saved_at,
        "issue_number": issue_number(checkpoint),
        "session_id": checkpoint.writer.session,
        "workflow_state": workflow_state(current),
        "issue_snapshot": issue_snapshot(checkpoint),
        "execution_graph": {"node_states": graph::write(&content.tasks)},
        "files_modified": files_modified(checkpoint, &outputs),
        "agent_outputs": outputs,
        "recovery_info": {
            "can_resume": can_resume,
            "prerequisites_met": true,
            "resume_from": content.next.as_ref().and_then(|next| next.action.as_ref()),
            "warnings": content.last_error.iter().map(|error| &error.message).collect::<Vec<_>>(),
        },
    });
    let entry = json!({
        "checkpoint_id": id,
        "created_at": checkpoint.saved_at,
        "trigger": checkpoint.trigger,
        "phase": current.map(|phase| &phase.id),
        "can_resume": can_resume,
    });
    DialectFiles { main, companion: Some(entry) }
}

/// Returns `CP-{phase}-{time}-{hash}`. The time has seconds, so that two saves have different ids.
fn checkpoint_id(checkpoint: &Checkpoint, current: Option<&Phase>) -> String {
    let phase = current.map_or(NO_PHASE, |phase| phase.id.as_str());
    let phase: String = phase.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    let time = checkpoint.saved_at.to_chrono().format("%Y%m%d%H%M%S");
    let hash: String = checkpoint.save_id.chars().take(4).collect();
    format!("CP-{phase}-{time}-{hash}")
}

fn issue_number(checkpoint: &Checkpoint) -> Value {
    let id = checkpoint.workflow.as_str();
    let number = id.parse::<u64>().ok().filter(|number| number.to_string() == id);
    number.map_or_else(|| id.into(), Value::from)
}

fn workflow_state(current: Option<&Phase>) -> Value {
    let Some(phase) = current else { return json!({}) };
    let mut state = json!({
        "current_phase": phase.id,
        "current_state_label": format!("state:{}", phase.id),
        "phase_started_at": phase.started_at,
        "phase_attempt": phase.attempts.max(1),
    });
    // The format has no status for a phase that failed or was the last one; `read` understands this member.
    if matches!(phase.status, PhaseStatus::Failed | PhaseStatus::Complete | PhaseStatus::Skipped) {
        state["status"] = json!(completed_word(phase.status));
    }
    state
}

fn issue_snapshot(checkpoint: &Checkpoint) -> Value {
    let content = &checkpoint.content;
    let mut snapshot = json!({"title": content.title, "labels": content.labels});
    let fact = content.facts.iter().find(|fact| fact.name == ISSUE);
    let document = fact.and_then(|fact| fact.document.to_value().ok()).unwrap_or_default();
    for (key, value) in document.as_object().into_iter().flatten() {
        if snapshot.get(key).is_none_or(Value::is_null) {
            snapshot[key] = value.clone();
        }
    }
    // A checkpoint saved outside git has no branch; the issue of an imported file has one.
    if let Some(branch) = checkpoint.context.git.as_ref().and_then(|git| git.branch.as_ref()) {
        snapshot["branch"] = json!(branch);
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

fn files_modified(checkpoint: &Checkpoint, outputs: &Map<String, Value>) -> Value {
    let files = checkpoint.content.artifacts.iter().filter(|artifact| producer(outputs, artifact).is_none());
    files.map(|file| json!({"path": file.path, "status": "modified", "staged": false})).collect()
}
