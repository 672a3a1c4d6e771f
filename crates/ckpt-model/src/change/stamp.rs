//! The part of a checkpoint that the program fills in itself.

use crate::checkpoint::{Checkpoint, CheckpointRef, Content, Context, GitContext, WatchedFile, Writer};
use crate::digest::Digest;
use crate::time::Timestamp;
use crate::trigger::Trigger;
use crate::version::CURRENT;
use crate::workflow_id::WorkflowId;

/// The time, writer and context of a save. None of it is taken from the input of the user.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The time of the save.
    pub now: Timestamp,
    /// A random id of the save.
    pub save_id: String,
    /// The author of the save.
    pub writer: Writer,
    /// The state of the git checkout.
    pub git: Option<GitContext>,
    /// The watched files; none if nothing is watched.
    pub watched: Vec<WatchedFile>,
}

/// Returns the checkpoint that follows `newest` with the same content: the next number, and the stamp.
pub(crate) fn next_checkpoint(
    workflow: &WorkflowId,
    newest: Option<Box<Checkpoint>>,
    stamp: &Stamp,
) -> Box<Checkpoint> {
    let mut next = match newest {
        Some(mut next) => {
            next.parent = Some(CheckpointRef::from(&*next));
            next.seq = next.seq.saturating_add(1);
            next.note = None;
            next.pinned = false;
            next.copy_of = None;
            next.merged = None;
            next.sealed = None;
            next.imported = None;
            next
        }
        None => Box::new(Checkpoint {
            version: CURRENT,
            sha256: Digest::ZERO,
            workflow: workflow.clone(),
            seq: 1,
            saved_at: stamp.now,
            trigger: Trigger::Manual,
            note: None,
            content: Content::default(),
            context: Context::default(),
            writer: Writer::default(),
            save_id: String::new(),
            parent: None,
            run: None,
            pinned: false,
            copy_of: None,
            merged: None,
            origin: None,
            keys: Vec::new(),
            sealed: None,
            imported: None,
        }),
    };
    next.sha256 = Digest::ZERO;
    next.saved_at = stamp.now;
    next.writer.clone_from(&stamp.writer);
    next.save_id.clone_from(&stamp.save_id);
    next.context.git.clone_from(&stamp.git);
    if !stamp.watched.is_empty() {
        next.context.watched.clone_from(&stamp.watched);
    }
    next
}
