//! Why a file cannot be exported.

use std::io;

use crate::core::dialects::Dialect;
use crate::core::selector::Handle;

/// Says what is in the way.
#[derive(Debug, thiserror::Error)]
pub enum ExportProblem {
    /// The dialect has no way to say it.
    #[error("`{0}` cannot be written as {1}")]
    NotExpressible(Handle, Dialect),
    /// Something else is there already.
    #[error("`{0}` exists and has another content")]
    Exists(String),
    /// The way leads through a link, or through something that is no directory.
    #[error("`{0}` is not a plain directory, and nothing is written through it")]
    NotADirectory(String),
    /// Something that is no regular file has the name.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    /// The operating system refuses.
    #[error("cannot write `{0}`: {1}")]
    Io(String, io::Error),
}
