//! Which checkpoints a checkpoint continues, across workflows: the origin that two histories have in common.

use std::collections::{BTreeSet, HashMap};

use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// How two histories relate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// The first continues the second: there is nothing in the second that the first does not have.
    Continues,
    /// Both continue this checkpoint. Where several are equally new, one of them, whichever order they are asked in.
    Common(Handle),
    /// They have nothing in common.
    Unrelated,
}

impl<D: Disk> Store<D> {
    /// Finds the newest checkpoint that both continue. All history below them is read, each bundle once.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn relation(&self, ours: &Handle, theirs: &Handle) -> Result<Relation> {
        if ours.workflow == theirs.workflow {
            return self.relation_within(ours, theirs);
        }
        let mut lineage = Lineage { store: self, parents: HashMap::new(), read: HashMap::new() };
        let ours = lineage.ancestors(ours)?;
        if ours.contains(theirs) {
            return Ok(Relation::Continues);
        }
        let common: BTreeSet<Handle> = lineage.ancestors(theirs)?.intersection(&ours).cloned().collect();
        // What a common one continues is common too, so the newest are those that no other one continues.
        let continued: BTreeSet<&Handle> =
            common.iter().filter_map(|handle| lineage.parents.get(handle)).flatten().collect();
        let newest = common.iter().filter(|handle| !continued.contains(handle));
        let newest = newest.max_by_key(|handle| (handle.seq, handle.workflow.clone()));
        Ok(newest.map_or(Relation::Unrelated, |origin| Relation::Common(origin.clone())))
    }
}

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Returns the heads of the workflows that were forked from one, and from those in turn. The newest entry of every
    /// workflow is read for that.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn forks_of(&self, workflow: &WorkflowId) -> Result<Vec<Handle>> {
        let mut forks: HashMap<WorkflowId, Vec<Handle>> = HashMap::new();
        for row in self.scan()? {
            let origin = row.header.ok().and_then(|header| header.origin?.workflow);
            if let Some(origin) = origin {
                forks.entry(origin).or_default().push(row.newest);
            }
        }
        let mut found = Vec::new();
        let mut waiting = vec![workflow.clone()];
        while let Some(workflow) = waiting.pop() {
            let forks = forks.remove(&workflow).unwrap_or_default();
            waiting.extend(forks.iter().map(|fork| fork.workflow.clone()));
            found.extend(forks);
        }
        Ok(found)
    }
}

/// The parents of the checkpoints that were looked at.
struct Lineage<'s, D: Disk> {
    store: &'s Store<D>,
    parents: HashMap<Handle, Vec<Handle>>,
    /// The number of each workflow from which on it was read, downwards.
    read: HashMap<WorkflowId, u64>,
}

impl<D: Disk> Lineage<'_, D> {
    /// Returns a checkpoint and everything that it continues.
    fn ancestors(&mut self, from: &Handle) -> Result<BTreeSet<Handle>> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![from.clone()];
        while let Some(handle) = waiting.pop() {
            if found.contains(&handle) {
                continue;
            }
            self.read(&handle)?;
            waiting.extend(self.parents.get(&handle).cloned().unwrap_or_default());
            found.insert(handle);
        }
        Ok(found)
    }

    /// Reads a workflow from a number downwards, unless that was done.
    fn read(&mut self, handle: &Handle) -> Result<()> {
        if self.parents.contains_key(handle) {
            return Ok(());
        }
        let known = self.read.get(&handle.workflow).copied().unwrap_or_default();
        let history = match self.store.history(&handle.workflow, handle.seq, usize::MAX) {
            // It was deleted, or is in another store.
            Err(Error::NoSuchWorkflow { .. }) => {
                self.parents.insert(handle.clone(), Vec::new());
                return Ok(());
            }
            history => history?,
        };
        for (entry, stored) in history {
            if entry.seq <= known {
                break;
            }
            let below = Handle::new(&entry.workflow, entry.seq - 1);
            let parents = match stored {
                Ok(stored) => stored.checkpoint.parents(),
                // What an unreadable one continues is unknown; mostly it is the one below it.
                Err(Error::Damaged { .. } | Error::DamagedBundle { .. } | Error::Archived { .. }) => {
                    Some(below).filter(|below| below.seq > 0).into_iter().collect()
                }
                Err(error) => return Err(error),
            };
            self.parents.insert(entry, parents);
        }
        self.parents.entry(handle.clone()).or_default();
        self.read.insert(handle.workflow.clone(), handle.seq.max(known));
        Ok(())
    }
}
