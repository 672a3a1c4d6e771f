//! The parts of a checkpoint, and the check that each of them survived an export.
//!
//! The functions compare `source`, the checkpoint that is exported, with `read_back`, the checkpoint that an import of
//! the written files gives.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::embedded::state_without_import;
use crate::core::checkpoint::{Checkpoint, Replan};
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::task::Task;

/// A part of a checkpoint that a dialect may not be able to express. Digests of files are not among the parts: an import
/// computes them anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckpointPart {
    /// The list of phases, and which of them are done.
    Phases,
    /// The phases that were skipped or started.
    PhaseStatus,
    /// The data of the phases.
    Data,
    /// The status of the workflow.
    Status,
    /// The title.
    Title,
    /// The next action.
    Action,
    /// The note.
    Note,
    /// The tasks.
    Tasks,
    /// The artifacts.
    Artifacts,
    /// The external facts.
    Facts,
    /// The replans.
    Replans,
    /// The approvals.
    Approvals,
    /// The last error.
    Error,
    /// The labels.
    Labels,
    /// The watched files.
    Watched,
    /// The git checkout.
    Git,
    /// The free-form state.
    State,
}

impl CheckpointPart {
    /// All parts.
    pub const ALL: [Self; 17] = [
        Self::Phases,
        Self::PhaseStatus,
        Self::Data,
        Self::Status,
        Self::Title,
        Self::Action,
        Self::Note,
        Self::Tasks,
        Self::Artifacts,
        Self::Facts,
        Self::Replans,
        Self::Approvals,
        Self::Error,
        Self::Labels,
        Self::Watched,
        Self::Git,
        Self::State,
    ];

    /// Returns the name of the part for a message.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Phases => "the list of phases",
            Self::PhaseStatus => "which phases were skipped or begun",
            Self::Data => "the data of phases",
            Self::Status => "the status of the workflow",
            Self::Title => "the title",
            Self::Action => "what to do next",
            Self::Note => "the note",
            Self::Tasks => "the tasks",
            Self::Artifacts => "the artifacts",
            Self::Facts => "the external facts",
            Self::Replans => "the replans",
            Self::Approvals => "the approvals",
            Self::Error => "the last error",
            Self::Labels => "the labels",
            Self::Watched => "the watched files",
            Self::Git => "the git branch and commit",
            Self::State => "the state",
        }
    }

    /// True if `read_back` has all of this part of `source`. `dialect` is the one that was read.
    pub(super) fn is_preserved(self, source: &Checkpoint, read_back: &Checkpoint, dialect: Dialect) -> bool {
        match self {
            Self::Phases => has_phases(source, read_back),
            Self::PhaseStatus => missing_phase_statuses(source, read_back).next().is_none(),
            Self::Data => missing_data(source, read_back, dialect).is_empty(),
            Self::Status => source.content.status == read_back.content.status,
            Self::Title => has_text(source.content.title.as_ref(), read_back.content.title.as_ref()),
            Self::Action => {
                let action = next_action(source);
                action.is_none() || action == due_action(read_back)
            }
            Self::Note => has_text(source.note.as_ref(), read_back.note.as_ref()),
            Self::Tasks => {
                missing_tasks(source, read_back).is_empty() && has_phases_of_tasks(source, read_back)
            }
            Self::Artifacts => has_artifacts(source, read_back),
            Self::Facts => source.content.facts.iter().all(|fact| read_back.content.facts.contains(fact)),
            Self::Replans => {
                count_by_phase(&source.content.replans) == count_by_phase(&read_back.content.replans)
            }
            Self::Approvals => {
                approved(source).all(|phase| approved(read_back).any(|other| other.id == phase.id))
            }
            Self::Error => has_text(error_message(source), error_message(read_back)),
            Self::Labels => {
                let labels: HashSet<_> = read_back.content.labels.iter().collect();
                source.content.labels.iter().all(|label| labels.contains(label))
            }
            Self::Watched => {
                let paths: HashSet<_> = read_back.context.watched.iter().map(|file| &file.path).collect();
                source.context.watched.iter().all(|file| paths.contains(&file.path))
            }
            Self::Git => {
                let (source, read_back) = (source.context.git.as_ref(), read_back.context.git.as_ref());
                has_text(
                    source.and_then(|git| git.branch.as_ref()),
                    read_back.and_then(|git| git.branch.as_ref()),
                ) && has_text(
                    source.and_then(|git| git.commit.as_ref()),
                    read_back.and_then(|git| git.commit.as_ref()),
                )
            }
            Self::State => state_without_import(dialect, source) == state_without_import(dialect, read_back),
        }
    }
}

/// True if an optional text is absent in the source, or the same in both.
fn has_text(source: Option<&String>, read_back: Option<&String>) -> bool {
    source.is_none() || source == read_back
}

fn error_message(checkpoint: &Checkpoint) -> Option<&String> {
    checkpoint.content.last_error.as_ref().map(|error| &error.message)
}

/// True if all phases are there in the same order, as done or failed as before, and no other phase remains to be done.
fn has_phases(source: &Checkpoint, read_back: &Checkpoint) -> bool {
    let outcome =
        |phase: &'_ Phase| (phase.id.clone(), phase.status.is_done(), phase.status == PhaseStatus::Failed);
    let in_source = |phase: &&Phase| source.content.find_phase(&phase.id).is_some();
    let expected = source.content.phases.iter().map(outcome);
    if !read_back.content.phases.iter().filter(in_source).map(outcome).eq(expected) {
        return false;
    }
    // Where neither list is complete, a pointer to a phase that may follow adds nothing.
    let both_open = !read_back.content.is_declared() && !source.content.is_declared();
    both_open || read_back.content.remaining().all(|phase| in_source(&phase))
}

/// Returns the phases that were skipped or started, and are only done or not done in `read_back`.
pub(super) fn missing_phase_statuses<'c>(
    source: &'c Checkpoint,
    read_back: &'c Checkpoint,
) -> impl Iterator<Item = &'c Phase> {
    let statuses: HashMap<_, _> =
        read_back.content.phases.iter().map(|phase| (&phase.id, phase.status)).collect();
    source.content.phases.iter().filter(move |phase| {
        statuses.get(&phase.id).is_some_and(|read| *read != phase.status && refines(phase.status, *read))
    })
}

/// True if `precise` is a more specific form of `coarse`: a dialect without a word for skipped phases
/// records them as done, and one without a word for started phases records them as pending.
pub(super) fn refines(precise: PhaseStatus, coarse: PhaseStatus) -> bool {
    match precise {
        PhaseStatus::Skipped => coarse.is_done(),
        PhaseStatus::InProgress => matches!(coarse, PhaseStatus::Pending | PhaseStatus::InProgress),
        _ => false,
    }
}

/// True if all artifacts are there under their names. An artifact that is named by its path may have any name.
fn has_artifacts(source: &Checkpoint, read_back: &Checkpoint) -> bool {
    let artifacts = &read_back.content.artifacts;
    let named: HashSet<_> = artifacts.iter().map(|artifact| (&artifact.name, &artifact.path)).collect();
    let paths: HashSet<_> = artifacts.iter().map(|artifact| &artifact.path).collect();
    source.content.artifacts.iter().all(|artifact| {
        if artifact.name == artifact.path {
            paths.contains(&artifact.path)
        } else {
            named.contains(&(&artifact.name, &artifact.path))
        }
    })
}

/// Returns the data of the phases whose data `read_back` does not have. A kamiflow file has the data of one phase only,
/// so only that is compared.
pub(super) fn missing_data(
    source: &Checkpoint,
    read_back: &Checkpoint,
    dialect: Dialect,
) -> Vec<(PhaseId, Map<String, Value>)> {
    let mut missing = Vec::new();
    for phase in &source.content.phases {
        if dialect == Dialect::Kamiflow && source.content.phase.as_ref() != Some(&phase.id) {
            continue;
        }
        let expected = phase_data(phase);
        let read = read_back.content.find_phase(&phase.id).map(phase_data).unwrap_or_default();
        if expected.iter().any(|(key, value)| read.get(key) != Some(value)) {
            missing.push((phase.id.clone(), expected));
        }
    }
    missing
}

/// Returns the data of a phase; empty if it has none.
pub(super) fn phase_data(phase: &Phase) -> Map<String, Value> {
    match phase.data.as_ref().map(Json::to_value) {
        Some(Ok(Value::Object(members))) => members,
        _ => Map::new(),
    }
}

/// Returns the recorded next action.
pub(super) fn next_action(checkpoint: &Checkpoint) -> Option<&String> {
    checkpoint.content.next.as_ref()?.action.as_ref()
}

/// Returns the next action: the recorded one, else the action of the phase that is due.
fn due_action(checkpoint: &Checkpoint) -> Option<&String> {
    if let Some(action) = next_action(checkpoint) {
        return Some(action);
    }
    let next_phase = checkpoint.content.next.as_ref().and_then(|next| next.phase.as_ref());
    let due = next_phase
        .and_then(|id| checkpoint.content.find_phase(id))
        .or_else(|| checkpoint.content.remaining().next());
    due?.action.as_ref()
}

/// Returns the tasks that `read_back` does not have, or has with different values.
pub(super) fn missing_tasks<'c>(source: &'c Checkpoint, read_back: &Checkpoint) -> Vec<&'c Task> {
    let tasks: HashMap<_, _> = read_back.content.tasks.iter().map(|task| (&task.id, task)).collect();
    let is_there = |task: &Task| tasks.get(&task.id).is_some_and(|other| is_same_task(task, other));
    source.content.tasks.iter().filter(|task| !is_there(task)).collect()
}

fn is_same_task(task: &Task, other: &Task) -> bool {
    task.id == other.id
        && task.status == other.status
        && task.depends_on == other.depends_on
        && task.output == other.output
        && task.error == other.error
}

/// True if the tasks of phases are in the same phase in both.
fn has_phases_of_tasks(source: &Checkpoint, read_back: &Checkpoint) -> bool {
    let phases: HashMap<_, _> =
        read_back.content.tasks.iter().map(|task| (&task.id, task.phase.as_ref())).collect();
    source.content.tasks.iter().all(|task| {
        task.phase.is_none() || phases.get(&task.id).is_none_or(|phase| *phase == task.phase.as_ref())
    })
}

/// Counts the replans of each phase: the limits go by these counts.
fn count_by_phase(replans: &[Replan]) -> BTreeMap<&PhaseId, usize> {
    let mut counts = BTreeMap::new();
    for replan in replans {
        *counts.entry(&replan.phase).or_insert(0) += 1;
    }
    counts
}

/// Returns the phases that are approved.
pub(super) fn approved(checkpoint: &Checkpoint) -> impl Iterator<Item = &Phase> {
    let is_approved =
        |phase: &&Phase| phase.approval.as_ref().is_some_and(|approval| approval.approved_at.is_some());
    checkpoint.content.phases.iter().filter(is_approved)
}
