//! Cleaning up behind a save.
//!
//! A save is done when this begins, and whatever happens here does not undo it. So that saves stay fast, it is tried
//! only when the workflow is complete, or at every eighth checkpoint if that has a trigger with a limit; an ordinary
//! save does not even look.

use super::error::Failure;
use super::words::count;
use crate::core::change::Stamp;
use crate::core::retention::{Limit, Snapshot, plan};
use crate::core::save::Saved;
use crate::core::{Checkpoint, Config, Store, WorkflowStatus};

/// How many checkpoints pass between two looks.
const BATCH: u64 = 8;

/// Archives what the policy of the store does not keep of the workflow that was saved; says what it did, if anything.
///
/// # Errors
/// One line that says why it did not work.
pub(crate) fn after_save(
    store: &Store,
    config: &Config,
    stamp: &Stamp,
    saved: &Saved,
) -> Result<Option<String>, String> {
    let Some(checkpoint) = saved.checkpoint.as_deref().filter(|_| saved.created && config.auto_cleanup())
    else {
        return Ok(None);
    };
    if !is_due(checkpoint, config) {
        return Ok(None);
    }
    let failed = |failure: Failure| format!("could not clean up: {}", failure.message);
    let workflow = &checkpoint.workflow;
    let workflows =
        store.survey_workflow(workflow).map_err(|error| failed(error.into()))?.into_iter().collect();
    let snapshot = Snapshot { workflows, ..Snapshot::default() };
    let policy = config.retention().policy_after_save(workflow);
    let plan = plan(&snapshot, &policy, stamp.now).map_err(|error| failed(error.into()))?;
    if plan.is_empty() {
        return Ok(None);
    }
    let mut cleaned = store.clean(&plan, stamp);
    if let Some((_, error)) = cleaned.failures.pop() {
        return Err(failed(error.into()));
    }
    let removed: usize = cleaned.workflows.iter().map(|done| done.removed.len()).sum();
    let archived = count(removed, "checkpoint");
    Ok((removed > 0)
        .then(|| format!("Archived {archived} of {workflow}. Undo with: ckpt restore {workflow}")))
}

fn is_due(checkpoint: &Checkpoint, config: &Config) -> bool {
    let limited = || {
        let limit = config.retention().trigger_limits().of(&checkpoint.trigger);
        matches!(limit, Some(Limit::Newest(_)))
    };
    match checkpoint.content.status {
        WorkflowStatus::Complete => true,
        WorkflowStatus::InProgress => checkpoint.seq.is_multiple_of(BATCH) && limited(),
        // Whoever failed may try again at once; that it is archived can wait for a cleanup that somebody asks for.
        WorkflowStatus::Failed | WorkflowStatus::Abandoned => false,
    }
}
