//! The log of hooks: what went wrong in commands that never say so to their caller.
//!
//! `.ckpt/hook.log` has a line per problem, the newest last. It is bounded, not synced, and may be deleted at any time.

use std::io;

use super::disk::Disk;
use super::layout::{self, HOOK_LOG};
use super::open::Store;

/// The size at which the older half of the log leaves.
const MAX_LOG_BYTES: usize = 64 << 10;
/// The longest line.
const MAX_LINE_BYTES: usize = 1 << 10;

impl<D: Disk> Store<D> {
    /// Adds a line to the log of hooks; `unique` tells the temporary file from all others. Of two that are added at the
    /// same time, one may be lost.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn log_hook(&self, line: &str, unique: &str) -> io::Result<()> {
        let disk = self.disk();
        let root = disk.reach(&[self.name()])?;
        let mut log = disk.read(&root, HOOK_LOG, 2 * MAX_LOG_BYTES as u64).unwrap_or_default();
        if log.len() > MAX_LOG_BYTES {
            let half = &log[log.len() - MAX_LOG_BYTES / 2..];
            let start = half.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            log = half[start..].to_vec();
        }
        let line = line.replace('\n', " ");
        log.extend_from_slice(&line.as_bytes()[..line.floor_char_boundary(MAX_LINE_BYTES)]);
        log.push(b'\n');
        let staged = layout::staged_file(unique, 1);
        disk.stage_unsynced(&root, &staged, &log)?;
        disk.replace(&root, &staged, HOOK_LOG).inspect_err(|_| drop(disk.remove(&root, &staged)))
    }
}
