//! The answer of `ckpt cleanup`: the data here, the text in `text`.

mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failed::FailedItem;
use super::policy::{PolicyReport, PolicySource};
use crate::cli::error::{ErrorCode, Failure};
use ckpt_model::retention::{
    CheckpointDecision, CleanupEffect, CleanupPlan, ExpiredRun, Policy, Snapshot, UnreferredObject,
};
use ckpt_model::size::Size;
use ckpt_model::{Handle, Timestamp, WorkflowId};
use ckpt_store::{ArchivedPart, Cleaned};

#[derive(Debug, Serialize)]
pub(crate) struct CleanupReport {
    applied: bool,
    plan: String,
    as_of: Timestamp,
    policy: PolicyReport,
    decisions: Vec<CheckpointDecision>,
    removed: Removed,
    kept: usize,
    bundles: Vec<NewBundle>,
    deleted_runs: Vec<DeletedRun>,
    stale_files: usize,
    /// The objects that nothing refers to.
    objects: Removed,
    failures: Vec<FailedItem>,
    /// The command that brings back what was archived.
    pub(crate) undo: Option<Vec<String>>,
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    changes: Vec<WorkflowChange>,
    /// False if the person has seen the policy already.
    #[serde(skip)]
    pub(crate) shows_policy: bool,
    /// True while only what is deleted for good is shown.
    #[serde(skip)]
    pub(crate) shows_deletions_only: bool,
}

#[derive(Debug, Default, Serialize)]
struct Removed {
    count: usize,
    bytes: u64,
}

impl Removed {
    fn of(objects: &[UnreferredObject]) -> Self {
        Self { count: objects.len(), bytes: objects.iter().map(|object| object.bytes).sum() }
    }
}

/// A bundle that was created.
#[derive(Debug, Serialize)]
struct NewBundle {
    workflow: WorkflowId,
    name: String,
}

/// A run that is deleted for good.
#[derive(Debug, Serialize)]
struct DeletedRun {
    workflow: WorkflowId,
    #[serde(flatten)]
    run: ExpiredRun,
}

/// The checkpoints of one workflow that are removed.
#[derive(Debug)]
struct WorkflowChange {
    workflow: WorkflowId,
    archived: Vec<Handle>,
    deleted: Vec<Handle>,
    /// True if the workflow is archived as a whole.
    whole: bool,
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
            deleted_runs: plan
                .expired_runs()
                .map(|(workflow, run)| DeletedRun { workflow: workflow.clone(), run: run.clone() })
                .collect(),
            stale_files: plan.stale_files.len(),
            objects: Removed::of(&plan.objects),
            failures: snapshot.skipped.iter().map(not_looked_at).collect(),
            undo: None,
            warnings: warnings(plan, policy, snapshot),
            changes: Vec::new(),
            shows_policy: true,
            shows_deletions_only: false,
        };
        for workflow in &plan.workflows {
            let removed = workflow.leaving().map(|decision| decision.handle.clone()).collect();
            let bytes = workflow.leaving().map(|decision| decision.bytes).sum();
            let whole = matches!(workflow.effect, CleanupEffect::Workflow(_));
            report.add(&workflow.workflow, removed, bytes, whole);
        }
        report
    }

    /// Reports what was done instead of what was planned.
    pub(crate) fn carried_out(&mut self, cleaned: Cleaned) {
        self.applied = true;
        self.stale_files = cleaned.stale_files.len();
        self.objects = Removed::of(&cleaned.objects);
        self.removed = Removed::default();
        self.kept = self.decisions.len();
        self.changes.clear();
        let mut planned_runs = std::mem::take(&mut self.deleted_runs);
        for id in &cleaned.overtaken {
            self.warnings.push(format!("{id} was saved to meanwhile, and stays as it is"));
        }
        for (path, error) in cleaned.failures {
            self.failures.push(FailedItem::new(path.display(), error));
        }
        for done in cleaned.workflows {
            self.bundles.extend(
                done.bundles.iter().map(|path| NewBundle { workflow: done.workflow.clone(), name: file_name(path) }),
            );
            let is_deleted = |planned: &mut DeletedRun| {
                planned.workflow == done.workflow && done.deleted_runs.contains(&planned.run.first)
            };
            self.deleted_runs.extend(planned_runs.extract_if(.., is_deleted));
            self.add(&done.workflow, done.removed, done.bytes, done.whole.is_some());
        }
    }

    /// Returns the checkpoints that were archived.
    pub(crate) fn archived_parts(&self) -> Vec<ArchivedPart> {
        let archived = self.changes.iter().filter(|change| !change.archived.is_empty());
        let part = |change: &WorkflowChange| {
            let numbers = change.archived.iter().map(|handle| handle.seq).collect();
            ArchivedPart::new(&change.workflow, &numbers, change.whole)
        };
        archived.map(part).collect()
    }

    fn add(&mut self, workflow: &WorkflowId, mut removed: Vec<Handle>, bytes: u64, whole: bool) {
        self.removed.count += removed.len();
        self.removed.bytes += bytes;
        self.kept = self.kept.saturating_sub(removed.len());
        if removed.is_empty() {
            return;
        }
        removed.sort();
        let deletions = self.decisions.iter().filter(|decision| decision.delete);
        let deletions: BTreeSet<&Handle> = deletions.map(|decision| &decision.handle).collect();
        let (deleted, archived) = removed.into_iter().partition(|handle| deletions.contains(handle));
        self.changes.push(WorkflowChange { workflow: workflow.clone(), archived, deleted, whole });
    }

    /// Returns true if content is deleted for good.
    pub(crate) fn deletes(&self) -> bool {
        !self.deleted_runs.is_empty() || self.changes.iter().any(|change| !change.deleted.is_empty())
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
