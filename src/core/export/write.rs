//! Putting exported files into place: whole, and nowhere else.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};

use super::layout::{Content, ExportFile};
use super::problem::ExportProblem;
use crate::core::dialects::Document;
use crate::core::files::read_regular;
use crate::core::format::MAX_FILE_BYTES;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It was written.
    Written,
    /// It was there, and says the same.
    Unchanged,
}

/// Writes a file below `root`, in one step. Directories on the way are made; none of them may be a link. A file of
/// another content is replaced only with `replace`.
///
/// # Errors
/// Something is in the way; nothing was changed then.
pub fn write(root: &Path, file: &ExportFile, replace: bool) -> Result<Placed, ExportProblem> {
    let relative = Path::new(&file.path);
    let shown = || file.path.clone();
    let failed = |error: io::Error| ExportProblem::Io(shown(), error);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let (Some(name), true) = (relative.file_name(), plain) else {
        return Err(ExportProblem::NotAFile(shown()));
    };
    let dir = enter(root, relative.parent().unwrap_or(Path::new("")))?;
    let target = dir.join(name);
    let there = match std::fs::symlink_metadata(&target) {
        Ok(metadata) => Some(metadata.file_type()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    match &file.content {
        Content::Link(to) => {
            if there.is_some_and(|there| !there.is_symlink()) {
                return Err(ExportProblem::NotAFile(shown()));
            }
            if std::fs::read_link(&target).is_ok_and(|known| known == Path::new(to)) {
                return Ok(Placed::Unchanged);
            }
            link(&dir, &target, to).map_err(failed)?;
        }
        Content::Bytes(bytes) | Content::Shared(bytes) => {
            if let Some(there) = there {
                if !there.is_file() {
                    return Err(ExportProblem::NotAFile(shown()));
                }
                if read_regular(&target, MAX_FILE_BYTES).is_ok_and(|known| says_the_same(&known, bytes)) {
                    return Ok(Placed::Unchanged);
                }
                if !replace && !matches!(file.content, Content::Shared(_)) {
                    return Err(ExportProblem::Exists(shown()));
                }
            }
            put(&dir, &target, bytes).map_err(failed)?;
        }
    }
    Ok(Placed::Written)
}

/// Whether what has the name of a file says the same.
#[must_use]
pub fn is_there(root: &Path, file: &ExportFile) -> bool {
    match &file.content {
        Content::Link(_) => false,
        Content::Bytes(bytes) | Content::Shared(bytes) => {
            let known = read_regular(&root.join(&file.path), MAX_FILE_BYTES);
            known.is_ok_and(|known| says_the_same(&known, bytes))
        }
    }
}

/// Whether two files say the same, in whatever layout.
fn says_the_same(old: &[u8], new: &[u8]) -> bool {
    let value = |bytes: &[u8]| Document::parse(bytes).ok().map(|document| document.value);
    old == new || value(old).is_some_and(|old| Some(old) == value(new))
}

/// Goes down to a directory, making what is missing.
fn enter(root: &Path, relative: &Path) -> Result<PathBuf, ExportProblem> {
    let failed = |path: &Path, error: io::Error| ExportProblem::Io(path.display().to_string(), error);
    #[expect(clippy::disallowed_methods, reason = "the directory that was asked for, not part of a store")]
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
            return Err(ExportProblem::NotADirectory(dir.display().to_string()));
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

/// Makes a link beside its place and moves it there, so that there is always one.
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
        ExportFile { path: path.to_owned(), content: Content::Bytes(text.into()) }
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
        assert!(matches!(write(root, &other, false), Err(ExportProblem::Exists(_))));
        assert_eq!(write(root, &other, true).unwrap(), Placed::Written);
        assert_eq!(std::fs::read_to_string(root.join("a/b/one.json")).unwrap(), "2\n");
        let latest =
            ExportFile { path: "a/b/latest".to_owned(), content: Content::Link("one.json".to_owned()) };
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
        assert!(matches!(write(&root, &file("a/one", "1"), true), Err(ExportProblem::NotADirectory(_))));
        assert!(matches!(write(&root, &file("link", "1"), true), Err(ExportProblem::NotAFile(_))));
        for path in ["../one", "/etc/one", "a/../../one", ""] {
            assert!(write(&root, &file(path, "1"), true).is_err(), "{path}");
        }
        assert_eq!(std::fs::read_to_string(elsewhere.join("kept")).unwrap(), "x");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    }
}
