//! The `claude-dir` dialect: one JSON file per run, `{type}_{project}_{YYYYMMDD_HHMMSS}.json`, in versions 1.0 to 2.1.
//!
//! A counter (`current_phase`, `total_phases`, `completed_phases`) is in all of them. Version 1.1 brings replans and the
//! state of the tests, version 2.0 a state machine, which names what was completed and therefore wins over the counter.
//! From then on many members stand twice, at the top and in `workflow_state`.

mod counter;
mod error;
mod machine;
mod members;
mod phases;
mod read;
mod replans;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{read, recognises};
pub(super) use write::write;
