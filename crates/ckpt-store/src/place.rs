//! Files that are written into a project atomically, and only below a directory: exports, reports, restored artifacts.
//!
//! Directories are opened one inside the other and used by handle, so that one that is exchanged for a link while files
//! are written leads nowhere.

use std::io::{self, Write as _};
use std::path::{Component, Path};

use super::files::FileAt;
use ckpt_model::format::MAX_FILE_BYTES;
use ckpt_platform::{Dir, FileKind};

/// How many names are tried for a temporary file; stale ones may be left of a killed process.
const STAGED_NAMES: u32 = 100;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// The path below the target directory, with `/` between the parts.
    pub path: String,
    /// The content.
    pub content: FileContent,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// The bytes of a file.
    Bytes(Vec<u8>),
    /// A symbolic link to another file of the directory.
    Link(String),
}

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
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

impl PlaceError {
    /// Returns the path; of several files, the first.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Exist(paths) => paths.first().map(String::as_str),
            Self::NotADirectory(path) | Self::NotAFile(path) | Self::Io(path, _) => Some(path),
        }
    }
}

/// The result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It was written.
    Written,
    /// It existed with the same content.
    Unchanged,
}

/// Writes files below `root`, each atomically. Missing directories are created; none may be a link. Without `replace`
/// nothing is written if a file exists with another content.
///
/// New files and directories get no more permissions than `store_mode`, the permission bits of the store's directory, and
/// the umask allow: a copy of a private checkpoint is private.
///
/// # Errors
/// Files exist, or a file cannot be written; those before it are written.
pub fn write(root: &Path, files: &[NewFile], replace: bool, store_mode: u32) -> Result<Vec<Placed>, PlaceError> {
    if !replace {
        let taken = files.iter().filter(|file| is_taken(root, file)).map(|file| file.path.clone());
        let taken: Vec<String> = taken.collect();
        if !taken.is_empty() {
            return Err(PlaceError::Exist(taken));
        }
    }
    files.iter().map(|file| place(root, &file.path, &file.content, replace, store_mode)).collect()
}

/// Returns true if there is a file or a link with another content at the path of a file.
fn is_taken(root: &Path, file: &NewFile) -> bool {
    let Ok(target) = FileAt::below(root, Path::new(&file.path)) else { return false };
    match target.kind() {
        Ok(Some(FileKind::File | FileKind::Link)) => !has(&target, &file.content),
        _ => false,
    }
}

/// Returns true if this is the content of a file.
fn has(target: &FileAt, content: &FileContent) -> bool {
    match content {
        FileContent::Bytes(bytes) => target.read(MAX_FILE_BYTES).is_ok_and(|there| there == *bytes),
        FileContent::Link(to) => target.link().as_ref() == Some(to),
    }
}

/// Writes one file, as [`write()`] does.
///
/// # Errors
/// The file exists with another content, or cannot be written, and is unchanged.
pub fn place(
    root: &Path,
    path: &str,
    content: &FileContent,
    replace: bool,
    store_mode: u32,
) -> Result<Placed, PlaceError> {
    let relative = Path::new(path);
    let failed = |error: io::Error| PlaceError::Io(path.to_owned(), error);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let (Some(name), true) = (relative.file_name(), plain) else {
        return Err(PlaceError::NotAFile(path.to_owned()));
    };
    let store_mode = store_mode | 0o700;
    let dir = make_dirs(root, relative.parent().unwrap_or(Path::new("")), store_mode)?;
    let target = FileAt::new(dir, name);
    let expected = match content {
        FileContent::Bytes(_) => FileKind::File,
        FileContent::Link(_) => FileKind::Link,
    };
    if let Some(existing) = target.kind().map_err(failed)? {
        if existing != expected {
            return Err(PlaceError::NotAFile(path.to_owned()));
        }
        if has(&target, content) {
            return Ok(Placed::Unchanged);
        }
        if !replace {
            return Err(PlaceError::Exist(vec![path.to_owned()]));
        }
    }
    let stage = |dir: &Dir, staged: &str| match content {
        FileContent::Link(to) => dir.make_link(to, staged),
        FileContent::Bytes(bytes) => {
            let mut file = dir.create_file(staged, store_mode & 0o666, bytes.len() as u64)?;
            file.write_all(bytes).inspect_err(|_| drop(dir.remove(staged)))
        }
    };
    put(&target, replace, stage).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => PlaceError::Exist(vec![path.to_owned()]),
        _ => failed(error),
    })?;
    Ok(Placed::Written)
}

/// Creates the directories of a path and opens the last one. None of them may be a link.
fn make_dirs(root: &Path, relative: &Path, mode: u32) -> Result<Dir, PlaceError> {
    let failed = |path: &Path, error: io::Error| PlaceError::Io(path.display().to_string(), error);
    #[expect(clippy::disallowed_methods, reason = "the target directory is not part of a store")]
    std::fs::create_dir_all(root).map_err(|error| failed(root, error))?;
    let mut dir = Dir::open_searched(root).map_err(|error| failed(root, error))?;
    let mut path = root.to_owned();
    for part in relative.components() {
        path.push(part);
        match dir.make_dir_for_owner(part, mode) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(&path, error)),
            _ => {}
        }
        let entered = dir.enter_searched(part);
        dir = entered.map_err(|_| PlaceError::NotADirectory(path.display().to_string()))?;
    }
    Ok(dir)
}

/// Creates a temporary file or link with `stage`, and renames it to its final name.
fn put(target: &FileAt, replace: bool, stage: impl Fn(&Dir, &str) -> io::Result<()>) -> io::Result<()> {
    let dir = target.dir();
    let mut attempt = 0;
    let staged = loop {
        let staged = format!(".ckpt-{}-{attempt}", std::process::id());
        match stage(dir, &staged) {
            Ok(()) => break staged,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < STAGED_NAMES => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    };
    rename(dir, &staged, target.name(), replace).inspect_err(|_| drop(dir.remove(&staged)))
}

fn rename(dir: &Dir, staged: &str, name: &Path, replace: bool) -> io::Result<()> {
    if !replace {
        match dir.rename_new(staged, dir, name) {
            // The file system has no rename that does not replace.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            renamed => return renamed,
        }
    }
    dir.rename(staged, name)
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange their own world")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn file(path: &str, text: &str) -> NewFile {
        NewFile { path: path.to_owned(), content: FileContent::Bytes(text.into()) }
    }

    fn link(path: &str, to: &str) -> NewFile {
        NewFile { path: path.to_owned(), content: FileContent::Link(to.to_owned()) }
    }

    #[test]
    fn files_are_written_where_there_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let files = [file("a/b/one.json", "1\n"), link("a/b/latest", "one.json")];
        assert_eq!(write(root, &files, false, 0o755).unwrap(), [Placed::Written; 2]);
        assert_eq!(write(root, &files, false, 0o755).unwrap(), [Placed::Unchanged; 2]);
        assert_eq!(std::fs::read_to_string(root.join("a/b/one.json")).unwrap(), "1\n");
        assert_eq!(std::fs::read_link(root.join("a/b/latest")).unwrap(), Path::new("one.json"));
        assert_eq!(std::fs::read_dir(root.join("a/b")).unwrap().count(), 2);
    }

    #[test]
    fn nothing_is_written_if_one_file_is_taken_unless_that_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(root, &[file("b", "1"), link("latest", "b")], false, 0o755).unwrap();
        let files = [file("a", "2"), file("b", "2"), link("latest", "a")];
        let refused = write(root, &files, false, 0o755).unwrap_err();
        assert_eq!(refused.to_string(), "`b`, `latest` exist with another content");
        assert!(!root.join("a").exists());
        assert_eq!(write(root, &files, true, 0o755).unwrap(), [Placed::Written; 3]);
        assert_eq!(std::fs::read_to_string(root.join("b")).unwrap(), "2");
        assert_eq!(std::fs::read_link(root.join("latest")).unwrap(), Path::new("a"));
    }

    #[test]
    fn nothing_is_written_through_a_link_or_outside() {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("project"), dir.path().join("elsewhere"));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(&elsewhere).unwrap();
        symlink(&elsewhere, root.join("a")).unwrap();
        std::fs::write(elsewhere.join("kept"), "x").unwrap();
        symlink(elsewhere.join("kept"), root.join("link")).unwrap();
        let write = |path| write(&root, &[file(path, "1")], true, 0o755);
        assert!(matches!(write("a/one"), Err(PlaceError::NotADirectory(_))));
        assert!(matches!(write("link"), Err(PlaceError::NotAFile(_))));
        for path in ["../one", "/etc/one", "a/../../one", ""] {
            assert!(write(path).is_err(), "{path}");
        }
        assert_eq!(std::fs::read_to_string(elsewhere.join("kept")).unwrap(), "x");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    }
}
