//! The answer of `ckpt cleanup --remote`.

use serde::Serialize;

use super::failed::FailedItem;
use crate::cli::answer::Report;
use crate::cli::error::Failure;
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::Handle;
use ckpt_model::WorkflowId;
use ckpt_model::size::Size;
use ckpt_sync::{Emptied, RemoteCleanup};

#[derive(Debug, Serialize)]
pub(crate) struct RemoteCleanupReport {
    /// False for `--dry-run`.
    applied: bool,
    /// The address of the remote.
    remote: String,
    /// The fingerprint of the plan.
    plan: String,
    bundles: Vec<CleanedBundle>,
    /// The number of checkpoints whose content left the remote, and its size.
    emptied: usize,
    bytes: u64,
    failures: Vec<FailedItem>,
    warnings: Vec<String>,
}

/// A bundle on the remote, and the checkpoints that it stands for.
#[derive(Debug, Serialize)]
struct CleanedBundle {
    workflow: WorkflowId,
    name: String,
    /// True if the remote did not have it.
    new: bool,
    checkpoints: Vec<Handle>,
    bytes: u64,
    /// The checkpoints that stay, because the remote has others under these numbers.
    left: Vec<Handle>,
}

impl RemoteCleanupReport {
    /// Reports what would be done.
    pub(crate) fn planned(remote: String, plan: String, parts: &[RemoteCleanup], warnings: Vec<String>) -> Self {
        let mut report = Self {
            applied: false,
            remote,
            plan,
            bundles: Vec::new(),
            emptied: 0,
            bytes: 0,
            failures: Vec::new(),
            warnings,
        };
        for part in parts {
            let (checkpoints, bytes) = (part.checkpoints.clone(), part.bytes);
            report.add(part, Emptied { checkpoints, bytes, left: Vec::new() });
        }
        report
    }

    /// Reports what is done from now on, instead of what was planned.
    pub(crate) fn begin(&mut self) {
        self.applied = true;
        (self.bundles, self.emptied, self.bytes) = (Vec::new(), 0, 0);
    }

    pub(crate) fn done(&mut self, part: &RemoteCleanup, emptied: Emptied) {
        self.add(part, emptied);
    }

    pub(crate) fn failed(&mut self, part: &RemoteCleanup, failure: Failure) {
        self.failures.push(FailedItem::new(format!("{}/{}", part.workflow, part.bundle), failure));
    }

    fn add(&mut self, part: &RemoteCleanup, Emptied { checkpoints, bytes, left }: Emptied) {
        self.emptied += checkpoints.len();
        self.bytes += bytes;
        let (workflow, name, new) = (part.workflow.clone(), part.bundle.clone(), part.is_new);
        self.bundles.push(CleanedBundle { workflow, name, new, checkpoints, bytes, left });
    }

    /// Returns true if nothing was emptied and nothing failed yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.emptied == 0 && self.failures.is_empty()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Report for RemoteCleanupReport {
    const FORMAT: &'static str = "ckpt.remote-cleanup.v1";

    /// Returns the fingerprint of the plan, or the handles that were emptied once it is applied.
    fn essential(&self) -> String {
        if !self.applied {
            return format!("{}\n", self.plan);
        }
        let handles = self.bundles.iter().flat_map(|bundle| &bundle.checkpoints);
        handles.map(|handle| format!("{handle}\n")).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        let verb = if self.applied { "Emptied" } else { "Would empty" };
        for bundle in &self.bundles {
            if let (Some(first), Some(last)) = (bundle.checkpoints.first(), bundle.checkpoints.last()) {
                let range = if first == last { first.to_string() } else { format!("{first} to {last}") };
                let which = count(bundle.checkpoints.len(), "checkpoint");
                let what = format!("{which} of {} ({range}, {})", bundle.workflow, Size(bundle.bytes));
                page.line(format!("{verb} {what} on the remote: in {}", bundle.name));
            }
            if !bundle.left.is_empty() {
                let left: Vec<String> = bundle.left.iter().map(ToString::to_string).collect();
                page.line(format!("  {} stay: the remote has others there", left.join(", ")));
            }
        }
        if self.bundles.is_empty() && self.failures.is_empty() {
            page.line(format!(
                "Nothing to clean up on {}: it has nothing that the archive of this store holds",
                page.escape(&self.remote)
            ));
        } else {
            let what = format!("{} ({})", count(self.emptied, "checkpoint"), Size(self.bytes));
            page.line(format!("{verb} {what} on {}", page.escape(&self.remote)));
        }
        if !self.applied && !self.bundles.is_empty() {
            page.line("Bundles are copied there and read back first; nothing is lost");
            page.line(format!("Plan: {}", self.plan));
        }
    }

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
        FailedItem::render(&self.failures, page);
    }

    fn already_done(&self) -> Option<String> {
        (self.applied && self.emptied > 0)
            .then(|| format!("emptied {} on the remote", count(self.emptied, "checkpoint")))
    }
}
