//! Bringing workflows of older formats forward: by appending, never by rewriting.

use super::append::Decision;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use crate::core::change::{Stamp, next_checkpoint};
use crate::core::format::{self, Unusable};
use crate::core::migrate::Step;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::version::{CURRENT, Version};
use crate::core::workflow_id::WorkflowId;

/// The heads of all workflows by their format.
#[derive(Debug, Default)]
pub struct MigrationPlan {
    /// Heads of an older format, which will be migrated.
    pub older: Vec<(Handle, Version)>,
    /// Heads of a newer format, which are left alone: a newer version can read them.
    pub newer: Vec<(Handle, Version)>,
    /// Heads that cannot be read.
    pub damaged: Vec<(Handle, Unusable)>,
    /// The number of workflows whose head has the current format.
    pub current: usize,
}

impl<D: Disk> Store<D> {
    /// Checks the format of every head, and writes nothing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn plan_migration(&self, steps: &[Step]) -> Result<MigrationPlan> {
        let mut plan = MigrationPlan::default();
        let mut ids = self.workflow_ids()?;
        ids.sort();
        for id in ids {
            let workflow = self.workflow(&id)?;
            let Some(seq) = workflow.highest_live()? else { continue };
            let handle = workflow.handle(seq);
            let version = workflow
                .read_bytes(seq)
                .and_then(|bytes| format::decode_with(&bytes, steps).and_then(|_| format::check(&bytes)));
            match version {
                Ok(version) if version < CURRENT => plan.older.push((handle, version)),
                Ok(version) if version > CURRENT => plan.newer.push((handle, version)),
                Ok(_) => plan.current += 1,
                Err(Unusable::Newer(version)) => plan.newer.push((handle, version)),
                Err(why) => plan.damaged.push((handle, why)),
            }
        }
        Ok(plan)
    }

    /// Appends the head of a workflow once more in the current format. Returns none if it has that format by now. A
    /// seal is migrated when the workflow is restored or continued.
    ///
    /// # Errors
    /// The head cannot be read, or the checkpoint cannot be added.
    pub fn migrate(&self, workflow: &WorkflowId, steps: &[Step], stamp: &Stamp) -> Result<Option<Handle>> {
        let appended = self.append_at(workflow, &stamp.save_id, |live, head| {
            let (Some(_), Some(seq)) = (live.dir(), head) else { return Ok(Decision::Keep(())) };
            let damaged = |why: Unusable| live.damaged(seq, why);
            let bytes = live.read_bytes(seq).map_err(damaged)?;
            let version = format::check(&bytes).map_err(damaged)?;
            let old = format::decode_with(&bytes, steps).map_err(damaged)?;
            if version > CURRENT {
                return Err(Error::NewerFormat { handle: live.handle(seq), version });
            }
            if version == CURRENT || old.sealed.is_some() {
                return Ok(Decision::Keep(()));
            }
            let note = format!("brought forward from format {version}");
            let mut next = next_checkpoint(workflow, Some(old), stamp);
            next.trigger = Trigger::Migrate;
            next.note = Some(note);
            Ok(Decision::Write(next))
        })?;
        Ok(match appended {
            Decision::Write(checkpoint) => Some(checkpoint.handle()),
            Decision::Keep(()) => None,
        })
    }
}
