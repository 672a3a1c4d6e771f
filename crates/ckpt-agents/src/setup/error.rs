//! The reasons why a host cannot be set up.

use std::io;
use std::path::PathBuf;

/// The reason why a file of a host was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// It is not valid in its format.
    #[error("`{}` cannot be edited: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The first thing that is wrong with it.
        why: String,
    },
    /// It is a link that leads out of the project.
    #[error("`{}` is a link that leads out of the project", path.display())]
    Outside {
        /// The link.
        path: PathBuf,
    },
    /// It changed after the plan was made.
    #[error("`{}` changed in the meantime", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("`{}` cannot be read or written: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl SetupError {
    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::Unreadable { path, .. } | Self::Outside { path } | Self::Changed { path } | Self::Io { path, .. } => {
                path
            }
        }
    }
}
