//! The workflow that a session works on.
//!
//! In this order: the one that `CKPT_WORKFLOW` names, the one that the session has saved to, the one open workflow of the
//! checked-out branch, and else a new one that is named after the plan. A workflow that another session works on is
//! joined only by a plan that has something in common with it: two agents on one branch have two plans.

use super::Hook;
use crate::cli::commands::unfinished::{Selection, unfinished};
use crate::cli::error::Failure;
use crate::cli::session::Workspace;
use ckpt_model::change::PlanUpdate;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::session_note::SessionNote;
use ckpt_model::{WorkflowId, WorkflowStatus};
use ckpt_store::Store;

/// The most open workflows that are looked at.
const MOST_OPEN: usize = 64;
/// The name of a workflow whose plan has no letters that a name can have.
const UNNAMED: &str = "plan";

impl Hook {
    /// Returns the workflow for a plan, with the note of this session. Concurrent reports of one session get the same one.
    pub(super) fn bind(
        &self,
        workspace: &Workspace,
        plan: &PlanUpdate,
    ) -> Result<(WorkflowId, Option<SessionNote>), Failure> {
        let store = &workspace.store;
        let bound = self.change_note(store, |note| {
            let chosen = self.choose(workspace, Some(note), plan)?;
            if note.workflow.as_ref() != Some(&chosen) {
                note.plan = None;
            }
            note.workflow = Some(chosen.clone());
            (note.bound, note.ended, note.taken_by) = (true, None, None);
            Ok::<_, Failure>(chosen)
        });
        match bound {
            Some((note, chosen)) => Ok((chosen?, Some(note))),
            None => Ok((self.choose(workspace, None, plan)?, None)),
        }
    }

    fn choose(
        &self,
        workspace: &Workspace,
        note: Option<&SessionNote>,
        plan: &PlanUpdate,
    ) -> Result<WorkflowId, Failure> {
        let store = &workspace.store;
        if let Some(named) = self.named_workflow(store)? {
            return Ok(named);
        }
        if let Some(bound) = note.filter(|note| note.bound).and_then(|note| note.workflow.as_ref()) {
            let is_right = match store.continued(bound) {
                Ok(Some((checkpoint, _))) => is_in_progress(&checkpoint) || plan.shares_item(&checkpoint.content),
                // Another event of this session is about to begin it.
                Ok(None) => true,
                Err(_) => false,
            };
            if is_right {
                return Ok(bound.clone());
            }
        }
        if let Some(open) = self.only_open_on_branch(workspace)?
            && (!self.is_held_by_another(store, &open.workflow) || plan.shares_item(&open.content))
        {
            return Ok(open.workflow);
        }
        new_workflow(store, plan)
    }

    /// Returns the workflow of `CKPT_WORKFLOW`.
    pub(super) fn named_workflow(&self, store: &Store) -> Result<Option<WorkflowId>, Failure> {
        let Some(named) = self.session.env.var("CKPT_WORKFLOW") else { return Ok(None) };
        let named = named.parse::<WorkflowId>()?;
        Ok(Some(store.find_workflow(&named)?.unwrap_or(named)))
    }

    /// Returns the open workflows.
    pub(super) fn open(&self, workspace: &Workspace) -> Result<Selection, Failure> {
        unfinished(&self.session, &workspace.store, MOST_OPEN)
    }

    /// Returns the open workflows that were last saved on the checked-out branch, the newest first, up to `limit`.
    /// Outside a git checkout, returns all.
    pub(super) fn open_on_branch(&self, workspace: &Workspace, open: &Selection, limit: usize) -> Vec<Checkpoint> {
        let store = &workspace.store;
        let branch = workspace.place.checkout.as_ref().and_then(|checkout| checkout.facts().branch);
        let mut of_branch = Vec::new();
        for id in open.ids().into_iter().take(MOST_OPEN) {
            let Ok(Some((checkpoint, _))) = store.continued(&id) else { continue };
            let saved_on = checkpoint.context.git.as_ref().and_then(|git| git.branch.as_ref());
            if is_in_progress(&checkpoint) && (branch.is_none() || saved_on.is_none() || saved_on == branch.as_ref()) {
                of_branch.push(*checkpoint);
            }
            if of_branch.len() >= limit {
                break;
            }
        }
        of_branch
    }

    fn only_open_on_branch(&self, workspace: &Workspace) -> Result<Option<Checkpoint>, Failure> {
        let mut of_branch = self.open_on_branch(workspace, &self.open(workspace)?, 2);
        Ok(if of_branch.len() == 1 { of_branch.pop() } else { None })
    }

    /// Returns true if another session works on a workflow, and was seen a short while ago. It refuses nothing.
    fn is_held_by_another(&self, store: &Store, workflow: &WorkflowId) -> bool {
        let recent = ckpt_model::config::Limits::default().recent.seconds();
        store.session_notes().iter().any(|(key, note)| {
            let age = note.seen.map(|seen| self.now().seconds_since(seen).unsigned_abs());
            Some(key) != self.key.as_ref() && note.is_at_work_on(workflow) && age.is_some_and(|age| age <= recent)
        })
    }

    /// Returns true if a workflow exists and has work left.
    pub(super) fn is_open(&self, workspace: &Workspace, workflow: &WorkflowId) -> bool {
        matches!(workspace.store.continued(workflow), Ok(Some((checkpoint, _))) if is_in_progress(&checkpoint))
    }
}

pub(super) fn is_in_progress(checkpoint: &Checkpoint) -> bool {
    checkpoint.content.status == WorkflowStatus::InProgress
}

/// Returns a name for a plan that no workflow has: its first words, with a number if need be.
fn new_workflow(store: &Store, plan: &PlanUpdate) -> Result<WorkflowId, Failure> {
    let first = plan.texts().find_map(WorkflowId::from_text);
    let stem = match first {
        Some(id) => id,
        None => UNNAMED.parse()?,
    };
    for number in 1_u32.. {
        let id = if number == 1 { stem.clone() } else { format!("{stem}-{number}").parse()? };
        if store.find_workflow(&id)?.is_none() {
            return Ok(id);
        }
    }
    Ok(stem)
}
