//! The copy of a checkpoint that another system reads.

use std::path::Path;

use serde_json::Value;

use super::error::Failure;
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::{Dialect, Document, MAX_SOURCE_BYTES};
use crate::core::export::{ExportFile, ExportProblem, files, is_there, write};
use crate::core::files::read_regular;
use crate::core::store::Stored;
use crate::core::{Handle, Store};

/// What a file says, if it can be read.
pub(crate) fn read_document(path: &Path) -> Option<Value> {
    let bytes = read_regular(path, MAX_SOURCE_BYTES).ok()?;
    Document::parse(&bytes).ok().map(|document| document.value)
}

/// How many checkpoints back a copy may be from.
const FAR_BACK: usize = 64;

/// Brings the copy of a checkpoint that another system reads up to date. The save is done when this begins, and
/// whatever happens here does not undo it. A file that is no copy of an earlier checkpoint is somebody else's, or has
/// been changed by the other system: it is left alone.
///
/// # Errors
/// One line that says why it did not work.
pub(crate) fn mirror(dialect: Dialect, checkpoint: &Checkpoint, store: &Store) -> Result<(), String> {
    let project = store.project();
    let failed = |error: ExportProblem| {
        let why = match error {
            ExportProblem::Exists(path) => format!(
                "`{path}` says something else; `ckpt export {} --as {dialect} --force` replaces it",
                checkpoint.workflow
            ),
            error => Failure::from(error).message,
        };
        format!("the {dialect} copy was not brought up to date: {why}")
    };
    for file in copies(dialect, checkpoint, project).map_err(failed)? {
        match write(project, &file, false) {
            Err(ExportProblem::Exists(_)) if is_earlier_copy(dialect, checkpoint, store, &file) => {
                write(project, &file, true).map_err(failed)?;
            }
            written => drop(written.map_err(failed)?),
        }
    }
    Ok(())
}

fn copies(
    dialect: Dialect,
    checkpoint: &Checkpoint,
    project: &Path,
) -> Result<Vec<ExportFile>, ExportProblem> {
    let stored = Stored { checkpoint: Box::new(checkpoint.clone()), bytes: Vec::new(), bundle: None };
    let index = |path: &str| read_document(&project.join(path));
    files(dialect, &[stored], project, index).map(|export| export.files)
}

/// Whether what stands in the place of a file is the copy of an earlier checkpoint, as it was left.
fn is_earlier_copy(dialect: Dialect, checkpoint: &Checkpoint, store: &Store, file: &ExportFile) -> bool {
    let earlier = (1..checkpoint.seq).rev().take(FAR_BACK);
    let mut earlier = earlier.filter_map(|seq| store.load(&Handle::new(&checkpoint.workflow, seq)).ok());
    earlier.any(|earlier| {
        let copies = copies(dialect, &earlier.checkpoint, store.project()).unwrap_or_default();
        copies.iter().any(|copy| copy.path == file.path && is_there(store.project(), copy))
    })
}
