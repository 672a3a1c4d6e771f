//! The file system that a path is on.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::Volume;

/// Returns the state of the file system that a path is on.
pub fn volume(path: &Path) -> Option<Volume> {
    let found = statvfs(path).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    Some(Volume { free, read_only: found.f_flag.contains(StatVfsMountFlags::RDONLY) })
}
