//! The answer of `ckpt restore`.

use serde::Serialize;

use super::failed::Failed;
use crate::cli::error::Failure;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::words::{and, count};
use crate::core::store::Error;
use crate::core::store::{GoneNotes, Restored};
use crate::core::{Handle, WorkflowId, WorkflowStatus};

#[derive(Debug, Serialize)]
pub(crate) struct RestoreReport {
    workflow: WorkflowId,
    /// The newest one now.
    handle: Handle,
    /// What is live again, the newest first.
    restored: Vec<Handle>,
    /// The one that was added above the seal.
    revived: Option<Handle>,
    failures: Vec<Failed>,
    warnings: Vec<String>,
    /// Whether there is work left.
    #[serde(skip)]
    goes_on: bool,
}

impl RestoreReport {
    pub(crate) fn new(newest: Handle, done: &Restored, gone: &GoneNotes) -> Self {
        let mut failures = Vec::new();
        for (path, why) in &done.damaged {
            let failure = Failure::from(Error::DamagedBundle { path: path.clone(), why: why.clone() });
            failures.push(Failed::new(&path.display(), &failure));
        }
        for handle in &done.lost {
            let error = Error::Archived { handle: handle.clone(), gone: gone.of(handle.seq) };
            failures.push(Failed::new(handle, &Failure::from(error)));
        }
        Self {
            workflow: newest.workflow.clone(),
            handle: newest,
            restored: done.restored.clone(),
            revived: done.revived.as_ref().map(|checkpoint| checkpoint.handle()),
            failures,
            warnings: Vec::new(),
            goes_on: done
                .revived
                .as_ref()
                .is_some_and(|made| made.content.status != WorkflowStatus::Complete),
        }
    }

    /// Whether something could not be brought back.
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
            several => format!("{} are back, {}", count(several.len(), "checkpoint"), and(&runs(several))),
        };
        page.line(format!("{}: {came_back}; the newest is {newest}", self.workflow));
    }

    fn failures(&self, page: &mut Page) {
        Failed::render(&self.failures, page);
    }

    fn remarks(&self, page: &mut Page) {
        if let Some(revived) = &self.revived {
            let resume = if self.goes_on {
                format!(" Resume with: ckpt resume {}", self.workflow)
            } else {
                " The workflow is complete.".to_owned()
            };
            page.line(format!("{revived} continues the last one.{resume}"));
        }
    }

    fn already_done(&self) -> Option<String> {
        (!self.restored.is_empty()).then(|| count(self.restored.len(), "checkpoint") + " restored")
    }
}

/// Checkpoints, given the newest first, in the order of their numbers; those without a gap between them are one:
/// `042/1 to 042/3`.
fn runs(newest_first: &[Handle]) -> Vec<String> {
    let mut runs: Vec<(&Handle, &Handle)> = Vec::new();
    for handle in newest_first.iter().rev() {
        match runs.last_mut() {
            Some((_, last)) if last.seq.checked_add(1) == Some(handle.seq) => *last = handle,
            _ => runs.push((handle, handle)),
        }
    }
    let words = |(first, last): (&Handle, &Handle)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    runs.into_iter().map(words).collect()
}
