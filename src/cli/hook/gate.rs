//! The gate: an agent that stops while a phase is open is asked about it, once.

use super::Hook;
use crate::cli::error::Failure;
use crate::cli::escape;
use ckpt_agents::hosts::HookAnswer;
use ckpt_model::PhaseStatus;

/// The most phases that one session is asked about.
const MOST_ASKED: usize = 20;

impl Hook {
    /// Asks about the open phase, if the settings want that. Each phase is asked about once in a session: that is noted
    /// before it is sent, so that no host can run in a circle.
    pub(super) fn gate(&self) -> Result<Option<HookAnswer>, Failure> {
        if self.payload.stop_hook_active {
            return Ok(None);
        }
        let Some(workspace) = self.workspace()?.filter(|workspace| workspace.config.gate()) else {
            return Ok(None);
        };
        let Some(note) = self.note(&workspace.store).filter(|note| note.bound) else { return Ok(None) };
        let Some(workflow) = &note.workflow else { return Ok(None) };
        let Ok(Some((checkpoint, _))) = workspace.store.continued(workflow) else { return Ok(None) };
        if !super::binding::is_in_progress(&checkpoint) {
            return Ok(None);
        }
        let mut open = checkpoint.content.phases.iter().filter(|phase| phase.status == PhaseStatus::InProgress);
        let Some(phase) = open.next() else { return Ok(None) };
        let id = phase.id.as_str();
        if note.asked.len() >= MOST_ASKED || note.asked.iter().any(|asked| asked == id) {
            return Ok(None);
        }
        let noted = self.change_note(&workspace.store, |note| {
            if !note.asked.iter().any(|asked| asked == id) {
                note.asked.push(id.to_owned());
            }
        });
        let name = escape::quoted(id);
        Ok(noted.map(|_| {
            HookAnswer::Continue(format!(
                "Phase {name} of {workflow} is recorded as in progress. If it is done, mark it as done in your \
                 plan; if not, continue or say what is missing. This is asked once."
            ))
        }))
    }
}
