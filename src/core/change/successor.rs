//! The checkpoint that follows another when nothing changes, and what the tool itself puts into it.

use crate::core::checkpoint::{
    Checkpoint, Context, Earlier, GitContext, WatchedFile, WorkflowStatus, Writer,
};
use crate::core::digest::Digest;
use crate::core::json::Json;
use crate::core::time::Timestamp;
use crate::core::trigger::Trigger;
use crate::core::version::CURRENT;
use crate::core::workflow_id::WorkflowId;

/// What the tool itself puts into a checkpoint. None of it is ever taken from the caller.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The time of the save.
    pub now: Timestamp,
    /// A random name of the save.
    pub save_id: String,
    /// Who saves.
    pub writer: Writer,
    /// The git checkout.
    pub git: Option<GitContext>,
    /// The watched files; none if nothing is watched.
    pub watched: Vec<WatchedFile>,
}

/// The checkpoint that follows `newest` when nothing changes: its content, a new number, and the stamp.
pub(crate) fn successor(
    workflow: &WorkflowId,
    newest: Option<Box<Checkpoint>>,
    stamp: &Stamp,
) -> Box<Checkpoint> {
    let mut next = match newest {
        Some(mut next) => {
            next.parent = Some(Earlier::from(&*next));
            next.seq = next.seq.saturating_add(1);
            next.note = None;
            next.pinned = false;
            next.copy_of = None;
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
            status: WorkflowStatus::InProgress,
            phase: None,
            next: None,
            title: None,
            note: None,
            pipeline: None,
            phases: Vec::new(),
            tasks: Vec::new(),
            artifacts: Vec::new(),
            replans: Vec::new(),
            context: Context::default(),
            last_error: None,
            writer: Writer::default(),
            save_id: String::new(),
            parent: None,
            pinned: false,
            copy_of: None,
            keys: Vec::new(),
            sealed: None,
            imported: None,
            state: Json::default(),
            extra: Default::default(),
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

/// Takes the content of a whole checkpoint; number, time, writer and parent stay the tool's own.
pub(super) fn adopt(next: &mut Checkpoint, whole: &Checkpoint) {
    let whole = whole.clone();
    next.status = whole.status;
    next.phase = whole.phase;
    next.next = whole.next;
    next.title = whole.title;
    next.note = whole.note;
    next.pipeline = whole.pipeline;
    next.phases = whole.phases;
    next.tasks = whole.tasks;
    next.artifacts = whole.artifacts;
    next.replans = whole.replans;
    next.context.labels = whole.context.labels;
    next.context.extra = whole.context.extra;
    next.last_error = whole.last_error;
    next.state = whole.state;
    next.extra = whole.extra;
}

/// Takes the content of an earlier checkpoint of the workflow, and says so. What somebody had to say about that save was
/// said about that one.
pub(super) fn go_back(next: &mut Checkpoint, earlier: &Checkpoint) {
    adopt(next, earlier);
    next.note = None;
    next.copy_of = Some(Earlier::from(earlier));
}

/// Whether two checkpoints say the same about the work. Who saved them, when, why and from which commit does not
/// count; a note or a pin does, because somebody asked for it.
#[must_use]
pub fn same_content(old: &Checkpoint, new: &Checkpoint) -> bool {
    let quiet = new.note.is_none() || new.note == old.note;
    quiet
        && old.pinned >= new.pinned
        && old.status == new.status
        && old.phase == new.phase
        && old.next == new.next
        && old.title == new.title
        && old.pipeline == new.pipeline
        && old.phases == new.phases
        && old.tasks == new.tasks
        && old.artifacts == new.artifacts
        && old.replans == new.replans
        && old.context.labels == new.context.labels
        && same_error(old, new)
        && old.state == new.state
        && old.extra == new.extra
}

/// Reporting the same error again is nothing new, although the time of the report differs.
fn same_error(old: &Checkpoint, new: &Checkpoint) -> bool {
    let words =
        |checkpoint: &Checkpoint| checkpoint.last_error.clone().map(|error| (error.message, error.phase));
    words(old) == words(new)
}
