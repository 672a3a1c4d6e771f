//! The copy of a checkpoint that another system reads.

use std::path::Path;

use serde_json::Value;

use super::error::Failure;
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::{Dialect, Document, MAX_SOURCE_BYTES};
use crate::core::error::Error;
use crate::core::export::{ExportProblem, files, write};
use crate::core::files::read_regular;
use crate::core::store::Stored;

/// What a file says, if it can be read.
pub(crate) fn read_document(path: &Path) -> Option<Value> {
    let bytes = read_regular(path, MAX_SOURCE_BYTES).ok()?;
    Document::parse(&bytes).ok().map(|document| document.value)
}

/// Brings the copy of a checkpoint that another system reads up to date. The save is done when this begins, and whatever
/// happens here does not undo it.
///
/// # Errors
/// One line that says why it did not work.
pub(crate) fn mirror(dialect: Dialect, checkpoint: &Checkpoint, project: &Path) -> Result<(), String> {
    let failed = |error: ExportProblem| {
        let message = Failure::from(Error::from(error)).message;
        format!("the {dialect} copy was not brought up to date: {message}")
    };
    let stored = Stored { checkpoint: Box::new(checkpoint.clone()), bytes: Vec::new(), bundle: None };
    let index = |path: &str| read_document(&project.join(path));
    for file in files(dialect, &[stored], project, index).map_err(failed)?.files {
        write(project, &file, true).map_err(failed)?;
    }
    Ok(())
}
