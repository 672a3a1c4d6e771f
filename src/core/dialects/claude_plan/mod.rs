//! The `claude-plan` dialect: one file per plan, rewritten after every phase.
//!
//! It numbers its phases and rarely has their total, so the phases behind the current one are often not known.

mod read;
mod write;

use serde_json::Value;

use super::draft::Draft;
use super::format::{About, Format, Layout};
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use crate::core::checkpoint::Checkpoint;

pub(super) struct ClaudePlan;

impl Format for ClaudePlan {
    fn about(&self) -> About {
        About {
            word: "claude-plan",
            text: "the checkpoint recovery pattern, a file per plan",
            places: &[".claude/data/checkpoints"],
        }
    }

    fn recognises(&self, main: &Value) -> bool {
        read::recognises(main)
    }

    fn read(&self, main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
        read::read(main, log)
    }

    fn write(&self, checkpoint: &Checkpoint, imported: Option<&DialectFiles>) -> Option<DialectFiles> {
        let imported = imported.map(|files| &files.main);
        Some(DialectFiles::single(write::write(checkpoint, imported)))
    }

    fn layout(&self) -> Option<&'static Layout> {
        Some(&LAYOUT)
    }

    fn native_members(&self) -> (&'static [&'static str], &'static str) {
        (&["artifact_paths", "context_metadata", "plan_path"], "")
    }
}

static LAYOUT: Layout = Layout {
    directory: ".claude/data/checkpoints",
    mirrored: true,
    path: |checkpoint, _, _| Some(format!("{}/{}.json", LAYOUT.directory, checkpoint.workflow)),
    ..Layout::PLAIN
};
