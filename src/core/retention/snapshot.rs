//! What a cleanup decides about, as it was found.

use std::path::PathBuf;

use serde::Serialize;

use crate::core::bundle_name::BundleName;
use crate::core::checkpoint::WorkflowStatus;
use crate::core::phase::PhaseId;
use crate::core::time::Timestamp;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// What is in a store.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The workflows, in the order of their ids.
    pub workflows: Vec<WorkflowFacts>,
    /// Files that were being written, wherever they are.
    pub leftovers: Vec<Leftover>,
    /// The directories of workflows that could not be looked at, and why. Nothing is decided about them.
    pub skipped: Vec<(PathBuf, String)>,
}

/// One workflow.
#[derive(Debug, Clone)]
pub struct WorkflowFacts {
    /// Its id.
    pub workflow: WorkflowId,
    /// Its highest number.
    pub newest: u64,
    /// Where it stands.
    pub standing: Standing,
    /// Its live checkpoints, the oldest first.
    pub checkpoints: Vec<CheckpointFacts>,
    /// Its bundles, the highest numbers first.
    pub bundles: Vec<BundleFacts>,
}

/// Where a workflow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is live: its newest checkpoint says this.
    Live(WorkflowStatus),
    /// It is archived; a seal closes it.
    Sealed {
        /// The status that the seal records.
        status: WorkflowStatus,
        /// Whether the bundle that the seal names was never made, because the writer of the seal was killed.
        bundle_missing: bool,
    },
    /// Its newest checkpoint cannot be read.
    Unknown,
}

impl Standing {
    /// What the workflow says about itself, as far as that is known.
    #[must_use]
    pub fn status(self) -> Option<WorkflowStatus> {
        match self {
            Self::Live(status) | Self::Sealed { status, .. } => Some(status),
            Self::Unknown => None,
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
    /// What it says; none if it cannot be used.
    pub content: Option<Content>,
}

/// What retention goes by.
#[derive(Debug, Clone)]
pub struct Content {
    /// When it was saved.
    pub saved_at: Timestamp,
    /// Why it was saved.
    pub trigger: Trigger,
    /// The phase it is about.
    pub phase: Option<PhaseId>,
    /// Whether somebody asked that it stays.
    pub pinned: bool,
}

/// One bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFacts {
    /// Its name.
    pub name: BundleName,
    /// The size of its file.
    pub bytes: u64,
    /// Whether it may become part of a larger one: it can be read, holds no seal, and nothing that another one holds
    /// differently.
    pub mergeable: bool,
}

/// A file that was being written when somebody was stopped, or is being written now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Leftover {
    /// Where it is.
    pub place: Place,
    /// Its name.
    pub name: String,
    /// When it was last written.
    #[serde(skip)]
    pub modified: Timestamp,
}

/// A directory of a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The store itself.
    Store,
    /// The directory of a workflow.
    Workflow(WorkflowId),
    /// The directory of the bundles of a workflow.
    Archive(WorkflowId),
}
