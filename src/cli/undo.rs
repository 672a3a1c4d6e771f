//! The command that brings back what was archived.

use super::session::Session;
use super::values::short;
use ckpt_model::change::Stamp;
use ckpt_model::digest::Digest;
use ckpt_store::ArchivedPart;
use ckpt_store::Store;

impl Session {
    /// Records what a plan has archived, and returns the command that brings exactly that back, however many workflows it
    /// concerns. If it cannot be recorded, the command names the workflows, and there is a warning.
    pub(crate) fn undo_command(
        &self,
        store: &Store,
        plan: &Digest,
        parts: Vec<ArchivedPart>,
        stamp: &Stamp,
        warnings: &mut Vec<String>,
    ) -> Vec<String> {
        let ids: Vec<String> = parts.iter().map(|part| part.workflow.to_string()).collect();
        let what = match store.record_undo(plan, parts, stamp) {
            Ok(()) => vec!["--plan".to_owned(), short(plan)],
            Err(error) => {
                warnings.push(format!("what was archived could not be recorded: {error}"));
                ids
            }
        };
        self.restore_command(what)
    }

    /// Returns the command that restores this.
    pub(crate) fn restore_command(&self, what: Vec<String>) -> Vec<String> {
        let command = ["ckpt".to_owned(), "restore".to_owned()];
        command.into_iter().chain(what).chain(self.store_words()).collect()
    }
}
