//! The whole history of a workflow.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::workflow::{Entry, Stored};
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Reads every checkpoint of a workflow, live or archived, the newest last. Each bundle is read once. Seals and
    /// deleted checkpoints are left out.
    ///
    /// # Errors
    /// There is no such workflow, a checkpoint is damaged, the newest one is deleted, or the store cannot be read.
    pub fn load_history(&self, workflow: &WorkflowId) -> Result<Vec<Stored>> {
        let live = self.workflow(workflow)?;
        let Some(head) = live.head_number()? else { return Err(live.no_such_workflow()) };
        let mut history = BTreeMap::new();
        let mut archived = BTreeSet::new();
        for seq in 1..=head {
            match live.read_entry(seq) {
                Ok(Entry::Checkpoint(stored)) => drop(history.insert(seq, stored)),
                Ok(Entry::Seal(_)) => {}
                Ok(Entry::Tombstone) | Err(Unusable::Missing) => drop(archived.insert(seq)),
                Err(why) => return Err(live.damaged(seq, why)),
            }
        }
        if archived.is_empty() {
            return Ok(history.into_values().collect());
        }
        let archive = live.archive()?;
        archive.each_bundle(|name, bundle| {
            // A damaged bundle is an error only if no other one holds the checkpoint.
            let Ok(mut bundle) = bundle else { return Ok(()) };
            while let Ok(Some((entry, bytes))) = bundle.next_file() {
                if !archived.contains(&entry.seq) {
                    continue;
                }
                if let Ok(stored) = Stored::decode(&Handle::new(workflow, entry.seq), bytes) {
                    archived.remove(&entry.seq);
                    if stored.checkpoint.sealed.is_none() {
                        let bundle = Some(archive.bundle_path(name));
                        history.insert(entry.seq, Stored { bundle, ..stored });
                    }
                }
            }
            Ok(())
        })?;
        for seq in archived {
            match live.load(seq) {
                Ok(stored) if stored.checkpoint.sealed.is_some() => {}
                Ok(stored) => drop(history.insert(seq, stored)),
                Err(Error::Archived { .. }) if seq < head => {}
                Err(error) => return Err(error),
            }
        }
        Ok(history.into_values().collect())
    }
}
