//! The answer of `ckpt push`, `ckpt pull` and `ckpt sync`.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::error::Failure;
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::{Handle, WorkflowId};
use ckpt_sync::{Pulled, Pushed};

#[derive(Debug, Serialize)]
pub(crate) struct SyncReport {
    /// False for `--dry-run`.
    applied: bool,
    /// The address of the remote.
    remote: String,
    /// The workflows that something was exchanged of, or that need attention.
    workflows: Vec<SharedWorkflow>,
    /// The number of workflows that were compared.
    compared: usize,
    warnings: Vec<String>,
}

/// A workflow, and the parts of it that were exchanged.
#[derive(Debug, Serialize)]
pub(crate) struct SharedWorkflow {
    workflow: WorkflowId,
    /// The checkpoints that the remote did not have.
    pushed: u64,
    /// Those of them that stand beside its main line.
    pushed_sides: u64,
    /// The checkpoints that this store did not have.
    pulled: u64,
    /// Those of them that stand beside the main line of this store.
    pulled_sides: u64,
    /// The checkpoints of the remote that this store was seen to lack.
    behind: u64,
    /// The heads beside that of this store.
    pub(crate) heads: Vec<Handle>,
    /// The reason why it was not exchanged completely.
    error: Option<Failure>,
}

impl SharedWorkflow {
    pub(crate) fn new(workflow: &WorkflowId) -> Self {
        Self {
            workflow: workflow.clone(),
            pushed: 0,
            pushed_sides: 0,
            pulled: 0,
            pulled_sides: 0,
            behind: 0,
            heads: Vec::new(),
            error: None,
        }
    }

    pub(crate) fn pulled(&mut self, Pulled { main, sides }: Pulled) {
        (self.pulled, self.pulled_sides) = (main + sides, sides);
    }

    pub(crate) fn pushed(&mut self, Pushed { main, sides, behind }: Pushed) {
        (self.pushed, self.pushed_sides, self.behind) = (main + sides, sides, behind);
    }

    pub(crate) fn failed(&mut self, failure: Failure) {
        self.error = Some(failure);
    }

    fn is_worth_a_line(&self) -> bool {
        self.pushed + self.pulled + self.behind > 0 || !self.heads.is_empty() || self.error.is_some()
    }
}

impl SyncReport {
    pub(crate) fn new(remote: String, applied: bool) -> Self {
        Self { applied, remote, workflows: Vec::new(), compared: 0, warnings: Vec::new() }
    }

    pub(crate) fn add(&mut self, shared: SharedWorkflow) {
        self.compared += 1;
        if shared.is_worth_a_line() {
            self.workflows.push(shared);
        }
    }

    /// Returns true if every workflow was exchanged.
    pub(crate) fn is_complete(&self) -> bool {
        self.workflows.iter().all(|shared| shared.error.is_none())
    }

    /// Returns the failure of the first workflow that was not exchanged completely.
    pub(crate) fn first_failure(&self) -> Option<&Failure> {
        self.workflows.iter().find_map(|shared| shared.error.as_ref())
    }

    fn total(&self, number: fn(&SharedWorkflow) -> u64) -> usize {
        usize::try_from(self.workflows.iter().map(number).sum::<u64>()).unwrap_or(usize::MAX)
    }
}

impl Report for SyncReport {
    const FORMAT: &'static str = "ckpt.sync.v1";

    fn essential(&self) -> String {
        let ids = self.workflows.iter().filter(|shared| shared.pushed + shared.pulled > 0);
        ids.map(|shared| format!("{}\n", shared.workflow)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        let mut exchanged = false;
        for shared in &self.workflows {
            let mut parts = Vec::new();
            let beside = |sides: u64| {
                if sides > 0 { format!(" ({sides} beside the main line)") } else { String::new() }
            };
            let (pulled, pushed) = if self.applied { ("pulled", "pushed") } else { ("to pull", "to push") };
            if shared.pulled > 0 {
                parts.push(format!("{} {pulled}{}", shared.pulled, beside(shared.pulled_sides)));
            }
            if shared.pushed > 0 {
                parts.push(format!("{} {pushed}{}", shared.pushed, beside(shared.pushed_sides)));
            }
            if !parts.is_empty() {
                exchanged = true;
                page.line(format!("{}: {}", shared.workflow, parts.join(", ")));
            }
        }
        if !exchanged {
            page.line(format!("Nothing to exchange with {}", page.escape(&self.remote)));
        }
    }

    fn failures(&self, page: &mut TextPage) {
        for shared in &self.workflows {
            if let Some(failure) = &shared.error {
                page.line(format!("failed: {}: {}", shared.workflow, failure.message));
                page.help(&failure.help);
            }
        }
    }

    fn remarks(&self, page: &mut TextPage) {
        let (pulled, pushed) = (self.total(|shared| shared.pulled), self.total(|shared| shared.pushed));
        if pulled + pushed > 0 {
            let verb = if self.applied { "Exchanged" } else { "Would exchange" };
            page.line(format!("{verb} {} with {}", count(pulled + pushed, "checkpoint"), page.escape(&self.remote)));
        }
        for shared in &self.workflows {
            let id = &shared.workflow;
            if shared.behind > 0 {
                let behind = usize::try_from(shared.behind).unwrap_or(usize::MAX);
                page.line(format!("{id}: the remote has {} more: `ckpt pull {id}`", count(behind, "checkpoint")));
            }
            if !shared.heads.is_empty() {
                let heads: Vec<String> = shared.heads.iter().map(ToString::to_string).collect();
                page.line(format!(
                    "{id} was continued in two places, here and in {}: `ckpt merge {id}`",
                    heads.join(", ")
                ));
            }
        }
    }

    fn already_done(&self) -> Option<String> {
        let moved = self.total(|shared| shared.pulled + shared.pushed);
        (self.applied && moved > 0).then(|| format!("exchanged {} with the remote", count(moved, "checkpoint")))
    }
}
