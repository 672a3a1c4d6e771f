//! System calls and flags of Linux alone: `openat2`, `O_PATH`, `O_NOATIME` and `getdents64`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, Stat, openat2};
use rustix::io::Errno;

use super::dir::{DIRECTORY, open_dir, open_without_atime, visit_name};
use crate::FileId;

/// The command that opens an address in a browser.
pub const BROWSER: &[&str] = &["xdg-open"];

/// `O_NOATIME`: without it, the first read of a directory or file that was just written changes its atime, and the fsync
/// of the next save has to write that too.
pub const NO_ATIME: OFlags = OFlags::NOATIME;
/// How a directory is opened to find names in it. `O_PATH` needs no permission to list it.
pub const SEARCHED: OFlags = OFlags::PATH;
/// Enough for two hundred names of checkpoints.
const LIST_BUFFER: usize = 8 << 10;

/// Returns device and inode.
pub fn file_id(stat: &Stat) -> FileId {
    FileId(stat.st_dev, stat.st_ino)
}

/// Returns true for the errors of a file system that does not have an operation.
pub fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Returns permission bits in the type of the system.
pub fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}

/// Waits until the content or the names of an open file or directory are on the disk.
pub fn sync(file: impl AsFd) -> Result<(), Errno> {
    rustix::fs::fsync(file)
}

/// Opens a directory by its path components below `base`, without following links there.
pub fn reach(base: &Path, names: &[&str]) -> io::Result<OwnedFd> {
    // If the path of the project has no symbolic link either, which getcwd guarantees, one call is enough.
    let mut path = base.to_owned();
    path.extend(names);
    let strict = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match open_without_atime(DIRECTORY | OFlags::NOFOLLOW, |flags| openat2(CWD, &path, flags, Mode::empty(), strict)) {
        Ok(dir) => Ok(dir),
        Err(Errno::NOENT) => Err(Errno::NOENT.into()),
        // The path of the project has a symbolic link, or something else is wrong.
        Err(_) => {
            let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let base = open_dir(base)?;
            let open = |flags| openat2(&base, names.join("/"), flags, Mode::empty(), beneath);
            Ok(open_without_atime(DIRECTORY | OFlags::NOFOLLOW, open)?)
        }
    }
}

/// Passes each name in a directory to `visit`.
pub fn visit_names(dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
    // The descriptor may have been listed before.
    rustix::fs::seek(dir, SeekFrom::Start(0))?;
    let mut buffer = Vec::with_capacity(LIST_BUFFER);
    let mut entries = RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => visit_name(entry.file_name(), visit),
            // The directory was removed after it was opened, so it was empty.
            Err(Errno::NOENT) => break,
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}
