//! The answer of `ckpt restore`.

use std::fmt::Display;

use serde::Serialize;

use super::failed::FailedItem;
use crate::cli::answer::Report;
use crate::cli::error::Failure;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use crate::cli::words::{and, count};
use ckpt_model::{Handle, WorkflowId, WorkflowStatus};
use ckpt_store::{BadBundle, Deletions, Error, RestorePlan, Restored};

#[derive(Debug, Serialize)]
pub(crate) struct RestoreReport {
    /// False for `--dry-run`.
    applied: bool,
    workflows: Vec<RestoredWorkflow>,
    failures: Vec<FailedItem>,
    warnings: Vec<String>,
}

/// One workflow that was restored, or a part of it.
#[derive(Debug, Serialize)]
pub(crate) struct RestoredWorkflow {
    workflow: WorkflowId,
    /// The newest checkpoint afterwards.
    handle: Handle,
    /// The checkpoints that are live again, the newest first.
    restored: Vec<Handle>,
    /// The checkpoint that was added above the seal.
    revived: Option<Handle>,
    #[serde(skip)]
    is_complete: bool,
    #[serde(skip)]
    failures: Vec<FailedItem>,
}

impl RestoredWorkflow {
    pub(crate) fn new(newest: Handle, done: &Restored, deletions: &Deletions) -> Self {
        let status = done.revived.as_ref().map(|revived| revived.content.status);
        Self {
            workflow: newest.workflow.clone(),
            handle: newest,
            restored: done.restored.clone(),
            revived: done.revived.as_ref().map(|revived| revived.handle()),
            is_complete: status == Some(WorkflowStatus::Complete),
            failures: failures(&done.damaged, &done.lost, deletions),
        }
    }

    /// Reports what would be done.
    pub(crate) fn planned(plan: RestorePlan, deletions: &Deletions) -> Self {
        let (revived, status) = plan.revives.unzip();
        let head = Handle::new(&plan.workflow, plan.head);
        Self {
            workflow: plan.workflow,
            handle: revived.clone().unwrap_or(head),
            restored: plan.restores,
            revived,
            is_complete: status.flatten() == Some(WorkflowStatus::Complete),
            failures: failures(&plan.damaged, &plan.lost, deletions),
        }
    }
}

fn failures(damaged: &[(std::path::PathBuf, BadBundle)], lost: &[Handle], deletions: &Deletions) -> Vec<FailedItem> {
    let mut failures = Vec::new();
    for (path, why) in damaged {
        let error = Error::DamagedBundle { path: path.clone(), why: why.clone() };
        failures.push(FailedItem::new(path.display(), error));
    }
    for handle in lost {
        let error = Error::Archived { handle: handle.clone(), deleted: deletions.reason(handle.seq) };
        failures.push(FailedItem::new(handle, error));
    }
    failures
}

impl RestoreReport {
    pub(crate) fn new(applied: bool) -> Self {
        Self { applied, workflows: Vec::new(), failures: Vec::new(), warnings: Vec::new() }
    }

    pub(crate) fn add(&mut self, mut restored: RestoredWorkflow) {
        self.failures.append(&mut restored.failures);
        self.workflows.push(restored);
    }

    pub(crate) fn fail(&mut self, item: impl Display, failure: Failure) {
        self.failures.push(FailedItem::new(item, failure));
    }

    /// True if some checkpoints could not be restored.
    pub(crate) fn is_partial(&self) -> bool {
        !self.failures.is_empty()
    }

    fn count(&self) -> usize {
        self.workflows.iter().map(|line| line.restored.len()).sum()
    }
}

impl Report for RestoreReport {
    const FORMAT: &'static str = "ckpt.restore.v1";

    fn essential(&self) -> String {
        self.workflows.iter().map(|line| format!("{}\n", line.handle)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        let (is_back, are_back, is_newest) = if self.applied {
            ("is back", "are back", "the newest is")
        } else {
            ("would come back", "would come back", "the newest would be")
        };
        for line in &self.workflows {
            let newest = page.paint(Style::Bold, &line.handle.to_string());
            let came_back = match line.restored.as_slice() {
                [] => "nothing to bring back".to_owned(),
                [one] => format!("{one} {is_back}"),
                several => {
                    format!("{} {are_back}, {}", count(several.len(), "checkpoint"), and(&ranges(several)))
                }
            };
            page.line(format!("{}: {came_back}; {is_newest} {newest}", line.workflow));
        }
    }

    fn failures(&self, page: &mut TextPage) {
        FailedItem::render(&self.failures, page);
    }

    fn remarks(&self, page: &mut TextPage) {
        let [RestoredWorkflow { workflow, revived: Some(revived), is_complete, .. }] = self.workflows.as_slice() else {
            return;
        };
        if !self.applied {
            page.line(format!("{revived} would continue the last one."));
        } else if *is_complete {
            page.line(format!("{revived} continues the last one. The workflow is complete."));
        } else {
            page.line(format!("{revived} continues the last one. Resume with: ckpt resume {workflow}"));
        }
    }

    fn already_done(&self) -> Option<String> {
        (self.applied && self.count() > 0).then(|| count(self.count(), "checkpoint") + " restored")
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
