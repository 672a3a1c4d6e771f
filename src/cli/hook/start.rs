//! The start of a session: the brief, and a note that the session is there.

use super::Hook;
use crate::cli::commands::unfinished::unfinished;
use crate::cli::error::Failure;
use crate::cli::session::Workspace;
use crate::cli::views::brief::{Audience, BriefReport};
use crate::core::hosts::Answer;
use crate::core::resume::Selected;
use crate::core::store::{Extent, SessionNote};
use crate::core::{WorkflowId, WorkflowStatus};

/// The most tokens that the start of a session costs.
const MAX_TOKENS: usize = 400;
/// Every line about one of several workflows takes more tokens than this.
const LEAST_TOKENS: usize = 4;

impl Hook {
    /// Returns the brief of the work that is open; none if there is none.
    pub(super) fn start(&self) -> Result<Option<Answer>, Failure> {
        let Some(workspace) = self.workspace()? else { return Ok(None) };
        let note = self.note(&workspace.store);
        let one = self.workflow_to_tell(&workspace, note.as_ref())?;
        let text = match &one {
            Some(id) => self.brief_of_one(&workspace, id, note.as_ref())?,
            None => self.brief_of_all(&workspace)?,
        };
        if one.is_some() || note.is_some() {
            self.change_note(&workspace.store, |note| {
                note.ended = None;
                if !note.bound {
                    note.workflow.clone_from(&one);
                }
            });
        }
        Ok(Some(text).filter(|text| !text.is_empty()).map(Answer::Context))
    }

    /// Returns the workflow that the session is about: the named one, the one that it worked on, or the only open one, of
    /// the branch or of all.
    fn workflow_to_tell(
        &self,
        workspace: &Workspace,
        note: Option<&SessionNote>,
    ) -> Result<Option<WorkflowId>, Failure> {
        let store = &workspace.store;
        let bound = note.filter(|note| note.bound).and_then(|note| note.workflow.clone());
        for known in [self.named_workflow(store)?, bound].into_iter().flatten() {
            if self.is_open(workspace, &known) {
                return Ok(Some(known));
            }
        }
        let mut open = self.open_on_branch(workspace, 2)?;
        if open.len() == 1 {
            return Ok(open.pop().map(|checkpoint| checkpoint.workflow));
        }
        let all = unfinished(&self.session, store, 1)?;
        Ok(if all.total == 1 { all.ids().pop() } else { None })
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
        let saved = note.and_then(|note| note.compacted.as_ref()).filter(|_| self.is_after_compaction());
        let line = saved.map(|handle| format!("The context was compacted; {handle} was saved before that."));
        Ok(BriefReport::one_with(&judgement, MAX_TOKENS, Audience::Hook, line).text)
    }

    fn brief_of_all(&self, workspace: &Workspace) -> Result<String, Failure> {
        let all = unfinished(&self.session, &workspace.store, MAX_TOKENS / LEAST_TOKENS)?;
        if all.total == 0 {
            return Ok(String::new());
        }
        let rows = workspace.store.scan_these(&all.ids(), Extent::Newest)?;
        Ok(BriefReport::several(all.total, &rows, MAX_TOKENS).text)
    }

    fn is_after_compaction(&self) -> bool {
        self.payload.source.as_deref() == Some("compact")
    }
}
