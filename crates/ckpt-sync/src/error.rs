//! The errors of an exchange with a remote.

use super::key::Key;
use super::remote::Failure;
use ckpt_model::format::Unusable;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store as store;
use ckpt_store::BadBundle;

/// The error of an exchange with a remote.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The remote does not do what was asked.
    #[error("the remote: {0}")]
    Remote(Failure),
    /// An object of the remote is not what its name says. Nothing of it was used.
    #[error("the object `{key}` of the remote {why}")]
    Damaged {
        /// The object.
        key: Key,
        /// The reason.
        #[source]
        why: Unusable,
    },
    /// A bundle of the remote cannot be used. Nothing of it was used, and nothing was emptied.
    #[error("the bundle `{key}` of the remote {why}")]
    DamagedBundle {
        /// The object.
        key: Key,
        /// The reason.
        #[source]
        why: BadBundle,
    },
    /// The remote has another bundle under the same name. Nothing was emptied.
    #[error("the remote has another bundle as `{key}`")]
    OtherBundle {
        /// The object.
        key: Key,
    },
    /// The account may not replace objects, which only the janitor of a remote does.
    #[error("the remote does not let this account empty checkpoints: {0}")]
    NotAJanitor(String),
    /// The remote has another layout than this program knows.
    #[error("the remote has the layout `{}`, and this program knows `{}`", found.escape_debug(), super::layout::FORMAT_TEXT.trim_end())]
    Layout {
        /// The beginning of what it says.
        found: String,
    },
    /// A checkpoint that was to be pushed has a secret in it.
    #[error("`{handle}` has a secret in it, at `{}` (rule {rule}); nothing from there on was pushed", pointer.escape_debug())]
    Secret {
        /// The checkpoint.
        handle: Handle,
        /// The JSON pointer of the value.
        pointer: String,
        /// The rule that recognises it.
        rule: &'static str,
    },
    /// The names on the remote were taken by others each time.
    #[error("other stores took the names of `{workflow}` on the remote each time, in {attempts} attempts")]
    Contended {
        /// The workflow.
        workflow: WorkflowId,
        /// The number of attempts.
        attempts: u32,
    },
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Remote(failure)
    }
}

/// The result of an exchange with a remote.
pub type Result<T, E = Error> = std::result::Result<T, E>;
