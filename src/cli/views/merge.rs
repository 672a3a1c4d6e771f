//! The answer of `ckpt merge`.

use serde::Serialize;
use serde_json::Value;

use super::save::SaveReport;
use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use ckpt_model::Handle;
use ckpt_model::merge::Conflict;

#[derive(Debug, Serialize)]
pub(crate) struct MergeReport {
    /// False for `--dry-run`.
    applied: bool,
    #[serde(flatten)]
    save: SaveReport,
    /// The checkpoint that was merged.
    merged: Handle,
    /// The newest checkpoint that both continue.
    origin: Option<Handle>,
    /// The conflicts that the flags settled.
    settled: Vec<Conflict>,
    /// The command that undoes the merge.
    undo: Option<Vec<String>>,
}

impl MergeReport {
    pub(crate) fn new(
        save: SaveReport,
        theirs: Handle,
        origin: Option<Handle>,
        settled: Vec<Conflict>,
        applied: bool,
    ) -> Self {
        let verb = if applied { "Merged" } else { "Would merge" };
        let before = if applied { save.parent.zip(save.handle.as_ref()) } else { None };
        // The other head of the same workflow would be a head again.
        let before = before.filter(|(_, handle)| handle.workflow != theirs.workflow);
        let undo = before.map(|(parent, handle)| {
            let handle = Handle::new(&handle.workflow, parent);
            vec!["ckpt".to_owned(), "rollback".to_owned(), handle.to_string()]
        });
        let save = save.titled(format!("{verb} {theirs} into"));
        Self { applied, save, merged: theirs, origin, settled, undo }
    }

    /// Reports that everything of the other side is there already.
    pub(crate) fn nothing_new(save: SaveReport, theirs: Handle, applied: bool) -> Self {
        let origin = Some(theirs.clone());
        Self::new(save, theirs, origin, Vec::new(), applied)
    }

    fn is_nothing_new(&self) -> bool {
        self.origin.as_ref() == Some(&self.merged)
    }
}

impl Report for MergeReport {
    const FORMAT: &'static str = "ckpt.merge.v1";

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
        if self.is_nothing_new() {
            let handle = self.save.handle.as_ref().map(ToString::to_string).unwrap_or_default();
            page.line(format!("Nothing new: {handle} continues {}", self.merged));
            return;
        }
        self.save.remarks(page);
        if self.origin.is_none() {
            page.line("The two have no checkpoint in common; all that either of them says was merged");
        }
        for Conflict { pointer, ours, theirs, .. } in &self.settled {
            let shown = |value: &Option<Value>| {
                value.as_ref().map_or_else(|| "nothing".to_owned(), |value| page.escape(&value.to_string()))
            };
            page.line(format!("Settled {}: {} or {}", page.escape(pointer), shown(ours), shown(theirs)));
        }
        if let Some(undo) = &self.undo {
            page.line(format!("Undo the merge with: {}", undo.join(" ")));
        }
    }

    fn already_done(&self) -> Option<String> {
        self.save.already_done()
    }
}
