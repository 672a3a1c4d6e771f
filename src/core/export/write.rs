//! Writing exported files atomically, and only below the target directory.
//!
//! Directories are opened one inside the other and used by handle, so that one that is exchanged for a link while files
//! are written leads nowhere.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde_json::Value;

use super::error::ExportError;
use super::layout::{ExportFile, FileContent};
use crate::core::dialects::{Document, MAX_SOURCE_BYTES};
use crate::core::files::{FileAt, enter};
use crate::core::format::MAX_FILE_BYTES;
use crate::core::owner::give_to_owner_of;

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

/// Writes a file below `root` atomically. Missing directories are created; none may be a link. A file with another content
/// is replaced only with `replace`.
///
/// New files and directories get no more permissions than `store_mode`, the permission bits of the store's directory, and
/// the umask allow: a copy of a private checkpoint is private.
///
/// # Errors
/// The file cannot be written, and is unchanged.
pub fn write(root: &Path, file: &ExportFile, replace: bool, store_mode: u32) -> Result<Placed, ExportError> {
    let relative = Path::new(&file.path);
    let failed = |error: io::Error| ExportError::Io(file.path.clone(), error);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let (Some(name), true) = (relative.file_name(), plain) else {
        return Err(ExportError::NotAFile(file.path.clone()));
    };
    let store_mode = Mode::from_raw_mode(store_mode) | Mode::RWXU;
    let dir = make_dirs(root, relative.parent().unwrap_or(Path::new("")), store_mode)?;
    let target = FileAt::new(dir, name);
    let existing = target.file_type().map_err(|error| failed(error.into()))?;
    match &file.content {
        FileContent::Link(to) => {
            if existing.is_some_and(|existing| existing != FileType::Symlink) {
                return Err(ExportError::NotAFile(file.path.clone()));
            }
            if target.leads_to(Path::new(to)) {
                return Ok(Placed::Unchanged);
            }
            put(&target, true, |dir, staged| Ok(rustix::fs::symlinkat(to, dir, staged)?)).map_err(failed)?;
        }
        FileContent::Bytes(bytes) | FileContent::Shared(bytes) => {
            let replace = replace || matches!(file.content, FileContent::Shared(_));
            if let Some(existing) = existing {
                if existing != FileType::RegularFile {
                    return Err(ExportError::NotAFile(file.path.clone()));
                }
                if has_content(&target, bytes) {
                    return Ok(Placed::Unchanged);
                }
                if !replace {
                    return Err(ExportError::Exists(file.path.clone()));
                }
            }
            let stage = |dir: &OwnedFd, staged: &str| {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mode = store_mode & Mode::from_raw_mode(0o666);
                let mut file: File = rustix::fs::openat(dir, staged, flags, mode)?.into();
                let written = give_to_owner_of(dir, &file).map_err(Into::into);
                written.and_then(|()| file.write_all(bytes)).inspect_err(|_| remove(dir, staged))
            };
            put(&target, replace, stage).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => ExportError::Exists(file.path.clone()),
                _ => failed(error),
            })?;
        }
    }
    Ok(Placed::Written)
}

/// Returns true if the file exists below `root` with the same content.
#[must_use]
pub fn is_unchanged(root: &Path, file: &ExportFile) -> bool {
    match &file.content {
        FileContent::Link(_) => false,
        FileContent::Bytes(bytes) | FileContent::Shared(bytes) => {
            FileAt::below(root, Path::new(&file.path)).is_ok_and(|target| has_content(&target, bytes))
        }
    }
}

/// Reads the present content of a shared file below `root`; none if it cannot be read.
#[must_use]
pub fn read_shared(root: &Path, path: &str) -> Option<Value> {
    let bytes = FileAt::below(root, Path::new(path)).and_then(|file| file.read(MAX_SOURCE_BYTES)).ok()?;
    Document::parse(&bytes).ok().map(|document| document.value)
}

/// Returns true if a file holds these bytes, or the same document in another layout.
fn has_content(file: &FileAt, bytes: &[u8]) -> bool {
    let Ok(old) = file.read(MAX_FILE_BYTES) else { return false };
    let value = |bytes: &[u8]| Document::parse(bytes).ok().map(|document| document.value);
    old == bytes || value(&old).is_some_and(|old| Some(old) == value(bytes))
}

/// Creates the directories of a path and opens the last one. None of them may be a link.
fn make_dirs(root: &Path, relative: &Path, mode: Mode) -> Result<OwnedFd, ExportError> {
    let failed = |path: &Path, error: io::Error| ExportError::Io(path.display().to_string(), error);
    #[expect(clippy::disallowed_methods, reason = "the target directory is not part of a store")]
    std::fs::create_dir_all(root).map_err(|error| failed(root, error))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(root, flags, Mode::empty());
    let mut dir = opened.map_err(|error| failed(root, error.into()))?;
    let mut path = root.to_owned();
    for part in relative.components() {
        path.push(part);
        match make_dir(&dir, part.as_os_str(), mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(&path, error.into())),
        }
        let entered = enter(&dir, part.as_os_str());
        dir = entered.map_err(|_| ExportError::NotADirectory(path.display().to_string()))?;
    }
    Ok(dir)
}

fn make_dir(dir: &OwnedFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    rustix::fs::mkdirat(dir, name, mode)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    give_to_owner_of(dir, rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// Creates a temporary file or link with `stage`, and renames it to its final name.
fn put(target: &FileAt, replace: bool, stage: impl Fn(&OwnedFd, &str) -> io::Result<()>) -> io::Result<()> {
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
    rename(dir, &staged, target.name().as_os_str(), replace).inspect_err(|_| remove(dir, &staged))
}

fn rename(dir: &OwnedFd, staged: &str, name: &OsStr, replace: bool) -> io::Result<()> {
    if !replace {
        match rustix::fs::renameat_with(dir, staged, dir, name, RenameFlags::NOREPLACE) {
            // The file system has no such rename.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return Ok(renamed?),
        }
    }
    Ok(rustix::fs::renameat(dir, staged, dir, name)?)
}

fn remove(dir: &OwnedFd, staged: &str) {
    let _ = rustix::fs::unlinkat(dir, staged, AtFlags::empty());
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange their own world")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn file(path: &str, text: &str) -> ExportFile {
        ExportFile { path: path.to_owned(), content: FileContent::Bytes(text.into()) }
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
        let latest =
            ExportFile { path: "a/b/latest".to_owned(), content: FileContent::Link("one.json".to_owned()) };
        assert_eq!(write(root, &latest, false, 0o755).unwrap(), Placed::Written);
        assert_eq!(write(root, &latest, false, 0o755).unwrap(), Placed::Unchanged);
        assert_eq!(std::fs::read_link(root.join("a/b/latest")).unwrap(), Path::new("one.json"));
        assert_eq!(std::fs::read_dir(root.join("a/b")).unwrap().count(), 2);
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
        assert_eq!(std::fs::read_to_string(elsewhere.join("kept")).unwrap(), "x");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    }
}
