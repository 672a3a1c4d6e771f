//! The real disk. The only durable writes of the program are here, so each call says why it is made as it is.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::disk::{Access, Disk, FileId, Kind, Stat};
use crate::core::files::{FileProblem, read_bounded};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const DIRECTORY_MODE: Mode = Mode::RWXU;
/// Reading is no news: without this flag the first look at a directory or file that has just been written changes its
/// time of access, which a save then has to wait for as part of what it makes durable.
#[cfg(target_os = "linux")]
const UNNOTICED: OFlags = OFlags::NOATIME;
#[cfg(not(target_os = "linux"))]
const UNNOTICED: OFlags = OFlags::empty();
/// Enough for two hundred names, and not more room than the checkpoint that is read next takes.
#[cfg(target_os = "linux")]
const LIST_BUFFER: usize = 8 << 10;
const LOCK_POLL: Duration = Duration::from_micros(500);

/// The disk of the operating system, seen from the directory that holds the store.
#[derive(Debug, Clone)]
pub struct OsDisk {
    base: PathBuf,
}

impl OsDisk {
    /// Looks at the disk from `base`.
    #[must_use]
    pub fn new(base: &Path) -> Self {
        Self { base: base.to_owned() }
    }
}

impl Disk for OsDisk {
    type Dir = OwnedFd;
    type Lock = OwnedFd;

    fn base(&self) -> io::Result<OwnedFd> {
        // The path to the project is the user's own, and may lead over links. Everything inside may not.
        Ok(rustix::fs::openat(CWD, &self.base, DIRECTORY, Mode::empty())?)
    }

    fn enter(&self, dir: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
        Ok(unnoticed(DIRECTORY | OFlags::NOFOLLOW, |flags| {
            rustix::fs::openat(dir, name, flags, Mode::empty())
        })?)
    }

    #[cfg(target_os = "linux")]
    fn reach(&self, names: &[&str]) -> io::Result<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};

        // Where no link leads to the project either, which is so for every path that the system itself has named, one
        // call does it all.
        let mut path = self.base.clone();
        path.extend(names);
        let strict = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match unnoticed(DIRECTORY | OFlags::NOFOLLOW, |flags| {
            openat2(CWD, &path, flags, Mode::empty(), strict)
        }) {
            Ok(dir) => Ok(dir),
            Err(Errno::NOENT) => Err(Errno::NOENT.into()),
            // The project is reached over a link, or the kernel has no openat2 with these flags.
            Err(_) => {
                let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
                let base = self.base()?;
                let open = |flags| openat2(&base, names.join("/"), flags, Mode::empty(), beneath);
                Ok(unnoticed(DIRECTORY | OFlags::NOFOLLOW, open)?)
            }
        }
    }

    fn make_dir(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(dir, name, DIRECTORY_MODE)?)
    }

    #[cfg(target_os = "linux")]
    fn list(&self, dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        use rustix::fs::{RawDir, SeekFrom};
        // The descriptor may have been read before.
        rustix::fs::seek(dir, SeekFrom::Start(0))?;
        let mut buffer = Vec::with_capacity(LIST_BUFFER);
        let mut entries = RawDir::new(dir, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => visit_name(entry.file_name(), visit),
                // The directory was removed since it was opened, which takes that nothing is in it.
                Err(Errno::NOENT) => break,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn list(&self, dir: &OwnedFd, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(dir)? {
            visit_name(entry?.file_name(), visit);
        }
        Ok(())
    }

    fn read(&self, dir: &OwnedFd, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        // A pipe in the place of a checkpoint must not make us wait, nor a link lead us out of the store.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = |flags| rustix::fs::openat(dir, name, flags, Mode::empty());
        let file: File = unnoticed(flags, open)?.into();
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(FileProblem::NotAFile);
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        if size > limit {
            return Err(FileProblem::TooLarge(limit));
        }
        // Published files do not change, so one read of the known size is all; whatever else there is, is bounded.
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
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
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
        })
    }

    fn lock(&self, dir: &OwnedFd, patience: Duration) -> Option<OwnedFd> {
        // A blocking flock cannot be given up without signals, so this one polls. A second descriptor holds the lock,
        // so that it ends with the value.
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

    fn stage(&self, dir: &OwnedFd, name: &str, bytes: &[u8], access: Access) -> io::Result<FileId> {
        let mode = match access {
            Access::ReadOnly => Mode::RUSR,
            Access::ReadWrite => Mode::RUSR | Mode::WUSR,
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Writing beyond this limit would end the process by a signal instead of an error.
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        if limit.is_some_and(|limit| bytes.len() as u64 > limit) {
            return Err(Errno::FBIG.into());
        }
        let mut file: File = rustix::fs::openat(dir, name, flags, mode)?.into();
        file.write_all(bytes)?;
        // A tombstone has no content that could be missing under its name: syncing the directory is all it needs, and
        // archiving ten thousand checkpoints does not wait ten thousand times for the disk.
        if !bytes.is_empty() {
            // Never retried: after a failed fsync the kernel may drop the pages and report success the next time.
            rustix::fs::fsync(&file)?;
        }
        let stat = rustix::fs::fstat(&file)?;
        Ok(FileId(stat.st_dev, stat.st_ino))
    }

    fn publish(&self, dir: &OwnedFd, staged: &str, name: &str) -> io::Result<()> {
        let errno = match rustix::fs::linkat(dir, staged, dir, name, AtFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(errno) => errno,
        };
        // File systems without hard links say so in several ways.
        if !matches!(errno, Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK | Errno::INVAL) {
            return Err(errno.into());
        }
        match rustix::fs::renameat_with(dir, staged, dir, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(io::ErrorKind::Unsupported.into()),
            other => Ok(other?),
        }
    }

    fn replace(&self, dir: &OwnedFd, staged: &str, name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(dir, staged, dir, name)?)
    }

    fn move_aside(&self, dir: &OwnedFd, name: &str, to: &OwnedFd, new_name: &str) -> io::Result<()> {
        match rustix::fs::renameat_with(dir, name, to, new_name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            other => return Ok(other?),
        }
        // Without such a rename: a second name, then one name less. Links do not replace either.
        rustix::fs::linkat(dir, name, to, new_name, AtFlags::empty())?;
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn sync_dir(&self, dir: &OwnedFd) -> io::Result<()> {
        Ok(rustix::fs::fsync(dir)?)
    }

    #[expect(clippy::disallowed_methods, reason = "this is where waiting lives")]
    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Opens what is only read so that nothing tells of it, which only its owner may ask for.
fn unnoticed(
    flags: OFlags,
    open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
) -> rustix::io::Result<OwnedFd> {
    match open(flags | UNNOTICED) {
        Err(Errno::PERM) => open(flags),
        opened => opened,
    }
}

/// A name that is not UTF-8 is none of ours, but it is there: whoever looks for strangers must see it.
fn visit_name(name: &CStr, visit: &mut dyn FnMut(&str)) {
    let name = name.to_string_lossy();
    if name != "." && name != ".." {
        visit(&name);
    }
}
