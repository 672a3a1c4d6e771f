//! The foreign files that a workflow was imported from.

use std::collections::HashMap;

use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::workflow::Entry;
use crate::core::digest::Digest;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Returns the digests of the files that checkpoints of a workflow were imported from, each with the number of such
    /// a checkpoint, live or archived. Damaged checkpoints are left out.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn imported_digests(&self, workflow: &WorkflowId) -> Result<HashMap<Digest, u64>> {
        let live = self.workflow(workflow)?;
        let mut digests = HashMap::new();
        let mut archived = live.dir().is_none();
        for seq in live.numbers()? {
            match live.read_header(seq) {
                Ok(Entry::Checkpoint((header, _))) => {
                    digests.extend(header.imported.map(|source| (source.sha256, seq)));
                }
                Ok(Entry::Tombstone | Entry::Seal(_)) => archived = true,
                Err(_) => {}
            }
        }
        if archived {
            self.visit_archived(workflow, &mut |checkpoint| {
                digests.extend(checkpoint.imported.map(|source| (source.sha256, checkpoint.seq)));
            })?;
        }
        Ok(digests)
    }
}
