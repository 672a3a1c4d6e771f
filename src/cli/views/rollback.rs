//! The answer of `ckpt rollback`.

use serde::Serialize;

use super::parts::{command_line, render_restored};
use super::save::SaveReport;
use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use ckpt_model::{Checkpoint, Handle};
use ckpt_store::restore_artifacts::ArtifactStep;

#[derive(Debug, Serialize)]
pub(crate) struct RollbackReport {
    /// False for `--dry-run`.
    applied: bool,
    #[serde(flatten)]
    save: SaveReport,
    /// The checkpoint whose content was saved again.
    copy_of: Handle,
    /// The command that undoes the rollback.
    undo: Option<Vec<String>>,
    /// The artifacts that were brought back or left, if that was asked.
    restored_artifacts: Vec<ArtifactStep>,
    /// True if artifacts are recorded that the rollback has left as they are.
    #[serde(skip)]
    has_artifacts: bool,
}

impl RollbackReport {
    pub(crate) fn new(save: SaveReport, earlier: &Checkpoint, applied: bool, store_words: Vec<String>) -> Self {
        let verb = if applied { "Rolled back" } else { "Would roll back" };
        let before = if applied { save.parent } else { None };
        let undo = before.map(|parent| {
            let handle = Handle::new(&earlier.workflow, parent);
            let command = ["ckpt".to_owned(), "rollback".to_owned(), handle.to_string()];
            command.into_iter().chain(store_words).collect()
        });
        Self {
            applied,
            save: save.titled(format!("{verb} to {} in", earlier.handle())),
            copy_of: earlier.handle(),
            undo,
            restored_artifacts: Vec::new(),
            has_artifacts: !earlier.content.artifacts.is_empty(),
        }
    }

    /// Reports what was done about the artifacts.
    pub(crate) fn with_restored(self, restored_artifacts: Vec<ArtifactStep>) -> Self {
        Self { restored_artifacts, has_artifacts: false, ..self }
    }
}

impl Report for RollbackReport {
    const FORMAT: &'static str = "ckpt.rollback.v1";

    fn essential(&self) -> String {
        self.save.essential()
    }

    fn answer(&self, page: &mut TextPage) {
        self.save.answer(page);
        render_restored(page, &self.restored_artifacts, self.applied);
    }

    fn failures(&self, page: &mut TextPage) {
        self.save.failures(page);
    }

    fn remarks(&self, page: &mut TextPage) {
        self.save.remarks(page);
        if let Some(undo) = &self.undo {
            page.line(format!("Undo the rollback with: {}", command_line(undo)));
            if self.has_artifacts {
                page.line("Files were left as they are; `ckpt resume` compares them with the checkpoint");
            }
        }
    }

    fn already_done(&self) -> Option<String> {
        self.save.already_done()
    }
}
