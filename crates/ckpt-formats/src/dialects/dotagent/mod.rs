//! The `dotagent` dialect: `memory/state/phase.json`, with the tasks in its companion `execution.json`.
//!
//! A phase is done if `completed_phases` lists it. `phase_status` is that of `current_phase`, but agents write it in two
//! ways: some finish a phase and stay on it, some list it, advance `current_phase` and leave `complete` behind. So:
//!
//! | `phase_status` | `current_phase` | taken as |
//! |---|---|---|
//! | `complete` | listed | done; the next one is due |
//! | `complete` | not listed, and the phase before it is the last one listed | pending: the pointer was advanced; with a finding |
//! | `complete` | not listed otherwise | done; a finding reports that the list lacks it |
//! | `failed` | any | failed, whatever the list has |
//! | `in_progress`, `pending` | listed | done; a finding reports that the list takes precedence |
//! | `in_progress`, `pending` | not listed | that status |
//! | unknown or missing | not listed | pending: nothing is concluded |
//!
//! Between two phases there is work left, so a workflow is resumed there and not started again. Without any list, the
//! phases before the current one are taken as complete, with a finding. A `current_phase` such as `DONE` names no phase:
//! then the list alone decides. A phase that dotagent does not have is placed behind all others.

mod execution;
mod read;
mod write;

use super::format::{Companion, Format, Layout};

/// The built-in pipeline with the phases of dotagent.
const PIPELINE: &str = "dotagent";

/// The number of its phases.
const PHASES: usize = 5;

/// The phase of tasks that do not name one.
const TASK_PHASE: &str = "IMPLEMENTATION";

pub(super) static FORMAT: Format = Format {
    word: "dotagent",
    text: "dotagent, one state for all workflows, and its tasks",
    places: &["memory/state"],
    recognises: read::recognises,
    read: read::read,
    write: |checkpoint, _| Some(write::write(checkpoint)),
    layout: Some(&LAYOUT),
    companion: Some(&Companion { key: "dotagent-execution", names: &["execution.json"], is_index: false }),
    own: &["error", "errorMessage", "error_message", "lastError", "last_error"],
    kept: &["started_at"],
    ..Format::ONLY_READ
};

static LAYOUT: Layout =
    Layout { archive: Some(".archive"), path: |_, _, _| Some("memory/state/phase.json".to_owned()), ..Layout::PLAIN };
