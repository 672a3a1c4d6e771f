//! Open directories, and the names in them.
//!
//! Windows has no calls relative to a directory handle, so names are used by path. The handle is kept open without the
//! right for others to delete or rename the directory, and NTFS refuses to rename the directories above an open one. So
//! the path leads to the same directory as long as the handle lives.
#![expect(clippy::disallowed_methods, reason = "the calls that the store uses on Windows")]

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempPath;

use super::file::{link_error, open_file, stat};
use crate::{FileKind, Stat};

const GENERIC_READ: u32 = 0x8000_0000;
const FILE_SHARE_READ: u32 = 1;
const FILE_SHARE_WRITE: u32 = 2;
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
const ERROR_INVALID_FUNCTION: i32 = 1;
const ERROR_ACCESS_DENIED: i32 = 5;
const ERROR_SHARING_VIOLATION: i32 = 32;
const ERROR_NOT_SUPPORTED: i32 = 50;
const ERROR_CALL_NOT_IMPLEMENTED: i32 = 120;
const ERROR_TOO_MANY_LINKS: i32 = 1142;
/// The file that is locked for a directory, which cannot be locked itself. By its name it is a temporary file, so that
/// a cleanup removes it if it was not used for a day.
const LOCK: &str = ".tmp-lock";
/// Fewer names than this are one or two calls.
const SHORT: usize = 200;
/// How often, and how far apart, a file is tried that another process has open: a virus scanner, or a reader on a file
/// system where an open file cannot be replaced.
const BUSY_ATTEMPTS: u32 = 20;
const BUSY_POLL: Duration = Duration::from_millis(5);

/// An open directory. It stays the same directory, because it cannot be renamed while it is open.
///
/// Names are single path components. If a name is a link, it is not followed.
#[derive(Debug)]
pub struct Dir {
    path: PathBuf,
    handle: File,
}

impl Dir {
    /// Opens a directory by its path, which may contain links.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_with(path.to_owned(), 0)
    }

    /// Opens a directory to find names in it.
    pub fn open_searched(path: &Path) -> io::Result<Self> {
        Self::open(path)
    }

    /// Opens a directory by its path components below `base`. Only the path of `base` may contain links.
    pub fn reach(base: &Path, names: &[&str]) -> io::Result<Self> {
        names.iter().try_fold(Self::open(base)?, |dir, name| dir.enter(name))
    }

    /// Opens a directory in this one.
    pub fn enter(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        Self::open_with(self.path_of(name), FILE_FLAG_OPEN_REPARSE_POINT)
    }

    /// Opens a directory in this one to find names in it.
    pub fn enter_searched(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.enter(name)
    }

    fn open_with(path: PathBuf, flags: u32) -> io::Result<Self> {
        let handle = OpenOptions::new()
            .access_mode(GENERIC_READ)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags)
            .open(&path)?;
        match Stat::of(&handle)?.kind {
            FileKind::Directory => Ok(Self { path, handle }),
            FileKind::Link => Err(link_error()),
            FileKind::File | FileKind::Special => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// Returns true if this is the directory at a path.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(super::stat_target(path)?.id == Stat::of(&self.handle)?.id)
    }

    /// Passes each name to `visit`.
    pub fn list(&self, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            visit(&entry?.file_name().to_string_lossy());
        }
        Ok(())
    }

    /// Returns true if listing costs less than looking up a few dozen names.
    pub fn is_short(&self) -> io::Result<bool> {
        Ok(fs::read_dir(&self.path)?.take(SHORT).count() < SHORT)
    }

    /// Returns the metadata of a name.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Stat> {
        stat(&self.path_of(name))
    }

    /// Returns the metadata of the directory.
    pub fn stat_itself(&self) -> io::Result<Stat> {
        stat(&self.path)
    }

    /// Returns the content of a symbolic link.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        fs::read_link(self.path_of(name))
    }

    /// Opens a file for reading.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        open_file(&self.path_of(name))
    }

    /// Opens a file for reading. Windows does not sync access times with the file.
    pub fn open_file_without_atime(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_file(name)
    }

    /// Creates a file. It inherits the permissions of the directory: the read-only attribute would only keep it from
    /// being replaced by a tombstone.
    pub fn create_file(&self, name: impl AsRef<OsStr>, _mode: u32, _size: u64) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.path_of(name))
    }

    /// Creates a directory. It inherits the permissions of this one.
    pub fn make_dir(&self, name: impl AsRef<OsStr>, _mode: u32) -> io::Result<()> {
        fs::create_dir(self.path_of(name))
    }

    /// Creates a directory as [`make_dir`](Self::make_dir) does.
    pub fn make_dir_for_owner(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<()> {
        self.make_dir(name, mode)
    }

    /// Lets everybody who may write in this directory use its files: it inherits the permissions.
    pub fn share(&self, _name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(())
    }

    /// Creates a symbolic link to a file. Windows allows that to administrators and in developer mode.
    pub fn make_link(&self, content: &str, name: impl AsRef<OsStr>) -> io::Result<()> {
        std::os::windows::fs::symlink_file(content, self.path_of(name))
    }

    /// Opens the file that is locked for the directory.
    pub fn open_lock(&self) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.path_of(LOCK))
    }

    /// Gives a file a second name, or if the file system has no links, another name. Nothing is replaced.
    pub fn link_or_rename(&self, name: &str, new_name: &str) -> io::Result<()> {
        match fs::hard_link(self.path_of(name), self.path_of(new_name)) {
            Err(error) if lacks_links(&error) => self.rename_new(name, self, new_name),
            linked => linked,
        }
    }

    /// Renames within the directory, and replaces the file that has the new name in one step.
    pub fn rename(&self, name: impl AsRef<OsStr>, new_name: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (self.path_of(name), self.path_of(new_name));
        while_busy(|| fs::rename(&from, &to))
    }

    /// Moves an entry to a directory. Nothing is replaced.
    pub fn rename_new(&self, name: impl AsRef<OsStr>, to: &Self, new_name: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (self.path_of(name), to.path_of(new_name));
        while_busy(|| {
            // MoveFileEx without MOVEFILE_REPLACE_EXISTING, which the standard library does not have.
            let mut moved = TempPath::try_from_path(&from)?;
            moved.disable_cleanup(true);
            moved.persist_noclobber(&to).map_err(|error| error.error)
        })
    }

    /// Removes a name of a file.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let path = self.path_of(name);
        while_busy(|| fs::remove_file(&path))
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        fs::remove_dir(self.path_of(name))
    }

    /// Does nothing: Windows has no sync of a directory. NTFS writes its names to its journal in order, but a power loss
    /// may undo the last ones.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Repeats an operation while another process has the file open.
fn while_busy(operation: impl Fn() -> io::Result<()>) -> io::Result<()> {
    for _ in 0..BUSY_ATTEMPTS {
        match operation() {
            Err(error) if matches!(error.raw_os_error(), Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION)) => {
                std::thread::sleep(BUSY_POLL);
            }
            done => return done,
        }
    }
    operation()
}

/// Returns true for the errors by which file systems such as FAT refuse hard links.
fn lacks_links(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED | ERROR_CALL_NOT_IMPLEMENTED | ERROR_TOO_MANY_LINKS)
    )
}
