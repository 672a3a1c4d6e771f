//! The answer of `ckpt restore`.

use serde::Serialize;

use super::super::error::Failure;
use super::super::page::Page;
use super::super::report::Report;
use super::super::style::Style;
use super::super::words::count;
use super::failed::Failed;
use crate::core::error::Error;
use crate::core::store::Restored;
use crate::core::{Handle, WorkflowId};

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
}

impl RestoreReport {
    pub(crate) fn new(newest: Handle, done: &Restored) -> Self {
        let mut failures = Vec::new();
        for (path, why) in &done.damaged {
            let failure = Failure::from(Error::DamagedBundle { path: path.clone(), why: why.clone() });
            failures.push(Failed::new(&path.display(), &failure));
        }
        for handle in &done.lost {
            failures.push(Failed::new(handle, &Failure::from(Error::Archived { handle: handle.clone() })));
        }
        Self {
            workflow: newest.workflow.clone(),
            handle: newest,
            restored: done.restored.clone(),
            revived: done.revived.as_ref().map(|checkpoint| checkpoint.handle()),
            failures,
            warnings: Vec::new(),
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
            [last, .., first] => {
                format!("{} are back, {first} to {last}", count(self.restored.len(), "checkpoint"))
            }
        };
        page.line(format!("{}: {came_back}; the newest is {newest}", self.workflow));
    }

    fn remarks(&self, page: &mut Page) {
        if let Some(revived) = &self.revived {
            page.line(format!(
                "{revived} continues the last one. Resume with: ckpt resume {}",
                self.workflow
            ));
        }
        Failed::render(&self.failures, page);
    }

    fn already_done(&self) -> Option<String> {
        (!self.restored.is_empty()).then(|| count(self.restored.len(), "checkpoint") + " restored")
    }
}
