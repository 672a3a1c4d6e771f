//! Why a file cannot be exported.

use std::io;

use crate::core::dialects::Dialect;
use crate::core::selector::Handle;

/// An export that failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The dialect cannot express the checkpoint.
    #[error("`{0}` cannot be written as {1}")]
    NotExpressible(Handle, Dialect),
    /// The file exists with another content.
    #[error("`{0}` exists and has another content")]
    Exists(String),
    /// A directory of the path is a link, or is not a directory.
    #[error("`{0}` is not a plain directory, and nothing is written through it")]
    NotADirectory(String),
    /// The path exists and is not a regular file.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    /// The operating system returned an error.
    #[error("cannot write `{0}`: {1}")]
    Io(String, io::Error),
}
