//! The facts that a cleanup decides by.

use std::path::PathBuf;

use serde::Serialize;

use crate::bundle_name::BundleName;
use crate::checkpoint::WorkflowStatus;
use crate::digest::Digest;
use crate::phase::PhaseId;
use crate::time::Timestamp;
use crate::trigger::Trigger;
use crate::workflow_id::WorkflowId;

/// The state of a store, as far as retention depends on it.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The workflows, in the order of their ids.
    pub workflows: Vec<WorkflowFacts>,
    /// The temporary files in all directories.
    pub temporary_files: Vec<TemporaryFile>,
    /// The objects that are past the time of grace and that nothing refers to.
    pub objects: Vec<UnreferredObject>,
    /// The directories of workflows that could not be read, with the error. They are left alone.
    pub skipped: Vec<(PathBuf, String)>,
}

impl Snapshot {
    /// Returns the size of all live checkpoints.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.workflows.iter().flat_map(|facts| &facts.checkpoints).map(|facts| facts.bytes).sum()
    }
}

/// One workflow.
#[derive(Debug, Clone)]
pub struct WorkflowFacts {
    /// Its id.
    pub workflow: WorkflowId,
    /// Its highest number.
    pub newest: u64,
    /// Its newest entry.
    pub head: HeadFacts,
    /// The number of the first checkpoint of its newest run. Without meaning if the head is unreadable.
    pub run: u64,
    /// Its live checkpoints, oldest first.
    pub checkpoints: Vec<CheckpointFacts>,
    /// Its bundles, highest numbers first.
    pub bundles: Vec<BundleFacts>,
}

impl WorkflowFacts {
    pub(super) fn newest_details(&self) -> Option<&CheckpointDetails> {
        let newest = self.checkpoints.iter().find(|checkpoint| checkpoint.seq == self.newest)?;
        newest.details.as_ref()
    }
}

/// The newest entry of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadFacts {
    /// A checkpoint with this workflow status: the workflow is live.
    Checkpoint(WorkflowStatus),
    /// A seal with this workflow status, and the time of archiving: the workflow is archived.
    Seal(WorkflowStatus, Timestamp),
    /// An entry that cannot be read.
    Unreadable,
}

impl HeadFacts {
    /// Returns the status of the workflow, if it could be read.
    #[must_use]
    pub fn status(self) -> Option<WorkflowStatus> {
        match self {
            Self::Checkpoint(status) | Self::Seal(status, _) => Some(status),
            Self::Unreadable => None,
        }
    }
}

/// One live checkpoint.
#[derive(Debug, Clone)]
pub struct CheckpointFacts {
    /// Its number.
    pub seq: u64,
    /// The size of its file.
    pub bytes: u64,
    /// The members that retention depends on; `None` if the checkpoint cannot be read.
    pub details: Option<CheckpointDetails>,
}

/// The members of a checkpoint that retention depends on.
#[derive(Debug, Clone)]
pub struct CheckpointDetails {
    /// The number of the first checkpoint of its run.
    pub run: u64,
    /// The time of the save.
    pub saved_at: Timestamp,
    /// The reason for the save.
    pub trigger: Trigger,
    /// The phase it is about.
    pub phase: Option<PhaseId>,
    /// True if it must stay live.
    pub pinned: bool,
}

/// One bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFacts {
    /// Its name.
    pub name: BundleName,
    /// The size of its file.
    pub bytes: u64,
}

/// A file that is being written, or was when its writer was killed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TemporaryFile {
    /// The directory that holds it.
    pub directory: StoreDirectory,
    /// Its name.
    pub name: String,
    /// The time of its last modification.
    #[serde(skip)]
    pub modified: Timestamp,
}

/// An object that nothing refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreferredObject {
    /// The digest of its content.
    pub sha256: Digest,
    /// The size of its file.
    pub bytes: u64,
}

/// A directory of a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreDirectory {
    /// The root of the store.
    Root,
    /// The directory of undo records.
    Undo,
    /// The directory of a workflow.
    Workflow(WorkflowId),
    /// The directory of the bundles of a workflow.
    Archive(WorkflowId),
    /// The directory of all objects.
    Objects,
    /// The directory of the objects whose digests begin with these digits.
    Shard(String),
}
