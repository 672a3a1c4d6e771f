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
mod write;

use serde_json::Value;

use super::format::{FilePer, Format, Layout, file_name};
use super::reading::DialectFiles;
use ckpt_model::checkpoint::Checkpoint;

/// The built-in pipeline with the phases of kamiflow.
const PIPELINE: &str = "kamiflow";

pub(super) static FORMAT: Format = Format {
    word: "kamiflow",
    text: "KamiFlow, a file per phase",
    places: &[".kamiflow/checkpoints"],
    recognises: read::recognises,
    read: |main, _, log| read::read(main, log),
    write: |checkpoint, _| Some(DialectFiles::single(write::write(checkpoint))),
    layout: Some(&LAYOUT),
    own: &[
        "artifacts",
        "duration",
        "error",
        "errorMessage",
        "error_message",
        "lastError",
        "last_error",
        "nextAction",
        "nextPhase",
        "phaseData",
    ],
    kept: &["command", "version"],
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout { per: FilePer::Phase, path, ..Layout::PLAIN };

fn path(checkpoint: &Checkpoint, main: &Value, complete: bool) -> Option<String> {
    let phase = match main.get("phase")? {
        _ if complete => "complete".to_owned(),
        Value::String(phase) => format!("phase{}", file_name(&phase.to_lowercase())?),
        phase => format!("phase{}", phase.as_number()?),
    };
    Some(format!(".kamiflow/checkpoints/{}-checkpoint-{phase}.json", checkpoint.workflow))
}
