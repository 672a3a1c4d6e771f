//! The real file system. All durable writes of the program are here, so each call has a comment with its reason. The calls
//! themselves differ between operating systems: [`Dir`].

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::disk::{Access, Disk, FileKind, StagedFile, Stat};
use crate::files::{FileProblem, read_bounded};
use ckpt_platform as platform;
use ckpt_platform::Dir;

const DIRECTORY_MODE: u32 = 0o700;
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
}

impl Disk for OsDisk {
    type Dir = Dir;
    type Lock = File;
    type File = File;

    fn base(&self) -> io::Result<Dir> {
        // The path of the project may contain symbolic links; they are not followed inside the store only.
        Dir::open(&self.base)
    }

    fn enter(&self, dir: &Dir, name: &str) -> io::Result<Dir> {
        dir.enter(name)
    }

    fn reach(&self, names: &[&str]) -> io::Result<Dir> {
        Dir::reach(&self.base, names)
    }

    fn make_dir(&self, dir: &Dir, name: &str) -> io::Result<()> {
        // The store itself stays with root, who would not trust that of another user afterwards.
        if platform::is_superuser() && !dir.is_at(&self.base)? {
            dir.make_dir_for_owner(name, DIRECTORY_MODE)
        } else {
            dir.make_dir(name, DIRECTORY_MODE)
        }
    }

    fn list(&self, dir: &Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        dir.list(visit)
    }

    fn is_short(&self, dir: &Dir) -> io::Result<bool> {
        dir.is_short()
    }

    fn read(&self, dir: &Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        let (file, stat) = open(dir, name)?;
        if stat.bytes > limit {
            return Err(FileProblem::TooLarge(limit));
        }
        // Published files do not change, so one read of the known size is enough; a file that grows is bounded below.
        let mut bytes = platform::read_exactly(&file, usize::try_from(stat.bytes).unwrap_or_default())?;
        if bytes.len() as u64 == stat.bytes {
            return Ok(bytes);
        }
        let room = limit.saturating_sub(bytes.len() as u64);
        bytes.extend(read_bounded(file, room)?);
        Ok(bytes)
    }

    fn open(&self, dir: &Dir, name: &str) -> Result<File, FileProblem> {
        open(dir, name).map(|(file, _)| file)
    }

    fn stat(&self, dir: &Dir, name: &str) -> io::Result<Stat> {
        dir.stat(name)
    }

    fn stat_dir(&self, dir: &Dir) -> io::Result<Stat> {
        dir.stat_itself()
    }

    fn lock(&self, dir: &Dir, patience: Duration) -> Option<File> {
        // A blocking lock has no timeout, so this one polls. It is released when the file is closed.
        let lock = dir.open_lock().ok()?;
        let mut left = patience;
        loop {
            match lock.try_lock() {
                Ok(()) => return Some(lock),
                Err(error) if !left.is_zero() && may_pass(&error) => {
                    self.pause(LOCK_POLL);
                    left = left.saturating_sub(LOCK_POLL);
                }
                Err(_) => return None,
            }
        }
    }

    fn stage(&self, dir: &Dir, name: &str, bytes: &[u8], access: Access) -> io::Result<StagedFile<File>> {
        let mut file = create(dir, name, bytes.len() as u64, access)?;
        file.write_all(bytes)?;
        // A tombstone has no content to sync; its name is synced with the directory. So archiving ten thousand
        // checkpoints takes no ten thousand fsyncs.
        if !bytes.is_empty() {
            // Never retried: after a failed fsync the kernel may drop the pages and report success the next time.
            platform::sync_file(&file)?;
        }
        let id = Stat::of(&file)?.id;
        Ok(StagedFile { id, lock: platform::lock_until_published(file) })
    }

    fn create(&self, dir: &Dir, name: &str, size: u64) -> io::Result<File> {
        create(dir, name, size, Access::ReadWrite)
    }

    fn publish(&self, dir: &Dir, staged: &str, name: &str) -> io::Result<()> {
        dir.link_or_rename(staged, name)
    }

    fn replace(&self, dir: &Dir, staged: &str, name: &str) -> io::Result<()> {
        dir.rename(staged, name)
    }

    fn move_aside(&self, dir: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
        dir.rename_new(name, to, new_name)
    }

    fn remove(&self, dir: &Dir, name: &str) -> io::Result<()> {
        dir.remove(name)
    }

    fn remove_stale(&self, dir: &Dir, name: &str) -> io::Result<bool> {
        if let Ok(file) = dir.open_file(name) {
            // A shared lock conflicts with that of the writer. On NFS an exclusive one would need write access.
            if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
                return Ok(false);
            }
        }
        self.remove(dir, name).map(|()| true)
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        dir.sync()
    }

    #[expect(clippy::disallowed_methods, reason = "this is where waiting lives")]
    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Opens a regular file for reading.
fn open(dir: &Dir, name: &str) -> Result<(File, Stat), FileProblem> {
    let file = dir.open_file_without_atime(name)?;
    let stat = Stat::of(&file)?;
    if stat.kind == FileKind::File { Ok((file, stat)) } else { Err(FileProblem::NotAFile) }
}

/// Creates a file that at most `size` bytes will be written to.
fn create(dir: &Dir, name: &str, size: u64, access: Access) -> io::Result<File> {
    let mode = match access {
        Access::ReadOnly => 0o400,
        Access::ReadWrite => 0o600,
    };
    let file = dir.create_file(name, mode, size)?;
    // Keeps a cleanup whose clock is ahead from taking this file for a stale one. Closing the file releases the lock, and
    // so does the death of the process.
    let _ = file.try_lock();
    Ok(file)
}

/// Returns true if a lock may be free later.
fn may_pass(error: &TryLockError) -> bool {
    match error {
        TryLockError::WouldBlock => true,
        TryLockError::Error(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}
