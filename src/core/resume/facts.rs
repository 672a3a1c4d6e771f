//! Facts about the world: what is there, without a word on what it means.

use std::collections::HashMap;

use crate::core::task::TaskStatus;

/// What the world looks like now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The recorded artifacts, in the order of the checkpoint.
    pub artifacts: Vec<Condition>,
    /// The promised outputs, by path. A path that is not listed is missing.
    pub outputs: HashMap<String, OutputFact>,
    /// The outputs of running tasks, by path. A path that is not listed is missing.
    pub task_outputs: HashMap<String, TaskOutput>,
    /// The watched files, in the order of the checkpoint.
    pub watched: Vec<Watched>,
    /// The git checkout; none if there is none.
    pub git: Option<GitFact>,
    /// The session that asks; none if it is not an agent's.
    pub session: Option<String>,
    /// The newest checkpoint, if it is damaged and an older one is judged: its handle, its file, what is wrong.
    pub damaged_newest: Option<(String, String, String)>,
    /// The newest checkpoint, if an older one is judged because somebody asked for it.
    pub newest: Option<String>,
    /// Why the workflow was archived, if it was.
    pub archived: Option<String>,
}

/// What became of a recorded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The same content.
    Unchanged,
    /// Another content.
    Changed,
    /// Not there, or outside the project.
    Missing,
    /// There, but it cannot be read.
    Unreadable,
}

impl Condition {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What is at the path of a promised output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputFact {
    /// A file that satisfies its schema, or a directory with something in it.
    Valid,
    /// Something that does not; why.
    Invalid(String),
}

/// What is at the path of a task's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskOutput {
    /// The status it reports; none if it reports none.
    pub status: Option<TaskStatus>,
}

/// What became of a watched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// The same content, or still missing.
    Same,
    /// Another content, or gone, or there for the first time.
    Changed,
}

/// The git checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitFact {
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Whether the recorded branch exists; none if that cannot be told.
    pub recorded_branch_exists: Option<bool>,
}
