//! Facts about the world around a checkpoint, without any judgement.

use std::collections::HashMap;
use std::fmt;

use crate::external::ComparedFact;
use crate::selector::Handle;
use crate::session_note::SessionNote;
use crate::task::{TaskId, TaskStatus};
use crate::text_diff::TextDiff;
use crate::time::Timestamp;

/// The observed state of everything that a checkpoint refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The recorded artifacts, in the order of the checkpoint.
    pub artifacts: Vec<FileCondition>,
    /// The artifacts whose contents are kept, by name.
    pub kept: HashMap<String, KeptContent>,
    /// The outputs of phases, by path. A path that is not listed is missing.
    pub outputs: HashMap<String, OutputFact>,
    /// The outputs of running tasks, by path, with the status that each reports. A path that is not listed is missing.
    pub task_outputs: HashMap<String, Option<TaskStatus>>,
    /// The complete tasks whose output is missing.
    pub lost_task_outputs: Vec<TaskId>,
    /// The watched files, in the order of the checkpoint: unchanged, changed or missing. Appearing is a change.
    pub watched: Vec<FileCondition>,
    /// The touched files, in the order of the checkpoint.
    pub touched: Vec<FileCondition>,
    /// The git checkout; `None` outside of one.
    pub git: Option<GitFact>,
    /// The external facts, compared with the documents that were given.
    pub external: Vec<ComparedFact>,
    /// The session of the calling agent, if there is one.
    pub session: Option<String>,
    /// The notes of the other sessions that have to do with the workflow.
    pub sessions: Vec<SessionNote>,
    /// Where else the workflow was continued, and how it compares with the remote.
    pub sharing: Sharing,
    /// How the checkpoint was chosen.
    pub selection: Selection,
}

/// Where else a workflow was continued, and how it compares with the remote, as far as this store knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sharing {
    /// The heads beside that of this store.
    pub heads: Vec<OtherHead>,
    /// The checkpoints of the remote that this store was seen to lack.
    pub behind: u64,
    /// The checkpoints that the remote does not have.
    pub unpushed: u64,
    /// The reason why the remote could not be asked, if it was to be.
    pub unreachable: Option<String>,
}

/// A head beside that of this store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherHead {
    /// Its name.
    pub handle: Handle,
    /// The time of its save.
    pub saved_at: Timestamp,
    /// The machine or agent that saved it.
    pub writer: Option<String>,
    /// How far the work is there.
    pub progress: String,
    /// The difference to the head of this store, in a few words.
    pub differs: String,
}

/// How a checkpoint was chosen among those of its workflow. The default is: it is the newest one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The newest checkpoint, if it is damaged and an older one was chosen instead.
    pub damaged_newest: Option<DamagedNewest>,
    /// The handle of the newest checkpoint, if an older one was requested.
    pub newest: Option<String>,
    /// The reason of the archive, if the workflow is archived.
    pub archived: Option<String>,
}

/// A newest checkpoint that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedNewest {
    /// Its handle.
    pub handle: String,
    /// Its file.
    pub path: String,
    /// The damage, as the end of a sentence that begins with the path.
    pub problem: String,
}

impl fmt::Display for DamagedNewest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handle, path, problem } = self;
        write!(f, "the newest checkpoint {handle} is damaged and was left alone: {path} {problem}")
    }
}

/// The state of a recorded file, compared with its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileCondition {
    /// The same content.
    Unchanged,
    /// Another content.
    Changed,
    /// Not found, or outside the project.
    Missing,
    /// It exists but cannot be read.
    Unreadable,
    /// It exists, and what it was is not known.
    NotCompared,
}

impl FileCondition {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::NotCompared => "not compared",
        }
    }
}

/// The kept content of an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptContent {
    /// How the file differs from it, if both are text.
    pub diff: Option<TextDiff>,
}

/// The state of an existing output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputFact {
    /// A file that satisfies its schema, or a directory that is not empty.
    Valid,
    /// Anything else, with the reason.
    Invalid(String),
}

/// The git checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitFact {
    /// The current branch.
    pub branch: Option<String>,
    /// True if the recorded branch exists; `None` if unknown.
    pub recorded_branch_exists: Option<bool>,
}
