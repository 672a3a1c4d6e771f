//! Starting a workflow over.

use std::collections::HashSet;

use super::append::Decision;
use super::disk::Disk;
use super::error::Result;
use super::head::Head;
use super::objects::ObjectContent;
use super::open::Store;
use super::workflow::Workflow;
use ckpt_model::change::{Change, Stamp};
use ckpt_model::checkpoint::{Checkpoint, Content, Context};
use ckpt_model::phase::{Approval, Phase};
use ckpt_model::reason::ArchiveReason;
use ckpt_model::trigger::Trigger;
use ckpt_model::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Archives a workflow and begins another run of it, with the same title, labels, pipeline and declared phases,
    /// none of them begun. If its content is lost, these are taken from the seal. Returns the first checkpoint of the
    /// new run.
    ///
    /// # Errors
    /// As [`archive`](Self::archive) and [`append`](Self::append). If the workflow was archived but not begun again,
    /// the same call completes it.
    pub fn restart(&self, workflow: &WorkflowId, stamp: &Stamp) -> Result<Box<Checkpoint>> {
        self.restart_with(workflow, stamp, &[], |fresh| {
            let mut next = Change::default().apply(workflow, Some(fresh), stamp)?;
            next.trigger = Trigger::Restart;
            Ok(next)
        })
    }

    /// As [`restart`](Self::restart), but the new run begins with what `begin` makes of the workflow as it was declared.
    /// `contents` are those that its first checkpoint refers to.
    ///
    /// # Errors
    /// As [`restart`](Self::restart), or `begin` fails; then nothing was changed.
    pub fn restart_with(
        &self,
        workflow: &WorkflowId,
        stamp: &Stamp,
        contents: &[ObjectContent],
        begin: impl Fn(Box<Checkpoint>) -> Result<Box<Checkpoint>>,
    ) -> Result<Box<Checkpoint>> {
        if let Ok(Some((newest, _))) = self.continued(workflow) {
            begin(Box::new(fresh(*newest)))?;
        }
        let seal_reason = |head: Option<Head>| match head {
            Some(Head::Checkpoint(checkpoint)) => checkpoint.content.status.archive_reason(),
            Some(Head::Seal(_)) | None => None,
        };
        loop {
            let reason = self.head(workflow).map_or(None, seal_reason).unwrap_or(ArchiveReason::Restarted);
            self.archive(workflow, &reason, stamp, &mut |_| {})?;
            let decide = |live: &Workflow<'_, D>, head: Option<u64>| {
                let head = head.ok_or_else(|| live.no_such_workflow())?;
                let head = live.read_head(head)?;
                // A save has continued the old run: that has to be archived first.
                let Head::Seal(seal) = head.clone() else { return Ok(Decision::Keep(())) };
                let old = live.continued(head).map_or(seal, |continued| continued.checkpoint);
                let mut next = begin(Box::new(fresh(*old)))?;
                next.run = Some(next.seq);
                Ok(Decision::Write(next))
            };
            let keep = || self.keep_objects(contents, &HashSet::new(), &stamp.save_id);
            if let Decision::Write(checkpoint) = self.append_keeping(workflow, &stamp.save_id, decide, keep)? {
                return Ok(checkpoint);
            }
        }
    }
}

/// Returns the workflow as it was declared, before any work. Keys of earlier saves are dropped, so that the same work,
/// done again, is saved again.
fn fresh(old: Checkpoint) -> Checkpoint {
    let declared = old.content.is_declared();
    let Content { title, labels, pipeline, phases, .. } = old.content;
    Checkpoint {
        note: None,
        content: Content {
            title,
            labels,
            pipeline,
            phases: if declared { phases.into_iter().map(unbegun).collect() } else { Vec::new() },
            ..Content::default()
        },
        context: Context::default(),
        pinned: false,
        origin: None,
        keys: Vec::new(),
        sealed: None,
        ..old
    }
}

fn unbegun(old: Phase) -> Phase {
    let approval = old.approval.map(|approval| Approval {
        required: approval.required,
        evidence: approval.evidence,
        options: approval.options,
        selection: approval.selection,
        ..Approval::default()
    });
    Phase {
        name: old.name,
        approval,
        action: old.action,
        outputs: old.outputs,
        task_limit: old.task_limit,
        ..Phase::pending(old.id)
    }
}
