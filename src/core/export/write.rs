//! Writing exported files atomically, and only below the target directory.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};

use super::error::ExportError;
use super::layout::{ExportFile, FileContent};
use crate::core::dialects::Document;
use crate::core::files::read_regular;
use crate::core::format::MAX_FILE_BYTES;

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
/// # Errors
/// The file cannot be written, and is unchanged.
pub fn write(root: &Path, file: &ExportFile, replace: bool) -> Result<Placed, ExportError> {
    let relative = Path::new(&file.path);
    let shown = || file.path.clone();
    let failed = |error: io::Error| ExportError::Io(shown(), error);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let (Some(name), true) = (relative.file_name(), plain) else {
        return Err(ExportError::NotAFile(shown()));
    };
    let dir = enter(root, relative.parent().unwrap_or(Path::new("")))?;
    let target = dir.join(name);
    let existing = match std::fs::symlink_metadata(&target) {
        Ok(metadata) => Some(metadata.file_type()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    match &file.content {
        FileContent::Link(to) => {
            if existing.is_some_and(|existing| !existing.is_symlink()) {
                return Err(ExportError::NotAFile(shown()));
            }
            if std::fs::read_link(&target).is_ok_and(|old| old == Path::new(to)) {
                return Ok(Placed::Unchanged);
            }
            link(&dir, &target, to).map_err(failed)?;
        }
        FileContent::Bytes(bytes) | FileContent::Shared(bytes) => {
            if let Some(existing) = existing {
                if !existing.is_file() {
                    return Err(ExportError::NotAFile(shown()));
                }
                if has_content(&target, bytes) {
                    return Ok(Placed::Unchanged);
                }
                if !replace && !matches!(file.content, FileContent::Shared(_)) {
                    return Err(ExportError::Exists(shown()));
                }
            }
            put(&dir, &target, bytes).map_err(failed)?;
        }
    }
    Ok(Placed::Written)
}

/// Returns true if the file exists with the same content.
#[must_use]
pub fn is_unchanged(root: &Path, file: &ExportFile) -> bool {
    match &file.content {
        FileContent::Link(_) => false,
        FileContent::Bytes(bytes) | FileContent::Shared(bytes) => has_content(&root.join(&file.path), bytes),
    }
}

/// Returns true if a file holds these bytes, or the same document in another layout.
fn has_content(path: &Path, bytes: &[u8]) -> bool {
    let Ok(old) = read_regular(path, MAX_FILE_BYTES) else { return false };
    let value = |bytes: &[u8]| Document::parse(bytes).ok().map(|document| document.value);
    old == bytes || value(&old).is_some_and(|old| Some(old) == value(bytes))
}

/// Creates the directories of a path and returns the last one. None of them may be a link.
fn enter(root: &Path, relative: &Path) -> Result<PathBuf, ExportError> {
    let failed = |path: &Path, error: io::Error| ExportError::Io(path.display().to_string(), error);
    #[expect(clippy::disallowed_methods, reason = "the target directory is not part of a store")]
    std::fs::create_dir_all(root).map_err(|error| failed(root, error))?;
    let mut dir = root.to_owned();
    for part in relative.components() {
        dir.push(part);
        match rustix::fs::mkdirat(CWD, &dir, Mode::from_raw_mode(0o777)) {
            Ok(()) => continue,
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(failed(&dir, error.into())),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::PATH | OFlags::CLOEXEC;
        if rustix::fs::open(&dir, flags, Mode::empty()).is_err() {
            return Err(ExportError::NotADirectory(dir.display().to_string()));
        }
    }
    Ok(dir)
}

fn put(dir: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let mut staged = tempfile::Builder::new().prefix(".ckpt-").permissions(permissions).tempfile_in(dir)?;
    staged.write_all(bytes)?;
    staged.persist(target).map(drop).map_err(|error| error.error)
}

/// Replaces a link atomically.
fn link(dir: &Path, target: &Path, to: &str) -> io::Result<()> {
    let staged = dir.join(format!(".ckpt-{}", std::process::id()));
    rustix::fs::symlinkat(to, CWD, &staged)?;
    rustix::fs::renameat(CWD, &staged, CWD, target).inspect_err(|_| {
        let _ = rustix::fs::unlinkat(CWD, &staged, rustix::fs::AtFlags::empty());
    })?;
    Ok(())
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
        assert_eq!(write(root, &one, false).unwrap(), Placed::Written);
        assert_eq!(write(root, &one, false).unwrap(), Placed::Unchanged);
        let spaced = file("a/b/one.json", " 1 \n");
        assert_eq!(write(root, &spaced, false).unwrap(), Placed::Unchanged, "only the layout differs");
        let other = file("a/b/one.json", "2\n");
        assert!(matches!(write(root, &other, false), Err(ExportError::Exists(_))));
        assert_eq!(write(root, &other, true).unwrap(), Placed::Written);
        assert_eq!(std::fs::read_to_string(root.join("a/b/one.json")).unwrap(), "2\n");
        let latest =
            ExportFile { path: "a/b/latest".to_owned(), content: FileContent::Link("one.json".to_owned()) };
        assert_eq!(write(root, &latest, false).unwrap(), Placed::Written);
        assert_eq!(write(root, &latest, false).unwrap(), Placed::Unchanged);
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
        assert!(matches!(write(&root, &file("a/one", "1"), true), Err(ExportError::NotADirectory(_))));
        assert!(matches!(write(&root, &file("link", "1"), true), Err(ExportError::NotAFile(_))));
        for path in ["../one", "/etc/one", "a/../../one", ""] {
            assert!(write(&root, &file(path, "1"), true).is_err(), "{path}");
        }
        assert_eq!(std::fs::read_to_string(elsewhere.join("kept")).unwrap(), "x");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    }
}
