//! The answer of `ckpt restore`.

use serde::Serialize;

use super::failed::FailedItem;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::words::{and, count};
use crate::core::store::{Deletions, Error, Restored};
use crate::core::{Handle, WorkflowId, WorkflowStatus};

#[derive(Debug, Serialize)]
pub(crate) struct RestoreReport {
    workflow: WorkflowId,
    /// The newest checkpoint now.
    handle: Handle,
    /// The checkpoints that are live again, the newest first.
    restored: Vec<Handle>,
    /// The checkpoint that was added above the seal.
    revived: Option<Handle>,
    failures: Vec<FailedItem>,
    warnings: Vec<String>,
    #[serde(skip)]
    complete: bool,
}

impl RestoreReport {
    pub(crate) fn new(newest: Handle, done: &Restored, deletions: &Deletions, warnings: Vec<String>) -> Self {
        let mut failures = Vec::new();
        for (path, why) in &done.damaged {
            let error = Error::DamagedBundle { path: path.clone(), why: why.clone() };
            failures.push(FailedItem::new(path.display(), error));
        }
        for handle in &done.lost {
            let error = Error::Archived { handle: handle.clone(), deleted: deletions.reason(handle.seq) };
            failures.push(FailedItem::new(handle, error));
        }
        Self {
            workflow: newest.workflow.clone(),
            handle: newest,
            restored: done.restored.clone(),
            revived: done.revived.as_ref().map(|revived| revived.handle()),
            failures,
            warnings,
            complete: done.revived.as_ref().map(|revived| revived.content.status)
                == Some(WorkflowStatus::Complete),
        }
    }

    /// True if some checkpoints could not be restored.
    pub(crate) fn is_partial(&self) -> bool {
        !self.failures.is_empty()
    }
}

impl Report for RestoreReport {
    const FORMAT: &'static str = "ckpt.restore.v1";

    fn essential(&self) -> String {
        format!("{}\n", self.handle)
    }

    fn answer(&self, page: &mut Page) {
        let newest = page.paint(Style::Bold, &self.handle.to_string());
        let came_back = match self.restored.as_slice() {
            [] => "nothing to bring back".to_owned(),
            [one] => format!("{one} is back"),
            several => format!("{} are back, {}", count(several.len(), "checkpoint"), and(&ranges(several))),
        };
        page.line(format!("{}: {came_back}; the newest is {newest}", self.workflow));
    }

    fn failures(&self, page: &mut Page) {
        FailedItem::render(&self.failures, page);
        page.warnings(&self.warnings);
    }

    fn remarks(&self, page: &mut Page) {
        if let Some(revived) = &self.revived {
            let resume = if self.complete {
                "The workflow is complete.".to_owned()
            } else {
                format!("Resume with: ckpt resume {}", self.workflow)
            };
            page.line(format!("{revived} continues the last one. {resume}"));
        }
    }

    fn already_done(&self) -> Option<String> {
        (!self.restored.is_empty()).then(|| count(self.restored.len(), "checkpoint") + " restored")
    }
}

/// Returns the handles in the order of their numbers, consecutive ones as a range: `042/1 to 042/3`.
fn ranges(newest_first: &[Handle]) -> Vec<String> {
    let mut ranges: Vec<(&Handle, &Handle)> = Vec::new();
    for handle in newest_first.iter().rev() {
        match ranges.last_mut() {
            Some((_, last)) if last.seq.checked_add(1) == Some(handle.seq) => *last = handle,
            _ => ranges.push((handle, handle)),
        }
    }
    let words = |(first, last): (&Handle, &Handle)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    ranges.into_iter().map(words).collect()
}
