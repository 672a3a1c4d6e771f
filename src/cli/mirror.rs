//! The mirror: a copy of the newest checkpoint in a dialect.

use std::path::Path;

use super::error::Failure;
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::Dialect;
use crate::core::export::{ExportError, ExportFile, files, is_unchanged, read_shared, write};
use crate::core::store::Stored;
use crate::core::{Handle, Store, WorkflowId};

/// The number of earlier checkpoints that a mirror is compared with.
const MAX_EARLIER: usize = 64;

/// How often the mirror is written because other processes save at the same time.
const MAX_WRITES: usize = 16;

/// Updates the mirror after a save. A file is replaced only if it is the mirror of a checkpoint below `first`, the lowest
/// number that was saved since the last update; any other file belongs to the user, or was edited by the other system.
///
/// Other processes may save and update the mirror at the same time, in any order. So the newest checkpoint is looked up
/// after the mirror was written; if it is another one, that is written too.
///
/// # Errors
/// One line that says why the update failed.
pub(crate) fn mirror(dialect: Dialect, saved: &Checkpoint, first: u64, store: &Store) -> Result<(), String> {
    let mut written = write_mirror(dialect, saved, first, store);
    let mut seq = saved.seq;
    for _ in 1..MAX_WRITES {
        let Some(newest) = newest(&saved.workflow, store).filter(|newest| newest.seq != seq) else { break };
        seq = newest.seq;
        written = write_mirror(dialect, &newest, seq, store);
    }
    written
}

/// Loads the newest checkpoint of a workflow.
fn newest(workflow: &WorkflowId, store: &Store) -> Option<Box<Checkpoint>> {
    let head = store.head_number(workflow).ok()??;
    store.load_content(Handle::new(workflow, head)).ok()
}

fn write_mirror(dialect: Dialect, checkpoint: &Checkpoint, first: u64, store: &Store) -> Result<(), String> {
    let project = store.project();
    let failed = |error: ExportError| {
        let why = match error {
            ExportError::Exists(path) => format!(
                "`{path}` says something else; `ckpt export {} --as {dialect} --force` replaces it",
                checkpoint.workflow
            ),
            error => Failure::from(error).message,
        };
        format!("the {dialect} copy was not brought up to date: {why}")
    };
    let store_mode = store.mode().map_err(|error| error.to_string())?;
    for file in copies(dialect, checkpoint, project).map_err(failed)? {
        match write(project, &file, false, store_mode) {
            Err(ExportError::Exists(_))
                if is_earlier_copy(dialect, &checkpoint.workflow, first, store, &file) =>
            {
                write(project, &file, true, store_mode).map_err(failed)?;
            }
            written => drop(written.map_err(failed)?),
        }
    }
    Ok(())
}

fn copies(dialect: Dialect, checkpoint: &Checkpoint, project: &Path) -> Result<Vec<ExportFile>, ExportError> {
    let stored = Stored { checkpoint: Box::new(checkpoint.clone()), bytes: Vec::new(), bundle: None };
    files(dialect, &[stored], project, |path| read_shared(project, path)).map(|export| export.files)
}

/// Returns true if the existing file is the unchanged mirror of an earlier checkpoint.
fn is_earlier_copy(
    dialect: Dialect,
    workflow: &WorkflowId,
    first: u64,
    store: &Store,
    file: &ExportFile,
) -> bool {
    for seq in (1..first).rev().take(MAX_EARLIER) {
        let Ok(earlier) = store.load(&Handle::new(workflow, seq)) else { continue };
        let copies = copies(dialect, &earlier.checkpoint, store.project()).unwrap_or_default();
        if copies.iter().any(|copy| copy.path == file.path && is_unchanged(store.project(), copy)) {
            return true;
        }
    }
    false
}
