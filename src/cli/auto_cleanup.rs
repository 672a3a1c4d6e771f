//! The cleanup after a save.
//!
//! The save is acknowledged before the cleanup begins, and a cleanup that fails does not undo it. To keep saves fast, the
//! cleanup runs only after the save that completes a workflow, and now and then after a save whose trigger has a limit.
//! A cleanup looks at every checkpoint of the workflow, so it runs the less often the longer the workflow is: the share of
//! each save in its cost stays the same.

use super::error::Failure;
use super::words::count;
use ckpt_model::change::Stamp;
use ckpt_model::retention::{Limit, Snapshot, plan};
use ckpt_model::{Checkpoint, Config, WorkflowId, WorkflowStatus};
use ckpt_store::Store;

/// The least number of checkpoints between two cleanups of a workflow that is in progress.
const MIN_INTERVAL: u64 = 8;
/// The most checkpoints that a cleanup of a long workflow looks at for each save since the last one.
const SHARE: u64 = 16;

/// Applies the retention policy to a workflow that was just saved to. Returns a line about the archived checkpoints, if
/// there are any.
///
/// # Errors
/// One line that says why the cleanup failed.
pub(crate) fn clean_up_after_save(
    store: &Store,
    config: &Config,
    stamp: &Stamp,
    workflow: &WorkflowId,
) -> Result<Option<String>, String> {
    let archived = clean_up(store, config, stamp, workflow)
        .map_err(|failure| format!("could not clean up: {}", failure.message))?;
    if archived == 0 {
        return Ok(None);
    }
    let archived = count(archived, "checkpoint");
    Ok(Some(format!("Archived {archived} of {workflow}. Undo with: ckpt restore {workflow}")))
}

/// Returns the number of checkpoints that were archived.
fn clean_up(store: &Store, config: &Config, stamp: &Stamp, workflow: &WorkflowId) -> Result<usize, Failure> {
    let workflows = store.workflow_facts(workflow)?.into_iter().collect();
    let snapshot = Snapshot { workflows, ..Snapshot::default() };
    let policy = config.retention().policy_after_save();
    let plan = plan(&snapshot, &policy, stamp.now)?;
    if plan.is_empty() {
        return Ok(0);
    }
    let mut cleaned = store.clean_up(&plan, stamp, &mut |_| {});
    match cleaned.failures.pop() {
        Some((_, error)) => Err(error.into()),
        None => Ok(cleaned.workflows.iter().map(|done| done.removed.len()).sum()),
    }
}

/// Returns true if a cleanup follows the save of this checkpoint.
pub(crate) fn is_due(saved: &Checkpoint, config: &Config) -> bool {
    if !config.auto_cleanup() {
        return false;
    }
    match saved.content.status {
        WorkflowStatus::Complete => true,
        WorkflowStatus::InProgress => {
            let limit = config.retention().trigger_limits().of(&saved.trigger);
            saved.seq.is_multiple_of(interval(saved.seq)) && matches!(limit, Some(Limit::Newest(_)))
        }
        // A failed workflow may be tried again at once; `ckpt cleanup` archives it later.
        WorkflowStatus::Failed | WorkflowStatus::Abandoned => false,
    }
}

/// Returns the number of checkpoints between two cleanups of a workflow of this length: a power of two, so that it changes
/// rarely.
fn interval(length: u64) -> u64 {
    (length / SHARE).max(MIN_INTERVAL).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleanup_looks_at_a_bounded_number_of_checkpoints_for_each_save() {
        for (last, most) in [(100, 16), (1_000, 16), (100_000, 16)] {
            let due = (1..=last).filter(|seq: &u64| seq.is_multiple_of(interval(*seq)));
            let visited: u64 = due.sum();
            assert!(visited / last <= most, "{visited} visits for {last} saves");
        }
        assert_eq!([8, 100, 1_000, 100_000].map(interval), [8, 8, 64, 8192]);
    }
}
