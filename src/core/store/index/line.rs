//! One line of the index: the name of a directory and a JSON array.

use chrono::DateTime;

use crate::core::checkpoint::WorkflowStatus;
use crate::core::phase::PhaseId;
use crate::core::selector::Handle;
use crate::core::store::file_stamp::FileStamp;
use crate::core::store::summary::{HeadSummary, WorkflowSummary};
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// A workflow whose line would be longer has only its name there.
pub(super) const MAX_LINE: usize = 512;

/// The members of a line: the stamp, and the head unless that is to be read each time.
type Members = (FileStamp, Option<Head>);
type Head = (u64, bool, Milliseconds, WorkflowStatus, Option<PhaseId>, Option<String>, Vec<String>);
/// A timestamp, which takes a fifth of a line as text.
type Milliseconds = i64;

/// What a line says about a directory.
pub(in crate::core::store) enum Cached {
    /// The summary, which is valid.
    Summary(WorkflowSummary),
    /// The workflow is to be read each time.
    Nothing,
    /// The line is about another state of the directory.
    Outdated,
}

/// Reads the members of a line, for a directory with this stamp.
pub(in crate::core::store) fn parse_line(members: &str, workflow: WorkflowId, stamp: &FileStamp) -> Cached {
    let head = match serde_json::from_str::<Members>(members) {
        Ok((of, head)) if of == *stamp => head,
        _ => return Cached::Outdated,
    };
    let Some((seq, archived, saved_at, status, phase, pipeline, labels)) = head else {
        return Cached::Nothing;
    };
    let Some(saved_at) = DateTime::from_timestamp_millis(saved_at).map(Timestamp::new) else {
        return Cached::Outdated;
    };
    Cached::Summary(WorkflowSummary {
        newest: Handle { workflow, seq, side: None },
        head: Ok(HeadSummary { saved_at, status, phase, pipeline, labels }),
        archived,
    })
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
        let saved_at: Milliseconds = saved_at.to_chrono().timestamp_millis();
        Some((summary.newest.seq, summary.archived, saved_at, status, phase, pipeline, labels))
    });
    let mut members = serde_json::to_string(&(stamp, head)).unwrap_or_default();
    if name.len() + members.len() + 2 > MAX_LINE {
        members.clear();
    }
    members
}
