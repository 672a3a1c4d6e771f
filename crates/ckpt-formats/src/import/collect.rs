//! Finding the files to import.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use walkdir::WalkDir;

use super::checkpoint_index::CheckpointIndex;
use super::error::SourceError;
use crate::dialects::{Dialect, Document, MAX_SOURCE_BYTES};
use ckpt_model::finding::Finding;
use ckpt_platform as platform;
use ckpt_store::files::{FileAt, FileProblem, read_regular};

/// How deep directories are searched.
const MAX_DEPTH: usize = 32;
/// The extensions of checkpoint files. A file that the user names may have any.
const EXTENSIONS: [&str; 5] = ["json", "yaml", "yml", "checkpoint", "state"];
/// Directories that hold dependencies, build output or version control, or our own store.
const SKIPPED_DIRS: [&str; 8] = [".git", ".hg", ".svn", ".ckpt", "node_modules", "target", "__pycache__", ".venv"];

/// A file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The content of standard input.
    Stdin(Vec<u8>),
    /// A file that the user named. It may be a link.
    Named(PathBuf),
    /// A file in a directory that the user named. It is reached without following a link.
    Listed {
        /// The directory.
        root: PathBuf,
        /// The file, with the path of the directory.
        path: PathBuf,
    },
}

impl Source {
    /// Returns the name for messages: the path, or `-`.
    #[must_use]
    pub fn name(&self) -> String {
        self.path().map_or_else(|| "-".to_owned(), |path| path.display().to_string())
    }

    /// Returns the path, if it is a file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin(_) => None,
            Self::Named(path) | Self::Listed { path, .. } => Some(path),
        }
    }

    /// Returns another file of the same directory, if it is a file.
    fn sibling(&self, name: &str) -> Option<Self> {
        let path = self.path()?.with_file_name(name);
        let root = match self {
            Self::Listed { root, .. } => root.clone(),
            _ => path.parent()?.to_owned(),
        };
        Some(Self::Listed { root, path })
    }

    /// True if there is a file, or a link.
    fn exists(&self) -> bool {
        self.path().is_some_and(|path| path.symlink_metadata().is_ok())
    }

    /// Reads the content. Anything but a regular file of a moderate size is refused before it is opened.
    ///
    /// # Errors
    /// It is not a regular file, too large, or cannot be read.
    pub fn read(&self) -> Result<Vec<u8>, SourceError> {
        let read = match self {
            Self::Stdin(bytes) => return Ok(bytes.clone()),
            Self::Named(path) => {
                let path = platform::canonicalize(path).map_err(FileProblem::from)?;
                read_regular(&path, MAX_SOURCE_BYTES)
            }
            Self::Listed { root, path } => {
                let relative = path.strip_prefix(root).map_err(|_| FileProblem::Outside)?;
                // `Path::parent` of a bare name is empty, and stands for the present directory.
                let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
                FileAt::below(root, relative).and_then(|file| file.read(MAX_SOURCE_BYTES))
            }
        };
        Ok(read?)
    }
}

/// An entry that [`collect`] found.
#[derive(Debug)]
pub enum Found {
    /// A file to import.
    File(Source),
    /// A link in a directory. It is not followed.
    Link,
    /// An entry that cannot be read.
    Unreadable(SourceError),
}

/// Finds the files at a path: the file itself, or every file below a directory that has the extension of a checkpoint
/// file.
#[must_use]
pub fn collect(path: &Path) -> Vec<(PathBuf, Found)> {
    let is_dir = match std::fs::metadata(path) {
        Ok(metadata) => metadata.is_dir(),
        Err(error) => return vec![(path.to_owned(), Found::Unreadable(FileProblem::from(error).into()))],
    };
    if !is_dir {
        return vec![(path.to_owned(), Found::File(Source::Named(path.to_owned())))];
    }
    let walk = WalkDir::new(path).max_depth(MAX_DEPTH).sort_by_file_name().into_iter();
    let is_searched = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !entry.file_type().is_dir() || !SKIPPED_DIRS.contains(&name.as_ref())
    };
    let mut entries = Vec::new();
    for entry in walk.filter_entry(is_searched) {
        match entry {
            Ok(entry) if entry.file_type().is_dir() || !is_candidate(entry.path()) => {}
            Ok(entry) if entry.path_is_symlink() => entries.push((entry.into_path(), Found::Link)),
            Ok(entry) => {
                let file = entry.into_path();
                let source = Source::Listed { root: path.to_owned(), path: file.clone() };
                entries.push((file, Found::File(source)));
            }
            Err(error) => {
                let path = error.path().unwrap_or(path).to_owned();
                let io = error.into_io_error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
                entries.push((path, Found::Unreadable(FileProblem::from(io).into())));
            }
        }
    }
    entries
}

/// True for the extension of a checkpoint file, or a name that a system uses.
fn is_candidate(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_known = |place: &str| path.file_name() == Path::new(place).file_name();
    EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
        || Dialect::ALL.iter().flat_map(|dialect| dialect.places()).any(|place| is_known(place))
}

/// The second files that some dialects keep beside a checkpoint. Several checkpoints share one, so each is read once.
#[derive(Debug, Default)]
pub struct Companions {
    read: HashMap<PathBuf, Option<Companion>>,
}

/// The content of a second file.
#[derive(Debug)]
enum Companion {
    /// It belongs to the checkpoint as a whole.
    Whole(Value),
    /// An index of checkpoints.
    Index(CheckpointIndex),
}

/// The part of a second file that belongs to a checkpoint.
#[derive(Debug)]
pub struct FoundCompanion {
    /// The path of the file.
    pub path: PathBuf,
    /// The part; none if the file has none for this checkpoint.
    pub content: Option<Value>,
    /// Doubts about the file that concern this checkpoint.
    pub findings: Vec<Finding>,
}

impl Companions {
    /// Returns the part of the second file that belongs to this checkpoint. One that cannot be read is ignored here: it
    /// is reported when it is imported itself.
    pub fn find(&mut self, source: &Source, dialect: Dialect, main: &Value) -> Option<FoundCompanion> {
        let second = dialect.companion()?;
        if let Some(path) = dialect.follows(main) {
            // Only what lies below the directory of the file is followed.
            let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            if !Path::new(path).components().all(is_plain) {
                return None;
            }
            let followed = source.sibling(path)?;
            let content = Document::parse(&followed.read().ok()?).ok()?.value;
            let path = followed.path()?.to_owned();
            return Some(FoundCompanion { path, content: Some(content), findings: Vec::new() });
        }
        for name in second.names {
            let companion = source.sibling(name)?;
            let path = companion.path()?.to_owned();
            let content = self.read.entry(path.clone()).or_insert_with(|| Companion::read(&companion, second.is_index));
            if let Some(content) = content
                && Some(&*path) != source.path()
            {
                // An index without an entry for this checkpoint is one all the same, and no checkpoint of its own.
                let (content, findings) = content.part_of(main).unzip();
                return Some(FoundCompanion { path, content, findings: findings.unwrap_or_default() });
            }
        }
        None
    }
}

impl Companion {
    fn read(source: &Source, is_index: bool) -> Option<Self> {
        let value = Document::parse(&source.read().ok()?).ok()?.value;
        if !is_index {
            return value.is_object().then_some(Self::Whole(value));
        }
        let is_there = |id: &str| {
            let names = ["yaml", "yml", "json"].map(|extension| format!("{id}.{extension}"));
            names.iter().filter_map(|name| source.sibling(name)).any(|file| file.exists())
        };
        CheckpointIndex::read(&value, is_there).map(Self::Index)
    }

    /// Returns the part that belongs to a checkpoint, and the doubts that concern it.
    fn part_of(&self, main: &Value) -> Option<(Value, Vec<Finding>)> {
        match self {
            Self::Whole(value) => Some((value.clone(), Vec::new())),
            Self::Index(index) => index.part_of(main.get("checkpoint_id")?.as_str()?),
        }
    }
}
