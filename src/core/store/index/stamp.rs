//! The state of a directory, as far as its metadata tells it.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::core::store::disk::{FileKind, Stat};

/// Identifies the state of a directory: its inode, and its ctime in seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::core::store) struct DirectoryStamp(u64, u64, u32);

/// The stamps of the directories whose names are the workflows of a store: the live ones and, if there are any, the
/// archived ones.
pub(in crate::core::store) type SetStamp = (DirectoryStamp, Option<DirectoryStamp>);

impl DirectoryStamp {
    /// Returns the stamp of a directory, and none of anything else.
    pub(in crate::core::store) fn new(stat: &Stat) -> Option<Self> {
        if stat.kind != FileKind::Directory {
            return None;
        }
        let (seconds, nanos) = since_epoch(stat.changed?)?;
        Some(Self(stat.id.1, seconds, nanos))
    }

    /// True if every change after `time` changes the stamp.
    pub(in crate::core::store) fn is_before(&self, time: SystemTime) -> bool {
        since_epoch(time).is_some_and(|time| (self.1, self.2) < time)
    }
}

fn since_epoch(time: SystemTime) -> Option<(u64, u32)> {
    let time = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((time.as_secs(), time.subsec_nanos()))
}
