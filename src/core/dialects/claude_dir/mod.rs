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
mod replans;
mod state_machine;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{read, recognises};
pub(super) use write::write;
