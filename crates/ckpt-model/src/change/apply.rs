//! Applying a change to the newest checkpoint, without I/O: time, writer and git context are in the [`Stamp`].

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::error::ChangeError;
use super::phases::{declare, find_or_add, find_phase};
use super::plan::is_plan_of_agent;
use super::stamp::{Stamp, next_checkpoint};
use super::{Change, Edit, MOST_TOUCHED, Merge, PhaseChange, TaskChange};
use crate::checkpoint::{Artifact, Checkpoint, CheckpointRef, Content, LastError, Next, WatchedFile, WorkflowStatus};
use crate::gate::failed_gate;
use crate::json::{Json, MAX_DEPTH, append_member, depth, is_reserved, merge_patch, overlay, set_member};
use crate::merge::merge;
use crate::name::InvalidName;
use crate::next_phase::{PhaseState, RunState};
use crate::phase::{MAX_PHASES, Phase, PhaseStatus};
use crate::task::{MAX_TASKS, Task, TaskId, TaskStatus};
use crate::time::Timestamp;
use crate::workflow_id::WorkflowId;

impl Change {
    /// Returns the checkpoint that follows `newest` after this change.
    ///
    /// # Errors
    /// The change does not fit the workflow.
    pub fn apply(
        &self,
        workflow: &WorkflowId,
        newest: Option<Box<Checkpoint>>,
        stamp: &Stamp,
    ) -> Result<Box<Checkpoint>, ChangeError> {
        let is_other_session = newest.as_ref().is_some_and(|newest| self.follows_other_session(newest, stamp));
        // Without sessions nobody can tell, so a task that is said to begin does.
        let is_same_session = stamp.writer.session.is_some() && !is_other_session;
        let mut next = next_checkpoint(workflow, newest, stamp);
        next.trigger = self.trigger();
        next.note.clone_from(&self.note);
        next.pinned = self.pin;
        if let Some(earlier) = &self.back_to {
            next.content.clone_from(&earlier.content);
            next.copy_of = Some(CheckpointRef::from(&**earlier));
        } else {
            if let Some(origin) = &self.fork_of {
                next.content.clone_from(&origin.content);
                next.origin = Some(CheckpointRef::from_workflow(workflow, origin));
            }
            if let Some(merge) = &self.merge {
                next.content = merge.apply(&next.content)?;
                next.merged = Some(CheckpointRef::from_workflow(workflow, &merge.theirs));
                next.seq = next.number_after(next.seq.saturating_sub(1));
            }
            self.change_content(&mut next.content, stamp.now, is_other_session, is_same_session)?;
        }
        remember_touched(&mut next.context.touched, &self.touched);
        Ok(next)
    }

    /// True if whoever saved the newest checkpoint is known to be gone: it was another session, or this save follows a resume
    /// from it.
    fn follows_other_session(&self, newest: &Checkpoint, stamp: &Stamp) -> bool {
        let before = &newest.writer.session;
        let is_other = before.is_some() && *before != stamp.writer.session;
        is_other || self.resumed_from.as_ref() == Some(&newest.handle())
    }

    /// `is_other_session` is true if another session is known to have saved the checkpoint before, `is_same_session` if the
    /// same one is.
    fn change_content(
        &self,
        next: &mut Content,
        now: Timestamp,
        is_other_session: bool,
        is_same_session: bool,
    ) -> Result<(), ChangeError> {
        if let Some(whole) = &self.replace {
            next.clone_from(whole);
        }
        for (name, value) in &self.extra {
            if let Ok(raw) = serde_json::value::to_raw_value(value) {
                next.extra.insert(name.clone(), raw);
            }
        }
        if let Some(title) = &self.title {
            next.title = Some(title.clone());
        }
        if !self.labels.is_empty() {
            let mut seen: HashSet<String> = next.labels.iter().cloned().collect();
            next.labels.extend(self.labels.iter().filter(|label| seen.insert((*label).clone())).cloned());
        }
        for label in &self.unlabels {
            let unknown = || ChangeError::UnknownLabel { given: label.clone(), known: next.labels.clone() };
            let index = next.labels.iter().position(|known| known == label).ok_or_else(unknown)?;
            next.labels.remove(index);
        }
        if let Some(pipeline) = &self.pipeline {
            declare(next, pipeline)?;
        }
        if let Some(reopen) = &self.reopen {
            reopen.apply(next, now)?;
        }
        if let Some(plan) = &self.plan {
            plan.apply(next, now, is_other_session);
        }
        if !is_same_session {
            self.begin_tasks_again(next, now);
        }
        self.move_phase(next, now)?;
        if let Some(approve) = &self.approve {
            let phase = approve.phase.as_ref().or(self.phase.as_ref());
            approve.apply(phase.ok_or(ChangeError::NoPhase { what: "an approval" })?, next, now)?;
        }
        self.move_tasks(next, now)?;
        self.forget(next)?;
        for artifact in &self.artifacts {
            let artifact = Artifact { phase: next.phase.clone(), ..artifact.clone() };
            match next.artifacts.iter_mut().find(|known| known.name == artifact.name) {
                Some(known) => *known = artifact,
                None => next.artifacts.push(artifact),
            }
        }
        self.change_facts(next)?;
        edit("state", &mut next.state, &self.state)?;
        self.settle_status(next);
        self.settle_next(next)
    }

    fn forget(&self, next: &mut Content) -> Result<(), ChangeError> {
        for name in &self.forgotten {
            let index = next.artifacts.iter().position(|known| known.name == *name);
            let known = || next.artifacts.iter().map(|known| known.name.clone()).collect();
            let unknown = || ChangeError::UnknownArtifact { given: name.clone(), known: known() };
            next.artifacts.remove(index.ok_or_else(unknown)?);
        }
        Ok(())
    }

    fn move_phase(&self, next: &mut Content, now: Timestamp) -> Result<(), ChangeError> {
        self.move_phases(next, now)?;
        if let Some(id) = &self.phase {
            let status = self.phase_status();
            if status == PhaseStatus::Complete && self.error.is_some() {
                return Err(ChangeError::CompleteWithError { phase: id.clone() });
            }
            let index = find_or_add(next, id)?;
            let phase = &mut next.phases[index];
            phase.enter(status, now);
            if phase.status == PhaseStatus::Failed && self.error.is_some() {
                phase.error.clone_from(&self.error);
            }
            next.phase = Some(phase.id.clone());
            rank_last(&mut next.phases, index);
        }
        if !self.data.is_empty() {
            let id = next.phase.clone().ok_or(ChangeError::NoPhase { what: "data" })?;
            let index = find_or_add(next, &id)?;
            let mut data = next.phases[index].data.take().unwrap_or_default();
            edit("data", &mut data, &self.data)?;
            next.phases[index].data = Some(data);
            self.judge_gate(next, index, now)?;
        } else if let Some(id) = &self.phase {
            let index = find_or_add(next, id)?;
            self.judge_gate(next, index, now)?;
        }
        let failed = next.last_error.as_ref().and_then(|error| error.phase.as_ref());
        if failed.and_then(|id| next.find_phase(id)).is_some_and(|phase| phase.status.is_done()) {
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

    fn move_phases(&self, next: &mut Content, now: Timestamp) -> Result<(), ChangeError> {
        for PhaseChange { id, status } in &self.phases {
            let index = find_or_add(next, id)?;
            report(next, index, *status, now);
        }
        Ok(())
    }

    /// A phase whose data says that its gate was not passed has failed, unless somebody insists that it is complete.
    fn judge_gate(&self, next: &mut Content, index: usize, now: Timestamp) -> Result<(), ChangeError> {
        let phase = &mut next.phases[index];
        if phase.status != PhaseStatus::Complete {
            return Ok(());
        }
        let Some(why) = failed_gate(phase) else { return Ok(()) };
        if self.phase.is_some() && self.status == Some(PhaseStatus::Complete) {
            return Err(ChangeError::FailedGate { phase: phase.id.clone(), why });
        }
        phase.enter(PhaseStatus::Failed, now);
        phase.error = Some(why.clone());
        next.last_error =
            Some(LastError { message: why, phase: Some(phase.id.clone()), at: now, extra: Default::default() });
        rank_last(&mut next.phases, index);
        Ok(())
    }

    /// Records that running tasks are to be begun again: those of a phase in progress that this save begins, and those that
    /// this save begins. Whoever began them is gone, so the next beginning is another attempt.
    fn begin_tasks_again(&self, next: &mut Content, now: Timestamp) {
        let begun = if self.status == Some(PhaseStatus::InProgress) { self.phase.as_ref() } else { None };
        let begins_phase = |task: &Task| task.phase.is_some() && task.phase.as_ref() == begun;
        let begins_task =
            |task: &Task| self.tasks.iter().any(|change| change.id == task.id && change.status == TaskStatus::Running);
        let running = next.tasks.iter_mut().filter(|task| task.status == TaskStatus::Running);
        for task in running.filter(|task| begins_phase(task) || begins_task(task)) {
            task.enter(TaskStatus::Pending, now);
        }
    }

    fn move_tasks(&self, next: &mut Content, now: Timestamp) -> Result<(), ChangeError> {
        let mut places = HashMap::new();
        if !self.tasks.is_empty() {
            // In reverse, so that the first of two tasks with one id is found.
            let known = next.tasks.iter().enumerate().rev();
            places.extend(known.map(|(place, task)| (task.id.clone(), place)));
        }
        for TaskChange { id, status, output, after, error } in &self.tasks {
            let index = match places.get(id) {
                Some(index) => *index,
                None if next.tasks.len() >= MAX_TASKS => {
                    return Err(ChangeError::TooMany { what: "tasks", limit: MAX_TASKS });
                }
                None => {
                    next.tasks.push(Task::pending(id.clone(), next.phase.clone()));
                    places.insert(id.clone(), next.tasks.len() - 1);
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
        if self.tasks.iter().any(|change| change.after.is_some()) { refuse_cycles(&next.tasks) } else { Ok(()) }
    }

    /// Completes the workflow when no phase of the run and no task is left; a change of a phase reopens a finished
    /// workflow.
    fn settle_status(&self, next: &mut Content) {
        let has_phases = next.is_declared() && !next.phases.is_empty();
        let phases_done = has_phases && RunState::recorded(next).left().next().is_none();
        let all_done = phases_done && next.open_tasks().next().is_none();
        let plan_moves = self.plan.is_some() && is_plan_of_agent(next);
        let moves = self.phase.is_some()
            || !self.phases.is_empty()
            || plan_moves
            || self.pipeline.is_some()
            || self.reopen.is_some();
        if let Some(status) = self.workflow_status {
            next.status = status;
        } else if moves {
            next.status = if all_done { WorkflowStatus::Complete } else { WorkflowStatus::InProgress };
        } else if (!self.tasks.is_empty() || self.plan.is_some() || self.approve.is_some())
            && next.status == WorkflowStatus::InProgress
            && all_done
        {
            next.status = WorkflowStatus::Complete;
        }
    }

    /// Records the phase to continue with. One that a save named stays until it is done or the phases are reopened.
    fn settle_next(&self, next: &mut Content) -> Result<(), ChangeError> {
        let before = next.next.take().unwrap_or_default();
        let is_done = |id| RunState::recorded(next).state(id).is_some_and(PhaseState::is_done);
        let named = match &self.next_phase {
            Some(named) if next.is_declared() => Some(next.phases[find_phase(next, named)?].id.clone()),
            Some(named) => Some(named.clone()),
            None if before.explicit && self.reopen.is_none() => before.phase.clone(),
            None => None,
        };
        let (phase, explicit) = match named {
            Some(id) if !is_done(&id) => (Some(id), true),
            // Without declared phases, the recorded one stays until a phase is reported.
            _ if before.phase.is_some() && !before.explicit && !next.is_declared() && !self.reports_phase() => {
                (before.phase.clone(), false)
            }
            _ => (RunState::recorded(next).next_phase().cloned(), false),
        };
        let moved = before.phase != phase;
        let is_finished = next.status == WorkflowStatus::Complete && self.next_phase.is_none();
        let action = if self.next_action.is_some() {
            self.next_action.clone()
        } else if is_finished {
            None
        } else if !moved && (next.is_declared() || !self.reports_phase()) {
            before.action
        } else {
            phase.as_ref().and_then(|id| next.find_phase(id)).and_then(|phase| phase.action.clone())
        };
        if phase.is_some() || action.is_some() {
            next.next = Some(Next { phase, action, explicit, extra: Default::default() });
        }
        Ok(())
    }
}

impl Merge {
    /// Returns the content that follows `ours`.
    fn apply(&self, ours: &Content) -> Result<Content, ChangeError> {
        let merged = merge(&self.origin, ours, &self.theirs.content, &self.resolutions)?.content;
        for (what, count, limit) in
            [("phases", merged.phases.len(), MAX_PHASES), ("tasks", merged.tasks.len(), MAX_TASKS)]
        {
            if count > limit {
                return Err(ChangeError::TooMany { what, limit });
            }
        }
        refuse_cycles(&merged.tasks)?;
        Ok(merged)
    }
}

/// Records the content of touched files. The oldest leave if there are too many.
fn remember_touched(known: &mut Vec<WatchedFile>, touched: &[WatchedFile]) {
    if touched.is_empty() {
        return;
    }
    known.retain(|file| touched.iter().all(|new| new.path != file.path));
    known.extend_from_slice(touched);
    known.drain(..known.len().saturating_sub(MOST_TOUCHED));
}

/// Moves one of several phases. Of those that are begun, the last one is the phase that was last reported.
pub(super) fn report(next: &mut Content, index: usize, status: PhaseStatus, now: Timestamp) {
    // Saying the same of several phases again changes nothing, so their ranks stay.
    if next.phases[index].status == status {
        return;
    }
    next.phases[index].enter(status, now);
    rank_last(&mut next.phases, index);
    let reported = next.phase.as_ref().and_then(|last| next.find_phase(last));
    let stays = reported.is_some_and(|phase| phase.status.is_open());
    if status.is_open() || (status != PhaseStatus::Pending && !stays) {
        next.phase = Some(next.phases[index].id.clone());
    }
}

/// Ranks a phase that is failed or in progress behind all others that are.
fn rank_last(phases: &mut [Phase], index: usize) {
    if !phases[index].status.is_open() {
        return;
    }
    let others = phases.iter().enumerate().filter(|(other, phase)| *other != index && phase.status.is_open());
    let behind_others = others.map(|(_, phase)| phase.recency.saturating_add(1)).max();
    // A phase that is alone has no rank. One that is the last already keeps its rank, so that saving it again changes
    // nothing.
    phases[index].recency = behind_others.map_or(0, |rank| rank.max(phases[index].recency));
}

/// Refuses tasks that wait for each other, by a depth-first search.
fn refuse_cycles(tasks: &[Task]) -> Result<(), ChangeError> {
    let places: HashMap<&TaskId, usize> = tasks.iter().enumerate().map(|(place, task)| (&task.id, place)).collect();
    let mut settled = vec![false; tasks.len()];
    for start in 0..tasks.len() {
        // The tasks from `start` to the current one, each with the number of its dependencies visited so far.
        let mut path = vec![(start, 0)];
        let mut on_path = HashSet::from([start]);
        while let Some((place, tried)) = path.last_mut() {
            let (place, next) = (*place, tasks[*place].depends_on.get(*tried));
            *tried += 1;
            match next.map(|id| places.get(id)) {
                None => {
                    settled[place] = true;
                    on_path.remove(&place);
                    path.pop();
                }
                Some(Some(next)) if on_path.contains(next) => {
                    let cycle = path.iter().skip_while(|(place, _)| place != next).skip(1);
                    let mut through: Vec<TaskId> = cycle.map(|(place, _)| tasks[*place].id.clone()).collect();
                    through.push(tasks[*next].id.clone());
                    return Err(ChangeError::TaskCycle { task: tasks[*next].id.clone(), through });
                }
                Some(Some(next)) if !settled[*next] => {
                    on_path.insert(*next);
                    path.push((*next, 0));
                }
                // A task without a cycle, or an unknown one.
                Some(_) => {}
            }
        }
    }
    Ok(())
}

pub(super) fn edit(what: &'static str, stored: &mut Json, edits: &[Edit]) -> Result<(), ChangeError> {
    if edits.is_empty() {
        return Ok(());
    }
    let mut value = stored.to_value().map_err(|source| ChangeError::Unreadable { what, source })?;
    let too_deep = || Err(ChangeError::TooMany { what: "levels of nesting", limit: MAX_DEPTH });
    for edit in edits {
        match edit {
            Edit::Set(key, _) | Edit::Add(key, _) if key.matches('/').count() > MAX_DEPTH => {
                return too_deep();
            }
            Edit::Set(key, _) | Edit::Add(key, _) if key.split('/').any(is_reserved) => {
                let reason = "it is reserved".to_owned();
                let name = InvalidName { given: key.clone(), what: "a member", reason };
                return Err(ChangeError::Name(name));
            }
            Edit::Merge(patch) => merge_patch(&mut value, patch),
            Edit::Overlay(document) => overlay(&mut value, document.clone()),
            Edit::Set(key, member) => {
                set_member(&mut value, key, member.clone()).map_err(|at| ChangeError::NotAnObject { what, at })?;
            }
            Edit::Add(key, element) => {
                let added = append_member(&mut value, key, element.clone());
                if !added.map_err(|at| ChangeError::NotAnObject { what, at })? {
                    return Err(ChangeError::NotAnArray { what, at: key.clone() });
                }
            }
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
