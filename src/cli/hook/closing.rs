//! Moments after which an agent knows less, or nothing: a compaction, an interruption, an error, the end of a session.

use serde_json::json;

use super::Hook;
use super::binding::is_in_progress;
use crate::cli::error::Failure;
use crate::cli::session::Workspace;
use ckpt_agents::hosts::HookEvent;
use ckpt_model::change::{Change, Edit};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::session_note::SessionNote;
use ckpt_model::{PhaseStatus, Trigger, WorkflowId};

/// The most characters of the summary of a compaction that are kept.
const MOST_SUMMARY: usize = 4_000;

impl Hook {
    /// Saves what is new, with the reason.
    pub(super) fn close(&self) -> Result<(), Failure> {
        let Some(workspace) = self.workspace()? else { return Ok(()) };
        let note = self.note(&workspace.store);
        let closed = self.save_closing(&workspace, note.as_ref());
        if self.event == HookEvent::SessionEnd && note.is_some() {
            let now = self.now();
            self.change_note(&workspace.store, |note| note.ended = Some(now));
        }
        closed
    }

    fn save_closing(&self, workspace: &Workspace, note: Option<&SessionNote>) -> Result<(), Failure> {
        let Some(checkpoint) = self.own_workflow(workspace, note)? else { return Ok(()) };
        let workflow = checkpoint.workflow.clone();
        let files = note.map(|note| note.files.clone()).unwrap_or_default();
        let Some(change) = self.closing_change(&checkpoint, !files.is_empty()) else { return Ok(()) };
        let saved = self.save(workspace, &workflow, change, &files)?;
        if saved.created && note.is_some() {
            self.settle(&workspace.store, &files, |_| {});
        }
        if self.event == HookEvent::PreCompact {
            self.note_compaction(&workspace.store, &saved);
        }
        Ok(())
    }

    /// Returns the newest checkpoint of the open workflow that this session has worked on.
    fn own_workflow(
        &self,
        workspace: &Workspace,
        note: Option<&SessionNote>,
    ) -> Result<Option<Box<Checkpoint>>, Failure> {
        let load = |id: &WorkflowId| match workspace.store.continued(id) {
            Ok(Some((checkpoint, _))) => Some(checkpoint).filter(|checkpoint| is_in_progress(checkpoint)),
            _ => None,
        };
        let noted = note.and_then(|note| note.workflow.as_ref());
        if let Some(named) = self.named_workflow(&workspace.store)?.as_ref().or(noted) {
            let has_worked = note.is_some_and(|note| note.bound || !note.files.is_empty());
            return Ok(load(named).filter(|checkpoint| has_worked || self.is_writer_of(checkpoint)));
        }
        // The agent may have saved by itself, without a plan that this hook has seen.
        let of_branch = self.open_on_branch(workspace, &self.open(workspace)?, usize::MAX);
        Ok(of_branch.into_iter().find(|checkpoint| self.is_writer_of(checkpoint)).map(Box::new))
    }

    /// Returns true if this session saved a checkpoint. Gemini does not tell its session to the commands that it runs.
    fn is_writer_of(&self, checkpoint: &Checkpoint) -> bool {
        let writer = &checkpoint.writer;
        writer.agent.as_deref() == Some(self.host.agent())
            && (writer.session.is_none() || writer.session == self.payload.session)
    }

    /// Returns what is to be saved; none if nothing is new.
    fn closing_change(&self, newest: &Checkpoint, has_files: bool) -> Option<Change> {
        let reason = self.payload.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let (trigger, note) = match self.event {
            HookEvent::PreCompact => {
                let cause = self.payload.trigger.as_deref().map(|cause| format!(" ({cause})"));
                (Trigger::PreCompact, format!("before a compaction{}", cause.unwrap_or_default()))
            }
            HookEvent::PostCompact => return self.summary_change(),
            HookEvent::Interrupt => (Trigger::UserInterrupt, "the turn was interrupted".to_owned()),
            HookEvent::StopFailure => (Trigger::UserInterrupt, format!("the turn ended with an error{reason}")),
            _ => (Trigger::SessionEnd, format!("the session ended{reason}")),
        };
        let is_open = newest.content.phases.iter().any(|phase| phase.status == PhaseStatus::InProgress);
        // A session that was interrupted and then ends has said so.
        let is_said = self.is_writer_of(newest)
            && (newest.trigger == trigger
                || newest.trigger == Trigger::UserInterrupt && trigger == Trigger::SessionEnd);
        let is_new = has_files || is_open && !is_said;
        is_new.then(|| Change { trigger: Some(trigger), note: Some(note), ..Change::default() })
    }

    /// Attaches the summary of a compaction to the state of the workflow.
    fn summary_change(&self) -> Option<Change> {
        let summary = self.payload.summary.as_deref()?;
        let inner = summary.split_once("<summary>").map_or(summary, |(_, rest)| rest);
        let inner = inner.split_once("</summary>").map_or(inner, |(inner, _)| inner).trim();
        let short: String = inner.chars().take(MOST_SUMMARY).collect();
        let state = json!({"compaction": {"summary": short, "trigger": self.payload.trigger}});
        (!short.is_empty()).then(|| Change {
            trigger: Some(Trigger::PreCompact),
            state: vec![Edit::Merge(state)],
            ..Change::default()
        })
    }
}
