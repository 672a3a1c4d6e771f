//! The cleanup after a save.
//!
//! The save is acknowledged before the cleanup begins, and a cleanup that fails does not undo it. To keep saves fast, the
//! cleanup runs only after the save that completes a workflow, and after a save whose trigger has a limit. The latter
//! looks at checkpoints from the newest one back until it finds one beyond the limit: when a limit is exceeded with
//! every save, not further than that limit reaches.
//!
//! What goes by age, goes once a day: see [`clean_up_daily`].

use std::collections::BTreeSet;
use std::time::Duration;

use super::clock::Clock;
use super::error::Failure;
use super::words::{and, count};
use ckpt_formats::foreign_settings::ForeignSettings;
use ckpt_model::change::Stamp;
use ckpt_model::retention::{ExpiredRun, Limit, Snapshot, plan};
use ckpt_model::{Checkpoint, Config, Trigger, WorkflowId, WorkflowStatus};
use ckpt_store::Store;

/// No step of the daily cleanup begins later than this after a save, so that the save does not take 50 ms longer.
const BUDGET: Duration = Duration::from_millis(20);

/// Applies the retention policy to a workflow: after this save, or to all of it. Returns a line about the archived
/// checkpoints, if there are any.
///
/// # Errors
/// One line that says why the cleanup failed.
pub(crate) fn clean_up_after_save(
    store: &Store,
    config: &Config,
    stamp: &Stamp,
    workflow: &WorkflowId,
    saved: Option<&Checkpoint>,
) -> Result<Option<String>, String> {
    let archived = clean_up(store, config, stamp, workflow, saved)
        .map_err(|failure| format!("could not clean up: {}", failure.message))?;
    if archived == 0 {
        return Ok(None);
    }
    let archived = count(archived, "checkpoint");
    Ok(Some(format!("Archived {archived} of {workflow}. Undo with: ckpt restore {workflow}")))
}

/// Returns the number of checkpoints that were archived.
fn clean_up(
    store: &Store,
    config: &Config,
    stamp: &Stamp,
    workflow: &WorkflowId,
    saved: Option<&Checkpoint>,
) -> Result<usize, Failure> {
    let policy = config.retention().policy_after_save();
    let facts = match saved.filter(|saved| saved.content.status == WorkflowStatus::InProgress) {
        Some(saved) => {
            let limits = config.retention().trigger_limits();
            store.newest_facts(workflow, limits.beyond(&saved.trigger, saved.content.phase.as_ref()))?
        }
        None => store.workflow_facts(workflow)?,
    };
    let snapshot = Snapshot { workflows: facts.into_iter().collect(), ..Snapshot::default() };
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

/// Applies the policy of the store to all workflows, at most once a day and for at most [`BUDGET`]; a later save continues.
/// Only a save that begins a run, or reports on a phase or on the end of the work, looks whether a day has passed. Returns
/// a line with the undo of what was archived, if anything was; what was deleted for good, and what failed, is added to
/// `warnings`.
pub(crate) fn clean_up_daily(
    store: &Store,
    config: &Config,
    stamp: &Stamp,
    saved: &Checkpoint,
    clock: &Clock,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let is_mark = saved.first_of_run() == saved.seq
        || saved.trigger == Trigger::PhaseTransition
        || saved.content.status != WorkflowStatus::InProgress;
    if !config.auto_cleanup() || !is_mark {
        return None;
    }
    let policy = config.retention().policy_daily();
    let steps = match store.clean_up_daily(&policy, stamp, &mut clock.timer(BUDGET)) {
        Ok(steps) => steps,
        Err(error) => {
            warnings.push(format!("could not clean up: {}", Failure::from(error).message));
            return None;
        }
    };
    let (mut archived, mut ids) = (0, BTreeSet::new());
    for (plan, cleaned) in steps {
        for (_, error) in cleaned.failures {
            warnings.push(format!("could not clean up: {}", Failure::from(error).message));
        }
        for done in cleaned.workflows {
            for (_, run) in plan.expired_runs().filter(|(_, run)| done.deleted_runs.contains(&run.first)) {
                let why: Vec<String> = run.reasons.iter().map(ToString::to_string).collect();
                let (id, ExpiredRun { first, last, .. }) = (&done.workflow, run);
                warnings.push(format!("deleted for good: {id}/{first} to {id}/{last}, {}", and(&why)));
            }
            if !done.bundles.is_empty() {
                archived += done.removed.len();
                ids.insert(done.workflow.to_string());
            }
        }
    }
    let ids: Vec<String> = ids.into_iter().collect();
    let what = || format!("Archived {} of {} by age", count(archived, "checkpoint"), and(&ids));
    (!ids.is_empty()).then(|| format!("{}. Undo with: ckpt restore {}", what(), ids.join(" ")))
}

/// Offers the retention policy of a system, if it has one and the settings have none.
pub(crate) fn offer_policy(config: &Config, system: &str) -> Option<String> {
    let is_offered = config.retention().is_unset() && ForeignSettings::policy_of(system).is_some();
    is_offered.then(|| format!("To clean up as {system} does: ckpt init --retention {system}"))
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
            matches!(limit, Some(Limit::Newest(_)))
        }
        // A failed workflow may be tried again at once; `ckpt cleanup` archives it later.
        WorkflowStatus::Failed | WorkflowStatus::Abandoned => false,
    }
}
