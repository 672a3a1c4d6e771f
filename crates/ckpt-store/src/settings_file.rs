//! Reading of settings files.

use std::path::{Path, PathBuf};

use super::files::{FileProblem, read_regular};
use ckpt_model::config::Config;
use ckpt_platform as platform;

const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// A settings file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("`{}` {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        problem: FileProblem,
    },
    /// Its content is invalid.
    #[error("`{}`: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem, with line and column if known.
        message: String,
    },
}

/// Loads the settings of a store; `None` if there are none. A link is refused: it could lead out of the store.
///
/// # Errors
/// The file cannot be read or is invalid.
pub fn load(path: &Path) -> Result<Option<Config>, ConfigError> {
    parse(path, read_regular(path, MAX_CONFIG_BYTES))
}

/// Loads the settings of the user; `None` if there are none. Links are followed: they are how a dotfile manager
/// installs the file.
///
/// # Errors
/// The file cannot be read or is invalid.
pub fn load_user(path: &Path) -> Result<Option<Config>, ConfigError> {
    let mut content = read_regular(path, MAX_CONFIG_BYTES);
    if matches!(content, Err(FileProblem::NotAFile)) {
        let real = platform::canonicalize(path).map_err(FileProblem::from);
        content = real.and_then(|real| read_regular(&real, MAX_CONFIG_BYTES));
    }
    parse(path, content)
}

fn parse(path: &Path, content: Result<Vec<u8>, FileProblem>) -> Result<Option<Config>, ConfigError> {
    let bytes = match content {
        Ok(bytes) => bytes,
        Err(FileProblem::Missing) => return Ok(None),
        Err(problem) => return Err(ConfigError::File { path: path.to_owned(), problem }),
    };
    let invalid = |message: String| ConfigError::Invalid { path: path.to_owned(), message };
    let text = String::from_utf8(bytes).map_err(|_| invalid("not valid UTF-8".to_owned()))?;
    Config::parse(&text).map(Some).map_err(invalid)
}
