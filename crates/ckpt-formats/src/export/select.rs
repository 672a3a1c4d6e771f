//! Reading the checkpoints that are exported of a workflow.

use crate::dialects::{Dialect, Layout};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::selector::{Selector, Which};
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store::{Disk, Result, Store};

/// Reads what is exported of a workflow, the newest last: every checkpoint of its last run, live or archived, if the
/// dialect has a file for each checkpoint or phase, else the newest one.
///
/// # Errors
/// There is no such workflow, a checkpoint is damaged or deleted, or the store cannot be read.
pub fn checkpoints<D: Disk>(store: &Store<D>, dialect: Dialect, workflow: &WorkflowId) -> Result<Vec<Checkpoint>> {
    let selector = Selector { workflow: workflow.clone(), which: Which::Newest };
    let head = store.resolve(&selector)?;
    let mut run = if dialect.layout().is_some_and(Layout::has_history) {
        let history = store.load_history(workflow)?.into_iter().map(|stored| *stored.checkpoint);
        let mut run: Vec<Checkpoint> = history.collect();
        let first = run.last().map(Checkpoint::first_of_run);
        run.retain(|checkpoint| Some(checkpoint.first_of_run()) == first);
        run
    } else {
        vec![*store.load_content(head.clone())?]
    };
    // Archiving a workflow decides how it ended.
    let head = store.load(&head)?.checkpoint;
    if let (Some(newest), true) = (run.last_mut(), head.sealed.is_some()) {
        newest.content.status = head.content.status;
    }
    Ok(run)
}
