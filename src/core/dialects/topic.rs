//! What a checkpoint is about, piece by piece, and whether another one says the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::carried::untold_state;
use super::dialect::Dialect;
use crate::core::checkpoint::{Checkpoint, Replan};
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::task::Task;

/// A piece of what a checkpoint says. What is looked at anew wherever it is imported, such as the digests of files, is
/// none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Which phases there are, and which of them are done.
    Phases,
    /// Which phases were skipped or begun.
    Standing,
    /// What phases found out.
    Data,
    /// Where the workflow stands.
    Status,
    /// What it is about.
    Title,
    /// What to do next, in words.
    Action,
    /// A remark.
    Note,
    /// The tasks.
    Tasks,
    /// The files that were produced.
    Artifacts,
    /// When phases were reopened.
    Replans,
    /// Who agreed to what.
    Approvals,
    /// What went wrong.
    Error,
    /// Words to find it by.
    Labels,
    /// The files it depends on.
    Watched,
    /// The git checkout.
    Git,
    /// The free-form state.
    State,
}

impl Topic {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Phases,
        Self::Standing,
        Self::Data,
        Self::Status,
        Self::Title,
        Self::Action,
        Self::Note,
        Self::Tasks,
        Self::Artifacts,
        Self::Replans,
        Self::Approvals,
        Self::Error,
        Self::Labels,
        Self::Watched,
        Self::Git,
        Self::State,
    ];

    /// What it is called in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Phases => "the list of phases",
            Self::Standing => "which phases were skipped or begun",
            Self::Data => "the data of phases",
            Self::Status => "the status of the workflow",
            Self::Title => "the title",
            Self::Action => "what to do next",
            Self::Note => "the note",
            Self::Tasks => "the tasks",
            Self::Artifacts => "the artifacts",
            Self::Replans => "the replans",
            Self::Approvals => "the approvals",
            Self::Error => "the last error",
            Self::Labels => "the labels",
            Self::Watched => "the watched files",
            Self::Git => "the git branch and commit",
            Self::State => "the state",
        }
    }

    /// Whether `said` has all that `meant` says about it. `dialect` is what `said` was read from.
    pub(super) fn is_said(self, said: &Checkpoint, meant: &Checkpoint, dialect: Dialect) -> bool {
        let repeats = |said: Option<&String>, meant: Option<&String>| meant.is_none() || said == meant;
        match self {
            Self::Phases => has_phases(said, meant),
            Self::Standing => untold_standing(said, meant).next().is_none(),
            Self::Data => untold_data(said, meant, dialect).is_empty(),
            Self::Status => said.content.status == meant.content.status,
            Self::Title => repeats(said.content.title.as_ref(), meant.content.title.as_ref()),
            Self::Action => action(meant).is_none() || due_action(said) == action(meant),
            Self::Note => repeats(said.note.as_ref(), meant.note.as_ref()),
            Self::Tasks => untold_tasks(said, meant).is_empty() && has_homes(said, meant),
            Self::Artifacts => has_artifacts(said, meant),
            Self::Replans => counted(&said.content.replans) == counted(&meant.content.replans),
            Self::Approvals => approved(meant).all(|phase| approved(said).any(|other| other.id == phase.id)),
            Self::Error => {
                let message =
                    |checkpoint: &Checkpoint| Some(checkpoint.content.last_error.as_ref()?.message.clone());
                repeats(message(said).as_ref(), message(meant).as_ref())
            }
            Self::Labels => {
                let known: HashSet<_> = said.content.labels.iter().collect();
                meant.content.labels.iter().all(|label| known.contains(label))
            }
            Self::Watched => {
                let known: HashSet<_> = said.context.watched.iter().map(|file| &file.path).collect();
                meant.context.watched.iter().all(|file| known.contains(&file.path))
            }
            Self::Git => {
                let (said, meant) = (said.context.git.as_ref(), meant.context.git.as_ref());
                let branch = repeats(
                    said.and_then(|git| git.branch.as_ref()),
                    meant.and_then(|git| git.branch.as_ref()),
                );
                branch
                    && repeats(
                        said.and_then(|git| git.commit.as_ref()),
                        meant.and_then(|git| git.commit.as_ref()),
                    )
            }
            Self::State => untold_state(dialect, said) == untold_state(dialect, meant),
        }
    }
}

/// Whether all phases are there, each as it stands, and none that would have to be done besides.
fn has_phases(said: &Checkpoint, meant: &Checkpoint) -> bool {
    let stands = |phase: &Phase| (phase.status.is_done(), phase.status == PhaseStatus::Failed);
    let told = |phase: &&Phase| meant.content.find_phase(&phase.id).is_some();
    let alike = said.content.phases.iter().filter(told).map(|phase| (&phase.id, stands(phase)));
    // Where neither list is whole, a pointer to what may come next adds nothing.
    let open = !said.content.is_declared() && !meant.content.is_declared();
    let more = said.content.remaining().any(|phase| meant.content.find_phase(&phase.id).is_none());
    alike.eq(meant.content.phases.iter().map(|phase| (&phase.id, stands(phase)))) && (open || !more)
}

/// The phases that were skipped or begun, and of which `said` only knows that they are done, or not.
pub(super) fn untold_standing<'c>(
    said: &'c Checkpoint,
    meant: &'c Checkpoint,
) -> impl Iterator<Item = &'c Phase> {
    let known: HashMap<_, _> = said.content.phases.iter().map(|phase| (&phase.id, phase.status)).collect();
    meant.content.phases.iter().filter(move |phase| {
        known.get(&phase.id).is_some_and(|said| *said != phase.status && is_nearly(*said, phase.status))
    })
}

/// Whether a phase that is said to stand so may in truth have been skipped, or begun.
pub(super) fn is_nearly(said: PhaseStatus, meant: PhaseStatus) -> bool {
    match meant {
        PhaseStatus::Skipped => said.is_done(),
        PhaseStatus::InProgress => matches!(said, PhaseStatus::Pending | PhaseStatus::InProgress),
        _ => false,
    }
}

/// Whether all files are there, by the names that they have. One that goes by its path has none.
fn has_artifacts(said: &Checkpoint, meant: &Checkpoint) -> bool {
    let known: HashSet<_> =
        said.content.artifacts.iter().map(|artifact| (&artifact.name, &artifact.path)).collect();
    let paths: HashSet<_> = said.content.artifacts.iter().map(|artifact| &artifact.path).collect();
    meant.content.artifacts.iter().all(|artifact| {
        if artifact.name == artifact.path {
            paths.contains(&artifact.path)
        } else {
            known.contains(&(&artifact.name, &artifact.path))
        }
    })
}

/// What phases found out and `said` does not repeat. Kamiflow has a file for each phase and is asked for that one only.
pub(super) fn untold_data(
    said: &Checkpoint,
    meant: &Checkpoint,
    dialect: Dialect,
) -> Vec<(PhaseId, Map<String, Value>)> {
    let here =
        |phase: &&Phase| dialect != Dialect::Kamiflow || meant.content.phase.as_ref() == Some(&phase.id);
    let untold = meant.content.phases.iter().filter(here).filter_map(|phase| {
        let known = said.content.find_phase(&phase.id).map(data).unwrap_or_default();
        let told = data(phase);
        let repeated = told.iter().all(|(key, value)| known.get(key) == Some(value));
        (!repeated).then(|| (phase.id.clone(), told))
    });
    untold.collect()
}

/// What a phase found out, member by member.
pub(super) fn data(phase: &Phase) -> Map<String, Value> {
    match phase.data.as_ref().map(Json::to_value) {
        Some(Ok(Value::Object(members))) => members,
        _ => Map::new(),
    }
}

pub(super) fn action(checkpoint: &Checkpoint) -> Option<&String> {
    checkpoint.content.next.as_ref()?.action.as_ref()
}

/// What is to be done next: as recorded, else as the phase that is due describes it.
fn due_action(checkpoint: &Checkpoint) -> Option<&String> {
    let named =
        checkpoint.content.next.as_ref().and_then(|next| checkpoint.content.find_phase(next.phase.as_ref()?));
    let due = named.or_else(|| checkpoint.content.remaining().next());
    action(checkpoint).or_else(|| due?.action.as_ref())
}

/// The tasks that `said` does not have, or not as they stand.
pub(super) fn untold_tasks<'c>(said: &Checkpoint, meant: &'c Checkpoint) -> Vec<&'c Task> {
    let known: HashMap<_, _> = said.content.tasks.iter().map(|task| (&task.id, task)).collect();
    let told = |task: &&Task| known.get(&task.id).is_some_and(|other| agree(task, other));
    meant.content.tasks.iter().filter(|task| !told(task)).collect()
}

/// Whether tasks belong to the phases they are meant to belong to.
fn has_homes(said: &Checkpoint, meant: &Checkpoint) -> bool {
    let known: HashMap<_, _> =
        said.content.tasks.iter().map(|task| (&task.id, task.phase.as_ref())).collect();
    let at_home = |task: &Task| known.get(&task.id).is_none_or(|home| *home == task.phase.as_ref());
    meant.content.tasks.iter().filter(|task| task.phase.is_some()).all(at_home)
}

/// Whether two tasks are the same one, and stand the same.
fn agree(task: &Task, other: &Task) -> bool {
    task.id == other.id
        && task.status == other.status
        && task.depends_on == other.depends_on
        && task.output == other.output
        && task.error == other.error
}

/// How often each phase was reopened: that is what limits go by.
fn counted(replans: &[Replan]) -> BTreeMap<&PhaseId, usize> {
    let mut counts = BTreeMap::new();
    for replan in replans {
        *counts.entry(&replan.phase).or_insert(0) += 1;
    }
    counts
}

/// The phases that somebody has agreed to.
pub(super) fn approved(checkpoint: &Checkpoint) -> impl Iterator<Item = &Phase> {
    let granted =
        |phase: &&Phase| phase.approval.as_ref().is_some_and(|approval| approval.approved_at.is_some());
    checkpoint.content.phases.iter().filter(granted)
}
