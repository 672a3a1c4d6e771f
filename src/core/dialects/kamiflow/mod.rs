//! The `kamiflow` dialect: one file per phase, `042-checkpoint-phase2.json`, and at the end `042-checkpoint-complete.json`.
//!
//! A file describes its own phase only. The rules for the rest:
//!
//! - The phases before it have files of their own. Read alone, a file implies that they are complete, with a finding.
//! - A file without a status is of a finished phase if it names a later one as next, because these files are written
//!   after a phase. Otherwise, and with an unknown status, the phase was started and is not done.
//! - A failed phase is never done, whatever the file names as next.
//! - A phase that kamiflow does not have is placed before the one that the file names as next, or else behind all
//!   others, and then nothing is concluded about the others.
//! - `validation` and `reflection` belong to the data of the phase. They may be members of `phaseData` or of the file; the
//!   one in `phaseData` takes precedence, and both places are written.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{read, recognises};
pub(super) use write::write;

/// The built-in pipeline with the phases of kamiflow.
const PIPELINE: &str = "kamiflow";
