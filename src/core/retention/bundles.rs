//! The decision about the bundles of one workflow: which are merged, and which expire.
//!
//! Every cleanup of an open workflow writes a bundle, and a save may clean up. These small bundles would soon be the
//! newest ones and push out older history of the same work. So they are merged when there are many, and before any
//! bundle expires because there are too many.

use super::decide::is_older;
use super::plan::ExpiredBundle;
use super::policy::BundleRule;
use super::reason::Reason;
use super::snapshot::{BundleFacts, WorkflowFacts};
use crate::core::reason::ArchiveReason;
use crate::core::time::Timestamp;

/// The size up to which a bundle is small enough to be merged.
const SMALL_BYTES: u64 = 256 << 10;
/// The number of small bundles that are left unmerged.
const MAX_SMALL: usize = 5;
/// The most bytes that one merge reads; the next cleanup merges the rest.
const MAX_MERGE_BYTES: u64 = 4 << 20;

/// The bundle that a cleanup is about to create.
#[derive(Clone, Copy)]
pub(super) struct PlannedBundle {
    /// Its highest number.
    pub(super) last: u64,
    /// True if it holds single checkpoints, so that it joins the bundles that are merged.
    pub(super) mergeable: bool,
}

/// Returns true if a bundle is of the kind that is merged. Its content may still forbid it.
pub(in crate::core) fn is_small(bundle: &BundleFacts) -> bool {
    bundle.name.reason == ArchiveReason::Cleanup && bundle.bytes <= SMALL_BYTES
}

/// Returns true if there are enough small bundles that their content matters.
pub(in crate::core) fn may_merge(bundles: &[BundleFacts]) -> bool {
    bundles.iter().filter(|bundle| is_small(bundle)).count() > 1
}

fn newest_first(bundles: &[BundleFacts]) -> Vec<&BundleFacts> {
    let mut sorted: Vec<&BundleFacts> = bundles.iter().collect();
    sorted.sort_by_cached_key(|bundle| {
        std::cmp::Reverse((bundle.name.at, bundle.name.last, bundle.name.to_string()))
    });
    sorted
}

/// Returns the highest number in a bundle, the new one included.
fn highest_number(workflow: &WorkflowFacts, new: Option<PlannedBundle>) -> Option<u64> {
    workflow.bundles.iter().map(|bundle| bundle.name.last).chain(new.map(|new| new.last)).max()
}

/// Returns the bundles to merge, newest first, together with a mergeable new bundle.
pub(super) fn merged(
    workflow: &WorkflowFacts,
    new: Option<PlannedBundle>,
    rule: Option<BundleRule>,
    now: Timestamp,
) -> Vec<&BundleFacts> {
    let created = usize::from(new.is_some());
    let highest = highest_number(workflow, new);
    let mut all = newest_first(&workflow.bundles);
    // Bundles that expire by age do not count, or the next cleanup would merge what this one did not.
    if let Some(rule) = rule {
        all.retain(|bundle| Some(bundle.name.last) == highest || !is_aged(bundle, rule, now));
    }
    let joins = new.is_some_and(|new| new.mergeable);
    let stays = |newer: usize| rule.is_none_or(|rule| rule.newest.admits(newer));
    let is_candidate = |bundle: &BundleFacts| bundle.mergeable && is_small(bundle);
    let small: Vec<&BundleFacts> = all.iter().copied().filter(|bundle| is_candidate(bundle)).collect();
    let count = small.len() + usize::from(joins);
    // Merging bundles that all exceed the limit would be wasted: the result expires as well.
    let newest_small = all.iter().position(|bundle| is_candidate(bundle));
    let result_stays = joins || newest_small.is_some_and(|newer| stays(newer + created));
    let too_many = !stays((all.len() + created).saturating_sub(1));
    if count < 2 || !result_stays || (count <= MAX_SMALL && !too_many) {
        return Vec::new();
    }
    let mut bytes = 0_u64;
    let fits = |bundle: &&BundleFacts| {
        bytes = bytes.saturating_add(bundle.bytes);
        bytes <= MAX_MERGE_BYTES
    };
    small.into_iter().take_while(fits).collect()
}

/// Returns the bundles that expire, newest first.
///
/// The new bundle and the merged one count, so that the next cleanup finds nothing to do. Bundles with the highest
/// number never expire: an archived workflow continues from them.
pub(super) fn expired(
    workflow: &WorkflowFacts,
    new: Option<PlannedBundle>,
    merged: &[&BundleFacts],
    rule: BundleRule,
    now: Timestamp,
) -> Vec<ExpiredBundle> {
    let highest = highest_number(workflow, new);
    // The merged bundle takes the position of its newest part, which is the new bundle if that is one.
    let merged_position = if new.is_some_and(|new| new.mergeable) { None } else { merged.first() };
    let mut newer = usize::from(new.is_some());
    let mut expired = Vec::new();
    for bundle in newest_first(&workflow.bundles) {
        if merged.contains(&bundle) {
            newer += usize::from(merged_position == Some(&bundle));
            continue;
        }
        if Some(bundle.name.last) != highest {
            let reasons = reasons(bundle, newer, rule, now);
            if !reasons.is_empty() {
                expired.push(ExpiredBundle { name: bundle.name.to_string(), bytes: bundle.bytes, reasons });
            }
        }
        newer += 1;
    }
    expired
}

fn reasons(bundle: &BundleFacts, newer: usize, rule: BundleRule, now: Timestamp) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if !rule.newest.admits(newer) {
        reasons.push(Reason::BundleBeyond(rule.newest));
    }
    if is_aged(bundle, rule, now) {
        reasons.push(Reason::BundleOlderThan(rule.failed_for));
    }
    reasons
}

fn is_aged(bundle: &BundleFacts, rule: BundleRule, now: Timestamp) -> bool {
    let failed = matches!(bundle.name.reason, ArchiveReason::Failed | ArchiveReason::Abandoned);
    failed && is_older(bundle.name.at, rule.failed_for, now)
}
