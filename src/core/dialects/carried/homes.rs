//! Which phases tasks and data belong to, where a document has one place for those of all phases.
//!
//! Crunch has one graph of tasks and one place for what agents found out; both are read as those of the current phase.
//! What belongs to others is carried by its name only: `{"tasks": {"t1": "enrich"}, "data": {"agent": ["enrich"]}}`.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::dialect::Dialect;
use crate::core::dialects::reading::Draft;
use crate::core::dialects::topic::data;
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId};
use crate::core::task::TaskId;

/// The phases that what a document says belongs to, other than the current one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Homes {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tasks: BTreeMap<TaskId, PhaseId>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    data: BTreeMap<String, Vec<PhaseId>>,
}

impl Homes {
    /// Whether a document of the dialect needs to be told.
    pub(super) fn are_untold(dialect: Dialect) -> bool {
        dialect == Dialect::Crunch
    }

    /// What `said`, which has everything in its current phase, does not say of `meant`.
    pub(super) fn collect(meant: &Checkpoint, said: &Checkpoint) -> Option<Self> {
        let known: HashMap<_, _> = said.content.tasks.iter().map(|task| (&task.id, &task.phase)).collect();
        let moved = meant.content.tasks.iter().filter_map(|task| {
            let (home, there) = (task.phase.as_ref()?, known.get(&task.id)?);
            (there.as_ref() != Some(home)).then(|| (task.id.clone(), home.clone()))
        });
        let current = said.content.phase.as_ref();
        let mut found: BTreeMap<String, Vec<PhaseId>> = BTreeMap::new();
        let all = current.and_then(|id| said.content.find_phase(id)).map(data).unwrap_or_default();
        for phase in &meant.content.phases {
            for (key, _) in data(phase).iter().filter(|(key, value)| all.get(*key) == Some(value)) {
                found.entry(key.clone()).or_default().push(phase.id.clone());
            }
        }
        found.retain(|_, phases| phases.iter().ne(current));
        let homes = Self { tasks: moved.collect(), data: found };
        (!homes.tasks.is_empty() || !homes.data.is_empty()).then_some(homes)
    }

    /// Gives the phases of a draft what is theirs. A phase that it does not have gets nothing.
    pub(super) fn settle(mut self, draft: &mut Draft) {
        let listed: HashSet<&PhaseId> = draft.content.phases.iter().map(|phase| &phase.id).collect();
        for task in &mut draft.content.tasks {
            let home = self.tasks.remove(&task.id).filter(|home| listed.contains(home));
            task.phase = home.or(task.phase.take());
        }
        self.data.values_mut().for_each(|phases| phases.retain(|id| listed.contains(id)));
        let current = draft
            .content
            .phase
            .as_ref()
            .and_then(|id| draft.content.phases.iter().position(|phase| phase.id == *id));
        if let Some(current) = current {
            self.hand_out(&mut draft.content.phases, current);
        }
    }

    /// Moves data from the current phase to those that found it out.
    fn hand_out(self, phases: &mut [Phase], current: usize) {
        let all = data(&phases[current]);
        let mut shares: HashMap<PhaseId, Map<String, Value>> = HashMap::new();
        for (key, value) in all {
            let homes = self.data.get(&key).filter(|homes| !homes.is_empty());
            let homes = homes.map_or(std::slice::from_ref(&phases[current].id), Vec::as_slice);
            for home in homes {
                shares.entry(home.clone()).or_default().insert(key.clone(), value.clone());
            }
        }
        phases[current].data = None;
        for phase in phases {
            let share = shares.remove(&phase.id).map(|share| Json::Given(share.into()));
            phase.data = share.or(phase.data.take());
        }
    }
}
