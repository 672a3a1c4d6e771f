//! The reasons why checkpoints cannot be exported.

use crate::core::dialects::Dialect;
use crate::core::place::PlaceError;
use crate::core::selector::Handle;

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
