//! Tasks: the units of work inside a phase.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::{InvalidName, check_name, name_from_text};
use super::phase::{PhaseId, PhaseStatus};
use super::record::record;
use super::time::Timestamp;

/// The most tasks a workflow can have.
pub const MAX_TASKS: usize = 100_000;

/// The characters that no id has, because a command line says `a=running,after=b+c`.
const FORBIDDEN: &[char] = &[',', '=', '+'];

/// Names a task, unique in its workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct TaskId(String);

impl TaskId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Makes an id of a sentence; none if nothing of it can be seen.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        name_from_text(text, FORBIDDEN).map(Self)
    }
}

impl FromStr for TaskId {
    type Err = InvalidName;

    fn from_str(given: &str) -> Result<Self, InvalidName> {
        given.to_owned().try_into()
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidName;

    fn try_from(given: String) -> Result<Self, InvalidName> {
        check_name("a task", &given, FORBIDDEN)?;
        Ok(Self(given))
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun and not finished.
    Running,
    /// Finished.
    Complete,
    /// Tried and not achieved.
    Failed,
    /// Left out on purpose.
    Skipped,
}

impl TaskStatus {
    /// True if tasks that depend on it may begin.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::Complete | Self::Skipped)
    }

    /// The word for it in files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl From<PhaseStatus> for TaskStatus {
    fn from(status: PhaseStatus) -> Self {
        match status {
            PhaseStatus::Pending => Self::Pending,
            PhaseStatus::InProgress => Self::Running,
            PhaseStatus::Complete => Self::Complete,
            PhaseStatus::Failed => Self::Failed,
            PhaseStatus::Skipped => Self::Skipped,
        }
    }
}

record! {
    /// One task of a phase.
    pub struct Task {
        /// Its id.
        required id: TaskId,
        /// The phase it belongs to.
        optional phase: Option<PhaseId>,
        /// Where it stands.
        required status: TaskStatus,
        /// The tasks that must be done before it.
        optional depends_on: Vec<TaskId>,
        /// How often it was begun.
        optional attempts: u32,
        /// The file it writes when it is done, relative to the project.
        optional output: Option<String>,
        /// Why it failed.
        optional error: Option<String>,
        /// When the last attempt began.
        optional started_at: Option<Timestamp>,
        /// When it was finished.
        optional completed_at: Option<Timestamp>,
    }
}

impl Task {
    /// A task that has not begun.
    #[must_use]
    pub fn pending(id: TaskId, phase: Option<PhaseId>) -> Self {
        Self {
            id,
            phase,
            status: TaskStatus::Pending,
            depends_on: Vec::new(),
            attempts: 0,
            output: None,
            error: None,
            started_at: None,
            completed_at: None,
            extra: Default::default(),
        }
    }

    /// Moves to `status` at `now`; the same rules as for a phase.
    pub fn enter(&mut self, status: TaskStatus, now: Timestamp) {
        if status == self.status {
            return;
        }
        let begins = status == TaskStatus::Running;
        if begins || (self.attempts == 0 && matches!(status, TaskStatus::Complete | TaskStatus::Failed)) {
            self.attempts = self.attempts.saturating_add(1);
        }
        if begins {
            self.started_at = Some(now);
        }
        self.completed_at = status.is_done().then_some(now);
        if status != TaskStatus::Failed {
            self.error = None;
        }
        self.status = status;
    }
}
