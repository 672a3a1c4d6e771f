//! The phases of tasks and data, for a document that has one place for those of all phases.
//!
//! Crunch has one graph of tasks and one place for the output of agents; both are read as those of the current phase.
//! Tasks and data of other phases are embedded by name: `{"tasks": {"t1": "enrich"}, "data": {"agent": ["enrich"]}}`.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::checkpoint_part::phase_data;
use crate::core::dialects::draft::Draft;
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId};
use crate::core::task::TaskId;

/// The owners of those tasks and data members that do not belong to the current phase.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PhaseOwners {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tasks: BTreeMap<TaskId, PhaseId>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    data: BTreeMap<String, Vec<PhaseId>>,
}

impl PhaseOwners {
    /// Collects the owners in `source` that `read_back`, which has everything in its current phase, does not have.
    pub(super) fn collect(source: &Checkpoint, read_back: &Checkpoint) -> Option<Self> {
        let read_phases: HashMap<_, _> =
            read_back.content.tasks.iter().map(|task| (&task.id, task.phase.as_ref())).collect();
        let mut tasks = BTreeMap::new();
        for task in &source.content.tasks {
            if let (Some(phase), Some(read_phase)) = (&task.phase, read_phases.get(&task.id))
                && *read_phase != Some(phase)
            {
                tasks.insert(task.id.clone(), phase.clone());
            }
        }
        let current = read_back.content.phase.as_ref();
        let current_phase = current.and_then(|id| read_back.content.find_phase(id));
        let current_data = current_phase.map(phase_data).unwrap_or_default();
        let mut data: BTreeMap<String, Vec<PhaseId>> = BTreeMap::new();
        for phase in &source.content.phases {
            for (key, value) in phase_data(phase) {
                if current_data.get(&key) == Some(&value) {
                    data.entry(key).or_default().push(phase.id.clone());
                }
            }
        }
        data.retain(|_, owners| owners.iter().ne(current));
        if tasks.is_empty() && data.is_empty() { None } else { Some(Self { tasks, data }) }
    }

    /// Moves the tasks and the data of a draft to their owners. Owners that the draft does not have are ignored.
    pub(super) fn apply(mut self, draft: &mut Draft) {
        let phases: HashSet<&PhaseId> = draft.content.phases.iter().map(|phase| &phase.id).collect();
        for task in &mut draft.content.tasks {
            if let Some(owner) = self.tasks.remove(&task.id).filter(|owner| phases.contains(owner)) {
                task.phase = Some(owner);
            }
        }
        for owners in self.data.values_mut() {
            owners.retain(|id| phases.contains(id));
        }
        let Some(current) = &draft.content.phase else { return };
        if let Some(current) = draft.content.phases.iter().position(|phase| phase.id == *current) {
            self.distribute_data(&mut draft.content.phases, current);
        }
    }

    /// Moves data members from the current phase to their owners.
    fn distribute_data(self, phases: &mut [Phase], current: usize) {
        let current_id = phases[current].id.clone();
        let mut shares: HashMap<PhaseId, Map<String, Value>> = HashMap::new();
        for (key, value) in phase_data(&phases[current]) {
            let owners = match self.data.get(&key) {
                Some(owners) if !owners.is_empty() => owners.as_slice(),
                _ => std::slice::from_ref(&current_id),
            };
            for owner in owners {
                shares.entry(owner.clone()).or_default().insert(key.clone(), value.clone());
            }
        }
        phases[current].data = None;
        for phase in phases {
            if let Some(share) = shares.remove(&phase.id) {
                phase.data = Some(Json::Given(share.into()));
            }
        }
    }
}
