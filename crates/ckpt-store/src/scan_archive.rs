//! Scanning the bundles of a workflow, for lists.

use super::bundle::{BadBundle, BundleName, Manifest};
use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::workflow::decode_header;
use ckpt_model::format::Header;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// One bundle in a list.
#[derive(Debug, Clone)]
pub struct BundleRow {
    /// The workflow it belongs to.
    pub workflow: WorkflowId,
    /// Its name, which has the range of numbers, the time and the reason.
    pub name: BundleName,
    /// The size of its file.
    pub bytes: u64,
    /// Its manifest, or why it cannot be used. The files in the bundle have not been read.
    pub manifest: Result<Manifest, BadBundle>,
}

impl<D: Disk> Store<D> {
    /// Reads the manifest of every bundle of a workflow, the oldest first.
    ///
    /// # Errors
    /// The archive cannot be read; a bundle that cannot is a row that says so.
    pub fn list_bundles(&self, workflow: &WorkflowId) -> Result<Vec<BundleRow>> {
        let archive = self.archive_of(workflow)?;
        let mut rows = Vec::new();
        archive.each_bundle(|name, bundle| {
            rows.push(BundleRow {
                workflow: workflow.clone(),
                name: name.clone(),
                bytes: archive.stat(&name.to_string()).map_or(0, |stat| stat.file_bytes()),
                manifest: bundle.map(|bundle| bundle.manifest().clone()),
            });
            Ok(())
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// Returns the size of all bundles of a workflow.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn bundled_bytes(&self, workflow: &WorkflowId) -> Result<u64> {
        let archive = self.archive_of(workflow)?;
        let size = |name: BundleName| archive.stat(&name.to_string()).map_or(0, |stat| stat.file_bytes());
        Ok(archive.bundles()?.into_iter().map(size).sum())
    }

    /// Reads the header of every archived checkpoint of a workflow, each bundle once. A checkpoint in two bundles comes
    /// twice; damaged ones are left out.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn visit_archived(&self, workflow: &WorkflowId, visit: &mut dyn FnMut(Header)) -> Result<()> {
        self.archive_of(workflow)?.each_bundle(|_, bundle| {
            let Ok(mut bundle) = bundle else { return Ok(()) };
            while let Ok(Some((entry, bytes))) = bundle.next_file() {
                if let Ok(header) = decode_header(&Handle::new(workflow, entry.seq), &bytes) {
                    visit(header);
                }
            }
            Ok(())
        })
    }
}
