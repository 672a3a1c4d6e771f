//! Why a foreign file cannot be imported.

use crate::dialects::{MAX_SOURCE_DEPTH, Undecided};
use ckpt_model::format::Unusable;
use ckpt_model::json::InvalidJson;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store as store;
use ckpt_store::files::FileProblem;
use ckpt_store::settings_file::ConfigError;

/// An import that failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be imported.
    #[error("`{name}` {error}")]
    Source {
        /// The name of the file.
        name: String,
        /// The reason.
        #[source]
        error: SourceError,
    },
    /// The settings of the store cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// A file that cannot be imported. The file itself is never changed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It cannot be read.
    #[error("{0}")]
    File(#[from] FileProblem),
    /// It is not a complete document.
    #[error("is damaged: {0}")]
    Damaged(#[from] InvalidJson),
    /// It is nested too deeply to be stored in the state of a checkpoint.
    #[error("is nested deeper than {MAX_SOURCE_DEPTH} levels")]
    TooDeep,
    /// It is a checkpoint of this program that cannot be used.
    #[error("{0}")]
    Unusable(#[from] Unusable),
    /// It does not describe work in phases.
    #[error("is not a checkpoint that can be recognised: it has no list of work, no current phase and no total")]
    NotACheckpoint,
    /// It is about work, and does not say where that stands.
    #[error("does not say where to continue: {}", .0.why)]
    CannotTell(Undecided),
    /// It is a database.
    #[error("is an SQLite database, which cannot be read")]
    Sqlite,
    /// It records that no work is in progress.
    #[error("says that there is nothing to be done")]
    Idle,
    /// Neither its content nor its name can be turned into a workflow id.
    #[error("does not say which workflow it belongs to")]
    NoName,
    /// Its workflow has another history.
    #[error("belongs to `{workflow}`, {why}")]
    Collision {
        /// The workflow.
        workflow: WorkflowId,
        /// The other history, as the rest of a sentence.
        why: String,
    },
}

impl SourceError {
    /// Adds the name of the file.
    #[must_use]
    pub fn of(self, name: &str) -> ImportError {
        ImportError::Source { name: name.to_owned(), error: self }
    }
}
