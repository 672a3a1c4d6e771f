//! The history of a workflow: all of it, or what is live of its newest run.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::Disk;
use super::error::{Error, Result};
use super::head::Head;
use super::open::Store;
use super::workflow::{Entry, Stored};
use crate::core::checkpoint::Checkpoint;
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// The newest run of a workflow.
#[derive(Debug, Clone)]
pub struct CurrentRun {
    /// The live checkpoints, the newest last. Of an archived workflow: the last one, with the status that the seal has.
    pub checkpoints: Vec<Checkpoint>,
    /// True if the workflow is archived.
    pub archived: bool,
}

impl<D: Disk> Store<D> {
    /// Reads the newest run of a workflow: with `history` all its live checkpoints, else the newest.
    ///
    /// # Errors
    /// There is no such workflow, a checkpoint is damaged, the content of an archived workflow is deleted, or the store
    /// cannot be read.
    pub fn current_run(&self, workflow: &WorkflowId, history: bool) -> Result<CurrentRun> {
        let live = self.workflow(workflow)?;
        let Some(number) = live.head_number()? else { return Err(live.no_such_workflow()) };
        let head = match live.read_head(number)? {
            Head::Checkpoint(head) => head,
            Head::Seal(seal) => {
                let mut last = self.load_content(seal.handle())?;
                last.content.status = seal.content.status;
                return Ok(CurrentRun { checkpoints: vec![*last], archived: true });
            }
        };
        let mut checkpoints = Vec::new();
        let below = if history { live.live_below(head.seq)? } else { BTreeSet::new() };
        for seq in below {
            match live.read_entry(seq) {
                Ok(Entry::Checkpoint(stored)) => checkpoints.push(*stored.checkpoint),
                // A cleanup may replace an entry by a tombstone at any time.
                Ok(Entry::Seal(_) | Entry::Tombstone) | Err(Unusable::Missing) => {}
                Err(why) => return Err(live.damaged(seq, why)),
            }
        }
        checkpoints.retain(|checkpoint| checkpoint.first_of_run() == head.first_of_run());
        checkpoints.push(*head);
        Ok(CurrentRun { checkpoints, archived: false })
    }

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
