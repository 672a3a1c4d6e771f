//! Which bundles go.

use super::judge::is_older;
use super::plan::BundleRemoval;
use super::policy::BundleRule;
use super::reason::Reason;
use super::snapshot::{BundleFacts, WorkflowFacts};
use crate::core::reason::ArchiveReason;
use crate::core::time::Timestamp;

/// Bundles in the order in which they expire, the last one first.
pub(super) fn newest_first(bundles: &[BundleFacts]) -> Vec<&BundleFacts> {
    let mut newest_first: Vec<&BundleFacts> = bundles.iter().collect();
    newest_first.sort_by_cached_key(|facts| {
        std::cmp::Reverse((facts.name.at, facts.name.last, facts.name.to_string()))
    });
    newest_first
}

/// The bundles of a workflow that go, the newest first.
///
/// `made` is the highest number in the bundle that this cleanup is about to make, and `merged` are those that become
/// one. Both count as one bundle, so that the next cleanup finds nothing more to do; where the bundle that is made
/// becomes part of the other, they are one. The newest by time, and those with the highest number, always stay: an
/// archived workflow goes on from there.
pub(super) fn expired(
    workflow: &WorkflowFacts,
    made: Option<u64>,
    merged: &[&BundleFacts],
    joins: bool,
    rule: BundleRule,
    now: Timestamp,
) -> Vec<BundleRemoval> {
    let newest_first = newest_first(&workflow.bundles);
    let highest = newest_first.iter().map(|facts| facts.name.last).chain(made).max();
    // What is merged stands where its newest part does.
    let newest_part = if joins && made.is_some() { None } else { merged.first() };
    let mut newer = usize::from(made.is_some());
    let mut going = Vec::new();
    for facts in newest_first {
        if merged.contains(&facts) {
            newer += usize::from(newest_part == Some(&facts));
            continue;
        }
        if newer > 0 && Some(facts.name.last) != highest {
            let reasons = reasons(facts, newer, rule, now);
            if !reasons.is_empty() {
                going.push(BundleRemoval { name: facts.name.to_string(), bytes: facts.bytes, reasons });
            }
        }
        newer += 1;
    }
    going
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
