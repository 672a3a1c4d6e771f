//! The `claude-dir` dialect: one JSON file per run, `{type}_{project}_{YYYYMMDD_HHMMSS}.json`, in versions 1.0 to 2.1.
//!
//! All versions have a counter (`current_phase`, `total_phases`, `completed_phases`). Version 1.1 adds replans and the
//! result of the tests, version 2.0 a state machine, which names the completed phases and therefore takes precedence over
//! the counter. From then on many members have a copy in `workflow_state`.

mod counter;
mod error;
mod members;
mod phases;
mod read;
mod state_machine;
mod write;

use serde_json::Value;

use super::format::{Format, Layout, file_name, is_given_up};
use super::reading::DialectFiles;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};

pub(super) static FORMAT: Format = Format {
    word: "claude-dir",
    text: "the checkpoints directory of Claude Code projects, a file per run",
    places: &[".claude/checkpoints"],
    recognises: read::recognises,
    read: |main, _, log| read::read(main, log),
    write: |checkpoint, imported| {
        let imported = imported.map(|files| &files.main);
        Some(DialectFiles::single(write::write(checkpoint, imported)))
    },
    layout: Some(&LAYOUT),
    native_members: (
        &[
            "artifact_registry",
            "plan_modification_time",
            "plan_path",
            "project_name",
            "research_results",
            "tests_passing",
        ],
        "/workflow_state",
    ),
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout {
    directory: ".claude/checkpoints",
    mirrored: true,
    failed: Some("failed"),
    path,
    is_shown: |newest, archived| match newest.content.status {
        WorkflowStatus::Complete => false,
        WorkflowStatus::Failed | WorkflowStatus::Abandoned => true,
        WorkflowStatus::InProgress => !archived,
    },
    ..Layout::PLAIN
};

fn path(checkpoint: &Checkpoint, main: &Value, _: bool) -> Option<String> {
    let failed = if is_given_up(checkpoint) { "failed/" } else { "" };
    let id = file_name(main.get("checkpoint_id")?.as_str()?)?;
    Some(format!("{}/{failed}{id}.json", LAYOUT.directory))
}
