//! The real file system. All durable writes of the program are here, so each call has a comment with its reason.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::disk::{Access, Disk, FileId, FileKind, StagedFile, Stat};
use crate::core::files::{FileProblem, read_bounded};
use crate::core::owner::give_to_owner_of;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const DIRECTORY_MODE: Mode = Mode::RWXU;
/// `O_NOATIME`: without it, the first read of a directory or file that was just written changes its atime, and the fsync
/// of the next save has to write that too.
#[cfg(target_os = "linux")]
const NO_ATIME: OFlags = OFlags::NOATIME;
#[cfg(not(target_os = "linux"))]
const NO_ATIME: OFlags = OFlags::empty();
/// Enough for two hundred names of checkpoints.
#[cfg(target_os = "linux")]
const LIST_BUFFER: usize = 8 << 10;
/// The size of a directory with up to about two hundred names; a file system that reports none has only short ones.
const SHORT_DIRECTORY: i64 = 4096;
const LOCK_POLL: Duration = Duration::from_micros(500);

/// The file system of the operating system, accessed from the directory that contains the store.
#[derive(Debug, Clone)]
pub struct OsDisk {
    base: PathBuf,
}

impl OsDisk {
    /// Accesses the file system from `base`.
    #[must_use]
    pub fn new(base: &Path) -> Self {
        Self { base: base.to_owned() }
    }

    /// Returns true if `dir` is the directory that contains the store.
    fn is_base(&self, dir: &OwnedFd) -> rustix::io::Result<bool> {
        let (base, dir) = (rustix::fs::stat(&self.base)?, rustix::fs::fstat(dir)?);
        Ok((base.st_dev, base.st_ino) == (dir.st_dev, dir.st_ino))
    }
}

impl Disk for OsDisk {
    type Dir = OwnedFd;
    type Lock = OwnedFd;

    fn base(&self) -> io::Result<OwnedFd> {
        // The path of the project may contain symbolic links; they are not followed inside the store only.
        Ok(rustix::fs::openat(CWD, &self.base, DIRECTORY, Mode::empty())?)
    }

    fn enter(&self, dir: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
        Ok(open_without_atime(DIRECTORY | OFlags::NOFOLLOW, |flags| {
            rustix::fs::openat(dir, name, flags, Mode::empty())
        })?)
    }

    #[cfg(target_os = "linux")]
    fn reach(&self, names: &[&str]) -> io::Result<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};

        // If the path of the project has no symbolic link either, which getcwd guarantees, one call is enough.
        let mut path = self.base.clone();
        path.extend(names);
        let strict = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match open_without_atime(DIRECTORY | OFlags::NOFOLLOW, |flags| {
            openat2(CWD, &path, flags, Mode::empty(), strict)
        }) {
            Ok(dir) => Ok(dir),
            Err(Errno::NOENT) => Err(Errno::NOENT.into()),
            // The path of the project has a symbolic link, or something else is wrong.
            Err(_) => {
                let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
                let base = self.base()?;
                let open = |flags| openat2(&base, names.join("/"), flags, Mode::empty(), beneath);
                Ok(open_without_atime(DIRECTORY | OFlags::NOFOLLOW, open)?)
            }
        }
    }

    fn make_dir(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        // The store itself stays with root, who would not trust that of another user afterwards.
        let keep = !rustix::process::geteuid().is_root() || self.is_base(dir)?;
        rustix::fs::mkdirat(dir, name, DIRECTORY_MODE)?;
        if keep {
            return Ok(());
        }
        let given = self.enter(dir, name).and_then(|made| Ok(give_to_owner_of(dir, made)?));
        given.inspect_err(|_| {
            let _ = rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR);
        })
    }

    fn list(&self, dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        visit_names(dir, visit)
    }

    fn is_short(&self, dir: &OwnedFd) -> io::Result<bool> {
        Ok(rustix::fs::fstat(dir)?.st_size <= SHORT_DIRECTORY)
    }

    fn read(&self, dir: &OwnedFd, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        // O_NONBLOCK: opening a pipe must not wait for its writer. O_NOFOLLOW: a link must not lead out of the store.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = |flags| rustix::fs::openat(dir, name, flags, Mode::empty());
        let file: File = open_without_atime(flags, open)?.into();
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(FileProblem::NotAFile);
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        if size > limit {
            return Err(FileProblem::TooLarge(limit));
        }
        // Published files do not change, so one read of the known size is enough; a file that grows is bounded below.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        while (bytes.len() as u64) < size {
            match rustix::io::read(&file, spare_capacity(&mut bytes)) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        if bytes.len() as u64 == size {
            return Ok(bytes);
        }
        let room = limit.saturating_sub(bytes.len() as u64);
        bytes.extend(read_bounded(file, room)?);
        Ok(bytes)
    }

    fn stat(&self, dir: &OwnedFd, name: &str) -> io::Result<Stat> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Link,
            _ => FileKind::Special,
        };
        let seconds = u64::try_from(stat.st_mtime).unwrap_or_default();
        #[expect(clippy::useless_conversion, reason = "the type of st_nlink differs between platforms")]
        let links = stat.st_nlink.into();
        Ok(Stat {
            kind,
            mode: stat.st_mode & 0o777,
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            id: FileId(stat.st_dev, stat.st_ino),
            links,
            modified: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
            changed: changed(&stat),
        })
    }

    fn lock(&self, dir: &OwnedFd, patience: Duration) -> Option<OwnedFd> {
        // A blocking flock has no timeout, so this one polls. A descriptor of its own holds the lock, which is released
        // when that is closed.
        let lock = rustix::fs::openat(dir, ".", DIRECTORY, Mode::empty()).ok()?;
        let mut left = patience;
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(lock),
                Err(Errno::WOULDBLOCK | Errno::INTR) if !left.is_zero() => {
                    self.pause(LOCK_POLL);
                    left = left.saturating_sub(LOCK_POLL);
                }
                Err(_) => return None,
            }
        }
    }

    fn stage(
        &self,
        dir: &OwnedFd,
        name: &str,
        bytes: &[u8],
        access: Access,
    ) -> io::Result<StagedFile<OwnedFd>> {
        let file = create(dir, name, bytes, access)?;
        // A tombstone has no content to sync; its name is synced with the directory. So archiving ten thousand
        // checkpoints takes no ten thousand fsyncs.
        if !bytes.is_empty() {
            // Never retried: after a failed fsync the kernel may drop the pages and report success the next time.
            rustix::fs::fsync(&file)?;
        }
        let stat = rustix::fs::fstat(&file)?;
        let id = FileId(stat.st_dev, stat.st_ino);
        Ok(StagedFile { id, lock: Some(file.into()) })
    }

    fn stage_unsynced(&self, dir: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
        create(dir, name, bytes, Access::ReadWrite).map(drop)
    }

    fn publish(&self, dir: &OwnedFd, staged: &str, name: &str) -> io::Result<()> {
        let errno = match rustix::fs::linkat(dir, staged, dir, name, AtFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(errno) => errno,
        };
        if !lacks_links(errno) {
            return Err(errno.into());
        }
        match rustix::fs::renameat_with(dir, staged, dir, name, RenameFlags::NOREPLACE) {
            Err(errno) if lacks_flag(errno) => Err(io::ErrorKind::Unsupported.into()),
            other => Ok(other?),
        }
    }

    fn replace(&self, dir: &OwnedFd, staged: &str, name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(dir, staged, dir, name)?)
    }

    fn move_aside(&self, dir: &OwnedFd, name: &str, to: &OwnedFd, new_name: &str) -> io::Result<()> {
        match rustix::fs::renameat_with(dir, name, to, new_name, RenameFlags::NOREPLACE) {
            Err(errno) if lacks_flag(errno) => {}
            other => return Ok(other?),
        }
        // Without RENAME_NOREPLACE: link and unlink, because a link does not replace either.
        match rustix::fs::linkat(dir, name, to, new_name, AtFlags::empty()) {
            Err(errno) if lacks_links(errno) => return Err(io::ErrorKind::Unsupported.into()),
            linked => linked?,
        }
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_stale(&self, dir: &OwnedFd, name: &str) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(file) = rustix::fs::openat(dir, name, flags, Mode::empty()) {
            // A shared lock conflicts with that of the writer. On NFS an exclusive one would need write access.
            let lock = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared);
            if lock == Err(Errno::WOULDBLOCK) {
                return Ok(false);
            }
        }
        self.remove(dir, name).map(|()| true)
    }

    fn sync_dir(&self, dir: &OwnedFd) -> io::Result<()> {
        Ok(rustix::fs::fsync(dir)?)
    }

    #[expect(clippy::disallowed_methods, reason = "this is where waiting lives")]
    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Creates a file and writes its content.
fn create(dir: &OwnedFd, name: &str, bytes: &[u8], access: Access) -> io::Result<File> {
    let mode = match access {
        Access::ReadOnly => Mode::RUSR,
        Access::ReadWrite => Mode::RUSR | Mode::WUSR,
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A write beyond RLIMIT_FSIZE would kill the process by a signal instead of returning an error.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| bytes.len() as u64 > limit) {
        return Err(Errno::FBIG.into());
    }
    let mut file: File = rustix::fs::openat(dir, name, flags, mode)?.into();
    // Keeps a cleanup whose clock is ahead from taking this file for a stale one. Closing the file releases the lock, and
    // so does the death of the process.
    let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    give_to_owner_of(dir, &file)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Returns the status change time.
fn changed(stat: &rustix::fs::Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_ctime).unwrap_or_default();
    let nanos = u32::try_from(stat.st_ctime_nsec).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos)
}

/// Returns true for the errors by which file systems refuse hard links. `EACCES` is among them on Android; the caller has
/// just created a file in the same directory, so it may write there.
fn lacks_links(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK | Errno::INVAL
    )
}

/// Returns true for the errors by which file systems refuse `RENAME_NOREPLACE`.
fn lacks_flag(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Opens with `O_NOATIME`, or without it if the file belongs to another user.
fn open_without_atime(
    flags: OFlags,
    open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
) -> rustix::io::Result<OwnedFd> {
    match open(flags | NO_ATIME) {
        Err(Errno::PERM) => open(flags),
        opened => opened,
    }
}

/// Passes each name in a directory to `visit`.
#[cfg(target_os = "linux")]
fn visit_names(dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
    use rustix::fs::{RawDir, SeekFrom};
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

/// Passes each name in a directory to `visit`.
#[cfg(not(target_os = "linux"))]
fn visit_names(dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(dir)? {
        visit_name(entry?.file_name(), visit);
    }
    Ok(())
}

/// Passes a name to `visit`. One that is not UTF-8 is not a name of the store, but a verification must report it.
fn visit_name(name: &CStr, visit: &mut dyn FnMut(&str)) {
    let name = name.to_string_lossy();
    if name != "." && name != ".." {
        visit(&name);
    }
}
