//! The errors of store operations, as data.
//!
//! Each variant is a case that a caller may treat differently; candidates, violations and paths are fields. Help lines
//! and exit codes belong to the command line.

use std::io;
use std::path::PathBuf;

use super::adopt::MOST_FILLED;
use super::bundle::BadBundle;
use super::objects::BadObject;
use ckpt_model::cause::Cause;
use ckpt_model::change::ChangeError;
use ckpt_model::format::Unusable;
use ckpt_model::reason::DeletionReason;
use ckpt_model::schema::Violation;
use ckpt_model::selector::Handle;
use ckpt_model::version::Version;
use ckpt_model::workflow_id::WorkflowId;

/// The error of a store operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no store here or above.
    #[error("no store found in `{}` or above", searched.display())]
    NoStore {
        /// The directory where the search began.
        searched: PathBuf,
    },
    /// The named store does not exist.
    #[error("there is no store `{}`", path.display())]
    NoSuchStore {
        /// The path that was named.
        path: PathBuf,
    },
    /// The store was found by searching, but belongs to another user.
    #[error("the store `{}` belongs to another user (uid {owner})", path.display())]
    ForeignStore {
        /// The store.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// A link or a file has the name of a directory of the store.
    #[error("`{}` is not a directory that can be a store: {why}", path.display())]
    NotAStore {
        /// Its path.
        path: PathBuf,
        /// The reason why it cannot be used.
        why: &'static str,
    },
    /// There is no workflow of that id.
    #[error("there is no workflow `{id}`")]
    NoSuchWorkflow {
        /// The id.
        id: WorkflowId,
        /// Workflows with similar names, the most similar first.
        similar: Vec<WorkflowId>,
    },
    /// There is no undo record of a plan, or there are records of several plans.
    #[error("{} begin with `{}`", if *plans == 0 { "no recorded plans" } else { "several recorded plans" }, plan.escape_debug())]
    NoUndoRecord {
        /// The beginning of the fingerprint.
        plan: String,
        /// The number of plans that match.
        plans: usize,
    },
    /// A workflow whose content is to be deleted is not archived.
    #[error("`{workflow}` is not archived")]
    NotArchived {
        /// The workflow.
        workflow: WorkflowId,
    },
    /// Several workflows match the number.
    #[error("`{id}` could be any of {} workflows", candidates.len())]
    Ambiguous {
        /// The id.
        id: WorkflowId,
        /// The workflows that it matches.
        candidates: Vec<WorkflowId>,
    },
    /// Several stores have used the number.
    #[error("`{asked}` could be any of {} checkpoints: the workflow was continued in several places", candidates.len())]
    AmbiguousNumber {
        /// The checkpoint as named.
        asked: Handle,
        /// The checkpoints of that number.
        candidates: Vec<Handle>,
    },
    /// The workflow has no checkpoint of that number.
    #[error("there is no checkpoint `{asked}`")]
    NoSuchCheckpoint {
        /// The selector.
        asked: String,
        /// The head.
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
        /// The reason.
        #[source]
        why: BadBundle,
    },
    /// The kept content of an artifact cannot be used.
    #[error("the object `{}` {why}", path.display())]
    DamagedObject {
        /// Its file.
        path: PathBuf,
        /// The reason.
        #[source]
        why: BadObject,
    },
    /// The file of a checkpoint cannot be used.
    #[error("checkpoint `{handle}` {}: `{}` {why}", if matches!(why, Unusable::Newer(_)) { "cannot be read" } else { "is damaged" }, path.display())]
    Damaged {
        /// The checkpoint.
        handle: Handle,
        /// Its file.
        path: PathBuf,
        /// The reason.
        #[source]
        why: Unusable,
        /// The newest usable checkpoint below it.
        before: Option<Handle>,
    },
    /// The head was written by a newer version, whose members this one could get wrong.
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
    /// The head is not the expected one.
    #[error("expected the newest checkpoint to be `{expected}`, but it is {}", newest.as_ref().map_or("none".to_owned(), |newest| format!("`{newest}`")))]
    Conflict {
        /// The head that the caller expected.
        expected: Handle,
        /// The actual head.
        newest: Option<Handle>,
    },
    /// The key was used for a save with another change.
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
        /// All violations.
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
    /// The head has the highest number that there is, so nothing can follow it.
    #[error("`{handle}` has the highest number that there is, so no checkpoint can follow it")]
    LastNumber {
        /// The head.
        handle: Handle,
        /// Its file.
        path: PathBuf,
    },
    /// So many numbers below an entry are free that they are not filled.
    #[error("`{handle}` is far above the others: more than {MOST_FILLED} numbers below it are free")]
    FarAbove {
        /// The entry.
        handle: Handle,
    },
    /// The next number was free each time that it was looked up, and taken each time that it was claimed.
    #[error("the number of `{handle}` could not be taken in {attempts} attempts: `{}` exists each time", path.display())]
    NumberTaken {
        /// The checkpoint that was to be written.
        handle: Handle,
        /// Its file.
        path: PathBuf,
        /// The number of attempts.
        attempts: u32,
    },
    /// The temporary file of a save was removed each time before it could be published.
    #[error("another process removed the temporary file of this save {attempts} times, in `{}`", directory.display())]
    StagedRemoved {
        /// The workflow's directory.
        directory: PathBuf,
        /// The number of attempts.
        attempts: u32,
    },
    /// The store cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io {
        /// The operation: `write`, `list`.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file system can neither link nor rename without replacing.
    #[error("the file system of `{}` has neither hard links nor a rename that does not replace", path.display())]
    UnsupportedFileSystem {
        /// The workflow's directory.
        path: PathBuf,
    },
    /// The checkpoint was published, but it may not survive a power loss, or readers may not find it.
    #[error("`{handle}` was written, but it could not be confirmed: {why}")]
    Unconfirmed {
        /// The checkpoint.
        handle: Handle,
        /// Its file.
        path: PathBuf,
        /// The reason.
        #[source]
        why: Cause,
    },
}

/// The result of an operation on a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;
