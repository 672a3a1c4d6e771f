//! Why a foreign file cannot be adopted.

use crate::core::dialects::MAX_SOURCE_DEPTH;
use crate::core::files::FileProblem;
use crate::core::format::Unusable;
use crate::core::json::InvalidJson;
use crate::core::store;
use crate::core::workflow_id::WorkflowId;

/// An import that did not work.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be imported.
    #[error("`{name}` {problem}")]
    Source {
        /// The file, as it was named.
        name: String,
        /// What is in the way.
        #[source]
        problem: SourceProblem,
    },
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Says what is in the way. The file itself stays as it is, always.
#[derive(Debug, thiserror::Error)]
pub enum SourceProblem {
    /// It cannot be read.
    #[error("{0}")]
    File(#[from] FileProblem),
    /// It is no document from beginning to end.
    #[error("is damaged: {0}")]
    Damaged(#[from] InvalidJson),
    /// It is nested so deeply that its content could not be edited any more.
    #[error("is nested deeper than {MAX_SOURCE_DEPTH} levels")]
    TooDeep,
    /// It is a checkpoint of this program, and a bad one.
    #[error("{0}")]
    Unusable(#[from] Unusable),
    /// Nothing in it is about work in phases.
    #[error("is no checkpoint that can be recognised: it names no phases, no status and nothing to do next")]
    NotACheckpoint,
    /// It says that there is nothing.
    #[error("says that there is nothing to be done")]
    Idle,
    /// Neither its content nor its name says which workflow it belongs to.
    #[error("does not say which workflow it belongs to")]
    NoName,
    /// It changed while it was being read.
    #[error("changed while it was being read")]
    Changed,
    /// The workflow it belongs to has another history.
    #[error("belongs to `{workflow}`, {why}")]
    Collision {
        /// The workflow.
        workflow: WorkflowId,
        /// What is there.
        why: String,
    },
}

impl SourceProblem {
    /// Names the file that has the problem.
    #[must_use]
    pub fn of(self, source: &str) -> ImportError {
        ImportError::Source { name: source.to_owned(), problem: self }
    }
}
