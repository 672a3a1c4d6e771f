//! The reasons why checkpoints cannot be exported.

use crate::dialects::Dialect;
use ckpt_model::selector::Handle;
use ckpt_store::place::PlaceError;

/// An export that failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The dialect cannot express the checkpoint.
    #[error("`{0}` cannot be written as {1}")]
    NotExpressible(Handle, Dialect),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] PlaceError),
}
