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
    write: |checkpoint, imported| {
        let imported = imported.map(|files| &files.main);
        Some(DialectFiles::single(write::write(checkpoint, imported)))
    },
    layout: Some(&LAYOUT),
    native_members: (&["artifact_paths", "context_metadata", "plan_path"], ""),
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout {
    directory: ".claude/data/checkpoints",
    mirrored: true,
    path: |checkpoint, _, _| Some(format!("{}/{}.json", LAYOUT.directory, checkpoint.workflow)),
    ..Layout::PLAIN
};
