//! Restoring archived checkpoints, and rebuilding a directory whose files were removed by hand.
//!
//! [`Store::plan_restore`] reads, [`Store::restore`] applies what it finds until there is nothing left to restore: a
//! cleanup may archive checkpoints again at the same time.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::adopt::MOST_FILLED;
use super::append::Decision;
use super::archive::Archive;
use super::bundle::{BadBundle, BundleName};
use super::deletion::{Deletions, NumberSet};
use super::disk::Disk;
use super::error::{Error, Result};
use super::head::Head;
use super::open::Store;
use super::progress::{ArchiveProgress, ArchiveStep, ProgressCounter};
use super::workflow::Workflow;
use ckpt_model::change::{Stamp, next_checkpoint};
use ckpt_model::checkpoint::{Checkpoint, WorkflowStatus};
use ckpt_model::format::Unusable;
use ckpt_model::reason::DeletionReason;
use ckpt_model::selector::Handle;
use ckpt_model::trigger::Trigger;
use ckpt_model::workflow_id::WorkflowId;

/// How often a workflow is restored again because a cleanup archives it at the same time.
const ATTEMPTS: u32 = 16;

/// The part of a workflow that is restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreScope {
    /// All of it. An archived workflow goes on: a checkpoint above the seal continues the last one.
    Workflow,
    /// These checkpoints.
    Checkpoints {
        /// Their numbers.
        numbers: NumberSet,
        /// True if an archived workflow goes on.
        reopens: bool,
    },
}

impl RestoreScope {
    /// One checkpoint, and nothing else.
    #[must_use]
    pub fn checkpoint(seq: u64) -> Self {
        Self::Checkpoints { numbers: NumberSet::new(vec![(seq, seq)]), reopens: false }
    }

    fn includes(&self, seq: u64) -> bool {
        match self {
            Self::Workflow => true,
            Self::Checkpoints { numbers, .. } => numbers.contains(seq),
        }
    }

    /// Returns true if a bundle may hold a part of it.
    fn reaches(&self, bundle: &BundleName) -> bool {
        match self {
            Self::Workflow => true,
            Self::Checkpoints { numbers, .. } => numbers.overlaps((bundle.first, bundle.last)),
        }
    }

    fn reopens(&self) -> bool {
        matches!(self, Self::Workflow | Self::Checkpoints { reopens: true, .. })
    }
}

/// A plan of a restore.
#[derive(Debug)]
pub struct RestorePlan {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The number of its head.
    pub head: u64,
    /// The checkpoints that would be live again, the newest first.
    pub restores: Vec<Handle>,
    /// The checkpoint that would be added above the seal, and the status of the workflow then, if it can be read.
    pub revives: Option<(Handle, Option<WorkflowStatus>)>,
    /// Archived numbers that no bundle holds.
    pub lost: Vec<Handle>,
    /// Bundles that cannot be used, and why.
    pub damaged: Vec<(PathBuf, BadBundle)>,
    /// The bundles to restore from, which have been read to their ends.
    bundles: Vec<BundleName>,
    /// True if entries of the directory were removed by hand.
    rebuilds: bool,
}

/// The result of restoring.
#[derive(Debug, Default)]
pub struct Restored {
    /// The checkpoints that are live again, the newest first.
    pub restored: Vec<Handle>,
    /// The checkpoint that was added above the seal, so that the workflow is live again.
    pub revived: Option<Box<Checkpoint>>,
    /// Archived numbers that no bundle holds.
    pub lost: Vec<Handle>,
    /// Bundles that cannot be used, and why.
    pub damaged: Vec<(PathBuf, BadBundle)>,
}

impl<D: Disk> Store<D> {
    /// Plans to restore a workflow or a part of it, without writing.
    ///
    /// # Errors
    /// There is no such workflow or checkpoint, the store cannot be read, or the only bundles that hold something are
    /// damaged.
    pub fn plan_restore(&self, id: &WorkflowId, scope: &RestoreScope) -> Result<RestorePlan> {
        let mut plan = self.find_restorable(id, scope)?;
        // Nothing can be restored, so there is nothing to continue from.
        if plan.restores.is_empty()
            && !plan.lost.is_empty()
            && let Some((path, why)) = plan.damaged.pop()
        {
            return Err(Error::DamagedBundle { path, why });
        }
        Ok(plan)
    }

    /// Restores a workflow or a part of it, byte for byte. Bundles stay where they are. `progress` is called for every
    /// checkpoint.
    ///
    /// # Errors
    /// As [`plan_restore`](Self::plan_restore), a bundle cannot be read, or the disk refuses. Nothing that is live is
    /// changed, and the same call completes what was begun.
    pub fn restore(
        &self,
        id: &WorkflowId,
        scope: &RestoreScope,
        stamp: &Stamp,
        progress: &mut dyn FnMut(&ArchiveProgress),
    ) -> Result<Restored> {
        let mut done = Restored::default();
        let mut plan = self.plan_restore(id, scope)?;
        for _ in 0..ATTEMPTS {
            self.put_back(&plan, stamp, &mut done, &mut ProgressCounter::new(progress))?;
            if plan.restores.is_empty() {
                break;
            }
            plan = self.find_restorable(id, scope)?;
        }
        done.restored.sort_by(|a, b| b.cmp(a));
        done.restored.dedup();
        done.lost = plan.lost;
        // It may be undamaged, so it must not be passed over; the others have been restored.
        if let Some((path, why)) = plan.damaged.iter().find(|(_, why)| matches!(why, BadBundle::Unreadable(_))) {
            return Err(Error::DamagedBundle { path: path.clone(), why: why.clone() });
        }
        done.damaged = plan.damaged;
        if scope.reopens() {
            done.revived = self.revive(id, stamp)?;
        }
        Ok(done)
    }

    /// Finds what can be restored.
    fn find_restorable(&self, id: &WorkflowId, scope: &RestoreScope) -> Result<RestorePlan> {
        let mut attempt = 0;
        loop {
            let workflow = self.workflow(id)?;
            let Some(head) = workflow.head_number()? else { return Err(workflow.no_such_workflow()) };
            if let RestoreScope::Checkpoints { numbers, .. } = scope
                && let Some(seq) = numbers.find_outside(head)
            {
                let asked = workflow.handle(seq).to_string();
                return Err(Error::NoSuchCheckpoint { asked, newest: workflow.handle(head) });
            }
            // Opened each time: another process may create it.
            let archive = workflow.archive()?;
            let listed = archive.bundles()?;
            let plan = workflow.find_restorable(&archive, head, scope)?;
            attempt += 1;
            // A cleanup may archive a checkpoint after the bundles were listed.
            if plan.lost.is_empty() || attempt == ATTEMPTS || workflow.archive()?.bundles()? == listed {
                return Ok(plan);
            }
        }
    }

    /// Writes the files of a plan.
    fn put_back(
        &self,
        plan: &RestorePlan,
        stamp: &Stamp,
        done: &mut Restored,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<()> {
        let id = &plan.workflow;
        let workflow = if plan.rebuilds {
            done.restored.push(Handle::new(id, plan.head));
            self.rebuild_workflow(id, plan.head, &stamp.save_id)?
        } else {
            self.workflow(id)?
        };
        let planned: BTreeSet<u64> = plan.restores.iter().map(|handle| handle.seq).collect();
        progress.begin(ArchiveStep::Restoring, planned.len());
        workflow.archive()?.find_bundle(
            |name| plan.bundles.contains(name),
            |_, bundle| {
                let Ok(mut bundle) = bundle else { return Ok(ControlFlow::<()>::Continue(())) };
                while let Ok(Some((entry, bytes))) = bundle.next_file() {
                    // Two processes that restore the same number write the same bytes.
                    if planned.contains(&entry.seq) && workflow.is_absent(entry.seq)? {
                        workflow.replace_file(entry.seq, &bytes, &stamp.save_id)?;
                        done.restored.push(workflow.handle(entry.seq));
                        progress.advance();
                    }
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        workflow.sync()
    }

    /// Adds a checkpoint above the head if that is a seal.
    fn revive(&self, id: &WorkflowId, stamp: &Stamp) -> Result<Option<Box<Checkpoint>>> {
        let appended = self.append_at(id, &stamp.save_id, |workflow, head| {
            let Some(seq) = head else { return Ok(Decision::Keep(())) };
            let seal = match workflow.read_head(seq) {
                Ok(seal @ Head::Seal(_)) => seal,
                Ok(Head::Checkpoint(_)) | Err(Error::Damaged { .. }) => return Ok(Decision::Keep(())),
                // It may be a seal.
                Err(error) => return Err(error),
            };
            let mut next = next_checkpoint(id, Some(workflow.continued(seal)?.checkpoint), stamp);
            next.trigger = Trigger::Restore;
            Ok(Decision::Write(next))
        })?;
        Ok(match appended {
            Decision::Write(checkpoint) => Some(checkpoint),
            Decision::Keep(()) => None,
        })
    }

    /// Creates the directory of a workflow again, with an entry for every number up to `head`.
    pub(super) fn rebuild_workflow<'s>(
        &'s self,
        id: &'s WorkflowId,
        head: u64,
        save_id: &str,
    ) -> Result<Workflow<'s, D>> {
        self.make_workflow(id)?;
        self.sync_above(id)?;
        let workflow = self.workflow(id)?;
        workflow.rebuild(head, save_id)?;
        Ok(workflow)
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Finds what can be restored from the bundles of `archive`.
    fn find_restorable(&self, archive: &Archive<'_, D>, head: u64, scope: &RestoreScope) -> Result<RestorePlan> {
        let rebuilds = self.highest_live()? < Some(head);
        if rebuilds {
            if head > MOST_FILLED {
                return Err(self.damaged(head, Unusable::Missing));
            }
            let (name, _) = archive.find(head)?;
            archive.verify(&name)?;
        }
        let mut plan = RestorePlan {
            workflow: self.id.clone(),
            head,
            restores: Vec::new(),
            revives: self.revives(head, scope)?,
            lost: Vec::new(),
            damaged: Vec::new(),
            bundles: Vec::new(),
            rebuilds,
        };
        let held = plan.find_held(archive, scope)?;
        let mut numbers: BTreeSet<u64> =
            if rebuilds { (1..=head).collect() } else { self.numbers()?.into_iter().collect() };
        numbers.extend(&held);
        for seq in numbers.into_iter().rev() {
            let is_rebuilt = rebuilds && seq == head;
            if is_rebuilt {
                plan.restores.push(self.handle(seq));
            } else if scope.includes(seq) && self.is_absent(seq)? {
                if held.contains(&seq) {
                    plan.restores.push(self.handle(seq));
                } else if seq < head {
                    plan.lost.push(self.handle(seq));
                }
            }
        }
        plan.lost.reverse();
        // A filler never had a content.
        if *scope == RestoreScope::Workflow && !plan.lost.is_empty() {
            let deletions = Deletions::of_records(archive.deletion_records()?);
            plan.lost.retain(|handle| deletions.reason(handle.seq) != Some(DeletionReason::Absent));
        }
        Ok(plan)
    }

    /// Returns the checkpoint that would be added above the head, and its status.
    fn revives(&self, head: u64, scope: &RestoreScope) -> Result<Option<(Handle, Option<WorkflowStatus>)>> {
        if !scope.reopens() {
            return Ok(None);
        }
        match self.read_head(head) {
            Ok(seal @ Head::Seal(_)) => {
                let continued = self.continued(seal).ok();
                let status = continued.map(|continued| continued.checkpoint.content.status);
                Ok(Some((self.handle(head.saturating_add(1)), status)))
            }
            Ok(Head::Checkpoint(_)) | Err(Error::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates the missing entries up to `head`: the head with its content, if a bundle holds it, the others as
    /// tombstones. Existing entries stay.
    pub(super) fn rebuild(&self, head: u64, save_id: &str) -> Result<()> {
        if head > MOST_FILLED {
            return Err(self.damaged(head, Unusable::Missing));
        }
        let bytes = match self.archive()?.find(head) {
            Ok((_, bytes)) => bytes,
            Err(Error::Archived { .. } | Error::DamagedBundle { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        self.publish_file(head, &bytes, save_id)?;
        for seq in 1..head {
            self.publish_file(seq, b"", save_id)?;
        }
        self.sync()
    }

    /// Returns true if a number has a tombstone or no entry.
    fn is_absent(&self, seq: u64) -> Result<bool> {
        match self.stat(seq) {
            Ok(stat) => Ok(stat.is_empty_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(self.store.failed("read", &self.file_path(seq), error)),
        }
    }
}

impl RestorePlan {
    /// Finds the bundles that can be used. Returns the numbers that they hold.
    fn find_held<D: Disk>(&mut self, archive: &Archive<'_, D>, scope: &RestoreScope) -> Result<BTreeSet<u64>> {
        let mut held = BTreeSet::new();
        archive.find_bundle(
            |name| scope.reaches(name),
            |name, bundle| {
                // The whole bundle is checked before any file of it is used.
                match bundle.and_then(|bundle| bundle.verify(&mut || {})) {
                    Ok(manifest) => {
                        held.extend(manifest.entries.iter().map(|entry| entry.seq));
                        self.bundles.push(name.clone());
                    }
                    Err(why) => self.damaged.push((archive.bundle_path(name), why)),
                }
                Ok(ControlFlow::<()>::Continue(()))
            },
        )?;
        Ok(held)
    }
}
