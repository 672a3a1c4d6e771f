//! Reading untrusted files: without following links where that matters, without opening anything but regular files, and
//! with a size limit.
//!
//! A path in the project is resolved once, and from then on used by directory handles ([`FileAt`]), so that a directory
//! that is exchanged for a link meanwhile leads nowhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};
use std::time::SystemTime;

use ckpt_model::digest::{Digest, Hasher};
use ckpt_model::paths::is_inside_project;
use ckpt_platform as platform;
use ckpt_platform::{Dir, FileKind, Stat};

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
    #[error("is larger than {}", ckpt_model::size::Size(*.0))]
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
            _ if platform::is_link(&error) => Self::NotAFile,
            _ => Self::Io(error),
        }
    }
}

/// A name in an open directory. It stays in that directory if the directory is renamed, or a link takes its place. If the
/// name itself is a link, it is not followed.
#[derive(Debug)]
pub struct FileAt {
    dir: Dir,
    name: OsString,
}

impl FileAt {
    /// Uses a directory that was opened by the caller.
    pub(crate) fn new(dir: Dir, name: &OsStr) -> Self {
        Self { dir, name: name.to_owned() }
    }

    /// Opens the directories of a path below `root` one by one; none of them may be a link.
    ///
    /// # Errors
    /// A directory is missing or is a link, or the path does not name something below `root`.
    pub fn below(root: &Path, relative: &Path) -> Result<Self, FileProblem> {
        let Some(name) = relative.file_name() else { return Err(FileProblem::NotAFile) };
        let mut dir = Dir::open_searched(root)?;
        for part in relative.parent().into_iter().flat_map(Path::components) {
            match part {
                Component::Normal(part) => dir = dir.enter_searched(part)?,
                Component::CurDir => {}
                _ => return Err(FileProblem::Outside),
            }
        }
        Ok(Self::new(dir, name))
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &Path {
        Path::new(&self.name)
    }

    /// Returns the directory.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns the type; none if there is no such name.
    ///
    /// # Errors
    /// Its metadata cannot be read.
    pub(crate) fn kind(&self) -> io::Result<Option<FileKind>> {
        match self.stat() {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns true if it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.kind().is_ok_and(|kind| kind == Some(FileKind::Directory))
    }

    /// Returns its metadata.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        self.dir.stat(&self.name)
    }

    /// Returns the modification time.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.stat().ok().map(|stat| stat.modified)
    }

    /// Returns the modification time; of a directory, the time of its newest entry.
    #[must_use]
    pub fn newest_change(&self) -> Option<SystemTime> {
        let mut newest = self.modified()?;
        if let Ok(dir) = self.dir.enter(&self.name) {
            let times = self.entries().into_iter().filter_map(|name| Some(dir.stat(name).ok()?.modified));
            newest = times.fold(newest, SystemTime::max);
        }
        Some(newest)
    }

    /// Returns the names of the entries of a directory, in order; none of a file.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let mut names = Vec::new();
        if let Ok(dir) = self.dir.enter(&self.name) {
            let _ = dir.list(&mut |name| names.push(name.to_owned()));
        }
        names.sort();
        names
    }

    /// Returns the target of a link; none if it is not a link, or its target is not UTF-8.
    pub(crate) fn link(&self) -> Option<String> {
        self.dir.read_link(&self.name).ok()?.into_os_string().into_string().ok()
    }

    /// Returns true if it is a directory with entries.
    #[must_use]
    pub fn has_entries(&self) -> bool {
        !self.entries().is_empty()
    }

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// # Errors
    /// It cannot be opened or read, or is larger.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, FileProblem> {
        self.read_with_stat(limit).map(|(_, bytes)| bytes)
    }

    /// As [`read`](Self::read), with the metadata of that file from before it was read.
    pub(crate) fn read_with_stat(&self, limit: u64) -> Result<(Stat, Vec<u8>), FileProblem> {
        let (file, stat) = self.open(limit)?;
        Ok((stat, read_expected(file, stat.bytes, limit)?))
    }

    /// Returns the size and digest of a regular file of at most `limit` bytes, without holding it in memory.
    ///
    /// # Errors
    /// It cannot be opened or read, or is larger.
    pub fn hash(&self, limit: u64) -> Result<(u64, Digest), FileProblem> {
        let (file, _) = self.open(limit)?;
        // The file may grow while it is read.
        let mut hasher = Hasher::default();
        let size = io::copy(&mut file.take(limit.saturating_add(1)), &mut hasher)?;
        if size > limit { Err(FileProblem::TooLarge(limit)) } else { Ok((size, hasher.finish())) }
    }

    fn open(&self, limit: u64) -> Result<(File, Stat), FileProblem> {
        open_regular(limit, || self.stat(), || self.dir.open_file(&self.name))
    }
}

/// Opens a regular file of at most `limit` bytes.
///
/// Type and size are checked before it is opened, because opening can have effects: it releases the writer of a FIFO, and
/// starts some devices. They are checked again afterwards, because another file may have taken the name.
fn open_regular(
    limit: u64,
    stat: impl FnOnce() -> io::Result<Stat>,
    open: impl FnOnce() -> io::Result<File>,
) -> Result<(File, Stat), FileProblem> {
    let check = |stat: Stat| match stat.kind {
        FileKind::File if stat.bytes <= limit => Ok(stat),
        FileKind::File => Err(FileProblem::TooLarge(limit)),
        _ => Err(FileProblem::NotAFile),
    };
    check(stat()?)?;
    let file = open()?;
    let stat = check(Stat::of(&file)?)?;
    Ok((file, stat))
}

/// Reads a regular file of at most `limit` bytes. A link in the last component is not followed.
///
/// # Errors
/// It cannot be opened or read, or is larger.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, FileProblem> {
    let (file, stat) = open_regular(limit, || platform::stat(path), || platform::open_file(path))?;
    read_expected(file, stat.bytes, limit)
}

/// Reads at most `limit` bytes.
///
/// # Errors
/// It cannot be read, or is larger.
pub fn read_bounded(source: impl Read, limit: u64) -> Result<Vec<u8>, FileProblem> {
    read_expected(source, 0, limit)
}

/// Reads at most `limit` bytes. If as many as expected come, two reads are enough.
fn read_expected(source: impl Read, expected: u64, limit: u64) -> Result<Vec<u8>, FileProblem> {
    // A sparse file may claim any size.
    const MOST_RESERVED: u64 = 1 << 20;
    let room = usize::try_from(expected.min(MOST_RESERVED)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(room + 1);
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(FileProblem::TooLarge(limit)) } else { Ok(bytes) }
}

/// Resolves a path that the user typed in the directory `base`, and its links. Returns the file, and its path relative to
/// the project with `/` between the parts.
///
/// # Errors
/// It is missing or outside the project.
pub fn locate_in_project(project: &Path, base: &Path, path: &Path) -> Result<(FileAt, String), FileProblem> {
    let real = platform::canonicalize(&base.join(path))?;
    let project = platform::canonicalize(project)?;
    let relative = real.strip_prefix(&project).map_err(|_| FileProblem::Outside)?;
    // The path has no links left. One that takes the place of a directory from now on is refused.
    Ok((FileAt::below(&project, relative)?, portable(relative)?))
}

/// Resolves a path from a checkpoint or a settings file, and its links.
///
/// # Errors
/// It is missing, or outside the project, even if only through a link.
pub fn follow_in_project(project: &Path, relative: &str) -> Result<FileAt, FileProblem> {
    if is_inside_project(relative) {
        locate_in_project(project, project, Path::new(relative)).map(|(file, _)| file)
    } else {
        Err(FileProblem::Outside)
    }
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
        rustix::fs::mkfifoat(rustix::fs::CWD, project.join("pipe"), rustix::fs::Mode::RWXU).unwrap();

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

        let file = |path: &str| FileAt::below(&project, Path::new(path));
        assert_eq!(file("sub/a.md").unwrap().hash(5).unwrap(), (5, Digest::of(b"hello")));
        assert_eq!(file("./sub/a.md").unwrap().read(5).unwrap(), b"hello");
        assert!(matches!(file("sub/a.md").unwrap().hash(4), Err(FileProblem::TooLarge(4))));
        for special in ["sub", "pipe", "inside"] {
            assert!(matches!(file(special).unwrap().read(9), Err(FileProblem::NotAFile)), "{special}");
        }
        assert!(matches!(read_regular(Path::new("/dev/zero"), 9), Err(FileProblem::NotAFile)));
        symlink("sub", project.join("other")).unwrap();
        for path in ["other/a.md", "nope/a.md", "sub/../sub/a.md", "/etc/hostname", "..", ""] {
            assert!(file(path).is_err(), "{path}");
        }
        assert!(file("sub").unwrap().has_entries() && !file("pipe").unwrap().has_entries());
        assert!(matches!(read_bounded(io::repeat(b'x'), 100), Err(FileProblem::TooLarge(100))));
    }
}
