//! Beginning a workflow again from the start.

use std::convert::Infallible;

use super::append::Decision;
use super::archive::Archived;
use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::read::Entry;
use crate::core::change::{Change, Stamp};
use crate::core::checkpoint::{Checkpoint, Content, Context};
use crate::core::json::Json;
use crate::core::phase::{Approval, Phase};
use crate::core::reason::ArchiveReason;
use crate::core::workflow_id::WorkflowId;

/// What a workflow that begins again takes along, besides its title, labels, pipeline and declared phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Nothing.
    #[default]
    Plan,
    /// The free-form state.
    State,
}

/// What restarting a workflow did.
#[derive(Debug)]
pub struct Restarted {
    /// What became of everything before.
    pub archived: Archived,
    /// The first checkpoint of the new beginning.
    pub checkpoint: Box<Checkpoint>,
}

impl<D: Disk> Store<D> {
    /// Archives a workflow and begins it again: the same title, labels, pipeline and declared phases, none of them
    /// begun.
    ///
    /// Of a workflow whose content is lost, what the seal knows is taken.
    ///
    /// # Errors
    /// As [`archive`](Self::archive) and [`append`](Self::append). If the workflow was archived but not begun again,
    /// the same call completes it.
    pub fn restart(&self, workflow: &WorkflowId, stamp: &Stamp, keep: Keep) -> Result<Restarted> {
        let archived = self.archive(workflow, &ArchiveReason::Restarted, stamp)?;
        let appended = self.append_at(workflow, &stamp.save_id, |dir, newest| {
            let base = match self.base(dir, workflow, newest) {
                Ok(base) => base.map(|base| base.checkpoint),
                Err(error) => {
                    match newest.map(|newest| self.read_newest(dir, workflow, newest)).transpose()? {
                        Some((_, Ok(Entry::Sealed(seal)))) => Some(seal.checkpoint),
                        _ => return Err(error),
                    }
                }
            };
            let fresh = base.map(|base| Box::new(fresh(*base, keep)));
            let next = Change::default().apply(workflow, fresh, stamp)?;
            Ok(Decision::<Infallible>::Write(next))
        })?;
        match appended {
            Decision::Write(checkpoint) => Ok(Restarted { archived, checkpoint }),
            Decision::Keep(never) => match never {},
        }
    }
}

/// The workflow as it was declared, before anything was done. Keys of earlier saves are forgotten, so that the same
/// work, done again, is saved again.
fn fresh(old: Checkpoint, keep: Keep) -> Checkpoint {
    let declared = old.content.is_declared();
    let Content { title, labels, pipeline, phases, state, .. } = old.content;
    Checkpoint {
        note: None,
        content: Content {
            title,
            labels,
            pipeline,
            phases: if declared { phases.into_iter().map(unbegun).collect() } else { Vec::new() },
            state: match keep {
                Keep::Plan => Json::default(),
                Keep::State => state,
            },
            ..Content::default()
        },
        context: Context::default(),
        pinned: false,
        keys: Vec::new(),
        sealed: None,
        ..old
    }
}

fn unbegun(old: Phase) -> Phase {
    let approval = old.approval.map(|approval| Approval {
        required: approval.required,
        approved_at: None,
        approved_by: None,
        extra: Default::default(),
        evidence: approval.evidence,
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
