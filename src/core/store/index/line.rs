//! One line of the index: the name of a directory and a JSON array.

use chrono::DateTime;

use crate::core::checkpoint::WorkflowStatus;
use crate::core::phase::PhaseId;
use crate::core::selector::Handle;
use crate::core::store::file_stamp::FileStamp;
use crate::core::store::scan_workflows::{Extent, Live};
use crate::core::store::summary::{HeadSummary, WorkflowSummary};
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// A workflow whose line would be longer has only its name there.
pub(super) const MAX_LINE: usize = 512;

/// The members of a line: the stamp, the head unless that is to be read each time, and the live checkpoints if they were
/// counted.
type Members = (FileStamp, Option<Head>, Option<Counts>);
type Head = (u64, bool, Milliseconds, WorkflowStatus, Option<PhaseId>, Option<String>, Vec<String>);
type Counts = (usize, u64, Option<Milliseconds>);
/// A timestamp, which takes a fifth of a line as text.
type Milliseconds = i64;

/// What a line says about a directory.
pub(in crate::core::store) enum Cached {
    /// The summary, which is valid.
    Summary(WorkflowSummary),
    /// The workflow is to be read each time.
    Nothing,
    /// The line is about another state of the directory, or has not enough.
    Outdated,
}

/// Reads the members of a line, for a directory with this stamp.
pub(in crate::core::store) fn parse_line(
    members: &str,
    workflow: WorkflowId,
    stamp: &FileStamp,
    extent: Extent,
) -> Cached {
    let head = match serde_json::from_str::<Members>(members) {
        Ok((of, head, counts)) if of == *stamp => head.map(|head| (head, counts)),
        _ => return Cached::Outdated,
    };
    let Some(((seq, archived, saved_at, status, phase, pipeline, labels), counts)) = head else {
        return Cached::Nothing;
    };
    let (Some(saved_at), true) = (timestamp(saved_at), extent == Extent::Newest || counts.is_some()) else {
        return Cached::Outdated;
    };
    Cached::Summary(WorkflowSummary {
        newest: Handle { workflow, seq, side: None },
        head: Ok(HeadSummary { saved_at, status, phase, pipeline, labels }),
        live: counts.map(|(checkpoints, bytes, oldest)| Live {
            checkpoints,
            bytes,
            oldest: oldest.and_then(timestamp),
        }),
        archived,
    })
}

fn milliseconds(time: Timestamp) -> Milliseconds {
    time.to_chrono().timestamp_millis()
}

fn timestamp(time: Milliseconds) -> Option<Timestamp> {
    DateTime::from_timestamp_millis(time).map(Timestamp::new)
}

/// Returns the members for a directory with this stamp; without a summary, they say that the workflow is to be read each
/// time. Empty if the line would be too long.
pub(in crate::core::store) fn members(
    name: &str,
    stamp: FileStamp,
    summary: Option<&WorkflowSummary>,
) -> String {
    let head = summary.and_then(|summary| {
        let HeadSummary { saved_at, status, phase, pipeline, labels } = summary.head.as_ref().ok()?;
        let head = (summary.newest.seq, summary.archived, milliseconds(*saved_at));
        Some((head.0, head.1, head.2, status, phase, pipeline, labels))
    });
    let live = summary.and_then(|summary| summary.live);
    let counts = live.map(|live| (live.checkpoints, live.bytes, live.oldest.map(milliseconds)));
    let mut members = serde_json::to_string(&(stamp, head, counts)).unwrap_or_default();
    if name.len() + members.len() + 2 > MAX_LINE {
        members.clear();
    }
    members
}
