//! Files by path or handle.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::system;
use crate::{FileKind, Stat};

/// How a file of others is opened. `O_NOFOLLOW`: a link must not lead elsewhere. `O_NONBLOCK`: opening a pipe must not wait
/// for its writer.
pub const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Returns true if a link was met where none is followed.
pub fn is_link(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}

/// Returns true if the process or the system has too many files open.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Returns a path without symbolic links.
#[expect(clippy::disallowed_methods, reason = "the home of this call")]
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Returns the path that a file has as bytes.
pub fn path_from_bytes(bytes: &[u8]) -> Option<&Path> {
    Some(Path::new(OsStr::from_bytes(bytes)))
}

/// Returns the metadata of a path; of a link itself, if it is one.
pub fn stat(path: &Path) -> io::Result<Stat> {
    Ok(convert(&rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Returns the metadata of a path; of the target, if it is a link.
pub fn stat_target(path: &Path) -> io::Result<Stat> {
    Ok(convert(&rustix::fs::stat(path)?))
}

/// Opens a file for reading. A link in the last component is not followed, and a pipe is not waited for.
pub fn open_file(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::openat(CWD, path, READ, Mode::empty())?.into())
}

/// Reads `size` bytes, or fewer if the file is shorter, with one system call in the usual case.
pub fn read_exactly(file: &File, size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    while bytes.len() < size {
        match rustix::io::read(file, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(bytes)
}

/// Syncs the content of a file.
pub fn sync_file(file: &File) -> io::Result<()> {
    Ok(system::sync(file)?)
}

/// Returns the lock of a new file, to be held until the file has its final name. It hinders no reader.
pub fn lock_until_published(file: File) -> Option<File> {
    Some(file)
}

impl Stat {
    /// Returns the metadata of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(convert(&rustix::fs::fstat(file)?))
    }
}

pub fn convert(stat: &rustix::fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Special,
    };
    Stat {
        kind,
        mode: widen::<u32>(stat.st_mode) & 0o777,
        owner: stat.st_uid,
        bytes: u64::try_from(stat.st_size).unwrap_or_default(),
        id: system::file_id(stat),
        links: widen(stat.st_nlink),
        modified: time(stat.st_mtime, u32::try_from(stat.st_mtime_nsec).unwrap_or_default()),
        changed: Some(time(stat.st_ctime, u32::try_from(stat.st_ctime_nsec).unwrap_or_default())),
    }
}

fn time(seconds: i64, nanos: u32) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(u64::try_from(seconds).unwrap_or_default(), nanos)
}

/// Converts a member of `struct stat`, whose type differs between systems.
pub fn widen<T>(member: impl Into<T>) -> T {
    member.into()
}
