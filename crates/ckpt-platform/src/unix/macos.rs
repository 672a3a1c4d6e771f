//! The differences of macOS: a sync that reaches the disk, and calls of Linux that are missing.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use super::dir::{enter_dir, open_dir, visit_name};
use crate::FileId;

/// The command that opens an address in a browser.
pub const BROWSER: &[&str] = &["open"];

/// There is no `O_NOATIME`.
pub const NO_ATIME: OFlags = OFlags::empty();
/// How a directory is opened to find names in it; there is no `O_PATH`.
pub const SEARCHED: OFlags = OFlags::RDONLY;

/// Returns device and inode.
pub fn file_id(stat: &Stat) -> FileId {
    FileId(i64::from(stat.st_dev).cast_unsigned(), stat.st_ino)
}

/// Returns true for the errors of a file system that does not have an operation. `ENOTSUP` and `EOPNOTSUPP` are two
/// numbers here.
pub fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::OPNOTSUPP)
}

/// Returns permission bits in the type of the system.
pub fn permissions(mode: u32) -> Mode {
    u16::try_from(mode).map_or(Mode::RWXU, Mode::from_raw_mode)
}

/// Waits until the content or the names of an open file or directory are on the disk.
///
/// `fsync` leaves them in the write cache of the drive, where a power loss destroys them; `F_FULLFSYNC` does not. Network
/// and foreign file systems lack it.
pub fn sync(file: impl AsFd) -> Result<(), Errno> {
    match rustix::fs::fcntl_fullfsync(&file) {
        Err(errno) if is_unsupported(errno) || errno == Errno::NOTTY => rustix::fs::fsync(file),
        synced => synced,
    }
}

/// Opens a directory by its path components below `base`, without following links there.
pub fn reach(base: &Path, names: &[&str]) -> io::Result<OwnedFd> {
    names.iter().try_fold(open_dir(base)?, |dir, name| enter_dir(&dir, name.as_ref()))
}

/// Passes each name in a directory to `visit`.
pub fn visit_names(dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
    let entries = match rustix::fs::Dir::read_from(dir) {
        // The directory was removed after it was opened, so it was empty.
        Err(Errno::NOENT) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        visit_name(entry?.file_name(), visit);
    }
    Ok(())
}
