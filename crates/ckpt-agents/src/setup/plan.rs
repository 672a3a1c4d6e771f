//! Decides what to do about a file, without I/O.

use std::path::PathBuf;

use super::error::SetupError;
use super::gather::Found;
use super::parts::Part;

/// A file to write or to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path as the user knows it.
    pub path: PathBuf,
    /// The file itself, after following links.
    pub file: PathBuf,
    /// Its present text; `None` if there is no file.
    pub now: Option<String>,
    /// Its text after the change; `None` if it is to be removed.
    pub next: Option<String>,
    /// The text to keep for a later removal; `None` if there was no file. Only of use if something of ours is added.
    pub before: Option<String>,
    /// True if something of ours is added, false if it is taken out.
    pub adds: bool,
}

/// Plans to put a part into its file; none if it is there already.
///
/// # Errors
/// The file is not valid in its format.
pub fn plan_addition(found: &Found) -> Result<Option<FileChange>, SetupError> {
    let Found { part, file, text, record } = found;
    let next = part.kind.added_to(text.as_deref()).map_err(|why| unreadable(part, why))?;
    if text.as_ref() == Some(&next) {
        return Ok(None);
    }
    let before = match (text, record) {
        (Some(text), Some(record)) if record.after == *text => record.before.clone(),
        // With a record, a text that is not what was written is somebody's work, also if it begins like ours.
        (Some(text), None) if part.kind.is_older(text) => None,
        // What is there already was put there by somebody else, also if it reads like a part of ours.
        (Some(text), _) if !part.kind.is_in(text) => Some(text.clone()),
        (Some(text), _) => part.kind.taken_from(text).map_err(|why| unreadable(part, why))?,
        (None, _) => None,
    };
    Ok(Some(FileChange {
        path: part.path.clone(),
        file: file.clone(),
        now: text.clone(),
        next: Some(next),
        before,
        adds: true,
    }))
}

/// Plans to take a part out of its file; none if it is not there. If nobody else has changed the file, it becomes what it
/// was, byte for byte.
///
/// # Errors
/// The file is not valid in its format.
pub fn plan_removal(found: &Found) -> Result<Option<FileChange>, SetupError> {
    let Found { part, file, text, record } = found;
    let Some(text) = text else { return Ok(None) };
    let next = match record {
        Some(record) if record.after == *text => record.before.clone(),
        _ => part.kind.taken_from(text).map_err(|why| unreadable(part, why))?,
    };
    if next.as_ref() == Some(text) {
        return Ok(None);
    }
    Ok(Some(FileChange {
        path: part.path.clone(),
        file: file.clone(),
        now: Some(text.clone()),
        next,
        before: None,
        adds: false,
    }))
}

fn unreadable(part: &Part, why: String) -> SetupError {
    SetupError::Unreadable { path: part.path.clone(), why }
}
