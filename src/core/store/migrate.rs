//! Bringing workflows of older formats forward: by appending, never by rewriting.

use super::append::Decision;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use crate::core::change::{Stamp, successor};
use crate::core::format::{self, Unusable};
use crate::core::migrate::Step;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::version::{CURRENT, Version};
use crate::core::workflow_id::WorkflowId;

/// What there is to be done, decided before anything is.
#[derive(Debug, Default)]
pub struct MigrationPlan {
    /// The newest checkpoints that have an older format, and which.
    pub older: Vec<(Handle, Version)>,
    /// Those that a newer version wrote. They are left alone: that version can read them.
    pub newer: Vec<(Handle, Version)>,
    /// Those that cannot be read at all.
    pub damaged: Vec<(Handle, Unusable)>,
    /// How many workflows have the present format.
    pub current: usize,
}

impl<D: Disk> Store<D> {
    /// Looks at the newest checkpoint of every workflow, and writes nothing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn plan_migration(&self, steps: &[Step]) -> Result<MigrationPlan> {
        let mut plan = MigrationPlan::default();
        let mut ids = self.workflow_ids()?;
        ids.sort();
        for id in ids {
            let Some(dir) = self.open_workflow(&id)? else { continue };
            let Some(seq) = self.newest_in(&dir, &id)? else { continue };
            let handle = Handle::new(&id, seq);
            let bytes = self.read_bytes(&dir, &handle);
            match bytes
                .and_then(|bytes| format::decode_with(&bytes, steps).and_then(|_| format::check(&bytes)))
            {
                Ok(version) if version < CURRENT => plan.older.push((handle, version)),
                Ok(version) if version > CURRENT => plan.newer.push((handle, version)),
                Ok(_) => plan.current += 1,
                Err(Unusable::Newer(version)) => plan.newer.push((handle, version)),
                Err(why) => plan.damaged.push((handle, why)),
            }
        }
        Ok(plan)
    }

    /// Appends the newest checkpoint of a workflow once more, in the present format; none if another writer has brought
    /// it forward meanwhile. A seal is brought forward when somebody restores or continues what is below it.
    ///
    /// # Errors
    /// It cannot be read, or the store refuses.
    pub fn migrate(&self, workflow: &WorkflowId, steps: &[Step], stamp: &Stamp) -> Result<Option<Handle>> {
        let appended = self.append_at(workflow, &stamp.save_id, |dir, newest| {
            let (Some(dir), Some(seq)) = (dir, newest) else { return Ok(Decision::Keep(())) };
            let handle = Handle::new(workflow, seq);
            let damaged = |why: Unusable| self.damaged(&handle, why);
            let bytes = self.read_bytes(dir, &handle).map_err(damaged)?;
            let version = format::check(&bytes).map_err(damaged)?;
            let old = format::decode_with(&bytes, steps).map_err(damaged)?;
            if version > CURRENT {
                return Err(Error::NewerFormat { handle, version });
            }
            if version == CURRENT || old.sealed.is_some() {
                return Ok(Decision::Keep(()));
            }
            let note = format!("brought forward from format {version}");
            let mut next = successor(workflow, Some(old), stamp);
            next.trigger = Trigger::Manual;
            next.note = Some(note);
            Ok(Decision::Write(next))
        })?;
        Ok(match appended {
            Decision::Write(checkpoint) => Some(checkpoint.handle()),
            Decision::Keep(()) => None,
        })
    }
}
