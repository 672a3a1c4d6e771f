//! The `claude-plan` dialect: one file per plan, rewritten after every phase.
//!
//! It numbers its phases and rarely has their total, so the phases behind the current one are often not known.

mod read;
mod write;

use super::format::{Format, Layout};
use super::reading::DialectFiles;

pub(super) static FORMAT: Format = Format {
    word: "claude-plan",
    text: "the checkpoint recovery pattern, a file per plan",
    places: &[".claude/data/checkpoints"],
    recognises: read::recognises,
    read: |main, _, log| read::read(main, log),
    write: |checkpoint, _| Some(DialectFiles::single(write::write(checkpoint))),
    layout: Some(&LAYOUT),
    own: &["phase_metadata", "replan_count", "status", "total_phases"],
    kept: &["plan_path"],
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout {
    path: |checkpoint, _, _| Some(format!(".claude/data/checkpoints/{}.json", checkpoint.workflow)),
    ..Layout::PLAIN
};
