//! Bringing back artifacts whose contents were kept.
//!
//! The paths come from a checkpoint, so they are untrusted: nothing is written outside of the project, through a link, into
//! a store or into the directory of git. A file with another content is left alone, or with `force` renamed first.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Serialize;

use ckpt_model::checkpoint::{Artifact, Checkpoint};

use super::files::{FileAt, FileProblem};
use super::place::{FileContent, PlaceError, place};
use crate as store;
use crate::{Disk, MAX_OBJECT_BYTES, Store};
use ckpt_model::paths::is_inside_project;
use ckpt_model::size::Size;
use ckpt_platform::FileKind;

/// How many copies of one file are kept.
const MOST_COPIES: u32 = 1_000;
/// The characters that HFS+ ignores in names, and others that nobody sees.
const INVISIBLE: [RangeInclusive<char>; 4] =
    ['\u{200b}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2060}'..='\u{206f}', '\u{feff}'..='\u{feff}'];

/// The effect on one artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactStep {
    /// Its name.
    pub name: String,
    /// Its path, relative to the project.
    pub path: String,
    /// The effect.
    pub action: ArtifactAction,
    /// The path under which the file is kept that was there.
    pub copy: Option<String>,
}

/// The effect on an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactAction {
    /// It is as it was recorded.
    Unchanged,
    /// It is missing, and is brought back.
    Restore,
    /// It has changed; a copy is kept, and it is brought back.
    Replace,
    /// It has changed, and is left alone.
    LeaveChanged,
    /// It is missing or has changed, and its content was not kept.
    NotKept,
    /// A link, a directory or something else has its place, or nothing may be written there.
    Refuse,
}

/// A failure to bring an artifact back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The store cannot be read, or the content is damaged.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] PlaceError),
}

/// Decides what to do about each artifact of a checkpoint, without writing.
///
/// # Errors
/// The store cannot be read.
pub fn plan<D: Disk>(
    store: &Store<D>,
    checkpoint: &Checkpoint,
    force: bool,
    limit: Size,
) -> store::Result<Vec<ArtifactStep>> {
    let mut steps = Vec::new();
    for artifact in &checkpoint.content.artifacts {
        let is_kept = match artifact.object() {
            Some(object) => store.has_object(&object)?,
            None => false,
        };
        let action = match present(store, artifact, limit) {
            Present::Same => ArtifactAction::Unchanged,
            Present::Missing | Present::Other if !is_kept => ArtifactAction::NotKept,
            Present::Missing => ArtifactAction::Restore,
            Present::Other if force => ArtifactAction::Replace,
            Present::Other => ArtifactAction::LeaveChanged,
            Present::Foreign => ArtifactAction::Refuse,
        };
        let (name, path) = (artifact.name.clone(), artifact.path.clone());
        steps.push(ArtifactStep { name, path, action, copy: None });
    }
    Ok(steps)
}

/// Carries out a plan for the same checkpoint, and adds the paths of copies to it. Files that appear meanwhile are not
/// replaced.
///
/// # Errors
/// A content is damaged, or a file cannot be written. The files before it were brought back. Where a file is under another
/// name now, its step has that name.
pub fn apply<D: Disk>(
    store: &Store<D>,
    checkpoint: &Checkpoint,
    steps: &mut [ArtifactStep],
) -> Result<(), RestoreError> {
    let mode = store.mode()?;
    for (step, artifact) in steps.iter_mut().zip(&checkpoint.content.artifacts) {
        if !matches!(step.action, ArtifactAction::Restore | ArtifactAction::Replace) {
            continue;
        }
        let object = artifact.object().map(|object| store.read_object(&object, MAX_OBJECT_BYTES)).transpose()?;
        let Some(content) = object.flatten() else {
            step.action = ArtifactAction::NotKept;
            continue;
        };
        if step.action == ArtifactAction::Replace {
            step.copy = Some(move_aside(store.project(), &step.path)?);
        }
        let placed = place(store.project(), &step.path, &FileContent::Bytes(content), false, mode);
        if let (Err(_), Some(copy)) = (&placed, &step.copy)
            && move_back(store.project(), copy, &step.path)
        {
            step.copy = None;
        }
        placed?;
    }
    Ok(())
}

/// The state of the path of an artifact.
enum Present {
    Same,
    Missing,
    /// A file with another content.
    Other,
    /// Something that is never replaced, or a place where nothing is written.
    Foreign,
}

fn present<D: Disk>(store: &Store<D>, artifact: &Artifact, limit: Size) -> Present {
    if !is_writable_place(store, &artifact.path) {
        return Present::Foreign;
    }
    let file = match FileAt::below(store.project(), Path::new(&artifact.path)) {
        Ok(file) => file,
        Err(FileProblem::Missing) if leads_nowhere(store.project(), &artifact.path) => {
            return Present::Missing;
        }
        Err(_) => return Present::Foreign,
    };
    match file.kind() {
        Ok(None) => Present::Missing,
        Ok(Some(FileKind::File)) => match file.hash(limit.0) {
            Ok((_, digest)) if artifact.sha256 == Some(digest) => Present::Same,
            Ok(_) | Err(FileProblem::TooLarge(_)) => Present::Other,
            Err(_) => Present::Foreign,
        },
        Ok(Some(_)) | Err(_) => Present::Foreign,
    }
}

/// Returns true if a directory of a path is missing, and nothing else has its place.
fn leads_nowhere(project: &Path, path: &str) -> bool {
    let above: Vec<&Path> = Path::new(path).ancestors().skip(1).collect();
    for dir in above.into_iter().rev().filter(|dir| !dir.as_os_str().is_empty()) {
        match FileAt::below(project, dir).map(|dir| dir.kind()) {
            Ok(Ok(Some(FileKind::Directory))) => {}
            Ok(Ok(None)) => return true,
            _ => return false,
        }
    }
    false
}

/// Returns true if a path is inside the project, and neither in a store nor in the directory of git, whose files have
/// effects of their own.
fn is_writable_place<D: Disk>(store: &Store<D>, path: &str) -> bool {
    let own = store.root();
    let own = own.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let forbidden = [".git", store::STORE_NAME, own];
    is_inside_project(path) && !path.split(['/', '\\']).any(|part| may_lead_to(part, &forbidden))
}

/// Returns true if a part of a path may be one of these names on some file system. There are those that ignore case,
/// invisible characters, or dots and spaces at the end; Windows has short names (`GIT~1`), and streams behind a colon. A
/// checkpoint may come from another system, so the answer is the same on all.
fn may_lead_to(part: &str, names: &[&str]) -> bool {
    let is_visible = |c: &char| !INVISIBLE.iter().any(|range| range.contains(c));
    let part: String = part.chars().filter(is_visible).flat_map(char::to_lowercase).collect();
    let part = part.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    names.iter().map(|name| name.to_lowercase()).any(|name| {
        let stem: String = name.trim_start_matches('.').chars().take_while(|c| *c != '.').take(6).collect();
        let number = part.strip_prefix(&stem).and_then(|rest| rest.strip_prefix('~'));
        part == name || number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Renames a file to a name beside it that is free. Returns the path.
fn move_aside(project: &Path, path: &str) -> Result<String, PlaceError> {
    let failed = |error: io::Error| PlaceError::Io(path.to_owned(), error);
    let file = FileAt::below(project, Path::new(path)).map_err(|problem| match problem {
        FileProblem::Io(error) => failed(error),
        _ => PlaceError::NotAFile(path.to_owned()),
    })?;
    let name = file.name().display().to_string();
    for attempt in 0..MOST_COPIES {
        let copy = match attempt {
            0 => format!("{name}.orig"),
            _ => format!("{name}.orig.{attempt}"),
        };
        match file.dir().rename_new(file.name(), file.dir(), &copy) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => {
                renamed.map_err(failed)?;
                return Ok(match path.rsplit_once('/') {
                    Some((above, _)) => format!("{above}/{copy}"),
                    None => copy,
                });
            }
        }
    }
    Err(failed(io::ErrorKind::AlreadyExists.into()))
}

/// Renames a file that was moved aside to what it was. Returns false if it cannot be done, or another file has its name.
fn move_back(project: &Path, copy: &str, path: &str) -> bool {
    let (Ok(copy), Some(name)) = (FileAt::below(project, Path::new(copy)), Path::new(path).file_name()) else {
        return false;
    };
    copy.dir().rename_new(copy.name(), copy.dir(), name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_to_git_or_a_store_on_any_file_system_is_recognised() {
        let leads = |part: &str| may_lead_to(part, &[".git", ".ckpt", "My.Store"]);
        let same = ".git|.GIT|.ckpt|my.store|.git.|.git |.git. .|.git::$INDEX_ALLOCATION|GIT~1|git~2|CKPT~1|\
                    MY~1.STO|.g\u{200c}it|\u{feff}.Git|.git.\u{200d}|.c\u{212a}pt";
        for part in same.split('|') {
            assert!(leads(part), "{part:?}");
        }
        let other = "|.|git|.gitignore|.github|ckpt|git~|git~a|legit~1|a~1|v1.0|a b|é|12:30.log|a.md:stream|etc.";
        for part in other.split('|') {
            assert!(!leads(part), "{part:?}");
        }
    }
}
