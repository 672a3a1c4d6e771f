//! What a save changes.
//!
//! A [`Change`] is the caller's request as a value, already checked and free of secrets. It is applied to the newest
//! checkpoint; when another writer was faster, the same value is applied again on top of what that writer saved. So
//! nothing in it may depend on the checkpoint it was first made for.

mod apply;
mod document;
mod error;
mod phases;
mod redaction;
mod reopen;
mod successor;

pub use document::{ArtifactRequest, DocumentError, PipelineChoice, Request};
pub use error::ChangeError;
pub use successor::Stamp;
pub(crate) use successor::successor;

use serde::Serialize;
use serde_json::Value;

use super::checkpoint::{Artifact, Checkpoint, Content, WorkflowStatus};
use super::digest::Digest;
use super::phase::{PhaseId, PhaseStatus};
use super::pipeline::Pipeline;
use super::record::Extra;
use super::task::{TaskId, TaskStatus};
use super::trigger::Trigger;

/// The longest title, in bytes.
pub const MAX_TITLE_BYTES: usize = 1 << 10;
/// The longest note, error or action, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// A request to change a workflow.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Change {
    /// The phase the change is about.
    pub phase: Option<PhaseId>,
    /// What becomes of that phase.
    pub status: Option<PhaseStatus>,
    /// The phases the workflow follows from now on.
    pub pipeline: Option<Pipeline>,
    /// A new title.
    pub title: Option<String>,
    /// What to do next, in words.
    pub next_action: Option<String>,
    /// The phase to continue with.
    pub next_phase: Option<PhaseId>,
    /// What happens to the data of the phase, in order.
    pub data: Vec<Edit>,
    /// What happens to the state of the workflow, in order.
    pub state: Vec<Edit>,
    /// Files that were produced.
    pub artifacts: Vec<Artifact>,
    /// The names of recorded files that are of no interest any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<String>,
    /// Tasks that moved.
    pub tasks: Vec<TaskChange>,
    /// What went wrong.
    pub error: Option<String>,
    /// A remark about this save.
    pub note: Option<String>,
    /// Why the checkpoint is taken; derived from the rest if not given.
    pub trigger: Option<Trigger>,
    /// A new status of the workflow; derived from the phases if not given.
    pub workflow_status: Option<WorkflowStatus>,
    /// Whether no cleanup may touch this checkpoint.
    pub pin: bool,
    /// Words to find the workflow by.
    pub labels: Vec<String>,
    /// Fields this version has no name for.
    #[serde(skip)]
    pub extra: Extra,
    /// A person's agreement.
    pub approve: Option<Approve>,
    /// A phase to reopen, with everything behind it.
    pub reopen: Option<Reopen>,
    /// Content that replaces that of the newest checkpoint before the rest is applied.
    #[serde(skip)]
    pub replace: Option<Box<Content>>,
    /// An earlier checkpoint to continue from. Of the rest, only a note and a pin go with it.
    #[serde(skip)]
    pub back_to: Option<Box<Checkpoint>>,
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
}

/// What becomes of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskChange {
    /// The task.
    pub id: TaskId,
    /// Where it stands now.
    pub status: TaskStatus,
    /// The file it writes.
    pub output: Option<String>,
    /// The tasks that must be done before it.
    pub after: Option<Vec<TaskId>>,
    /// Why it failed.
    pub error: Option<String>,
}

/// A person's agreement to the result of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approve {
    /// The phase.
    pub phase: PhaseId,
    /// Who agrees.
    pub by: Option<String>,
}

/// A phase that is to be done again, because somebody changed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reopen {
    /// The first phase to reopen.
    pub from: PhaseId,
    /// Why.
    pub reason: Option<String>,
    /// How often one phase may be reopened; none if that does not matter this time.
    pub limit: Option<u32>,
}

impl Change {
    /// The trigger given, or the one that follows from what is saved.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        match &self.trigger {
            Some(trigger) => trigger.clone(),
            None if self.phase.is_some() => Trigger::PhaseTransition,
            None => Trigger::Manual,
        }
    }

    /// Whether somebody decides something about the workflow, instead of telling how far it is. That is recorded
    /// whatever is switched off.
    #[must_use]
    pub fn is_decision(&self) -> bool {
        self.approve.is_some() || self.reopen.is_some() || self.back_to.is_some()
    }

    /// A digest of the request, to recognise the same one when it comes again under the same key.
    ///
    /// The size and digest of artifacts are left out: a repeated save of a file that has changed since is still a
    /// repetition.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        let mut request = self.clone();
        for artifact in &mut request.artifacts {
            (artifact.size, artifact.sha256) = (None, None);
        }
        let replaced = request.replace.as_ref().and_then(|whole| serde_json::to_string(whole).ok());
        let rest = serde_json::to_string(&request).unwrap_or_default();
        let unknown = request.extra.names().filter_map(|name| Some((name, request.extra.get(name)?)));
        let unknown: String = unknown.map(|(name, raw)| format!("\n{name:?}: {raw}")).collect();
        Digest::of(format!("{rest}\n{}{unknown}", replaced.unwrap_or_default()).as_bytes())
    }
}
