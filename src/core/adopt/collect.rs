//! Finding the files to adopt.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use walkdir::WalkDir;

use super::problem::SourceProblem;
use crate::core::dialects::{Dialect, Document, MAX_SOURCE_BYTES};
use crate::core::files::{FileProblem, read_regular};

/// How deep directories are searched.
const MAX_DEPTH: usize = 32;
/// What a checkpoint file is called. Files that are named themselves may be called anything.
const ENDINGS: [&str; 5] = ["json", "yaml", "yml", "checkpoint", "state"];
/// Directories that hold other people's files, or our own.
const PASSED_OVER: [&str; 8] =
    [".git", ".hg", ".svn", ".ckpt", "node_modules", "target", "__pycache__", ".venv"];

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// The file.
    pub path: PathBuf,
    /// Whether it was named itself, and not found in a directory.
    pub named: bool,
}

/// What was found at a path.
#[derive(Debug)]
pub enum Found {
    /// A file to look at.
    File(Collected),
    /// A link in a directory. It is not followed.
    Link,
    /// Something that cannot be looked at.
    Unreachable(SourceProblem),
}

/// Finds the files at a path: the file itself, or whatever in a directory is called as a checkpoint may be. What is
/// called so and not looked at is reported beside the rest.
#[must_use]
pub fn collect(path: &Path) -> Vec<(PathBuf, Found)> {
    let is_dir = match std::fs::metadata(path) {
        Ok(metadata) => metadata.is_dir(),
        Err(error) => return vec![(path.to_owned(), Found::Unreachable(FileProblem::from(error).into()))],
    };
    if !is_dir {
        return vec![(path.to_owned(), Found::File(Collected { path: path.to_owned(), named: true }))];
    }
    let walk = WalkDir::new(path).max_depth(MAX_DEPTH).sort_by_file_name().into_iter();
    let wanted = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !entry.file_type().is_dir() || !PASSED_OVER.contains(&name.as_ref())
    };
    let mut found = Vec::new();
    for entry in walk.filter_entry(wanted) {
        match entry {
            Ok(entry) if entry.file_type().is_file() && is_called_right(entry.path()) => {
                let path = entry.into_path();
                found.push((path.clone(), Found::File(Collected { path, named: false })));
            }
            Ok(entry) if entry.path_is_symlink() && is_called_right(entry.path()) => {
                found.push((entry.into_path(), Found::Link));
            }
            Ok(_) => {}
            Err(error) => {
                let place = error.path().unwrap_or(path).to_owned();
                let io = error.into_io_error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
                found.push((place, Found::Unreachable(FileProblem::from(io).into())));
            }
        }
    }
    found
}

fn is_called_right(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

impl Collected {
    /// Reads the file.
    ///
    /// # Errors
    /// It is no regular file, too large, or cannot be read.
    pub fn read(&self) -> Result<Vec<u8>, SourceProblem> {
        // Whoever names a file may name a link to it.
        let real = if self.named {
            std::fs::canonicalize(&self.path).map_err(FileProblem::from)?
        } else {
            self.path.clone()
        };
        Ok(read_regular(&real, MAX_SOURCE_BYTES)?)
    }
}

/// The second files that some dialects keep beside a checkpoint, each read once.
#[derive(Debug, Default)]
pub struct Shelf {
    read: HashMap<PathBuf, Option<Value>>,
}

impl Shelf {
    /// What the dialect keeps beside this file: its path, and what in it is about this checkpoint. One that cannot be
    /// read is not there; looked at on its own, it is complained of.
    pub fn beside(&mut self, path: &Path, dialect: Dialect, main: &Value) -> Option<(PathBuf, Value)> {
        let names: &[&str] = match dialect {
            Dialect::Dotagent => &["execution.json"],
            Dialect::Crunch => &["index.yaml", "index.yml", "index.json"],
            _ => return None,
        };
        let beside = names.iter().map(|name| path.with_file_name(name)).find(|beside| {
            beside != path && self.read.entry(beside.clone()).or_insert_with(|| read(beside)).is_some()
        })?;
        let content = self.read.get(&beside)?.as_ref()?;
        Some((beside, pick(dialect, main, content)?))
    }
}

fn read(path: &Path) -> Option<Value> {
    let bytes = read_regular(path, MAX_SOURCE_BYTES).ok()?;
    let document = Document::parse(&bytes).ok()?;
    document.value.is_object().then_some(document.value)
}

/// What of the second file is about this checkpoint: of an index, its entry.
fn pick(dialect: Dialect, main: &Value, beside: &Value) -> Option<Value> {
    match dialect {
        Dialect::Crunch => {
            let id = main.get("checkpoint_id")?;
            let entries = beside.get("checkpoints")?.as_array()?;
            entries.iter().find(|entry| entry.get("checkpoint_id") == Some(id)).cloned()
        }
        _ => Some(beside.clone()),
    }
}
