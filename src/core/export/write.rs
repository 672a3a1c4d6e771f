//! Writing exported files atomically, and only below the target directory.
//!
//! Directories are opened one inside the other and used by handle, so that one that is exchanged for a link while files
//! are written leads nowhere.

use std::io::{self, Write as _};
use std::path::{Component, Path};

use super::error::ExportError;
use super::files::{ExportFile, FileContent};
use crate::core::files::{FileAt, FileProblem};
use crate::core::format::MAX_FILE_BYTES;
use crate::platform::{Dir, FileKind};

/// How many names are tried for a temporary file; stale ones may be left of a killed process.
const STAGED_NAMES: u32 = 100;

/// The result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It was written.
    Written,
    /// It existed with the same content.
    Unchanged,
}

/// The present state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Present {
    /// There is nothing, or a directory on the way to it cannot be entered.
    Missing,
    /// A file or a link.
    Content(FileContent),
    /// A directory, a device, or a file that cannot be read.
    Other,
}

/// Returns what is at a path below `root`.
#[must_use]
pub fn present(root: &Path, path: &str) -> Present {
    let Ok(target) = FileAt::below(root, Path::new(path)) else { return Present::Missing };
    if let Some(to) = target.link() {
        return Present::Content(FileContent::Link(to));
    }
    match target.read(MAX_FILE_BYTES) {
        Ok(bytes) => Present::Content(FileContent::Bytes(bytes)),
        Err(FileProblem::Missing) => Present::Missing,
        Err(_) => Present::Other,
    }
}

/// Removes a file or a link below `root`, and the directory that it leaves empty unless that is `keep`.
///
/// # Errors
/// It cannot be removed.
pub fn remove(root: &Path, path: &str, keep: &str) -> Result<(), ExportError> {
    let failed = |error: io::Error| ExportError::Io(path.to_owned(), error);
    let Ok(target) = FileAt::below(root, Path::new(path)) else { return Ok(()) };
    match target.dir().remove(target.name()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    if let Some((dir, _)) = path.rsplit_once('/')
        && dir != keep
        && let Ok(dir) = FileAt::below(root, Path::new(dir))
    {
        // Fails as long as there are other files in it.
        let _ = dir.dir().remove_dir(dir.name());
    }
    Ok(())
}

/// Writes a file below `root` atomically. Missing directories are created; none may be a link. A file with another content
/// is replaced only with `replace`.
///
/// New files and directories get no more permissions than `store_mode`, the permission bits of the store's directory, and
/// the umask allow: a copy of a private checkpoint is private.
///
/// # Errors
/// The file cannot be written, and is unchanged.
pub fn write(root: &Path, file: &ExportFile, replace: bool, store_mode: u32) -> Result<Placed, ExportError> {
    place(root, &file.path, &file.content, replace, store_mode)
}

/// Does what [`write()`] does with a file that is made from no checkpoint alone.
///
/// # Errors
/// The file cannot be written, and is unchanged.
pub fn place(
    root: &Path,
    path: &str,
    content: &FileContent,
    replace: bool,
    store_mode: u32,
) -> Result<Placed, ExportError> {
    let relative = Path::new(path);
    let failed = |error: io::Error| ExportError::Io(path.to_owned(), error);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let (Some(name), true) = (relative.file_name(), plain) else {
        return Err(ExportError::NotAFile(path.to_owned()));
    };
    let store_mode = store_mode | 0o700;
    let dir = make_dirs(root, relative.parent().unwrap_or(Path::new("")), store_mode)?;
    let target = FileAt::new(dir, name);
    let existing = target.kind().map_err(failed)?;
    match content {
        FileContent::Link(to) => {
            if existing.is_some_and(|existing| existing != FileKind::Link) {
                return Err(ExportError::NotAFile(path.to_owned()));
            }
            if target.link().as_ref() == Some(to) {
                return Ok(Placed::Unchanged);
            }
            put(&target, true, |dir, staged| dir.make_link(to, staged)).map_err(failed)?;
        }
        FileContent::Bytes(bytes) => {
            if let Some(existing) = existing {
                if existing != FileKind::File {
                    return Err(ExportError::NotAFile(path.to_owned()));
                }
                let old = target.read(MAX_FILE_BYTES).map(FileContent::Bytes);
                if old.is_ok_and(|old| old.is_same(content)) {
                    return Ok(Placed::Unchanged);
                }
                if !replace {
                    return Err(ExportError::Exists(path.to_owned()));
                }
            }
            let stage = |dir: &Dir, staged: &str| {
                let mut file = dir.create_file(staged, store_mode & 0o666, bytes.len() as u64)?;
                file.write_all(bytes).inspect_err(|_| drop(dir.remove(staged)))
            };
            put(&target, replace, stage).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => ExportError::Exists(path.to_owned()),
                _ => failed(error),
            })?;
        }
    }
    Ok(Placed::Written)
}

/// Creates the directories of a path and opens the last one. None of them may be a link.
fn make_dirs(root: &Path, relative: &Path, mode: u32) -> Result<Dir, ExportError> {
    let failed = |path: &Path, error: io::Error| ExportError::Io(path.display().to_string(), error);
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
        dir = entered.map_err(|_| ExportError::NotADirectory(path.display().to_string()))?;
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange their own world")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn file(path: &str, text: &str) -> ExportFile {
        of(path, FileContent::Bytes(text.into()))
    }

    fn of(path: &str, content: FileContent) -> ExportFile {
        ExportFile { path: path.to_owned(), content, source: "042/7".parse().unwrap(), memo: None }
    }

    #[test]
    fn files_are_made_kept_and_replaced_only_when_that_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let one = file("a/b/one.json", "1\n");
        assert_eq!(write(root, &one, false, 0o755).unwrap(), Placed::Written);
        assert_eq!(write(root, &one, false, 0o755).unwrap(), Placed::Unchanged);
        let spaced = file("a/b/one.json", " 1 \n");
        assert_eq!(write(root, &spaced, false, 0o755).unwrap(), Placed::Unchanged, "only the layout differs");
        let other = file("a/b/one.json", "2\n");
        assert!(matches!(write(root, &other, false, 0o755), Err(ExportError::Exists(_))));
        assert_eq!(write(root, &other, true, 0o755).unwrap(), Placed::Written);
        assert_eq!(std::fs::read_to_string(root.join("a/b/one.json")).unwrap(), "2\n");
        let latest = of("a/b/latest", FileContent::Link("one.json".to_owned()));
        assert_eq!(write(root, &latest, false, 0o755).unwrap(), Placed::Written);
        assert_eq!(write(root, &latest, false, 0o755).unwrap(), Placed::Unchanged);
        assert_eq!(std::fs::read_link(root.join("a/b/latest")).unwrap(), Path::new("one.json"));
        assert_eq!(std::fs::read_dir(root.join("a/b")).unwrap().count(), 2);
        assert_eq!(present(root, "a/b/latest"), Present::Content(latest.content));
        assert_eq!(present(root, "a/b/one.json"), Present::Content(other.content));
        assert_eq!((present(root, "a/b"), present(root, "a/no/one")), (Present::Other, Present::Missing));
        for path in ["a/b/latest", "a/b/one.json"] {
            remove(root, path, "a").unwrap();
        }
        assert!(root.join("a").is_dir() && !root.join("a/b").exists());
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
        assert!(matches!(write(&root, &file("a/one", "1"), true, 0o755), Err(ExportError::NotADirectory(_))));
        assert!(matches!(write(&root, &file("link", "1"), true, 0o755), Err(ExportError::NotAFile(_))));
        for path in ["../one", "/etc/one", "a/../../one", ""] {
            assert!(write(&root, &file(path, "1"), true, 0o755).is_err(), "{path}");
        }
        for path in ["../elsewhere/kept", "a/kept", elsewhere.join("kept").to_str().unwrap()] {
            assert_eq!(present(&root, path), Present::Missing, "{path}");
            let _ = remove(&root, path, "");
        }
        assert_eq!(std::fs::read_to_string(elsewhere.join("kept")).unwrap(), "x");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    }
}
