//! The answer of `ckpt fork`.

use serde::Serialize;

use super::save::SaveReport;
use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use ckpt_model::{Checkpoint, Handle};

#[derive(Debug, Serialize)]
pub(crate) struct ForkReport {
    /// False for `--dry-run`.
    applied: bool,
    #[serde(flatten)]
    save: SaveReport,
    /// The checkpoint that the new workflow starts from.
    origin: Handle,
}

impl ForkReport {
    pub(crate) fn new(mut save: SaveReport, origin: &Checkpoint, applied: bool) -> Self {
        let verb = if applied { "Forked" } else { "Would fork" };
        // That the two ids are alike is no accident.
        save.similar = None;
        Self { applied, save: save.titled(format!("{verb} {} as", origin.handle())), origin: origin.handle() }
    }
}

impl Report for ForkReport {
    const FORMAT: &'static str = "ckpt.fork.v1";

    fn essential(&self) -> String {
        self.save.essential()
    }

    fn answer(&self, page: &mut TextPage) {
        self.save.answer(page);
    }

    fn failures(&self, page: &mut TextPage) {
        self.save.failures(page);
    }

    fn remarks(&self, page: &mut TextPage) {
        self.save.remarks(page);
    }

    fn already_done(&self) -> Option<String> {
        self.save.already_done()
    }
}
