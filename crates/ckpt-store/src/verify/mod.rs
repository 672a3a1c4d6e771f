//! Checking everything that is stored. Nothing here writes.
//!
//! Every file is read, and its digest, format, place, and relation to its neighbours and the archive are checked. Links
//! are not followed, pipes do not block, and a file that cannot be read is a finding, not an error.
//!
//! Other processes may work in the store at the same time. What they do is not a finding: a workflow with findings is
//! inspected again until two inspections in a row agree.

mod bundles;
mod directories;
mod finding;
mod objects;
mod relations;
mod workflow;

pub(super) use directories::{Directories, DirectoryPlace, Misfit};
pub(super) use finding::Walk;
pub use finding::{Checked, StoredSecret, Verification};
pub(super) use objects::ObjectInspection;
pub(super) use workflow::{Inspection, Slot};

use super::disk::Disk;
use super::open::Store;
use crate::error::Result;
use ckpt_model::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Checks the whole store, or only some workflows. `progress` is called for every checkpoint.
    ///
    /// # Errors
    /// The store itself cannot be opened. What is wrong inside is a finding.
    pub fn verify(&self, only: &[WorkflowId], progress: &mut dyn FnMut(&Checked)) -> Result<Verification> {
        self.check(only, Walk::new(progress))
    }

    /// Checks the same, and looks for secrets in every checkpoint, live or archived.
    ///
    /// # Errors
    /// The store itself cannot be opened.
    pub fn verify_secrets(&self, only: &[WorkflowId], progress: &mut dyn FnMut(&Checked)) -> Result<Verification> {
        let mut walk = Walk::new(progress);
        walk.secrets = Some(Vec::new());
        self.check(only, walk)
    }

    fn check(&self, only: &[WorkflowId], mut walk: Walk<'_>) -> Result<Verification> {
        let directories = self.inspect_directories(&mut walk)?;
        if !only.is_empty() {
            // Only the named workflows are reported.
            walk.findings.clear();
        }
        for id in directories.ids.iter().filter(|id| only.is_empty() || only.contains(id)) {
            walk.checked.workflows += 1;
            self.inspect_workflow(id, &mut walk)?;
        }
        self.inspect_objects(only.is_empty(), &mut walk)?;
        Ok(walk.finish())
    }
}
