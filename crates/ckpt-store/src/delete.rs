//! Deleting an archived workflow for good.

use super::archive::Archive;
use super::archiving::{Closing, Deletion};
use super::bundle::BundleName;
use super::deletion::{Range, count};
use super::disk::Disk;
use super::error::{Error, Result};
use super::head::Head;
use super::open::Store;
use super::pack::MAX_CONTENT_BYTES;
use super::progress::ProgressCounter;
use ckpt_model::change::Stamp;
use ckpt_model::reason::{ArchiveReason, DeletionReason};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// A plan of the deletion of an archived workflow.
#[derive(Debug, Clone)]
pub struct DeletionPlan {
    /// The head of the workflow.
    pub seal: Handle,
    /// Why it was archived.
    pub reason: ArchiveReason,
    /// The number of its bundles.
    pub bundles: usize,
    /// The number of the checkpoints with content, in bundles or restored one by one.
    pub checkpoints: usize,
    /// The size of the bundles and of the restored checkpoints.
    pub bytes: u64,
}

impl<D: Disk> Store<D> {
    /// Plans to delete the content of an archived workflow, without writing.
    ///
    /// # Errors
    /// There is no such workflow, it is not archived, or the store cannot be read.
    pub fn plan_deletion(&self, id: &WorkflowId) -> Result<DeletionPlan> {
        let workflow = self.workflow(id)?;
        let Some(head) = workflow.head_number()? else { return Err(workflow.no_such_workflow()) };
        let Head::Seal(seal) = workflow.read_head(head)? else {
            return Err(Error::NotArchived { workflow: id.clone() });
        };
        let reason = seal.sealed.as_ref().map_or(ArchiveReason::Cleanup, |sealed| sealed.reason.clone());
        let mut plan = DeletionPlan { seal: seal.handle(), reason, bundles: 0, checkpoints: 0, bytes: 0 };
        let mut ranges: Vec<Range> = Vec::new();
        for row in self.list_bundles(id)? {
            plan.bundles += 1;
            plan.bytes += row.bytes;
            match row.manifest {
                Ok(manifest) => ranges.extend(manifest.entries.iter().map(|entry| (entry.seq, entry.seq))),
                Err(_) => ranges.push((row.name.first, row.name.last)),
            }
        }
        for seq in workflow.live_below(seal.seq)? {
            plan.bytes += workflow.stat(seq).map_or(0, |stat| stat.file_bytes());
            ranges.push((seq, seq));
        }
        plan.checkpoints = usize::try_from(count(ranges)).unwrap_or(usize::MAX);
        Ok(plan)
    }

    /// Deletes the content of an archived workflow, live or in bundles. Its numbers stay taken. A seal records it first, so
    /// that no save continues what is about to be deleted.
    ///
    /// # Errors
    /// The workflow was saved to since the plan was made, or the disk refuses. The same call completes what was begun.
    pub fn delete_archived(&self, plan: &DeletionPlan, stamp: &Stamp) -> Result<()> {
        let id = &plan.seal.workflow;
        let deletion = Deletion { ranges: vec![(1, u64::MAX)], reason: DeletionReason::Purged };
        let closing = Closing {
            reason: &plan.reason,
            stamp,
            expected: Some(plan.seal.seq),
            deletion: &deletion,
            max_content_bytes: MAX_CONTENT_BYTES,
            any_format: false,
        };
        self.close(id, closing, &mut ProgressCounter::new(&mut |_| {}))?;
        let archive = self.archive_of(id)?;
        self.delete_bundles(&archive, &archive.bundles()?, DeletionReason::Purged, stamp)
    }

    /// Deletes bundles, after it has recorded that.
    pub(super) fn delete_bundles(
        &self,
        archive: &Archive<'_, D>,
        bundles: &[BundleName],
        reason: DeletionReason,
        stamp: &Stamp,
    ) -> Result<()> {
        for name in bundles {
            self.record_deletion(archive.id(), (name.first, name.last), reason, &stamp.save_id)?;
            archive.remove(name)?;
        }
        match archive.dir() {
            Some(dir) => self.sync(dir, &archive.path()),
            None => Ok(()),
        }
    }
}
