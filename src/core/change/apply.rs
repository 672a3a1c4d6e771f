//! Applying a change to the newest checkpoint. Pure: the world arrives in a [`Stamp`].

use serde_json::Value;

use super::{Change, Edit, TaskChange};
use crate::core::checkpoint::{
    Checkpoint, Context, GitContext, LastError, Next, Parent, WatchedFile, WorkflowStatus, Writer,
};
use crate::core::digest::Digest;
use crate::core::format::CURRENT;
use crate::core::json::{Json, merge_patch, overlay, set_member};
use crate::core::name::InvalidName;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::pipeline::Pipeline;
use crate::core::task::Task;
use crate::core::time::Timestamp;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// The most phases a workflow can have.
pub const MAX_PHASES: usize = 10_000;
/// The most tasks a workflow can have.
pub const MAX_TASKS: usize = 100_000;
/// The deepest that state and data can be nested. JSON readers commonly stop at 128 levels, and both lie a few levels
/// below the top of the file: what is written must be readable, by this program and by others.
pub const MAX_DEPTH: usize = 100;

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

/// Says why a change does not fit the workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The workflow follows a pipeline that has no such phase.
    #[error("there is no phase `{given}` in this workflow")]
    UnknownPhase {
        /// The phase asked for.
        given: PhaseId,
        /// The phases there are.
        legal: Vec<PhaseId>,
    },
    /// The new list of phases leaves out one that has been worked on.
    #[error("phase `{phase}` has been worked on and is missing from the new list of phases")]
    DropsPhase {
        /// The phase.
        phase: PhaseId,
    },
    /// Something was said about "the phase", and the workflow has none yet.
    #[error("{what} belongs to a phase, and no phase was named")]
    NoPhase {
        /// What was given.
        what: &'static str,
    },
    /// The edit leads to something that is not an object.
    #[error("{what} cannot be set: `{at}` is not inside an object")]
    NotAnObject {
        /// What was edited: `state` or `data`.
        what: &'static str,
        /// The member.
        at: String,
    },
    /// The result would not be an object.
    #[error("{what} must be a JSON object")]
    MustBeObject {
        /// What was edited.
        what: &'static str,
    },
    /// The stored value is nested too deeply to be edited.
    #[error("the stored {what} cannot be edited: {why}")]
    Unreadable {
        /// What was edited.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// The phase has been reopened as often as allowed.
    #[error("phase `{phase}` has been reopened {count} times, which is the limit")]
    ReplanLimit {
        /// The phase.
        phase: PhaseId,
        /// How often it was reopened.
        count: usize,
    },
    /// A text is too long.
    #[error("the {what} is longer than {limit} bytes")]
    TooLong {
        /// Which.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A label or a key is no name.
    #[error(transparent)]
    Name(InvalidName),
    /// There would be too many.
    #[error("a workflow has at most {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl Change {
    /// Makes the next checkpoint of `workflow` out of its newest one.
    ///
    /// # Errors
    /// Says why the change does not fit; nothing has happened then.
    pub fn apply(
        &self,
        workflow: &WorkflowId,
        newest: Option<Checkpoint>,
        stamp: &Stamp,
    ) -> Result<Checkpoint, ChangeError> {
        let mut next = successor(workflow, newest, stamp);
        next.trigger = self.trigger();
        if let Some(whole) = &self.replace {
            adopt(&mut next, whole);
        }
        next.extra.update(&self.extra);
        next.note = self.note.clone().or(next.note);
        next.pinned |= self.pin;
        if let Some(title) = &self.title {
            next.title = Some(title.clone());
        }
        for label in &self.labels {
            if !next.context.labels.contains(label) {
                next.context.labels.push(label.clone());
            }
        }
        if let Some(pipeline) = &self.pipeline {
            declare(&mut next, pipeline)?;
        }
        if let Some(reopen) = &self.reopen {
            reopen.apply(&mut next, stamp.now)?;
        }
        if let Some(approve) = &self.approve {
            approve.apply(&mut next, stamp.now)?;
        }
        self.move_phase(&mut next, stamp.now)?;
        self.move_tasks(&mut next, stamp.now)?;
        for artifact in &self.artifacts {
            match next.artifacts.iter_mut().find(|known| known.name == artifact.name) {
                Some(known) => *known = artifact.clone(),
                None => next.artifacts.push(artifact.clone()),
            }
        }
        edit("state", &mut next.state, &self.state)?;
        self.settle_status(&mut next);
        self.settle_next(&mut next)?;
        Ok(next)
    }

    fn move_phase(&self, next: &mut Checkpoint, now: Timestamp) -> Result<(), ChangeError> {
        if let Some(id) = &self.phase {
            let index = find_or_add(next, id)?;
            let phase = &mut next.phases[index];
            phase.enter(self.status.unwrap_or(PhaseStatus::Complete), now);
            if phase.status == PhaseStatus::Failed && self.error.is_some() {
                phase.error.clone_from(&self.error);
            }
            next.phase = Some(id.clone());
        }
        if !self.data.is_empty() {
            let id = next.phase.clone().ok_or(ChangeError::NoPhase { what: "data" })?;
            let index = find_or_add(next, &id)?;
            let mut data = next.phases[index].data.take().unwrap_or_default();
            edit("data", &mut data, &self.data)?;
            next.phases[index].data = Some(data);
        }
        let mended = next.last_error.as_ref().and_then(|error| error.phase.as_ref()).is_some_and(|failed| {
            next.phases.iter().any(|phase| phase.id == *failed && phase.status.is_done())
        });
        if mended {
            next.last_error = None;
        }
        if let Some(message) = &self.error {
            next.last_error = Some(LastError {
                message: message.clone(),
                phase: next.phase.clone(),
                at: now,
                extra: Default::default(),
            });
        }
        Ok(())
    }

    fn move_tasks(&self, next: &mut Checkpoint, now: Timestamp) -> Result<(), ChangeError> {
        for TaskChange { id, status, output, after, error } in &self.tasks {
            let index = match next.tasks.iter().position(|task| task.id == *id) {
                Some(index) => index,
                None if next.tasks.len() >= MAX_TASKS => {
                    return Err(ChangeError::TooMany { what: "tasks", limit: MAX_TASKS });
                }
                None => {
                    next.tasks.push(Task::pending(id.clone(), next.phase.clone()));
                    next.tasks.len() - 1
                }
            };
            let task = &mut next.tasks[index];
            task.enter(*status, now);
            if let Some(output) = output {
                task.output = Some(output.clone());
            }
            if let Some(after) = after {
                task.depends_on.clone_from(after);
            }
            if error.is_some() {
                task.error.clone_from(error);
            }
        }
        Ok(())
    }

    /// A workflow is complete when all its declared phases are done; work on a finished one reopens it.
    fn settle_status(&self, next: &mut Checkpoint) {
        let all_done = next.is_declared() && !next.phases.is_empty() && next.remaining().next().is_none();
        if let Some(status) = self.workflow_status {
            next.status = status;
        } else if self.phase.is_some() || self.pipeline.is_some() || self.reopen.is_some() {
            next.status = if all_done { WorkflowStatus::Complete } else { WorkflowStatus::InProgress };
        }
    }

    /// What comes next is the first phase that is not done, unless somebody knows better.
    fn settle_next(&self, next: &mut Checkpoint) -> Result<(), ChangeError> {
        let before = next.next.take();
        let computed =
            next.is_declared().then(|| next.remaining().next().map(|phase| phase.id.clone())).flatten();
        let phase = match (&self.next_phase, computed) {
            (Some(given), _) => {
                if next.is_declared() {
                    find_or_add(next, given)?;
                }
                Some(given.clone())
            }
            (None, Some(computed)) => Some(computed),
            // Without declared phases the last word about what comes next stands until a phase is reported.
            (None, None) if !next.is_declared() && self.phase.is_none() => {
                before.as_ref().and_then(|before| before.phase.clone())
            }
            (None, None) => None,
        };
        let moved = before.as_ref().is_none_or(|before| before.phase != phase);
        let declared_action =
            || phase.as_ref().and_then(|id| next.find_phase(id)).and_then(|p| p.action.clone());
        let over = next.status == WorkflowStatus::Complete && self.next_phase.is_none();
        let action = match (&self.next_action, before) {
            (Some(action), _) => Some(action.clone()),
            (None, _) if over => None,
            (None, Some(before)) if !moved && (next.is_declared() || self.phase.is_none()) => before.action,
            (None, _) => declared_action(),
        };
        if phase.is_some() || action.is_some() {
            next.next = Some(Next { phase, action, extra: Default::default() });
        }
        Ok(())
    }
}

/// The checkpoint that follows `newest` when nothing changes: its content, a new number, and the stamp.
pub(crate) fn successor(workflow: &WorkflowId, newest: Option<Checkpoint>, stamp: &Stamp) -> Checkpoint {
    let mut next = match newest {
        Some(newest) => Checkpoint {
            seq: newest.seq.saturating_add(1),
            parent: Some(Parent { seq: newest.seq, sha256: newest.sha256, extra: Default::default() }),
            note: None,
            pinned: false,
            sealed: None,
            ..newest
        },
        None => Checkpoint {
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
            keys: Vec::new(),
            sealed: None,
            state: Json::default(),
            extra: Default::default(),
        },
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
fn adopt(next: &mut Checkpoint, whole: &Checkpoint) {
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

/// Makes the phases of `pipeline` the declared ones; what is recorded about a phase stays with it.
fn declare(next: &mut Checkpoint, pipeline: &Pipeline) -> Result<(), ChangeError> {
    if pipeline.phases.len() > MAX_PHASES {
        return Err(ChangeError::TooMany { what: "phases", limit: MAX_PHASES });
    }
    let mut known = std::mem::take(&mut next.phases);
    for spec in &pipeline.phases {
        let mut phase = match known.iter().position(|phase| phase.id == spec.id) {
            Some(index) => known.remove(index),
            None => Phase::pending(spec.id.clone()),
        };
        spec.describe(&mut phase);
        next.phases.push(phase);
    }
    if let Some(worked_on) = known.into_iter().find(|phase| phase.status != PhaseStatus::Pending) {
        return Err(ChangeError::DropsPhase { phase: worked_on.id });
    }
    next.pipeline = Some(pipeline.name.clone());
    Ok(())
}

/// The place of a phase that must be there already.
pub(super) fn find_phase(next: &Checkpoint, id: &PhaseId) -> Result<usize, ChangeError> {
    next.phases.iter().position(|phase| phase.id == *id).ok_or_else(|| {
        let legal = next.phases.iter().map(|phase| phase.id.clone()).collect();
        ChangeError::UnknownPhase { given: id.clone(), legal }
    })
}

/// The place of a phase in the list. Without a declared pipeline, phases are taken in the order they are first named.
fn find_or_add(next: &mut Checkpoint, id: &PhaseId) -> Result<usize, ChangeError> {
    match find_phase(next, id) {
        Err(unknown) if next.is_declared() => return Err(unknown),
        Err(_) => {}
        found => return found,
    }
    if next.phases.len() >= MAX_PHASES {
        return Err(ChangeError::TooMany { what: "phases", limit: MAX_PHASES });
    }
    next.phases.push(Phase::pending(id.clone()));
    Ok(next.phases.len() - 1)
}

fn edit(what: &'static str, stored: &mut Json, edits: &[Edit]) -> Result<(), ChangeError> {
    if edits.is_empty() {
        return Ok(());
    }
    let mut value =
        stored.to_value().map_err(|why| ChangeError::Unreadable { what, why: why.to_string() })?;
    let too_deep = || Err(ChangeError::TooMany { what: "levels of nesting", limit: MAX_DEPTH });
    for edit in edits {
        match edit {
            Edit::Set(key, _) if key.matches('/').count() > MAX_DEPTH => return too_deep(),
            Edit::Merge(patch) => merge_patch(&mut value, patch),
            Edit::Overlay(document) => overlay(&mut value, document.clone()),
            Edit::Set(key, member) => set_member(&mut value, key, member.clone())
                .map_err(|at| ChangeError::NotAnObject { what, at })?,
        }
    }
    if !matches!(value, Value::Object(_)) {
        return Err(ChangeError::MustBeObject { what });
    }
    if depth(&value) > MAX_DEPTH {
        return too_deep();
    }
    *stored = Json::Given(value);
    Ok(())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
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
