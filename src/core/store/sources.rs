//! Which foreign files a workflow has been made from.

use std::collections::HashMap;

use super::bundles::Visited;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::read::Entry;
use crate::core::digest::Digest;
use crate::core::format;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// The digests of the files that checkpoints of a workflow were imported from, each with the number of a checkpoint
    /// made from it. Those in bundles count too; what is damaged is passed over.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sources(&self, workflow: &WorkflowId) -> Result<HashMap<Digest, u64>> {
        let mut sources = HashMap::new();
        let mut archived = true;
        if let Some(dir) = self.open_workflow(workflow)? {
            archived = false;
            let mut numbers = Vec::new();
            self.each_number(&dir, workflow, &mut |seq| numbers.push(seq))?;
            for seq in numbers {
                match self.read_header(&dir, &Handle::new(workflow, seq)) {
                    Ok(Entry::Live((header, _))) => {
                        sources.extend(header.imported.map(|source| (source.sha256, seq)));
                    }
                    Ok(Entry::Tombstone | Entry::Sealed(_)) => archived = true,
                    Err(_) => {}
                }
            }
        }
        if archived {
            self.archived_sources(workflow, &mut sources)?;
        }
        Ok(sources)
    }

    fn archived_sources(&self, workflow: &WorkflowId, sources: &mut HashMap<Digest, u64>) -> Result<()> {
        self.each_bundle(workflow, &|_| true, &mut |name| {
            let read = self.with_bundle(workflow, name, &mut |mut bundle| {
                while let Some((entry, bytes)) = bundle.next_file()? {
                    let source = format::decode_header(&bytes).ok().and_then(|header| header.imported);
                    sources.extend(source.map(|source| (source.sha256, entry.seq)));
                }
                Ok(())
            });
            match read {
                Ok(None) => Ok(Visited::Vanished),
                Ok(Some(())) | Err(Error::DamagedBundle { .. }) => Ok(Visited::Read),
                Err(error) => Err(error),
            }
        })
    }
}
