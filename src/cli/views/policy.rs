//! A retention policy, for JSON and in words.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::words::and;
use ckpt_model::retention::{Limit, Policy, Rules, RunRule, TriggerLimits};
use ckpt_model::span::Span;
use ckpt_model::{WorkflowId, WorkflowStatus};

/// The origin of a policy. Rules on the command line replace the policy of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PolicySource {
    Store,
    CommandLine,
    /// The policy of the store, with a rule of the command line added.
    StoreAndCommandLine,
}

#[derive(Debug, Serialize)]
pub(crate) struct PolicyReport {
    pub(crate) source: PolicySource,
    pub(crate) words: Vec<String>,
    max_age_seconds: Option<u64>,
    compress_after_seconds: Option<u64>,
    abandon_idle_seconds: Option<u64>,
    trigger_limits: BTreeMap<String, Limit>,
    keep_last: Option<Limit>,
    keep_within_seconds: Option<u64>,
    keep_triggers: BTreeMap<String, Limit>,
    workflows: Vec<WorkflowId>,
    statuses: Vec<WorkflowStatus>,
    previous_runs: Option<Limit>,
    failed_for_seconds: Option<u64>,
    max_size_bytes: Option<u64>,
    pub(crate) purge: bool,
}

impl PolicyReport {
    pub(crate) fn new(policy: &Policy, source: PolicySource) -> Self {
        let (limits, compress_after) = match &policy.rules {
            Rules::Configured { triggers, compress_after, .. } => (triggers.0.clone(), *compress_after),
            Rules::MaxAge(_) | Rules::Everything => (BTreeMap::new(), None),
        };
        Self {
            source,
            words: sentences(policy),
            max_age_seconds: policy.rules.max_age().map(Span::seconds),
            compress_after_seconds: compress_after.map(Span::seconds),
            abandon_idle_seconds: policy.abandon_idle.map(Span::seconds),
            trigger_limits: limits,
            keep_last: policy.keep.last,
            keep_within_seconds: policy.keep.within.map(Span::seconds),
            keep_triggers: policy.keep.triggers.0.clone(),
            workflows: policy.filter.ids.iter().cloned().collect(),
            statuses: policy.filter.statuses.clone(),
            previous_runs: policy.runs.map(|rule| rule.previous_runs),
            failed_for_seconds: policy.runs.map(|rule| rule.failed_for.seconds()),
            max_size_bytes: policy.max_size.map(|size| size.0),
            purge: policy.purge,
        }
    }
}

/// Returns the rules of a policy as sentences.
fn sentences(policy: &Policy) -> Vec<String> {
    let mut lines = Vec::new();
    let older = |span| {
        format!("finished workflows idle for more than {span} go, and what is older in open ones, except the newest")
    };
    match &policy.rules {
        Rules::Configured { triggers, max_age, compress_after } => {
            lines.push(format!("open workflows keep {}", limits(triggers)));
            if let (Some(span), false) = (compress_after, policy.purge) {
                lines.push(format!("of open ones idle for more than {span}, all but the newest are compressed"));
            }
            lines.push("complete ones keep their final checkpoint; failed and abandoned ones go".to_owned());
            lines.extend(max_age.map(older));
        }
        Rules::MaxAge(span) => lines.push(older(*span)),
        Rules::Everything => lines.push("everything goes that no keep rule matches".to_owned()),
    }
    lines.extend(
        policy
            .abandon_idle
            .map(|span| format!("open workflows idle for more than {span} are marked abandoned, and go")),
    );
    let mut kept = Vec::new();
    kept.extend(policy.keep.last.map(|limit| match newest(limit) {
        Some(newest) => format!("{newest} of every workflow"),
        None => "everything".to_owned(),
    }));
    kept.extend(policy.keep.within.map(|span| format!("what is no older than {span}")));
    kept.extend(policy.keep.triggers.0.iter().map(|(trigger, limit)| limited(trigger, *limit)));
    if !kept.is_empty() {
        lines.push(format!("kept: {}", and(&kept)));
    }
    let workflows: Vec<String> = policy.filter.ids.iter().map(ToString::to_string).collect();
    if !workflows.is_empty() {
        lines.push(format!("only {}", and(&workflows)));
    }
    let statuses: Vec<String> = policy.filter.statuses.iter().map(|status| status.word().replace('_', " ")).collect();
    if !statuses.is_empty() {
        lines.push(format!("only what is {}", statuses.join(" or ")));
    }
    lines.extend(policy.max_size.map(|size| format!("the oldest finished workflows go until {size} are left")));
    if policy.purge {
        lines.push("what goes is deleted for good, not archived".to_owned());
    }
    if let Some(RunRule { previous_runs, failed_for }) = policy.runs {
        let kept = match newest(previous_runs) {
            Some(newest) => format!("previous runs of a workflow except {newest}, and "),
            None => String::new(),
        };
        lines.push(format!("deleted for good: {kept}failed and abandoned runs {failed_for} after their last save"));
    }
    lines
}

fn limits(triggers: &TriggerLimits) -> String {
    let limited_ones = triggers.0.iter().filter(|(_, limit)| **limit != Limit::All);
    let words: Vec<String> = limited_ones.map(|(trigger, limit)| limited(trigger, *limit)).collect();
    if words.is_empty() { "everything".to_owned() } else { format!("everything, but only {}", and(&words)) }
}

fn limited(trigger: &str, limit: Limit) -> String {
    let per_phase = if matches!(trigger, "batch_complete" | "agent_complete") { " per phase" } else { "" };
    match newest(limit) {
        None => format!("all {trigger}"),
        Some(newest) => format!("{newest} {trigger}{per_phase}"),
    }
}

/// `the newest`, `the newest 3`; `None` if all are kept.
fn newest(limit: Limit) -> Option<String> {
    match limit {
        Limit::All => None,
        Limit::Newest(count) if count.get() == 1 => Some("the newest".to_owned()),
        Limit::Newest(count) => Some(format!("the newest {count}")),
    }
}
