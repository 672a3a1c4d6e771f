//! The state of a file or a directory, as far as its metadata tells it.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::disk::{FileKind, Stat};

/// Identifies the state of a file or a directory: its inode, and its ctime in seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp(pub(super) u64, pub(super) u64, pub(super) u32);

impl FileStamp {
    /// Returns the stamp of a regular file, and none of anything else.
    pub(super) fn of_file(stat: &Stat) -> Option<Self> {
        if stat.kind == FileKind::File { Self::new(stat) } else { None }
    }

    /// Returns the stamp of a directory, and none of anything else.
    pub(super) fn of_directory(stat: &Stat) -> Option<Self> {
        if stat.kind == FileKind::Directory { Self::new(stat) } else { None }
    }

    fn new(stat: &Stat) -> Option<Self> {
        let (seconds, nanos) = since_epoch(stat.changed?)?;
        Some(Self(stat.id.1, seconds, nanos))
    }

    /// True if every change after `time` changes the stamp.
    pub(super) fn is_before(&self, time: SystemTime) -> bool {
        since_epoch(time).is_some_and(|time| (self.1, self.2) < time)
    }
}

fn since_epoch(time: SystemTime) -> Option<(u64, u32)> {
    let time = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((time.as_secs(), time.subsec_nanos()))
}
