//! The start of a session: the brief, and a note that the session is there.

use super::Hook;
use crate::cli::commands::unfinished::{Selection, unfinished};
use crate::cli::error::Failure;
use crate::cli::session::Workspace;
use crate::cli::views::brief::{Audience, BriefReport};
use ckpt_agents::hosts::HookAnswer;
use ckpt_model::session_note::SessionNote;
use ckpt_model::{WorkflowId, WorkflowStatus};
use ckpt_store::observe::Selected;

/// The most tokens that the start of a session costs.
const MAX_TOKENS: usize = 400;
/// Every line about one of several workflows takes more tokens than this.
const LEAST_TOKENS: usize = 4;

impl Hook {
    /// Returns the brief of the work that is open; none if there is none.
    pub(super) fn start(&self) -> Result<Option<HookAnswer>, Failure> {
        let Some(workspace) = self.workspace()? else { return Ok(None) };
        let note = self.note(&workspace.store);
        let mut one = self.known_workflow(&workspace, note.as_ref())?;
        let mut all = None;
        if one.is_none() {
            let open = unfinished(&self.session, &workspace.store, MAX_TOKENS / LEAST_TOKENS)?;
            one = self.only_open(&workspace, &open);
            all = Some(open);
        }
        let text = match (&one, all) {
            (Some(id), _) => self.brief_of_one(&workspace, id, note.as_ref())?,
            (None, Some(all)) => brief_of_all(&workspace, &all)?,
            (None, None) => String::new(),
        };
        if one.is_some() || note.is_some() {
            self.change_note(&workspace.store, |note| {
                note.ended = None;
                if !note.bound {
                    note.workflow.clone_from(&one);
                }
            });
        }
        Ok(Some(text).filter(|text| !text.is_empty()).map(HookAnswer::Context))
    }

    /// Returns the workflow that the session is about, if it is open: the named one, or the one that it worked on.
    fn known_workflow(&self, workspace: &Workspace, note: Option<&SessionNote>) -> Result<Option<WorkflowId>, Failure> {
        let bound = note.filter(|note| note.bound).and_then(|note| note.workflow.clone());
        let mut known = [self.named_workflow(&workspace.store)?, bound].into_iter().flatten();
        Ok(known.find(|known| self.is_open(workspace, known)))
    }

    /// Returns the only open workflow, of the branch or of all.
    fn only_open(&self, workspace: &Workspace, all: &Selection) -> Option<WorkflowId> {
        let mut of_branch = self.open_on_branch(workspace, all, 2);
        if of_branch.len() == 1 {
            return of_branch.pop().map(|checkpoint| checkpoint.workflow);
        }
        if all.total == 1 { all.ids().pop() } else { None }
    }

    fn brief_of_one(
        &self,
        workspace: &Workspace,
        id: &WorkflowId,
        note: Option<&SessionNote>,
    ) -> Result<String, Failure> {
        let judgement = self.session.judge(workspace, Selected::newest(&workspace.store, id)?);
        if judgement.checkpoint.content.status != WorkflowStatus::InProgress {
            return Ok(String::new());
        }
        let compacted = if self.is_after_compaction() { note.and_then(|note| note.compacted.as_ref()) } else { None };
        let line = compacted.map(|handle| format!("The context was compacted; {handle} was saved before that."));
        Ok(BriefReport::one_with(&judgement, MAX_TOKENS, Audience::Hook, line).text)
    }

    fn is_after_compaction(&self) -> bool {
        self.payload.source.as_deref() == Some("compact")
    }
}

fn brief_of_all(workspace: &Workspace, all: &Selection) -> Result<String, Failure> {
    if all.total == 0 {
        return Ok(String::new());
    }
    let rows = all.rows(&workspace.store)?;
    Ok(BriefReport::several(all.total, &rows, MAX_TOKENS).text)
}
