//! Writing the file of a run: a new one in the newest version, or the changed members of an imported one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::counter::listed_phase;
use super::members::{WORKFLOW_STATE, member};
use super::phases::data_phase;
use super::read::registered_path;
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::phase_list::{completed_word, completed_workflow_word};
use crate::core::dialects::replans;
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// Writes the members that the checkpoint determines, and the copies that the imported document has of them.
pub(super) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let mut top = if imported.is_none() { identity(checkpoint) } else { Map::new() };
    let set = |members: &mut Map<String, Value>, key: &str, value: Value| {
        members.insert(key.to_owned(), value);
    };
    set(&mut top, "workflow_description", json!(checkpoint.content.title));
    set(&mut top, "updated_at", json!(checkpoint.saved_at));
    set(&mut top, "status", completed_workflow_word(checkpoint.content.status).into());
    let current = current(checkpoint);
    set(&mut top, "current_phase", current.map_or(Value::Null, |phase| numbered_phases::to_json(&phase.id)));
    let total = checkpoint.content.is_declared().then_some(checkpoint.content.phases.len());
    set(&mut top, "total_phases", json!(total));
    let listed = |place: &str| completed(checkpoint, imported.and_then(|main| main.pointer(place)));
    set(&mut top, "completed_phases", listed("/completed_phases"));
    let failed = checkpoint.content.phases.iter().find(|phase| phase.status == PhaseStatus::Failed);
    let message = checkpoint.content.last_error.as_ref().map(|error| error.message.as_str());
    set(&mut top, "last_error", json!(message));
    let known = &checkpoint.content.replans;
    let counts = imported.and_then(|main| member(main, "replan_phase_counts")).map(|(counts, _)| counts);
    set(&mut top, "replanning_count", json!(known.len()));
    set(&mut top, "last_replan_reason", json!(known.last().and_then(|replan| replan.reason.as_ref())));
    set(&mut top, "replan_phase_counts", replans::counts(known, counts, "phase_"));
    set(&mut top, "replan_history", replans::history(known));

    let mut state = copies(&top, imported.and_then(|main| main.get(WORKFLOW_STATE)));
    if let Some(copy) = state.get_mut("completed_phases") {
        *copy = listed("/workflow_state/completed_phases");
    }
    set(&mut state, "artifact_registry", registry(checkpoint, imported));
    let plan = match imported {
        // The first watched file may be another one by now.
        Some(main) => member(main, "plan_path").map(|(plan, _)| plan.clone()),
        None => checkpoint.context.watched.first().map(|plan| plan.path.as_str().into()),
    };
    set(&mut state, "plan_path", plan.unwrap_or_default());
    if imported.is_none() {
        set(&mut state, "project_name", names(checkpoint).1.into());
    }
    let metadata = copies(&top, imported.and_then(|main| main.get("metadata")));
    if !metadata.is_empty() {
        set(&mut top, "metadata", metadata.into());
    }
    write_machine(checkpoint, current, imported, &mut top, &mut state);
    let has_errors = imported.is_none_or(|main| main.get("error_state").is_some_and(Value::is_object));
    if has_errors || failed.is_some() {
        let error = json!({"last_error": message, "failed_state": failed.map(|phase| StateNames::of(checkpoint).name(phase))});
        set(&mut top, "error_state", error);
    }
    set(&mut top, "phase_data", phase_data(checkpoint, imported));
    set(&mut top, WORKFLOW_STATE, state.into());
    Value::Object(top)
}

/// Returns the members that identify a document; an imported one keeps its own.
fn identity(checkpoint: &Checkpoint) -> Map<String, Value> {
    let (kind, project) = names(checkpoint);
    let created = created_at(checkpoint);
    let id = format!("{}_{}", checkpoint.workflow, created.to_chrono().format("%Y%m%d_%H%M%S"));
    let members = json!({
        "schema_version": "2.1",
        "checkpoint_id": id,
        "workflow_type": kind,
        "project_name": project,
        "created_at": created,
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Splits the id of a workflow into type and project.
fn names(checkpoint: &Checkpoint) -> (&str, &str) {
    let id = checkpoint.workflow.as_str();
    id.split_once('_')
        .filter(|(kind, project)| !kind.is_empty() && !project.is_empty())
        .unwrap_or(("workflow", id))
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

/// Returns the phases that are done, in the order and the spelling of the original; new ones last.
fn completed(checkpoint: &Checkpoint, original: Option<&Value>) -> Value {
    let done: HashSet<&PhaseId> = checkpoint.content.done().map(|phase| &phase.id).collect();
    let mut listed: HashSet<PhaseId> = HashSet::new();
    let mut list: Vec<Value> = Vec::new();
    for item in original.and_then(Value::as_array).into_iter().flatten() {
        let Some(id) = listed_phase(item) else {
            list.push(item.clone());
            continue;
        };
        if done.contains(&id) {
            list.push(if item.is_object() { numbered_phases::to_json(&id) } else { item.clone() });
            listed.insert(id);
        }
    }
    let new = checkpoint.content.done().filter(|phase| !listed.contains(&phase.id));
    list.extend(new.map(|phase| numbered_phases::to_json(&phase.id)));
    list.into()
}

/// Returns copies of the top-level members for which the original has a copy in this object.
fn copies(top: &Map<String, Value>, original: Option<&Value>) -> Map<String, Value> {
    let has = |key: &str| original.is_some_and(|original| original.get(key).is_some());
    top.iter().filter(|(key, _)| has(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Writes the state machine if the document has one, or if the phases are not numbers and would lose their order.
fn write_machine(
    checkpoint: &Checkpoint,
    current: Option<&Phase>,
    imported: Option<&Value>,
    top: &mut Map<String, Value>,
    copies: &mut Map<String, Value>,
) {
    let key = || "state_machine".to_owned();
    let states = StateNames::of(checkpoint);
    let mut machine = json!({
        "current_state": current.map(|phase| states.name(phase)),
        "completed_states": checkpoint.content.done().map(|phase| states.name(phase)).collect::<Vec<_>>(),
    });
    if imported.is_none() && !states.numbered {
        let following = checkpoint.content.phases.iter().skip(1).map(|phase| states.name(phase)).chain([""]);
        let table = checkpoint.content.phases.iter().map(|phase| states.name(phase)).zip(following);
        machine["transition_table"] = table.map(|(from, to)| (from.to_owned(), Value::from(to))).collect();
        top.insert(key(), machine);
        return;
    }
    let machine_at = |place: &str| {
        let original = imported?.pointer(place).filter(|machine| machine.is_object())?;
        let mut machine = machine.clone();
        machine["transition_table"] = original.get("transition_table").cloned().unwrap_or_default();
        Some((key(), machine))
    };
    copies.extend(machine_at("/workflow_state/state_machine"));
    top.extend(machine_at("/state_machine"));
}

/// The names of phases as states: numbered phases have their names, others their ids.
#[derive(Clone, Copy)]
struct StateNames {
    numbered: bool,
}

impl StateNames {
    fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            numbered: checkpoint
                .content
                .phases
                .iter()
                .all(|phase| numbered_phases::number_of(&phase.id).is_some()),
        }
    }

    fn name(self, phase: &Phase) -> &str {
        match &phase.name {
            Some(name) if self.numbered => name,
            _ => phase.id.as_str(),
        }
    }
}

/// Writes the data of the phases. A status in it is updated, because it takes precedence over the counter.
fn phase_data(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let imported = imported.and_then(|main| main.get("phase_data")).and_then(Value::as_object);
    let mut data_by_phase = Map::new();
    for phase in &checkpoint.content.phases {
        let Some(Ok(Value::Object(mut data))) = phase.data.as_ref().map(Json::to_value) else {
            continue;
        };
        if let Some(status) = data.get_mut("status") {
            *status = completed_word(phase.status).into();
        }
        let is_phase =
            |key: &&String| data_phase(key).as_ref() == Some(&phase.id) || phase.name.as_ref() == Some(*key);
        let key = imported.into_iter().flat_map(Map::keys).find(is_phase).cloned();
        data_by_phase.insert(key.unwrap_or_else(|| phase.id.to_string()), data.into());
    }
    data_by_phase.into()
}

/// Writes the registry of artifacts in the layout of the original.
fn registry(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let original = imported.and_then(|main| member(main, "artifact_registry")).map(|(registry, _)| registry);
    if let Some(Value::Array(items)) = original {
        // Reversed, so that the first of two entries with the same path is used.
        let entries = items.iter().rev().filter_map(|item| Some((registered_path(item)?, item)));
        let entries: HashMap<&str, &Value> = entries.collect();
        let paths = checkpoint.content.artifacts.iter().map(|artifact| artifact.path.as_str());
        return paths
            .map(|path| entries.get(path).map_or_else(|| path.into(), |item| (*item).clone()))
            .collect();
    }
    let entry = |name: &str, path: &str| match original.and_then(|original| original.get(name)) {
        Some(Value::Object(_)) => json!({"path": path}),
        _ => path.into(),
    };
    let artifacts = checkpoint.content.artifacts.iter();
    artifacts.map(|artifact| (artifact.name.clone(), entry(&artifact.name, &artifact.path))).collect()
}
