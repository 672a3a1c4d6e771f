//! The answer of `ckpt cleanup`: the data here, the text in `text`.

mod text;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failed::FailedItem;
use super::policy::{PolicyReport, PolicySource};
use crate::cli::error::{ErrorCode, Failure};
use crate::core::retention::{CheckpointDecision, CleanupPlan, ExpiredBundle, Policy, Reason, Snapshot};
use crate::core::size::Size;
use crate::core::store::Cleaned;
use crate::core::{Handle, Timestamp, WorkflowId};

#[derive(Debug, Serialize)]
pub(crate) struct CleanupReport {
    applied: bool,
    plan: String,
    as_of: Timestamp,
    policy: PolicyReport,
    decisions: Vec<CheckpointDecision>,
    removed: Removed,
    kept: usize,
    bundles: Vec<ChangedBundle>,
    merged: Vec<MergedBundles>,
    stale_files: usize,
    failures: Vec<FailedItem>,
    undo: Vec<Vec<String>>,
    warnings: Vec<String>,
    #[serde(skip)]
    changes: Vec<WorkflowChange>,
    /// False if the person has seen the policy already.
    #[serde(skip)]
    pub(crate) shows_policy: bool,
}

#[derive(Debug, Default, Serialize)]
struct Removed {
    count: usize,
    bytes: u64,
}

/// A bundle that was created, or one that expires.
#[derive(Debug, Serialize)]
struct ChangedBundle {
    workflow: WorkflowId,
    name: String,
    keep: bool,
    reasons: Vec<Reason>,
}

/// Bundles of a workflow that become one.
#[derive(Debug, Serialize)]
struct MergedBundles {
    workflow: WorkflowId,
    names: Vec<String>,
}

/// The checkpoints and bundles of one workflow that are removed.
#[derive(Debug)]
struct WorkflowChange {
    workflow: WorkflowId,
    removed: Vec<Handle>,
    bytes: u64,
    expired_bundles: usize,
}

impl CleanupReport {
    /// Reports what would be done.
    pub(crate) fn planned(
        plan: &CleanupPlan,
        (policy, source): (&Policy, PolicySource),
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Self {
        let mut report = Self {
            applied: false,
            plan: plan.fingerprint().to_hex(),
            as_of: now,
            policy: PolicyReport::new(policy, source),
            decisions: plan.decisions().cloned().collect(),
            removed: Removed::default(),
            kept: plan.decisions().count(),
            bundles: Vec::new(),
            merged: Vec::new(),
            stale_files: plan.stale_files.len(),
            failures: snapshot.skipped.iter().map(not_looked_at).collect(),
            undo: Vec::new(),
            warnings: warnings(plan, policy, snapshot),
            changes: Vec::new(),
            shows_policy: true,
        };
        for workflow in &plan.workflows {
            for ExpiredBundle { name, reasons, .. } in &workflow.expired {
                report.bundles.push(ChangedBundle {
                    workflow: workflow.workflow.clone(),
                    name: name.clone(),
                    keep: false,
                    reasons: reasons.clone(),
                });
            }
            let change = WorkflowChange {
                workflow: workflow.workflow.clone(),
                removed: workflow.leaving().map(|decision| decision.handle.clone()).collect(),
                bytes: workflow.leaving().map(|decision| decision.bytes).sum(),
                expired_bundles: workflow.expired.len(),
            };
            report.add(change, workflow.merge.clone());
        }
        report
    }

    /// Reports what was done instead of what was planned.
    pub(crate) fn carried_out(&mut self, cleaned: Cleaned) {
        self.applied = true;
        self.stale_files = cleaned.stale_files.len();
        self.removed = Removed::default();
        self.kept = self.decisions.len();
        self.merged.clear();
        self.changes.clear();
        let mut planned_bundles = std::mem::take(&mut self.bundles);
        for id in &cleaned.overtaken {
            self.warnings.push(format!("{id} was saved to meanwhile, and stays as it is"));
        }
        for (path, error) in cleaned.failures {
            self.failures.push(FailedItem::new(path.display(), error));
        }
        for done in cleaned.workflows {
            self.bundles.extend(done.bundles.iter().map(|path| ChangedBundle {
                workflow: done.workflow.clone(),
                name: file_name(path),
                keep: true,
                reasons: Vec::new(),
            }));
            let expired: Vec<String> = done.expired.iter().map(|path| file_name(path)).collect();
            let is_expired = |bundle: &mut ChangedBundle| {
                bundle.workflow == done.workflow && expired.contains(&bundle.name)
            };
            self.bundles.extend(planned_bundles.extract_if(.., is_expired));
            if !done.bundles.is_empty() && !done.removed.is_empty() {
                let selector = match done.removed.as_slice() {
                    [one] if done.whole.is_none() => one.to_string(),
                    _ => done.workflow.to_string(),
                };
                self.undo.push(vec!["ckpt".to_owned(), "restore".to_owned(), selector]);
            }
            let merged = done.merged.iter().map(|path| file_name(path)).collect();
            let change = WorkflowChange {
                workflow: done.workflow,
                removed: done.removed,
                bytes: done.bytes,
                expired_bundles: done.expired.len(),
            };
            self.add(change, merged);
        }
    }

    fn add(&mut self, change: WorkflowChange, merged: Vec<String>) {
        self.removed.count += change.removed.len();
        self.removed.bytes += change.bytes;
        self.kept = self.kept.saturating_sub(change.removed.len());
        if !merged.is_empty() {
            self.merged.push(MergedBundles { workflow: change.workflow.clone(), names: merged });
        }
        if !change.removed.is_empty() || change.expired_bundles > 0 {
            self.changes.push(change);
        }
    }

    pub(crate) fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }
}

fn not_looked_at((path, why): &(PathBuf, String)) -> FailedItem {
    FailedItem::new(path.display(), Failure::new(ErrorCode::NotLookedAt, why))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn warnings(plan: &CleanupPlan, policy: &Policy, snapshot: &Snapshot) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(limit) = policy.max_size {
        let left = snapshot.live_bytes().saturating_sub(plan.leaving().map(|decision| decision.bytes).sum());
        if left > limit.0 {
            warnings.push(format!("{} stay, more than {limit}: nothing else may go", Size(left)));
        }
    }
    warnings
}
