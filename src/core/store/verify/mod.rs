//! Checking everything that is stored. Nothing here writes.
//!
//! Every file is read and believed nothing: its digest, its form, its place, and how it fits its neighbours and the
//! archive. Links are not followed, pipes are not waited for, and what cannot be read is a finding, not the end.

mod bundles;
mod finding;
mod relations;
mod survey;
mod workflow;

pub(super) use finding::Walk;
pub use finding::{Checked, StoredSecret, Verification};
pub(super) use survey::{Misfit, Place, Survey};
pub(super) use workflow::{Inspection, Slot};

use super::disk::Disk;
use super::open::Store;
use crate::core::store::error::Result;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Checks the whole store, or only some workflows of it. `progress` is told how far it is.
    ///
    /// # Errors
    /// The store itself cannot be opened. What is wrong inside is a finding.
    pub fn verify(&self, only: &[WorkflowId], progress: &mut dyn FnMut(&Checked)) -> Result<Verification> {
        self.check(only, Walk::new(progress))
    }

    /// Does the same, and looks for secrets in every checkpoint, live or archived.
    ///
    /// # Errors
    /// The store itself cannot be opened.
    pub fn verify_secrets(
        &self,
        only: &[WorkflowId],
        progress: &mut dyn FnMut(&Checked),
    ) -> Result<Verification> {
        let mut walk = Walk::new(progress);
        walk.secrets = Some(Vec::new());
        self.check(only, walk)
    }

    fn check(&self, only: &[WorkflowId], mut walk: Walk<'_>) -> Result<Verification> {
        let survey = self.look_over(&mut walk)?;
        if !only.is_empty() {
            // Whoever names workflows wants to hear about those.
            walk.findings.clear();
        }
        for id in survey.ids.iter().filter(|id| only.is_empty() || only.contains(id)) {
            walk.checked.workflows += 1;
            self.inspect(id, &mut walk)?;
        }
        Ok(walk.finish())
    }
}
