//! Open directories, and the names in them.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::account::give_to_owner_of;
use super::file::{READ, convert, widen};
use super::system;
use crate::Stat;

pub const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const SEARCHED: OFlags = system::SEARCHED.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The size of a directory with up to about two hundred names; a file system that reports none has only short ones.
const SHORT: i64 = 4096;

/// An open directory. It stays the same directory if it is renamed, or a link takes its place.
///
/// Names are single path components. If a name is a link, it is not followed.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl Dir {
    /// Opens a directory by its path, which may contain links.
    pub fn open(path: &Path) -> io::Result<Self> {
        open_dir(path).map(Self)
    }

    /// Opens a directory to find names in it, but not to list it.
    pub fn open_searched(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(CWD, path, SEARCHED, Mode::empty())?))
    }

    /// Opens a directory by its path components below `base`. Only the path of `base` may contain links.
    pub fn reach(base: &Path, names: &[&str]) -> io::Result<Self> {
        system::reach(base, names).map(Self)
    }

    /// Opens a directory in this one.
    pub fn enter(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        enter_dir(&self.0, name.as_ref()).map(Self)
    }

    /// Opens a directory in this one to find names in it, but not to list it.
    pub fn enter_searched(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let flags = SEARCHED | OFlags::NOFOLLOW;
        Ok(Self(rustix::fs::openat(&self.0, name.as_ref(), flags, Mode::empty())?))
    }

    /// Returns true if this is the directory at a path.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        let (path, this) = (rustix::fs::stat(path)?, rustix::fs::fstat(&self.0)?);
        Ok((path.st_dev, path.st_ino) == (this.st_dev, this.st_ino))
    }

    /// Passes each name to `visit`. A directory that was removed after it was opened is empty.
    pub fn list(&self, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        system::visit_names(&self.0, visit)
    }

    /// Returns true if listing costs less than looking up a few dozen names.
    pub fn is_short(&self) -> io::Result<bool> {
        Ok(rustix::fs::fstat(&self.0)?.st_size <= SHORT)
    }

    /// Returns the metadata of a name.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Stat> {
        Ok(convert(&rustix::fs::statat(&self.0, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Returns the metadata of the directory.
    pub fn stat_itself(&self) -> io::Result<Stat> {
        Ok(convert(&rustix::fs::fstat(&self.0)?))
    }

    /// Returns the content of a symbolic link.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let link = rustix::fs::readlinkat(&self.0, name.as_ref(), Vec::new())?;
        super::path_from_bytes(link.as_bytes()).map(Path::to_owned).ok_or_else(|| Errno::INVAL.into())
    }

    /// Opens a file for reading, without waiting for the writer of a pipe.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.0, name.as_ref(), READ, Mode::empty())?.into())
    }

    /// Opens a file for reading; reading it does not change its atime.
    pub fn open_file_without_atime(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let open = |flags| rustix::fs::openat(&self.0, name.as_ref(), flags, Mode::empty());
        Ok(open_without_atime(READ, open)?.into())
    }

    /// Creates a file that `size` bytes will be written to, with permissions of at most `mode`. Root gives it to the
    /// owner of the directory.
    pub fn create_file(&self, name: impl AsRef<OsStr>, mode: u32, size: u64) -> io::Result<File> {
        // A write beyond RLIMIT_FSIZE would kill the process by a signal instead of returning an error.
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        if limit.is_some_and(|limit| size > limit) {
            return Err(Errno::FBIG.into());
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name.as_ref(), flags, system::permissions(mode))?;
        give_to_owner_of(&self.0, &file).inspect_err(|_| drop(self.remove(name)))?;
        Ok(file.into())
    }

    /// Creates a directory with permissions of at most `mode`.
    pub fn make_dir(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name.as_ref(), system::permissions(mode))?)
    }

    /// Creates a directory as [`make_dir`](Self::make_dir) does. Root gives it to the owner of this directory.
    pub fn make_dir_for_owner(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<()> {
        self.make_dir(&name, mode)?;
        if !super::is_superuser() {
            return Ok(());
        }
        self.enter(&name).and_then(|made| give_to_owner_of(&self.0, &made.0)).inspect_err(|_| {
            let _ = self.remove_dir(&name);
        })
    }

    /// Lets everybody who may write in this directory use its files, whatever the umask: enter a directory and write there,
    /// read a file.
    pub fn share(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let above = widen::<u32>(rustix::fs::fstat(&self.0)?.st_mode) & 0o7777;
        let mut mode = above & 0o7700;
        for (may_write, all) in [(0o020, 0o070), (0o002, 0o007)] {
            if above & may_write != 0 {
                mode |= above & all;
            }
        }
        // By a handle, because others who may write here could put a link in its place.
        match self.enter(&name) {
            Ok(made) => Ok(rustix::fs::fchmod(&made.0, system::permissions(mode))?),
            Err(_) => Ok(rustix::fs::fchmod(self.open_file(&name)?, system::permissions(mode & 0o444))?),
        }
    }

    /// Creates a symbolic link with this content.
    pub fn make_link(&self, content: &str, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(content, &self.0, name.as_ref())?)
    }

    /// Opens the file that is locked for the directory: on Unix, the directory itself. Others may hold this one too, so
    /// the lock has a descriptor of its own.
    pub fn open_lock(&self) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.0, ".", DIRECTORY, Mode::empty())?.into())
    }

    /// Gives a file a second name, or if the file system has no links, another name. Nothing is replaced.
    pub fn link_or_rename(&self, name: &str, new_name: &str) -> io::Result<()> {
        match rustix::fs::linkat(&self.0, name, &self.0, new_name, AtFlags::empty()) {
            Err(errno) if lacks_links(errno) => {}
            linked => return Ok(linked?),
        }
        match rustix::fs::renameat_with(&self.0, name, &self.0, new_name, RenameFlags::NOREPLACE) {
            Err(errno) if system::is_unsupported(errno) => Err(io::ErrorKind::Unsupported.into()),
            renamed => Ok(renamed?),
        }
    }

    /// Renames within the directory, and replaces the file that has the new name in one step.
    pub fn rename(&self, name: impl AsRef<OsStr>, new_name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name.as_ref(), &self.0, new_name.as_ref())?)
    }

    /// Moves an entry to a directory. Nothing is replaced.
    pub fn rename_new(&self, name: impl AsRef<OsStr>, to: &Self, new_name: impl AsRef<OsStr>) -> io::Result<()> {
        let (name, new_name) = (name.as_ref(), new_name.as_ref());
        match rustix::fs::renameat_with(&self.0, name, &to.0, new_name, RenameFlags::NOREPLACE) {
            Err(errno) if system::is_unsupported(errno) => {}
            renamed => return Ok(renamed?),
        }
        // Without RENAME_NOREPLACE: link and unlink, because a link does not replace either.
        match rustix::fs::linkat(&self.0, name, &to.0, new_name, AtFlags::empty()) {
            Err(errno) if lacks_links(errno) => return Err(io::ErrorKind::Unsupported.into()),
            linked => linked?,
        }
        self.remove(name)
    }

    /// Removes a name of a file.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name.as_ref(), AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name.as_ref(), AtFlags::REMOVEDIR)?)
    }

    /// Waits until the names are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        Ok(system::sync(&self.0)?)
    }
}

/// Opens a directory by its path, which may contain links.
pub fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?)
}

/// Opens a directory inside another.
pub fn enter_dir(dir: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let open = |flags| rustix::fs::openat(dir, name, flags, Mode::empty());
    Ok(open_without_atime(DIRECTORY | OFlags::NOFOLLOW, open)?)
}

/// Opens with `O_NOATIME`, or without it if the file belongs to another user.
pub fn open_without_atime(
    flags: OFlags,
    open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
) -> rustix::io::Result<OwnedFd> {
    match open(flags | system::NO_ATIME) {
        Err(Errno::PERM) => open(flags),
        opened => opened,
    }
}

/// Passes a name to `visit`. One that is not UTF-8 is not a name of the store, but a verification must report it.
pub fn visit_name(name: &CStr, visit: &mut dyn FnMut(&str)) {
    let name = name.to_string_lossy();
    if name != "." && name != ".." {
        visit(&name);
    }
}

/// Returns true for the errors by which file systems refuse hard links. `EACCES` is among them on Android; the caller has
/// just created a file in the same directory, so it may write there.
fn lacks_links(errno: Errno) -> bool {
    system::is_unsupported(errno) || matches!(errno, Errno::PERM | Errno::ACCESS | Errno::MLINK)
}
