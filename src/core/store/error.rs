//! Everything that an operation on a store can refuse, as data.
//!
//! A variant is a decision that a caller can make; candidates, violations and paths are fields. Words for people, help
//! lines and exit codes are the business of the command line.

use std::io;
use std::path::PathBuf;

use super::bundle::BadBundle;
use super::deletion::DeletionReason;
use crate::core::cause::Cause;
use crate::core::change::ChangeError;
use crate::core::format::Unusable;
use crate::core::schema::Violation;
use crate::core::selector::Handle;
use crate::core::version::Version;
use crate::core::workflow_id::WorkflowId;

/// An operation on a store that was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no store here or above.
    #[error("no store found in `{}` or above", searched.display())]
    NoStore {
        /// Where the search began.
        searched: PathBuf,
    },
    /// The store that was named is not there.
    #[error("there is no store `{}`", path.display())]
    NoSuchStore {
        /// Where it would be.
        path: PathBuf,
    },
    /// The store was found by searching and belongs to somebody else.
    #[error("the store `{}` belongs to another user (uid {owner})", path.display())]
    ForeignStore {
        /// The store.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Something else stands where the store should be.
    #[error("`{}` is not a directory that can be a store: {why}", path.display())]
    NotAStore {
        /// What was found.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// There is no workflow of that name.
    #[error("there is no workflow `{given}`")]
    NoSuchWorkflow {
        /// The name asked for.
        given: WorkflowId,
        /// Workflows with similar names, the most similar first.
        similar: Vec<WorkflowId>,
    },
    /// Several workflows are the number asked for.
    #[error("`{given}` could be any of {} workflows", candidates.len())]
    Ambiguous {
        /// The name asked for.
        given: WorkflowId,
        /// What it could mean.
        candidates: Vec<WorkflowId>,
    },
    /// The workflow has no checkpoint of that number.
    #[error("there is no checkpoint `{asked}`")]
    NoSuchCheckpoint {
        /// What was asked for.
        asked: String,
        /// The newest one there is.
        newest: Handle,
    },
    /// The checkpoint was archived, and no bundle holds it.
    #[error("the content of `{handle}` {}", deleted.map_or("has left the live store, and no bundle holds it", DeletionReason::explanation))]
    Archived {
        /// The checkpoint.
        handle: Handle,
        /// The reason of its deletion record, if there is one.
        deleted: Option<DeletionReason>,
    },
    /// A bundle of the archive cannot be used.
    #[error("the bundle `{}` {why}", path.display())]
    DamagedBundle {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        why: BadBundle,
    },
    /// The file of a checkpoint cannot be used.
    #[error("checkpoint `{handle}` {}: `{}` {why}", if matches!(why, Unusable::Newer(_)) { "cannot be read" } else { "is damaged" }, path.display())]
    Damaged {
        /// The checkpoint.
        handle: Handle,
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        why: Unusable,
        /// The checkpoint before it, if there is one.
        before: Option<Handle>,
    },
    /// The newest checkpoint was written by a newer version, whose fields this one could get wrong.
    #[error("`{handle}` has format {version}, which this version can read but not continue")]
    NewerFormat {
        /// The checkpoint.
        handle: Handle,
        /// Its version.
        version: Version,
    },
    /// The change does not fit the workflow.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Another checkpoint is the newest one.
    #[error("expected the newest checkpoint to be `{expected}`, but it is {}", newest.as_ref().map_or("none".to_owned(), |newest| format!("`{newest}`")))]
    Conflict {
        /// What the caller took for the newest.
        expected: Handle,
        /// What is the newest.
        newest: Option<Handle>,
    },
    /// The key was used for a save that asked for something else.
    #[error("the key `{key}` was used for another save, `{handle}`")]
    KeyReused {
        /// The key.
        key: String,
        /// The save it belongs to.
        handle: Handle,
    },
    /// The data of a phase breaks the schema its pipeline declares.
    #[error("the data of phase `{phase}` does not match the schema of pipeline `{pipeline}`")]
    InvalidData {
        /// The phase.
        phase: String,
        /// The pipeline.
        pipeline: String,
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
    /// The checkpoint would be larger than this program reads.
    #[error("the checkpoint would have {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The store cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io {
        /// What was being done: `write`, `list`.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file system can neither link nor rename without replacing.
    #[error("the file system of `{}` has neither hard links nor a rename that does not replace", path.display())]
    UnsupportedFileSystem {
        /// The workflow's directory.
        path: PathBuf,
    },
    /// The checkpoint was written, but it is not certain that it survives a power loss, or that it can be found.
    #[error("`{handle}` was written, but it could not be confirmed: {why}")]
    Unconfirmed {
        /// The checkpoint.
        handle: Handle,
        /// Its file.
        path: PathBuf,
        /// What is uncertain.
        #[source]
        why: Cause,
    },
}

/// The result of an operation on a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;
