//! Reading untrusted files: without following links where that matters, without blocking on a FIFO, and with a size
//! limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::digest::{Digest, Hasher};

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// It does not exist.
    #[error("does not exist")]
    Missing,
    /// It is a directory, a pipe, a device, or a link where none is followed.
    #[error("is not a regular file")]
    NotAFile,
    /// It is larger than the limit.
    #[error("is larger than {}", super::size::Size(*.0))]
    TooLarge(u64),
    /// It lies outside the project.
    #[error("lies outside the project")]
    Outside,
    /// Its name is not UTF-8.
    #[error("has a name that is not UTF-8")]
    NotUtf8,
    /// The operating system returned an error.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ if is_link(&error) => Self::NotAFile,
            _ => Self::Io(error),
        }
    }
}

impl From<Errno> for FileProblem {
    fn from(errno: Errno) -> Self {
        io::Error::from(errno).into()
    }
}

/// Returns true if `O_NOFOLLOW` met a symbolic link.
pub(crate) fn is_link(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}

/// Opens a regular file for reading. A link in the last component is not followed, and opening a FIFO does not block.
///
/// # Errors
/// It is missing, not a regular file, or cannot be opened.
pub fn open_regular(path: &Path) -> Result<File, FileProblem> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        _ => Err(FileProblem::NotAFile),
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// It cannot be opened or read, or is larger.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, FileProblem> {
    read_bounded(open_regular(path)?, limit)
}

/// Reads at most `limit` bytes.
///
/// # Errors
/// It cannot be read, or is larger.
pub fn read_bounded(source: impl Read, limit: u64) -> Result<Vec<u8>, FileProblem> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(FileProblem::TooLarge(limit)) } else { Ok(bytes) }
}

/// Returns the size and digest of a regular file of at most `limit` bytes, without holding it in memory.
///
/// # Errors
/// It cannot be opened or read, or is larger.
pub fn hash_regular(path: &Path, limit: u64) -> Result<(u64, Digest), FileProblem> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > limit {
        return Err(FileProblem::TooLarge(limit));
    }
    // The file may grow while it is read.
    let mut hasher = Hasher::default();
    let size = io::copy(&mut file.take(limit.saturating_add(1)), &mut hasher)?;
    if size > limit { Err(FileProblem::TooLarge(limit)) } else { Ok((size, hasher.finish())) }
}

/// Resolves a path that the user typed in the directory `base`. Returns the canonical path, and the path relative to the
/// project with `/` between the parts.
///
/// # Errors
/// It is missing or outside the project.
pub fn locate_in_project(project: &Path, base: &Path, path: &Path) -> Result<(PathBuf, String), FileProblem> {
    let real = std::fs::canonicalize(base.join(path))?;
    let project = std::fs::canonicalize(project)?;
    let relative = real.strip_prefix(&project).map_err(|_| FileProblem::Outside)?;
    let relative = portable(relative)?;
    if relative.is_empty() { Err(FileProblem::NotAFile) } else { Ok((real, relative)) }
}

/// Returns the canonical path of a path from a checkpoint or a settings file.
///
/// # Errors
/// It is missing, or outside the project, even if only through a link.
pub fn follow_in_project(project: &Path, relative: &str) -> Result<PathBuf, FileProblem> {
    if is_inside_project(relative) {
        locate_in_project(project, project, Path::new(relative)).map(|(real, _)| real)
    } else {
        Err(FileProblem::Outside)
    }
}

/// Returns true if a relative path stays in its directory, unless a link leads out of it.
#[must_use]
pub fn is_inside_project(relative: &str) -> bool {
    let descends = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !relative.starts_with("~/") && Path::new(relative).components().all(descends)
}

fn portable(path: &Path) -> Result<String, FileProblem> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/")).ok_or(FileProblem::NotUtf8)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange their own world")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_inside_the_project_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        std::fs::create_dir_all(project.join("sub")).unwrap();
        std::fs::write(project.join("sub/a.md"), "hello").unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        symlink("sub/a.md", project.join("inside")).unwrap();
        symlink("../secret", project.join("outside")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, project.join("pipe"), Mode::RWXU).unwrap();

        let relative = |base: &str, given: &str| {
            locate_in_project(&project, &project.join(base), Path::new(given)).map(|(_, relative)| relative)
        };
        assert_eq!(relative("", "sub/a.md").unwrap(), "sub/a.md");
        assert_eq!(relative("sub", "./a.md").unwrap(), "sub/a.md");
        assert_eq!(relative("sub", "../sub/../sub/a.md").unwrap(), "sub/a.md");
        assert_eq!(relative("", "inside").unwrap(), "sub/a.md");
        assert!(matches!(relative("", "outside"), Err(FileProblem::Outside)));
        assert!(matches!(relative("", "../secret"), Err(FileProblem::Outside)));
        assert!(matches!(relative("", "/etc/hostname"), Err(FileProblem::Outside)));
        assert!(matches!(relative("", "nope"), Err(FileProblem::Missing)));
        assert!(matches!(relative("", "."), Err(FileProblem::NotAFile)));
        for path in ["../secret", "/etc/passwd", "sub/../../secret", "outside"] {
            assert!(matches!(follow_in_project(&project, path), Err(FileProblem::Outside)), "{path}");
        }

        assert_eq!(hash_regular(&project.join("sub/a.md"), 5).unwrap(), (5, Digest::of(b"hello")));
        assert!(matches!(hash_regular(&project.join("sub/a.md"), 4), Err(FileProblem::TooLarge(4))));
        for special in [project.join("sub"), project.join("pipe"), project.join("inside"), "/dev/zero".into()]
        {
            assert!(matches!(open_regular(&special), Err(FileProblem::NotAFile)), "{special:?}");
        }
        assert!(matches!(read_bounded(io::repeat(b'x'), 100), Err(FileProblem::TooLarge(100))));
    }
}
