//! The metadata of a file.

use std::time::SystemTime;

/// Device and inode, or on Windows volume and file index: identifies a file independently of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub u64, pub u64);

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, or another reparse point of Windows.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// The metadata of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The type.
    pub kind: FileKind,
    /// The nine permission bits; 0700 on Windows.
    pub mode: u32,
    /// The number of the account that owns it; 0 on Windows.
    pub owner: u32,
    /// The size in bytes.
    pub bytes: u64,
    /// Device and inode.
    pub id: FileId,
    /// The number of hard links.
    pub links: u64,
    /// The modification time. Only stale temporary files and files of a project are judged by it, never checkpoints.
    pub modified: SystemTime,
    /// The status change time; none on Windows. Only caches compare it: for a directory, it advances with every change of a
    /// name, and no call sets it to a chosen value.
    pub changed: Option<SystemTime>,
}

impl Stat {
    /// True for a regular file of zero bytes, which is what a tombstone is.
    #[must_use]
    pub fn is_empty_file(&self) -> bool {
        self.kind == FileKind::File && self.bytes == 0
    }

    /// Returns the size of a regular file, and 0 for anything else.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        if self.kind == FileKind::File { self.bytes } else { 0 }
    }
}

/// The state of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume {
    /// The bytes that this account may still write.
    pub free: u64,
    /// True if nothing can be written.
    pub read_only: bool,
}
