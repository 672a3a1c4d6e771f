//! The foreign files that a workflow was imported from.

use std::collections::HashMap;

use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::workflow::Entry;
use ckpt_model::digest::Digest;
use ckpt_model::format::Unusable;
use ckpt_model::workflow_id::WorkflowId;

/// The digests of the files that the checkpoints of a workflow were imported from, up to a number. Checkpoints are
/// immutable, so bringing it up to date reads only those above that number.
#[derive(Debug, Default)]
pub struct ImportedFiles {
    numbers: HashMap<Digest, u64>,
    up_to: u64,
}

impl ImportedFiles {
    /// Returns the number of the checkpoint that was imported from a file.
    #[must_use]
    pub fn find(&self, file: &Digest) -> Option<u64> {
        self.numbers.get(file).copied()
    }

    /// Adds the checkpoint that a file became.
    pub fn add(&mut self, file: Digest, seq: u64) {
        self.insert(file, seq);
        // Numbers between may be those of another importer, and are still to be read.
        if seq == self.up_to + 1 {
            self.up_to = seq;
        }
    }

    fn insert(&mut self, file: Digest, seq: u64) {
        let number = self.numbers.entry(file).or_insert(seq);
        *number = seq.min(*number);
    }
}

impl<D: Disk> Store<D> {
    /// Adds the checkpoints of a workflow up to `head`, live or archived. Damaged checkpoints are left out.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn update_imported(&self, workflow: &WorkflowId, head: u64, imported: &mut ImportedFiles) -> Result<()> {
        if head <= imported.up_to {
            return Ok(());
        }
        let first = imported.up_to + 1;
        let live = self.workflow(workflow)?;
        let numbers = live.numbers()?;
        let mut archived = (numbers.range(first..=head).count() as u64) < head - imported.up_to;
        for seq in numbers.range(first..=head) {
            match live.read_header(*seq) {
                Ok(Entry::Checkpoint((header, _))) => {
                    if let Some(source) = header.imported {
                        imported.insert(source.sha256, *seq);
                    }
                }
                Ok(Entry::Tombstone | Entry::Seal(_)) | Err(Unusable::Missing) => archived = true,
                Err(_) => {}
            }
        }
        if archived {
            self.visit_archived(workflow, &mut |header| {
                if let Some(source) = header.imported {
                    imported.insert(source.sha256, header.seq);
                }
            })?;
        }
        imported.up_to = head;
        Ok(())
    }
}
