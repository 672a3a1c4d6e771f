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
    /// Files exist with another content.
    #[error("{} exist{} with another content", list(.0), if .0.len() == 1 { "s" } else { "" })]
    Exist(Vec<String>),
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

impl ExportError {
    /// Returns the path that it is about; of several files, the first.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::NotExpressible(..) => None,
            Self::Exist(paths) => paths.first().map(String::as_str),
            Self::NotADirectory(path) | Self::NotAFile(path) | Self::Io(path, _) => Some(path),
        }
    }
}

/// Returns a few paths for a message.
fn list(paths: &[String]) -> String {
    const MOST_NAMED: usize = 5;
    let named: Vec<String> = paths.iter().take(MOST_NAMED).map(|path| format!("`{path}`")).collect();
    match paths.len().saturating_sub(MOST_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
