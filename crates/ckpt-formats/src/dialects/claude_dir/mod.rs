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

use super::format::{Format, Layout, file_name};
use super::reading::DialectFiles;
use ckpt_model::checkpoint::{Checkpoint, WorkflowStatus};

pub(super) static FORMAT: Format = Format {
    word: "claude-dir",
    text: "the checkpoints directory of Claude Code projects, a file per run",
    places: &[".claude/checkpoints"],
    recognises: read::recognises,
    read: |main, _, log| read::read(main, log),
    write: |checkpoint, _| Some(DialectFiles::single(write::write(checkpoint))),
    layout: Some(&LAYOUT),
    own: &[
        "artifact_registry",
        "completed_phases",
        "current_phase",
        "error_state",
        "last_error",
        "last_replan_reason",
        "phase_data",
        "replan_history",
        "replan_phase_counts",
        "replanning_count",
        "state_machine",
        "status",
        "total_phases",
        "updated_at",
        "workflow_description",
    ],
    kept: &["checkpoint_id", "created_at", "plan_path", "project_name", "workflow_type"],
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout { failed: Some("failed"), path, ..Layout::PLAIN };

fn path(checkpoint: &Checkpoint, main: &Value, _: bool) -> Option<String> {
    let has_failed = matches!(checkpoint.content.status, WorkflowStatus::Failed | WorkflowStatus::Abandoned);
    let failed = if has_failed { "failed/" } else { "" };
    let id = file_name(main.get("checkpoint_id")?.as_str()?)?;
    Some(format!(".claude/checkpoints/{failed}{id}.json"))
}
