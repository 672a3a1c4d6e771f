//! Which foreign files a workflow has been made from.

use std::collections::HashMap;

use super::disk::Disk;
use super::open::Store;
use super::read::Entry;
use crate::core::digest::Digest;
use crate::core::error::Result;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// The digests of the files that checkpoints of a workflow were imported from, each with the number of the newest
    /// checkpoint made from it. Archived ones are looked up; damaged ones are passed over.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sources(&self, workflow: &WorkflowId) -> Result<HashMap<Digest, u64>> {
        let mut sources = HashMap::new();
        let Some(dir) = self.open_workflow(workflow)? else { return Ok(sources) };
        let mut numbers = Vec::new();
        self.each_number(&dir, workflow, &mut |seq| numbers.push(seq))?;
        numbers.sort_unstable();
        for seq in numbers {
            let handle = Handle::new(workflow, seq);
            let digest = match self.read_header(&dir, &handle) {
                Ok(Entry::Live((header, _))) => header.imported.map(|source| source.sha256),
                Ok(Entry::Tombstone) => {
                    let archived = self.load(&handle).ok();
                    archived.and_then(|stored| stored.checkpoint.imported).map(|source| source.sha256)
                }
                Ok(Entry::Sealed(_)) | Err(_) => None,
            };
            sources.extend(digest.map(|digest| (digest, seq)));
        }
        Ok(sources)
    }
}
