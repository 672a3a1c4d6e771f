//! The history of a workflow: its entries from the newest to the oldest.

use std::collections::BTreeSet;

use super::bundled_files::BundledFiles;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::workflow::{Entry, Stored, Workflow};
use ckpt_model::format::Unusable;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// Iterates over the entries of a workflow, the newest first: checkpoints and seals, or why there is none.
///
/// Each bundle is read at most once, and only if an entry in it is asked for. Of a range of missing numbers, the last
/// and the first are entries.
#[derive(Debug)]
pub struct History<'s, D: Disk> {
    workflow: Workflow<'s, D>,
    head: u64,
    /// The next number; 0 at the end.
    next: u64,
    /// The most entries that are still to be returned.
    left: usize,
    bundled: Option<BundledFiles<'s, D>>,
    /// All numbers that are taken, once one turned out to be missing.
    taken: Option<BTreeSet<u64>>,
}

impl<D: Disk> Store<D> {
    /// Returns at most `limit` entries of a workflow, from number `from` downwards.
    ///
    /// # Errors
    /// There is no such workflow, or the store cannot be read.
    pub fn history<'s>(&'s self, id: &'s WorkflowId, from: u64, limit: usize) -> Result<History<'s, D>> {
        let workflow = self.workflow(id)?;
        let Some(head) = workflow.head_number()? else { return Err(workflow.no_such_workflow()) };
        Ok(History { workflow, head, next: from.min(head), left: limit, bundled: None, taken: None })
    }

    /// Reads every checkpoint of a workflow, live or archived, the newest last. Seals and deleted checkpoints are left out.
    ///
    /// # Errors
    /// There is no such workflow, a checkpoint is damaged, the newest one is deleted, or the store cannot be read.
    pub fn load_history(&self, workflow: &WorkflowId) -> Result<Vec<Stored>> {
        let history = self.history(workflow, u64::MAX, usize::MAX)?;
        let head = history.head;
        let mut checkpoints = Vec::new();
        for (handle, entry) in history {
            match entry {
                Ok(stored) if stored.checkpoint.sealed.is_some() => {}
                Ok(stored) => checkpoints.push(stored),
                Err(Error::Archived { .. }) if handle.seq < head => {}
                Err(error) => return Err(error),
            }
        }
        checkpoints.reverse();
        Ok(checkpoints)
    }
}

impl<D: Disk> Iterator for History<'_, D> {
    type Item = (Handle, Result<Stored>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == 0 || self.left == 0 {
            return None;
        }
        let seq = self.next;
        let (entry, is_missing) = match self.workflow.read_entry(seq) {
            Ok(Entry::Checkpoint(stored) | Entry::Seal(stored)) => (Ok(stored), false),
            Ok(Entry::Tombstone) if seq < self.head => (self.read_archived(seq), false),
            // Archived after the head was looked up, or damaged.
            Ok(Entry::Tombstone) => (self.workflow.load(seq), false),
            Err(Unusable::Missing) => match self.read_archived(seq) {
                Ok(stored) => (Ok(stored), false),
                Err(Error::Archived { deleted: None, .. }) => {
                    (Err(self.workflow.damaged(seq, Unusable::Missing)), true)
                }
                Err(error) => (Err(error), true),
            },
            Err(why) => (Err(self.workflow.damaged(seq, why)), false),
        };
        self.left -= 1;
        self.next = seq - 1;
        let handle = self.workflow.handle(seq);
        if is_missing && let Err(error) = self.skip_gap(seq) {
            self.next = 0;
            return Some((handle, Err(error)));
        }
        Some((handle, entry))
    }
}

impl<D: Disk> History<'_, D> {
    fn read_archived(&mut self, seq: u64) -> Result<Stored> {
        let bundled = match &mut self.bundled {
            Some(bundled) => bundled,
            bundled => bundled.insert(BundledFiles::new(self.workflow.archive()?)),
        };
        let (name, bytes) = bundled.take(seq, self.left)?;
        let path = bundled.archive().bundle_path(&name);
        let handle = self.workflow.handle(seq);
        match Stored::decode(&handle, bytes) {
            Ok(stored) => Ok(Stored { bundle: Some(path), ..stored }),
            Err(why) => {
                let before = self.workflow.usable_below(seq);
                Err(Error::Damaged { handle, path, why, before })
            }
        }
    }

    /// Continues at the first number of the range of missing ones that ends with `seq`.
    fn skip_gap(&mut self, seq: u64) -> Result<()> {
        let taken = match &self.taken {
            Some(taken) => taken,
            None => {
                let mut taken = self.workflow.numbers()?;
                self.workflow.archive()?.each_bundle(|name, bundle| {
                    match bundle {
                        Ok(bundle) => taken.extend(bundle.manifest().entries.iter().map(|entry| entry.seq)),
                        Err(_) => taken.extend([name.first, name.last]),
                    }
                    Ok(())
                })?;
                self.taken.insert(taken)
            }
        };
        let below = taken.range(..seq).next_back().copied().unwrap_or_default();
        self.next = if below + 1 < seq { below + 1 } else { below };
        Ok(())
    }
}
