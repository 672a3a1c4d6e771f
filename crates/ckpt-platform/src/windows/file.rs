//! Files by path or handle.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use winapi_util::file::{information, typ};

use crate::{FileId, FileKind, Stat};

const FILE_ATTRIBUTE_DIRECTORY: u64 = 0x10;
const FILE_ATTRIBUTE_REPARSE_POINT: u64 = 0x400;
/// Opens directories too.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// Opens a link instead of its target.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
const GENERIC_READ: u32 = 0x8000_0000;
const FILE_READ_ATTRIBUTES: u32 = 0x80;
const ERROR_STOPPED_ON_SYMLINK: i32 = 681;
const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
const WSAEMFILE: i32 = 10024;
/// The seconds from 1601, the epoch of Windows, to 1970.
const SECONDS_BEFORE_UNIX: u64 = 11_644_473_600;
const TICKS_PER_SECOND: u64 = 10_000_000;

/// Returns the error about a link where none is followed.
pub fn link_error() -> io::Error {
    io::Error::from_raw_os_error(ERROR_STOPPED_ON_SYMLINK)
}

/// Returns true if a link was met where none is followed.
pub fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_STOPPED_ON_SYMLINK)
}

/// Returns true if the process has too many files or sockets open.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(ERROR_TOO_MANY_OPEN_FILES | WSAEMFILE))
}

/// Returns a path without symbolic links, in the form that other programs understand: `C:\a` instead of `\\?\C:\a`.
#[expect(clippy::disallowed_methods, reason = "the home of this call")]
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    let real = std::fs::canonicalize(path)?;
    let Some(verbatim) = real.to_str().and_then(|real| real.strip_prefix(r"\\?\")) else { return Ok(real) };
    Ok(match verbatim.strip_prefix(r"UNC\") {
        Some(share) => PathBuf::from(format!(r"\\{share}")),
        None => PathBuf::from(verbatim),
    })
}

/// Returns the path that a file has as bytes; none if they are not UTF-8.
pub fn path_from_bytes(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(Path::new)
}

/// Returns the metadata of a path; of a link itself, if it is one.
pub fn stat(path: &Path) -> io::Result<Stat> {
    Stat::of(&open_for_stat(path, FILE_FLAG_OPEN_REPARSE_POINT)?)
}

/// Returns the metadata of a path; of the target, if it is a link.
pub fn stat_target(path: &Path) -> io::Result<Stat> {
    Stat::of(&open_for_stat(path, 0)?)
}

fn open_for_stat(path: &Path, flags: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.access_mode(FILE_READ_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags);
    options.open(path)
}

/// Opens a file for reading. A link in the last component is not followed.
pub fn open_file(path: &Path) -> io::Result<File> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let file = OpenOptions::new().access_mode(GENERIC_READ).custom_flags(flags).open(path)?;
    if Stat::of(&file)?.kind == FileKind::Link { Err(link_error()) } else { Ok(file) }
}

/// Reads `size` bytes, or fewer if the file is shorter.
pub fn read_exactly(file: &File, size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    file.take(size as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Syncs the content of a file: `FlushFileBuffers`.
pub fn sync_file(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// Releases the lock of a new file and returns none. A lock hinders readers, and they may find the file under its final
/// name before its writer has finished.
pub fn lock_until_published(file: File) -> Option<File> {
    drop(file);
    None
}

impl Stat {
    /// Returns the metadata of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        let info = information(file)?;
        let has = |attribute| info.file_attributes() & attribute != 0;
        let kind = if has(FILE_ATTRIBUTE_REPARSE_POINT) {
            FileKind::Link
        } else if has(FILE_ATTRIBUTE_DIRECTORY) {
            FileKind::Directory
        } else if typ(file)?.is_disk() {
            FileKind::File
        } else {
            FileKind::Special
        };
        Ok(Self {
            kind,
            mode: 0o700,
            owner: 0,
            bytes: info.file_size(),
            id: FileId(info.volume_serial_number(), info.file_index()),
            links: info.number_of_links(),
            modified: time(info.last_write_time().unwrap_or_default()),
            changed: None,
        })
    }
}

/// Converts a time in units of 100 ns since 1601.
fn time(ticks: u64) -> SystemTime {
    let seconds = (ticks / TICKS_PER_SECOND).saturating_sub(SECONDS_BEFORE_UNIX);
    let nanos = u32::try_from(ticks % TICKS_PER_SECOND * 100).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos)
}
