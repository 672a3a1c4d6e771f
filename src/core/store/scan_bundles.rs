//! Looking over the bundles of many workflows at once, for lists and counts.

use super::bundle::{BadBundle, BundleName, Manifest};
use super::bundles::Visited;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::read::Stored;
use crate::core::checkpoint::Checkpoint;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// One bundle in a list.
#[derive(Debug, Clone)]
pub struct BundleRow {
    /// The workflow it belongs to.
    pub workflow: WorkflowId,
    /// Its name, which says what is inside, when it was made, and why.
    pub name: BundleName,
    /// The size of its file.
    pub bytes: u64,
    /// What it lists, or why it cannot be used. The lines behind the list have not been read.
    pub manifest: Result<Manifest, BadBundle>,
}

impl<D: Disk> Store<D> {
    /// The ids of all workflows that have bundles, in order.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn archived_workflows(&self) -> Result<Vec<WorkflowId>> {
        let mut ids = self.archived_ids()?;
        ids.sort();
        Ok(ids)
    }

    /// Looks at every bundle of a workflow, the oldest first.
    ///
    /// # Errors
    /// The archive cannot be read; a bundle that cannot is a row that says so.
    pub fn list_bundles(&self, workflow: &WorkflowId) -> Result<Vec<BundleRow>> {
        let mut rows = Vec::new();
        let Some(dir) = self.open_archive(workflow)? else { return Ok(rows) };
        self.each_bundle(workflow, &|_| true, &mut |name| {
            let manifest = match self.with_bundle(workflow, name, &mut |bundle| Ok(bundle.manifest().clone()))
            {
                Ok(Some(manifest)) => Ok(manifest),
                Ok(None) => return Ok(Visited::Vanished),
                Err(Error::DamagedBundle { why, .. }) => Err(why),
                Err(error) => return Err(error),
            };
            let bytes = self.disk().stat(&dir, &name.to_string()).map_or(0, |stat| stat.file_bytes());
            rows.push(BundleRow { workflow: workflow.clone(), name: name.clone(), bytes, manifest });
            Ok(Visited::Read)
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// Reads every archived checkpoint of a workflow, each bundle once. What is in two bundles comes twice; what is
    /// damaged is left out.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn visit_archived(
        &self,
        workflow: &WorkflowId,
        visit: &mut dyn FnMut(Box<Checkpoint>),
    ) -> Result<()> {
        self.each_bundle(workflow, &|_| true, &mut |name| {
            let read = self.with_bundle(workflow, name, &mut |mut bundle| {
                while let Some((entry, bytes)) = bundle.next_file()? {
                    let stored = Stored::decode(&Handle::new(workflow, entry.seq), bytes);
                    stored.into_iter().for_each(|stored| visit(stored.checkpoint));
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
