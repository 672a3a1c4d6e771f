//! The answer of `ckpt cleanup`: what it says. How it looks is in `text`.

mod text;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failed::FailedItem;
use super::policy::{PolicyReport, PolicySource, sentences};
use crate::cli::error::{ErrorCode, Failure};
use crate::core::retention::{CheckpointDecision, CleanupPlan, Policy, Reason, Snapshot};
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
    bundles: Vec<BundleLine>,
    merged: Vec<MergedLine>,
    leftovers: usize,
    failures: Vec<FailedItem>,
    undo: Vec<Vec<String>>,
    warnings: Vec<String>,
    #[serde(skip)]
    words: Vec<String>,
    #[serde(skip)]
    groups: Vec<Group>,
    #[serde(skip)]
    gone: Vec<Handle>,
}

#[derive(Debug, Default, Serialize)]
struct Removed {
    count: usize,
    bytes: u64,
}

/// A bundle that was made, or one that goes.
#[derive(Debug, Serialize)]
struct BundleLine {
    workflow: WorkflowId,
    name: String,
    keep: bool,
    reasons: Vec<Reason>,
}

/// Bundles of a workflow that become one.
#[derive(Debug, Serialize)]
struct MergedLine {
    workflow: WorkflowId,
    names: Vec<String>,
}

/// What happens to one workflow.
#[derive(Debug)]
struct Group {
    workflow: WorkflowId,
    removed: usize,
    of: usize,
    bytes: u64,
    bundles: usize,
}

impl CleanupReport {
    /// What would be done.
    pub(crate) fn planned(
        plan: &CleanupPlan,
        (policy, source): (&Policy, PolicySource),
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Self {
        let removed = Removed {
            count: plan.leaving().count(),
            bytes: plan.leaving().map(|decision| decision.bytes).sum(),
        };
        let group = |workflow: &crate::core::retention::WorkflowPlan| Group {
            workflow: workflow.workflow.clone(),
            removed: workflow.leaving().count(),
            of: workflow.decisions.len(),
            bytes: workflow.leaving().map(|decision| decision.bytes).sum(),
            bundles: workflow.expired.len(),
        };
        let bundles = plan.workflows.iter().flat_map(|workflow| {
            workflow.expired.iter().map(|bundle| BundleLine {
                workflow: workflow.workflow.clone(),
                name: bundle.name.clone(),
                keep: false,
                reasons: bundle.reasons.clone(),
            })
        });
        let merged = plan.workflows.iter().filter(|workflow| !workflow.merge.is_empty());
        let merged = merged.map(|workflow| MergedLine {
            workflow: workflow.workflow.clone(),
            names: workflow.merge.clone(),
        });
        Self {
            applied: false,
            plan: plan.fingerprint().to_hex(),
            as_of: now,
            policy: PolicyReport::new(policy, source),
            kept: plan.decisions().filter(|decision| decision.keep).count(),
            bundles: bundles.collect(),
            merged: merged.collect(),
            leftovers: plan.stale_files.len(),
            failures: snapshot.skipped.iter().map(not_looked_at).collect(),
            undo: Vec::new(),
            warnings: warnings(plan, policy, snapshot),
            words: sentences(policy),
            groups: plan
                .workflows
                .iter()
                .map(group)
                .filter(|group| group.removed + group.bundles > 0)
                .collect(),
            decisions: plan.decisions().cloned().collect(),
            gone: Vec::new(),
            removed,
        }
    }

    /// The policy has been said to the person who sees the answer, and once is enough.
    pub(crate) fn policy_is_known(&mut self) {
        self.words.clear();
    }

    /// There was nothing to do, and that is done.
    pub(crate) fn nothing_to_do(&mut self) {
        self.applied = true;
    }

    /// What was done in the end.
    pub(crate) fn carried_out(&mut self, cleaned: Cleaned) {
        self.applied = true;
        self.removed = Removed {
            count: cleaned.workflows.iter().map(|workflow| workflow.removed.len()).sum(),
            bytes: cleaned.workflows.iter().map(|workflow| workflow.bytes).sum(),
        };
        self.kept = self.decisions.len().saturating_sub(self.removed.count);
        self.leftovers = cleaned.swept.len();
        for id in &cleaned.overtaken {
            self.warnings.push(format!("{id} was saved to meanwhile, and stays as it is"));
        }
        for (path, error) in cleaned.failures {
            self.failures.push(FailedItem::new(path.display(), error));
        }
        let planned = std::mem::take(&mut self.groups);
        let mut bundles = Vec::new();
        self.merged.clear();
        for done in cleaned.workflows {
            if !done.merged.is_empty() {
                let names = done.merged.iter().map(|path| file_name(path)).collect();
                self.merged.push(MergedLine { workflow: done.workflow.clone(), names });
            }
            let of = planned.iter().find(|group| group.workflow == done.workflow).map_or(0, |group| group.of);
            if !done.removed.is_empty() || !done.expired.is_empty() {
                self.groups.push(Group {
                    workflow: done.workflow.clone(),
                    removed: done.removed.len(),
                    of,
                    bytes: done.bytes,
                    bundles: done.expired.len(),
                });
            }
            let gone = |bundle: &BundleLine| {
                bundle.workflow == done.workflow
                    && done
                        .expired
                        .iter()
                        .any(|path| path.file_name().is_some_and(|name| *name == *bundle.name))
            };
            bundles.extend(done.bundles.iter().map(|path| BundleLine {
                workflow: done.workflow.clone(),
                name: file_name(path),
                keep: true,
                reasons: Vec::new(),
            }));
            bundles.extend(self.bundles.extract_if(.., |bundle| gone(bundle)));
            self.gone.extend(done.removed.iter().cloned());
            if !done.bundles.is_empty() && !done.removed.is_empty() {
                let what = match done.removed.as_slice() {
                    [one] if done.whole.is_none() => one.to_string(),
                    _ => done.workflow.to_string(),
                };
                self.undo.push(vec!["ckpt".to_owned(), "restore".to_owned(), what]);
            }
        }
        self.bundles = bundles;
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
