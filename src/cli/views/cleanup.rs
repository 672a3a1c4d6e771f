//! The answer of `ckpt cleanup`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::error::Failure;
use super::super::page::Page;
use super::super::report::Report;
use super::super::style::Style;
use super::super::words::{and, count};
use super::policy::{PolicyReport, sentences};
use crate::core::retention::{CleanupPlan, Policy, Reason, Snapshot, Verdict};
use crate::core::size::Size;
use crate::core::store::Cleaned;
use crate::core::{Handle, Timestamp, WorkflowId};

/// How many reasons a summary line names.
const MOST_REASONS: usize = 3;

#[derive(Debug, Serialize)]
pub(crate) struct CleanupReport {
    applied: bool,
    plan: String,
    as_of: Timestamp,
    policy: PolicyReport,
    verdicts: Vec<Verdict>,
    removed: Removed,
    kept: usize,
    bundles: Vec<BundleLine>,
    leftovers: usize,
    failures: Vec<FailureLine>,
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

#[derive(Debug, Serialize)]
struct FailureLine {
    path: String,
    code: &'static str,
    message: String,
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
    pub(crate) fn planned(plan: &CleanupPlan, policy: &Policy, snapshot: &Snapshot, now: Timestamp) -> Self {
        let removed = Removed {
            count: plan.removed().count(),
            bytes: plan.removed().map(|verdict| verdict.bytes).sum(),
        };
        let group = |workflow: &crate::core::retention::WorkflowPlan| Group {
            workflow: workflow.workflow.clone(),
            removed: workflow.removed().count(),
            of: workflow.verdicts.len(),
            bytes: workflow.removed().map(|verdict| verdict.bytes).sum(),
            bundles: workflow.bundles.len(),
        };
        let bundles = plan.workflows.iter().flat_map(|workflow| {
            workflow.bundles.iter().map(|bundle| BundleLine {
                workflow: workflow.workflow.clone(),
                name: bundle.name.clone(),
                keep: false,
                reasons: bundle.reasons.clone(),
            })
        });
        Self {
            applied: false,
            plan: plan.fingerprint().to_hex(),
            as_of: now,
            policy: PolicyReport::new(policy),
            kept: plan.verdicts().filter(|verdict| verdict.keep).count(),
            bundles: bundles.collect(),
            leftovers: plan.leftovers.len(),
            failures: snapshot.skipped.iter().map(FailureLine::skipped).collect(),
            undo: Vec::new(),
            warnings: warnings(plan, policy, snapshot),
            words: sentences(policy),
            groups: plan
                .workflows
                .iter()
                .map(group)
                .filter(|group| group.removed + group.bundles > 0)
                .collect(),
            verdicts: plan.verdicts().cloned().collect(),
            gone: Vec::new(),
            removed,
        }
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
        self.kept = self.verdicts.len().saturating_sub(self.removed.count);
        self.leftovers = cleaned.swept.len();
        for id in &cleaned.overtaken {
            self.warnings.push(format!("{id} was saved to meanwhile, and stays as it is"));
        }
        self.failures.extend(cleaned.failures.into_iter().map(FailureLine::new));
        let planned = std::mem::take(&mut self.groups);
        let mut bundles = Vec::new();
        for done in cleaned.workflows {
            let of = planned.iter().find(|group| group.workflow == done.workflow).map_or(0, |group| group.of);
            self.groups.push(Group {
                workflow: done.workflow.clone(),
                removed: done.removed.len(),
                of,
                bytes: done.bytes,
                bundles: done.expired.len(),
            });
            let gone = |bundle: &BundleLine| {
                bundle.workflow == done.workflow
                    && done
                        .expired
                        .iter()
                        .any(|path| path.file_name().is_some_and(|name| *name == *bundle.name))
            };
            bundles.extend(done.bundles.iter().map(|path| BundleLine {
                workflow: done.workflow.clone(),
                name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
                keep: true,
                reasons: Vec::new(),
            }));
            bundles.extend(self.bundles.extract_if(.., |bundle| gone(bundle)));
            self.gone.extend(done.removed.iter().cloned());
            if !done.bundles.is_empty() {
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

    /// `Archived`, `Would archive`.
    fn verb(&self) -> &'static str {
        match (self.applied, self.policy.purge) {
            (true, false) => "Archived",
            (false, false) => "Would archive",
            (true, true) => "Purged",
            (false, true) => "Would purge",
        }
    }

    fn why(&self, workflow: &WorkflowId) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let gone =
            self.verdicts.iter().filter(|verdict| !verdict.keep && verdict.handle.workflow == *workflow);
        for reason in gone.filter_map(|verdict| verdict.reasons.first()) {
            *counts.entry(reason.to_string()).or_default() += 1;
        }
        let mut counts: Vec<(usize, String)> =
            counts.into_iter().map(|(words, count)| (count, words)).collect();
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let more = counts.len().saturating_sub(MOST_REASONS);
        let one = counts.len() == 1;
        let mut words: Vec<String> = counts
            .into_iter()
            .take(MOST_REASONS)
            .map(|(count, words)| if one { words } else { format!("{count} {words}") })
            .collect();
        if more > 0 {
            words.push(format!("{more} other reasons"));
        }
        words.join("; ")
    }
}

impl FailureLine {
    fn new((path, error): (std::path::PathBuf, crate::core::Error)) -> Self {
        let failure = Failure::from(error);
        Self { path: path.display().to_string(), code: failure.code, message: failure.message }
    }

    fn skipped((path, why): &(std::path::PathBuf, String)) -> Self {
        Self { path: path.display().to_string(), code: "not_looked_at", message: why.clone() }
    }
}

fn warnings(plan: &CleanupPlan, policy: &Policy, snapshot: &Snapshot) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(limit) = policy.max_size {
        let all = snapshot.workflows.iter().flat_map(|facts| &facts.checkpoints);
        let bytes: u64 = all.map(|facts| facts.bytes).sum();
        let left = bytes.saturating_sub(plan.removed().map(|verdict| verdict.bytes).sum());
        if left > limit.0 {
            warnings.push(format!("{} stay, more than {limit}: nothing else may go", Size(left)));
        }
    }
    warnings
}

impl Report for CleanupReport {
    const FORMAT: &'static str = "ckpt.cleanup.v1";

    /// Before it is done, the plan; afterwards, what is gone.
    fn essential(&self) -> String {
        match self.applied {
            false => format!("{}\n", self.plan),
            true => self.gone.iter().map(|handle| format!("{handle}\n")).collect(),
        }
    }

    fn answer(&self, page: &mut Page) {
        for (index, words) in self.words.iter().enumerate() {
            let label = if index == 0 { "Policy: " } else { "        " };
            page.line(format!("{label}{}", page.foreign(words)));
        }
        for group in &self.groups {
            if group.removed > 0 {
                page.line(format!(
                    "{} {} of {} of {} ({}): {}",
                    self.verb(),
                    group.removed,
                    count(group.of, "checkpoint"),
                    page.paint(Style::Bold, group.workflow.as_str()),
                    Size(group.bytes),
                    page.foreign(&self.why(&group.workflow)),
                ));
            }
            if page.verbose {
                self.details(&group.workflow, page);
            }
            if group.bundles > 0 {
                let verb = if self.applied { "Dropped" } else { "Would drop" };
                page.line(format!("{verb} {} of {}", count(group.bundles, "expired bundle"), group.workflow));
            }
        }
        if self.leftovers > 0 {
            let verb = if self.applied { "Swept" } else { "Would sweep" };
            page.line(format!("{verb} {}", count(self.leftovers, "leftover file")));
        }
        for failure in &self.failures {
            let label = page.paint(Style::Bad, "failed:");
            page.line(format!("{label} {}", page.foreign(&failure.message)));
        }
        self.summary(page);
    }

    fn remarks(&self, page: &mut Page) {
        for warning in &self.warnings {
            let label = page.paint(Style::Warning, "warning:");
            page.line(format!("{label} {}", page.foreign(warning)));
        }
    }

    fn already_done(&self) -> Option<String> {
        (self.applied && self.removed.count > 0)
            .then(|| format!("cleaned up {}", count(self.removed.count, "checkpoint")))
    }
}

impl CleanupReport {
    fn details(&self, workflow: &WorkflowId, page: &mut Page) {
        for verdict in self.verdicts.iter().filter(|verdict| verdict.handle.workflow == *workflow) {
            let reasons: Vec<String> = verdict.reasons.iter().map(ToString::to_string).collect();
            let word = if verdict.keep { "stays" } else { "goes" };
            page.line(format!("  {}  {word}: {}", verdict.handle, page.foreign(&and(&reasons))));
        }
        for bundle in self.bundles.iter().filter(|bundle| bundle.workflow == *workflow) {
            let reasons: Vec<String> = bundle.reasons.iter().map(ToString::to_string).collect();
            let why = if bundle.keep { String::new() } else { format!("  goes: {}", and(&reasons)) };
            page.line(format!("  {}{}", page.foreign(&bundle.name), page.foreign(&why)));
        }
    }

    fn summary(&self, page: &mut Page) {
        let nothing = self.groups.is_empty() && self.leftovers == 0;
        if nothing && self.failures.is_empty() {
            page.line(format!("Nothing to clean up: {} stay.", count(self.kept, "checkpoint")));
        } else {
            let kept = if self.applied { "kept" } else { "keep" };
            let checkpoints = count(self.removed.count, "checkpoint");
            page.line(format!(
                "{} {checkpoints} ({}), {kept} {}.",
                self.verb(),
                Size(self.removed.bytes),
                self.kept
            ));
        }
        match self.applied {
            false => page.line(format!("Plan: {}", self.plan)),
            true => {
                for (index, argv) in self.undo.iter().enumerate() {
                    let label = if index == 0 { "Undo: " } else { "      " };
                    page.line(format!("{label}{}", argv.join(" ")));
                }
            }
        }
    }
}
