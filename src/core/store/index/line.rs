//! The bytes of the index: a first line with the digest of the rest, then a line per workflow, with the name of its
//! directory and a JSON array.

use std::collections::HashMap;
use std::time::SystemTime;

use chrono::DateTime;

use crate::core::checkpoint::WorkflowStatus;
use crate::core::digest::Digest;
use crate::core::phase::PhaseId;
use crate::core::selector::Handle;
use crate::core::store::disk::{FileKind, Stat};
use crate::core::store::scan_workflows::Live;
use crate::core::store::summary::{HeadSummary, WorkflowSummary};
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// The number changes with the lines: an index with another one is not used.
const MAGIC: &str = "ckpt-index 1 ";
const FIRST_LINE: usize = MAGIC.len() + 64 + 1;
/// A workflow whose line would be longer has none.
const MAX_LINE: usize = 512;

/// Identifies the state of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::core::store) struct DirectoryStamp {
    inode: u64,
    changed: (u64, u32),
}

impl DirectoryStamp {
    /// Returns the stamp of a directory, and none of anything else.
    pub(in crate::core::store) fn new(stat: &Stat) -> Option<Self> {
        if stat.kind != FileKind::Directory {
            return None;
        }
        Some(Self { inode: stat.id.1, changed: since_epoch(stat.changed?)? })
    }

    /// True if every change after `time` changes the stamp.
    pub(in crate::core::store) fn is_before(&self, time: SystemTime) -> bool {
        since_epoch(time).is_some_and(|time| self.changed < time)
    }
}

fn since_epoch(time: SystemTime) -> Option<(u64, u32)> {
    let time = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((time.as_secs(), time.subsec_nanos()))
}

/// The members of a line: the stamp, the head, and the live checkpoints if they were counted.
type Line = (Stamped, Head, Option<Counts>);
type Stamped = (u64, u64, u32);
type Head = (u64, bool, Milliseconds, WorkflowStatus, Option<PhaseId>, Option<String>, Vec<String>);
type Counts = (usize, u64, Option<Milliseconds>);
/// A timestamp, which takes a fifth of a line as text.
type Milliseconds = i64;

/// The lines of an index, by the names of the directories.
#[derive(Debug, Default)]
pub(in crate::core::store) struct Index<'b> {
    lines: HashMap<&'b str, &'b str>,
}

impl<'b> Index<'b> {
    /// Checks the digest. Bytes that are no index give an empty one.
    pub(in crate::core::store) fn parse(bytes: &'b [u8]) -> Self {
        let mut lines = HashMap::new();
        for line in content(bytes).unwrap_or_default().lines() {
            if let Some((directory, _)) = line.split_once(' ') {
                lines.insert(directory, line);
            }
        }
        Self { lines }
    }

    /// Returns the line of a directory and the summary in it, if that is valid for a directory with this stamp.
    pub(in crate::core::store) fn find(
        &self,
        id: &WorkflowId,
        directory: &str,
        stamp: &DirectoryStamp,
    ) -> Option<(&'b str, WorkflowSummary)> {
        let line = *self.lines.get(directory)?;
        let ((inode, seconds, nanos), head, counts): Line =
            serde_json::from_str(line.get(directory.len()..)?).ok()?;
        if *stamp != (DirectoryStamp { inode, changed: (seconds, nanos) }) {
            return None;
        }
        let (seq, archived, saved_at, status, phase, pipeline, labels) = head;
        let summary = WorkflowSummary {
            newest: Handle::new(id, seq),
            head: Ok(HeadSummary { saved_at: timestamp(saved_at)?, status, phase, pipeline, labels }),
            live: counts.map(|(checkpoints, bytes, oldest)| Live {
                checkpoints,
                bytes,
                oldest: oldest.and_then(timestamp),
            }),
            archived,
        };
        Some((line, summary))
    }
}

fn milliseconds(time: Timestamp) -> Milliseconds {
    time.to_chrono().timestamp_millis()
}

fn timestamp(time: Milliseconds) -> Option<Timestamp> {
    DateTime::from_timestamp_millis(time).map(Timestamp::new)
}

fn content(bytes: &[u8]) -> Option<&str> {
    let (first, rest) = bytes.split_at_checked(FIRST_LINE)?;
    let digest = first.strip_prefix(MAGIC.as_bytes())?.strip_suffix(b"\n")?;
    if Digest::from_hex(digest) != Some(Digest::of(rest)) {
        return None;
    }
    std::str::from_utf8(rest).ok()
}

/// Returns the bytes of an index with these lines, which end with a newline each.
pub(super) fn index_of(lines: &str) -> Vec<u8> {
    format!("{MAGIC}{}\n{lines}", Digest::of(lines.as_bytes()).to_hex()).into_bytes()
}

/// Returns the size that an index of this many workflows has at most.
pub(super) fn max_bytes(workflows: usize) -> u64 {
    (FIRST_LINE + workflows.saturating_mul(MAX_LINE)) as u64
}

/// Adds the line of a directory. Returns false if there can be none: the head is damaged, or the line would be too long.
pub(in crate::core::store) fn write_line(
    lines: &mut String,
    directory: &str,
    stamp: &DirectoryStamp,
    summary: &WorkflowSummary,
) -> bool {
    let WorkflowSummary { newest, head: Ok(head), live, archived } = summary else { return false };
    let HeadSummary { saved_at, status, phase, pipeline, labels } = head;
    let counts = live.as_ref().map(|live| (live.checkpoints, live.bytes, live.oldest.map(milliseconds)));
    let members = (
        (stamp.inode, stamp.changed.0, stamp.changed.1),
        (newest.seq, archived, milliseconds(*saved_at), status, phase, pipeline, labels),
        counts,
    );
    let Ok(members) = serde_json::to_string(&members) else { return false };
    if directory.len() + members.len() + 2 > MAX_LINE {
        return false;
    }
    lines.extend([directory, " ", &members, "\n"]);
    true
}
