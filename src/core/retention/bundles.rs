//! Which bundles go.

use super::judge::is_older;
use super::plan::BundleRemoval;
use super::policy::BundleRule;
use super::reason::Reason;
use super::snapshot::{BundleFacts, WorkflowFacts};
use crate::core::reason::ArchiveReason;
use crate::core::time::Timestamp;

/// The bundles of a workflow that go, the newest first.
///
/// `made` is the highest number in the bundle that this cleanup is about to make. It counts, so that the next cleanup
/// finds nothing more to do. The newest by time, and those with the highest number, always stay: an archived workflow
/// goes on from there.
pub(super) fn expired(
    workflow: &WorkflowFacts,
    made: Option<u64>,
    rule: BundleRule,
    now: Timestamp,
) -> Vec<BundleRemoval> {
    let mut newest_first: Vec<&BundleFacts> = workflow.bundles.iter().collect();
    newest_first.sort_by_cached_key(|facts| {
        std::cmp::Reverse((facts.name.at, facts.name.last, facts.name.to_string()))
    });
    let highest = newest_first.iter().map(|facts| facts.name.last).chain(made).max();
    let before = usize::from(made.is_some());
    newest_first
        .into_iter()
        .enumerate()
        .filter(|(newer, facts)| newer + before > 0 && Some(facts.name.last) != highest)
        .filter_map(|(newer, facts)| {
            let reasons = reasons(facts, newer + before, rule, now);
            let removal = BundleRemoval { name: facts.name.to_string(), bytes: facts.bytes, reasons };
            (!removal.reasons.is_empty()).then_some(removal)
        })
        .collect()
}

fn reasons(facts: &BundleFacts, newer: usize, rule: BundleRule, now: Timestamp) -> Vec<Reason> {
    let beyond = (!rule.newest.admits(newer)).then_some(Reason::BundleBeyond(rule.newest));
    beyond.into_iter().chain(by_age(facts, rule, now)).collect()
}

fn by_age(facts: &BundleFacts, rule: BundleRule, now: Timestamp) -> Option<Reason> {
    let failed = matches!(facts.name.reason, ArchiveReason::Failed | ArchiveReason::Abandoned);
    let older = is_older(now.seconds_since(facts.name.at), rule.failed_for);
    (failed && older).then_some(Reason::BundleOlderThan(rule.failed_for))
}
