//! Writing a document: a fresh one in the newest version, or the moved parts of one that was imported.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::counter::listed_phase;
use super::members::{COPIES, member};
use super::phases::data_phase;
use super::read::registered_path;
use super::replans;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::dialects::numbers;
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// Writes what the model knows. What an imported document says twice is written twice; what it does not say at all is
/// written once.
pub(in super::super) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let mut page = if imported.is_none() { fresh(checkpoint) } else { Map::new() };
    let set =
        |page: &mut Map<String, Value>, key: &str, value: Value| drop(page.insert(key.to_owned(), value));
    set(&mut page, "workflow_description", json!(checkpoint.content.title));
    set(&mut page, "updated_at", json!(checkpoint.saved_at));
    set(&mut page, "status", status_word(checkpoint.content.status).into());
    let current = current(checkpoint);
    set(&mut page, "current_phase", current.map_or(Value::Null, |phase| numbers::to_json(&phase.id)));
    let total = checkpoint.content.is_declared().then_some(checkpoint.content.phases.len());
    set(&mut page, "total_phases", json!(total));
    let listed = |place: &str| completed(checkpoint, imported.and_then(|main| main.pointer(place)));
    set(&mut page, "completed_phases", listed("/completed_phases"));
    let failed = checkpoint.content.phases.iter().find(|phase| phase.status == PhaseStatus::Failed);
    let message = checkpoint.content.last_error.as_ref().map(|error| error.message.as_str());
    set(&mut page, "last_error", json!(message));
    replans::write(&checkpoint.content.replans, imported, &mut page);

    let mut state = copies(&page, imported.and_then(|main| main.get(COPIES)));
    if let Some(copy) = state.get_mut("completed_phases") {
        *copy = listed("/workflow_state/completed_phases");
    }
    set(&mut state, "artifact_registry", registry(checkpoint, imported));
    let plan = match imported {
        // What the work watches by now may be other files; the plan is still the plan.
        Some(main) => member(main, "plan_path").map(|(plan, _)| plan.clone()),
        None => checkpoint.context.watched.first().map(|plan| plan.path.as_str().into()),
    };
    set(&mut state, "plan_path", plan.unwrap_or_default());
    if imported.is_none() {
        set(&mut state, "project_name", names(checkpoint).1.into());
    }
    let metadata = copies(&page, imported.and_then(|main| main.get("metadata")));
    page.extend(if metadata.is_empty() { None } else { Some(("metadata".to_owned(), metadata.into())) });
    write_machine(checkpoint, current, imported, &mut page, &mut state);
    let has_errors = imported.is_none_or(|main| main.get("error_state").is_some_and(Value::is_object));
    if has_errors || failed.is_some() {
        let error = json!({"last_error": message, "failed_state": failed.map(|phase| States::of(checkpoint).name(phase))});
        set(&mut page, "error_state", error);
    }
    set(&mut page, "phase_data", phase_data(checkpoint, imported));
    set(&mut page, COPIES, state.into());
    Value::Object(page)
}

/// The members that identify a document; one that was imported keeps its own.
fn fresh(checkpoint: &Checkpoint) -> Map<String, Value> {
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

/// The type and the project in the id of a workflow.
fn names(checkpoint: &Checkpoint) -> (&str, &str) {
    let id = checkpoint.workflow.as_str();
    id.split_once('_')
        .filter(|(kind, project)| !kind.is_empty() && !project.is_empty())
        .unwrap_or(("workflow", id))
}

/// The earliest time that is known of the workflow.
fn created_at(checkpoint: &Checkpoint) -> Timestamp {
    let phases = checkpoint.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]);
    let replans = checkpoint.content.replans.iter().map(|replan| Some(replan.at));
    phases.chain(replans).flatten().min().map_or(checkpoint.saved_at, |first| first.min(checkpoint.saved_at))
}

fn status_word(status: WorkflowStatus) -> &'static str {
    match status {
        WorkflowStatus::Complete => "completed",
        other => other.word(),
    }
}

/// The phase that the counter points at: the recorded next one, the first that is left, or the last there was.
fn current(checkpoint: &Checkpoint) -> Option<&Phase> {
    let named = checkpoint.content.next.as_ref().and_then(|next| next.phase.as_ref());
    let last = || checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let named = named.and_then(|id| checkpoint.content.find_phase(id));
    named.or_else(|| checkpoint.content.remaining().next()).or_else(last).or(checkpoint.content.phases.last())
}

/// The phases that are done, in the order and the spelling that the original has for them; new ones last.
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
            list.push(if item.is_object() { numbers::to_json(&id) } else { item.clone() });
            listed.insert(id);
        }
    }
    let new = checkpoint.content.done().filter(|phase| !listed.contains(&phase.id));
    list.extend(new.map(|phase| numbers::to_json(&phase.id)));
    list.into()
}

/// What `page` says again, as far as the original has members of that name there.
fn copies(page: &Map<String, Value>, original: Option<&Value>) -> Map<String, Value> {
    let has = |key: &str| original.is_some_and(|original| original.get(key).is_some());
    page.iter().filter(|(key, _)| has(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The state machine, where there is one, or where the phases are no numbers and would otherwise lose their order.
fn write_machine(
    checkpoint: &Checkpoint,
    current: Option<&Phase>,
    imported: Option<&Value>,
    page: &mut Map<String, Value>,
    copies: &mut Map<String, Value>,
) {
    let key = || "state_machine".to_owned();
    let states = States::of(checkpoint);
    let mut machine = json!({
        "current_state": current.map(|phase| states.name(phase)),
        "completed_states": checkpoint.content.done().map(|phase| states.name(phase)).collect::<Vec<_>>(),
    });
    if imported.is_none() && !states.numbered {
        let following = checkpoint.content.phases.iter().skip(1).map(|phase| states.name(phase)).chain([""]);
        let table = checkpoint.content.phases.iter().map(|phase| states.name(phase)).zip(following);
        machine["transition_table"] = table.map(|(from, to)| (from.to_owned(), Value::from(to))).collect();
        page.insert(key(), machine);
        return;
    }
    let machine_at = |place: &str| {
        let original = imported?.pointer(place).filter(|machine| machine.is_object())?;
        let mut machine = machine.clone();
        machine["transition_table"] = original.get("transition_table").cloned().unwrap_or_default();
        Some((key(), machine))
    };
    copies.extend(machine_at("/workflow_state/state_machine"));
    page.extend(machine_at("/state_machine"));
}

/// How phases are called as states: numbers by their names, anything else by its id.
#[derive(Clone, Copy)]
struct States {
    numbered: bool,
}

impl States {
    fn of(checkpoint: &Checkpoint) -> Self {
        Self { numbered: checkpoint.content.phases.iter().all(|phase| numbers::plain(&phase.id).is_some()) }
    }

    fn name(self, phase: &Phase) -> &str {
        phase.name.as_deref().filter(|_| self.numbered).unwrap_or(phase.id.as_str())
    }
}

/// The data of the phases. A status in it follows the phase: it would win over the counter.
fn phase_data(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let known = imported.and_then(|main| main.get("phase_data")).and_then(Value::as_object);
    let mut pages = Map::new();
    for phase in &checkpoint.content.phases {
        let Some(Ok(Value::Object(mut data))) = phase.data.as_ref().map(Json::to_value) else {
            continue;
        };
        if let Some(status) = data.get_mut("status") {
            let word = if phase.status == PhaseStatus::Complete { "completed" } else { phase.status.word() };
            *status = word.into();
        }
        let mut keys = known.into_iter().flat_map(|known| known.keys());
        let spelled = keys
            .find(|key| data_phase(key).as_ref() == Some(&phase.id) || phase.name.as_ref() == Some(*key))
            .map_or_else(|| phase.id.to_string(), Clone::clone);
        pages.insert(spelled, data.into());
    }
    pages.into()
}

/// The registry in the form that the original has.
fn registry(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let original = imported.and_then(|main| member(main, "artifact_registry")).map(|(registry, _)| registry);
    if let Some(Value::Array(items)) = original {
        // Of two entries with the same path the first counts.
        let known = items.iter().rev().filter_map(|item| Some((registered_path(item)?, item)));
        let known: HashMap<&str, &Value> = known.collect();
        let paths = checkpoint.content.artifacts.iter().map(|artifact| artifact.path.as_str());
        return paths
            .map(|path| known.get(path).map_or_else(|| path.into(), |item| (*item).clone()))
            .collect();
    }
    let entry = |name: &str, path: &str| match original.and_then(|original| original.get(name)) {
        Some(Value::Object(_)) => json!({"path": path}),
        _ => path.into(),
    };
    let artifacts = checkpoint.content.artifacts.iter();
    artifacts.map(|artifact| (artifact.name.clone(), entry(&artifact.name, &artifact.path))).collect()
}
