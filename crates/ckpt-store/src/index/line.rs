//! One line of the index: the name of a directory, its stamp, and the summary of the workflow in it.
//!
//! ```text
//! auth 8123 1769783400 120000000 7 false 1769783400113 in_progress ["build","web",["urgent"]]
//! ```
//!
//! Nearly all lines are read only to be passed over, so what decides on that is in plain words, which are read faster than
//! JSON. A summary that is to be read each time is a `-`.

use std::borrow::Cow;
use std::str::FromStr;

use chrono::DateTime;
use serde::Deserialize;

use crate::file_stamp::FileStamp;
use crate::summary::{HeadSummary, WorkflowSummary};
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowIdRef;

/// A workflow whose line would be longer has only its name there.
pub(super) const MAX_LINE: usize = 512;

/// Stands for a summary that is to be read each time.
const NOTHING: &str = "-";

/// The phase, the pipeline and the labels.
type Texts<'l> = (Option<Text<'l>>, Option<Text<'l>>, Vec<Text<'l>>);

/// A string of the line, which is copied only if it has escapes.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// The result of comparing a line with its directory.
pub(crate) enum Cached<'l> {
    /// The summary, which is valid.
    Summary(WorkflowSummary<'l>),
    /// The workflow is to be read each time.
    Nothing,
    /// The line is about another state of the directory.
    Outdated,
}

/// Reads the members of a line, for a directory with this stamp.
pub(crate) fn parse_line<'l>(members: &'l str, workflow: WorkflowIdRef<'l>, stamp: &FileStamp) -> Cached<'l> {
    let mut line = Fields(members);
    if line.stamp() != Some(*stamp) {
        return Cached::Outdated;
    }
    if line.0 == NOTHING {
        return Cached::Nothing;
    }
    line.summary(workflow).map_or(Cached::Outdated, Cached::Summary)
}

/// The fields of a line that are still to be read.
struct Fields<'l>(&'l str);

impl<'l> Fields<'l> {
    fn stamp(&mut self) -> Option<FileStamp> {
        Some(FileStamp(self.number()?, self.number()?, u32::try_from(self.number()?).ok()?))
    }

    fn summary(mut self, workflow: WorkflowIdRef<'l>) -> Option<WorkflowSummary<'l>> {
        let seq = self.number()?;
        let archived = self.value()?;
        let saved_at = Timestamp::new(DateTime::from_timestamp_millis(self.value()?)?);
        let status = self.word()?;
        let status = WorkflowStatus::ALL.into_iter().find(|known| known.word() == status)?;
        let (phase, pipeline, labels): Texts<'l> = serde_json::from_str(self.0).ok()?;
        let head = HeadSummary {
            saved_at,
            status,
            phase: phase.map(|text| text.0),
            pipeline: pipeline.map(|text| text.0),
            labels: labels.into_iter().map(|text| text.0).collect(),
        };
        Some(WorkflowSummary { workflow, seq, head: Ok(head), archived, row: None })
    }

    /// Reads a number in the same pass that finds its end.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for (place, byte) in self.0.bytes().enumerate() {
            if byte == b' ' {
                self.0 = &self.0[place + 1..];
                return if place == 0 { None } else { Some(number) };
            }
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            number = number.checked_mul(10)?.checked_add(digit.into())?;
        }
        None
    }

    fn word(&mut self) -> Option<&'l str> {
        let end = self.0.bytes().position(|b| b == b' ')?;
        let (word, rest) = (&self.0[..end], &self.0[end + 1..]);
        self.0 = rest;
        Some(word)
    }

    fn value<T: FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }
}

/// Returns the members for a directory with this stamp; without a summary, they say that the workflow is to be read each
/// time. Empty if the line would be too long.
pub(crate) fn members(name: &str, stamp: FileStamp, summary: Option<&WorkflowSummary<'_>>) -> String {
    let summary = summary.and_then(format_summary);
    let FileStamp(inode, seconds, nanos) = stamp;
    let mut members = format!("{inode} {seconds} {nanos} {}", summary.as_deref().unwrap_or(NOTHING));
    if name.len() + members.len() + 2 > MAX_LINE {
        members.clear();
    }
    members
}

fn format_summary(summary: &WorkflowSummary<'_>) -> Option<String> {
    let WorkflowSummary { seq, archived, .. } = summary;
    let HeadSummary { saved_at, status, phase, pipeline, labels } = summary.head.as_ref().ok()?;
    let saved_at = saved_at.to_chrono().timestamp_millis();
    let texts = serde_json::to_string(&(phase, pipeline, labels)).ok()?;
    Some(format!("{seq} {archived} {saved_at} {} {texts}", status.word()))
}
