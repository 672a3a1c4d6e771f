//! The cleanup that saves do once a day, a part at a time.
//!
//! `.ckpt/cleaned` says when the last one began and how far it came. It is not synced, and may be deleted at any time: then
//! the next save begins again, which finds nothing to do where it was.
//!
//! # Limitations
//! A workflow with more than [`MOST_NUMBERS`] takes too long to look at, and is left to `ckpt cleanup`.

use serde::{Deserialize, Serialize};

use super::cleanup::Cleaned;
use super::disk::Disk;
use super::error::Result;
use super::layout::{self, CLEANED};
use super::open::Store;
use ckpt_model::change::Stamp;
use ckpt_model::retention::{CleanupPlan, Policy, Snapshot, plan};
use ckpt_model::span::Span;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;

const INTERVAL: Span = Span::from_days(1);
/// The most checkpoints that leave in one step.
const STEP: usize = 32;
/// The most numbers of a workflow that is looked at.
const MOST_NUMBERS: usize = 1000;
const MAX_BYTES: u64 = 4096;

/// The last cleanup, or the one in progress.
#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    began: Timestamp,
    /// The last workflow that nothing is left to do for.
    after: Option<WorkflowId>,
    is_done: bool,
}

fn is_day_ago(began: Timestamp, now: Timestamp) -> bool {
    // A time in the future counts too: a clock was wrong.
    now.seconds_since(began).unsigned_abs() >= INTERVAL.seconds()
}

impl<D: Disk> Store<D> {
    /// Applies a policy to one workflow after the other, if the last time is a day ago, as long as `has_time` returns true;
    /// the next call continues. At least one step is done. Returns what was planned and done.
    ///
    /// # Errors
    /// The workflows cannot be listed.
    pub fn clean_up_daily(
        &self,
        policy: &Policy,
        stamp: &Stamp,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(CleanupPlan, Cleaned)>> {
        let mut progress = match self.last_daily() {
            Some(last) if last.is_done && !is_day_ago(last.began, stamp.now) => return Ok(Vec::new()),
            Some(last) if !last.is_done => last,
            _ => Progress { began: stamp.now, after: None, is_done: false },
        };
        let mut ids = self.workflow_ids()?;
        ids.retain(|id| progress.after.as_ref().is_none_or(|after| id > after));
        ids.sort();
        let mut done = Vec::new();
        for id in ids {
            while let Some(step) = self.daily_step(&id, policy, stamp) {
                let is_stuck = step.1.workflows.is_empty();
                done.push(step);
                if is_stuck {
                    break;
                }
                if !has_time() {
                    self.note_daily(&progress, &stamp.save_id);
                    return Ok(done);
                }
            }
            progress.after = Some(id);
            if !has_time() {
                self.note_daily(&progress, &stamp.save_id);
                return Ok(done);
            }
        }
        progress.is_done = true;
        self.note_daily(&progress, &stamp.save_id);
        Ok(done)
    }

    /// Cleans up a part of a workflow; none if there is nothing to do, or it cannot be judged.
    fn daily_step(&self, id: &WorkflowId, policy: &Policy, stamp: &Stamp) -> Option<(CleanupPlan, Cleaned)> {
        if self.workflow(id).ok()?.numbers().ok()?.len() > MOST_NUMBERS {
            return None;
        }
        let workflows = self.workflow_facts(id).ok()?.into_iter().collect();
        let mut plan = plan(&Snapshot { workflows, ..Snapshot::default() }, policy, stamp.now).ok()?;
        if plan.is_empty() {
            return None;
        }
        plan.cut(STEP);
        let cleaned = self.clean_up(&plan, stamp, &mut |_| {});
        Some((plan, cleaned))
    }

    fn last_daily(&self) -> Option<Progress> {
        let root = self.open_root().ok()?;
        serde_json::from_slice(&self.disk().read(&root, CLEANED, MAX_BYTES).ok()?).ok()
    }

    /// A failure only costs time: the next save begins again.
    fn note_daily(&self, progress: &Progress, unique: &str) {
        let (Ok(root), Ok(bytes)) = (self.open_root(), serde_json::to_vec(progress)) else { return };
        let staged = layout::staged_file(unique, 2);
        if self.disk().stage_unsynced(&root, &staged, &bytes).is_ok() {
            let replaced = self.disk().replace(&root, &staged, CLEANED);
            let _ = replaced.inspect_err(|_| drop(self.disk().remove(&root, &staged)));
        }
    }
}
