//! Writing the file of a run, in the newest version.

use serde_json::{Map, Value, json};

use super::members::WORKFLOW_STATE;
use crate::dialects::numbered_phases;
use crate::dialects::phase_list::{completed_word, completed_workflow_word};
use crate::dialects::replans;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseStatus};
use ckpt_model::time::Timestamp;

/// Writes the file of a run.
pub(super) fn write(checkpoint: &Checkpoint) -> Value {
    let content = &checkpoint.content;
    let (kind, project) = names(checkpoint);
    let created = created_at(checkpoint);
    let current = current(checkpoint);
    let failed = content.phases.iter().find(|phase| phase.status == PhaseStatus::Failed);
    let message = content.last_error.as_ref().map(|error| error.message.as_str());
    let states = StateNames::of(checkpoint);
    let mut document = json!({
        "schema_version": "2.1",
        "checkpoint_id": format!("{}_{}", checkpoint.workflow, created.to_chrono().format("%Y%m%d_%H%M%S")),
        "workflow_type": kind,
        "project_name": project,
        "created_at": created,
        "workflow_description": content.title,
        "updated_at": checkpoint.saved_at,
        "status": completed_workflow_word(content.status),
        "current_phase": current.map(|phase| numbered_phases::to_json(&phase.id)),
        "total_phases": content.is_declared().then_some(content.phases.len()),
        "completed_phases": content.done().map(|phase| numbered_phases::to_json(&phase.id)).collect::<Vec<_>>(),
        "last_error": message,
        "replanning_count": content.replans.len(),
        "last_replan_reason": content.replans.last().and_then(|replan| replan.reason.as_ref()),
        "replan_phase_counts": replans::counts(&content.replans, "phase_"),
        "replan_history": replans::history(&content.replans),
        "error_state": {"last_error": message, "failed_state": failed.map(|phase| states.name(phase))},
        "phase_data": phase_data(checkpoint),
    });
    if let Some(machine) = states.machine(checkpoint, current) {
        document["state_machine"] = machine;
    }
    let artifacts = content.artifacts.iter();
    document[WORKFLOW_STATE] = json!({
        "artifact_registry": artifacts.map(|it| (it.name.clone(), it.path.as_str().into())).collect::<Map<_, _>>(),
        "plan_path": checkpoint.context.watched.first().map(|plan| &plan.path),
        "project_name": project,
    });
    document
}

/// Splits the id of a workflow into type and project.
fn names(checkpoint: &Checkpoint) -> (&str, &str) {
    let id = checkpoint.workflow.as_str();
    id.split_once('_').filter(|(kind, project)| !kind.is_empty() && !project.is_empty()).unwrap_or(("workflow", id))
}

/// Returns the earliest time in the checkpoint.
fn created_at(checkpoint: &Checkpoint) -> Timestamp {
    let phases = checkpoint.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]);
    let replans = checkpoint.content.replans.iter().map(|replan| Some(replan.at));
    phases.chain(replans).flatten().min().map_or(checkpoint.saved_at, |first| first.min(checkpoint.saved_at))
}

/// Returns the phase that the counter points at: the recorded next one, the first that is left, or the last one.
fn current(checkpoint: &Checkpoint) -> Option<&Phase> {
    let named = checkpoint.content.next.as_ref().and_then(|next| next.phase.as_ref());
    let last = || checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let named = named.and_then(|id| checkpoint.content.find_phase(id));
    named.or_else(|| checkpoint.content.remaining().next()).or_else(last).or(checkpoint.content.phases.last())
}

/// The names of phases as states.
#[derive(Clone, Copy)]
struct StateNames {
    /// True if phases are called by their names: all of them have one, and their ids are numbers.
    named: bool,
    /// True if the phases would lose their order or their names without a state machine.
    needed: bool,
}

impl StateNames {
    fn of(checkpoint: &Checkpoint) -> Self {
        let phases = &checkpoint.content.phases;
        let numbered = phases.iter().all(|phase| numbered_phases::number_of(&phase.id).is_some());
        let named = numbered && phases.iter().all(|phase| phase.name.is_some());
        Self { named, needed: named || !numbered }
    }

    fn name(self, phase: &Phase) -> &str {
        match &phase.name {
            Some(name) if self.named => name,
            _ => phase.id.as_str(),
        }
    }

    /// Returns the state machine, in which each phase follows the one before it.
    fn machine(self, checkpoint: &Checkpoint, current: Option<&Phase>) -> Option<Value> {
        if !self.needed {
            return None;
        }
        let content = &checkpoint.content;
        let following = content.phases.iter().skip(1).map(|phase| self.name(phase)).chain([""]);
        let table = content.phases.iter().map(|phase| self.name(phase)).zip(following);
        Some(json!({
            "current_state": current.map(|phase| self.name(phase)),
            "completed_states": content.done().map(|phase| self.name(phase)).collect::<Vec<_>>(),
            "transition_table": table.map(|(from, to)| (from.to_owned(), to.into())).collect::<Map<_, _>>(),
        }))
    }
}

/// Writes the data of the phases. A status in it is updated, because it takes precedence over the counter.
fn phase_data(checkpoint: &Checkpoint) -> Value {
    let mut data_by_phase = Map::new();
    for phase in &checkpoint.content.phases {
        let Some(Ok(Value::Object(mut data))) = phase.data.as_ref().map(Json::to_value) else {
            continue;
        };
        if let Some(status) = data.get_mut("status") {
            *status = completed_word(phase.status).into();
        }
        data_by_phase.insert(phase.id.to_string(), data.into());
    }
    data_by_phase.into()
}
