//! The change that a save makes to a workflow.
//!
//! A [`Change`] is applied to the newest checkpoint. When another writer was faster, the same value is applied again to
//! the checkpoint of that writer, so nothing in it may depend on the checkpoint it was first made for.

mod apply;
mod decisions;
mod error;
mod facts;
mod input;
mod phases;
mod plan;
mod plan_memory;
mod redaction;
mod stamp;

pub use error::ChangeError;
pub use facts::check_fact;
pub use input::{DocumentError, NamedPipeline, SaveInput};
pub use plan::{AGENT_PLAN, PlanItem, PlanKind, PlanUpdate, is_plan_of_agent};
pub use redaction::refuse_secret;
pub use stamp::Stamp;
pub(crate) use stamp::next_checkpoint;

use serde::Serialize;
use serde_json::{Map, Value};

use super::checkpoint::{Artifact, Checkpoint, Content, Fact, WatchedFile, WorkflowStatus};
use super::digest::Digest;
use super::merge::Resolutions;
use super::phase::{PhaseId, PhaseStatus};
use super::pipeline::Pipeline;
use super::selector::Handle;
use super::task::{TaskId, TaskStatus};
use super::trigger::Trigger;

/// The longest title, in bytes.
pub const MAX_TITLE_BYTES: usize = 1 << 10;
/// The longest note, error or action, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// The number of touched files that a checkpoint records; the oldest leave.
pub const MOST_TOUCHED: usize = 200;

/// A change to a workflow.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Change {
    /// The phase the change is about.
    pub phase: Option<PhaseId>,
    /// The new status of that phase; if none, failed with an error and complete without one.
    pub status: Option<PhaseStatus>,
    /// Changes of several phases, in order, before that of `phase`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseChange>,
    /// The phases the workflow follows from now on.
    pub pipeline: Option<Pipeline>,
    /// A new title.
    pub title: Option<String>,
    /// The action to continue with, in words.
    pub next_action: Option<String>,
    /// The phase to continue with.
    pub next_phase: Option<PhaseId>,
    /// Edits of the data of the phase, in order.
    pub data: Vec<Edit>,
    /// Edits of the state of the workflow, in order.
    pub state: Vec<Edit>,
    /// Artifacts to record.
    pub artifacts: Vec<Artifact>,
    /// The names of artifacts to forget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<String>,
    /// Changes of tasks, in order.
    pub tasks: Vec<TaskChange>,
    /// An error message.
    pub error: Option<String>,
    /// A remark about this save.
    pub note: Option<String>,
    /// The trigger; derived from the rest if none.
    pub trigger: Option<Trigger>,
    /// A new status of the workflow; derived from the phases if none.
    pub workflow_status: Option<WorkflowStatus>,
    /// True if no cleanup may touch this checkpoint.
    pub pin: bool,
    /// Words to find the workflow by.
    pub labels: Vec<String>,
    /// Labels to take away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlabels: Vec<String>,
    /// External facts to remember.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// The names of external facts to forget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten_facts: Vec<String>,
    /// Members that this version does not know.
    pub extra: Map<String, Value>,
    /// A report of the agent's own plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanUpdate>,
    /// Files that an agent has edited since its last save.
    #[serde(skip)]
    pub touched: Vec<WatchedFile>,
    /// An approval of a phase.
    pub approve: Option<Approve>,
    /// A phase to reopen, with every phase after it.
    pub reopen: Option<Reopen>,
    /// Content that replaces that of the newest checkpoint before the rest is applied.
    pub replace: Option<Box<Content>>,
    /// A checkpoint of another workflow that a new one starts from, before the rest is applied.
    #[serde(skip)]
    pub fork_of: Option<Box<Checkpoint>>,
    /// Another history of the work to merge, before the rest is applied.
    #[serde(skip)]
    pub merge: Option<Box<Merge>>,
    /// The checkpoint that the calling command was resumed from. What it has as running was begun by somebody who is gone.
    #[serde(skip)]
    pub resumed_from: Option<Handle>,
    /// An earlier checkpoint to roll back to. Of the rest, only the note and the pin are applied.
    #[serde(skip)]
    pub back_to: Option<Box<Checkpoint>>,
}

/// Another history of the work.
#[derive(Debug, Clone)]
pub struct Merge {
    /// The content that both histories come from.
    pub origin: Content,
    /// The newest checkpoint of the other history.
    pub theirs: Box<Checkpoint>,
    /// How conflicts are settled.
    pub resolutions: Resolutions,
}

/// One change of a JSON value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// RFC 7396: `null` removes.
    Merge(Value),
    /// Objects are merged, everything else replaces; `null` is a value.
    Overlay(Value),
    /// One member, by name or JSON pointer.
    Set(String, Value),
    /// One more element of an array, which is named as a member is; nothing if the array has it already.
    Add(String, Value),
}

/// A change of one of several phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseChange {
    /// The phase.
    pub id: PhaseId,
    /// Its new status.
    pub status: PhaseStatus,
}

/// A change of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskChange {
    /// The task.
    pub id: TaskId,
    /// Its new status.
    pub status: TaskStatus,
    /// The file it writes.
    pub output: Option<String>,
    /// The tasks that must be done before it.
    pub after: Option<Vec<TaskId>>,
    /// The reason why it failed.
    pub error: Option<String>,
}

/// A person's approval of the result of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approve {
    /// The phase; the one that the change is about if none.
    pub phase: Option<PhaseId>,
    /// The person.
    pub by: Option<String>,
    /// The agent or account that records it on behalf of the person.
    pub recorded_by: Option<String>,
}

/// A request to do a phase again, and every phase after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reopen {
    /// The first phase to reopen.
    pub from: PhaseId,
    /// The reason.
    pub reason: Option<String>,
    /// The number of times that one phase may be reopened; no limit if none.
    pub limit: Option<u32>,
}

impl Change {
    /// The new status of the phase, or the one that follows from the rest of the change.
    pub(crate) fn phase_status(&self) -> PhaseStatus {
        match self.status {
            Some(status) => status,
            None if self.error.is_some() => PhaseStatus::Failed,
            None => PhaseStatus::Complete,
        }
    }

    /// The trigger, or the one that follows from the rest of the change.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        match &self.trigger {
            Some(trigger) => trigger.clone(),
            None if self.back_to.is_some() => Trigger::Rollback,
            None if self.fork_of.is_some() => Trigger::Fork,
            None if self.merge.is_some() => Trigger::Merge,
            None if self.reports_phase() => Trigger::PhaseTransition,
            None => Trigger::Manual,
        }
    }

    /// True if the change is about a phase, several, or the agent's plan.
    pub(crate) fn reports_phase(&self) -> bool {
        self.phase.is_some() || !self.phases.is_empty() || self.plan.is_some()
    }

    /// True if a person decides about the workflow instead of reporting progress. A decision is saved even if its
    /// trigger is switched off.
    #[must_use]
    pub fn is_decision(&self) -> bool {
        let continues = [self.back_to.is_some(), self.fork_of.is_some(), self.merge.is_some()];
        self.approve.is_some() || self.reopen.is_some() || continues.contains(&true)
    }

    /// A digest of the change, to recognise the same save under the same key.
    ///
    /// The size, digest and content of artifacts are left out: saving again is a repetition even if a file has changed since.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        let mut change = self.clone();
        for artifact in &mut change.artifacts {
            (artifact.size, artifact.sha256, artifact.captured) = (None, None, false);
        }
        Digest::of_json(&change)
    }
}
