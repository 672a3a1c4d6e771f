//! Which bundles become one.
//!
//! Every cleanup of an open workflow makes a bundle, and a save may clean up. Left alone, these small bundles would be
//! many, and the newest few of them would drive out the others, although all of them are the history of one piece of
//! work. So they are merged when there are many, and before any bundle would go because there are too many.

use super::bundles::newest_first;
use super::policy::BundleRule;
use super::snapshot::{BundleFacts, WorkflowFacts};
use crate::core::reason::ArchiveReason;

/// A larger bundle is worth its file, and is not written again.
const SMALL: u64 = 256 << 10;
/// How many small ones there may be.
const MOST_SMALL: usize = 5;
/// No more than this becomes one bundle at once; the rest waits for the next time.
const MOST_BYTES: u64 = 4 << 20;

/// Whether a bundle is one of those that are merged. Whether its content allows it is another question.
pub(in crate::core) fn is_small(facts: &BundleFacts) -> bool {
    facts.name.reason == ArchiveReason::Cleanup && facts.bytes <= SMALL
}

/// Whether a workflow has so many bundles that it matters which of them can be merged.
pub(in crate::core) fn may_be_due(bundles: &[BundleFacts]) -> bool {
    bundles.iter().filter(|facts| is_small(facts)).count() > 1
}

/// The bundles that become one, the newest first; none if nothing is to be done.
///
/// `makes_one` says that this cleanup makes a bundle of single checkpoints, which becomes part of it, and `makes_any`
/// that it makes any.
pub(super) fn merged(
    workflow: &WorkflowFacts,
    makes_one: bool,
    makes_any: bool,
    rule: Option<BundleRule>,
) -> Vec<&BundleFacts> {
    let all = newest_first(&workflow.bundles);
    let made = usize::from(makes_any);
    let small: Vec<(usize, &BundleFacts)> = all
        .iter()
        .enumerate()
        .filter(|(_, facts)| facts.mergeable && is_small(facts))
        .map(|(newer, facts)| (newer + made, *facts))
        .collect();
    let count = small.len() + usize::from(makes_one);
    let stays = |newer: usize| rule.is_none_or(|rule| rule.newest.admits(newer));
    // What is beyond the limit anyway goes, one by one or as one.
    let newest_stays = makes_one || small.first().is_some_and(|(newer, _)| stays(*newer));
    let too_many = !stays((all.len() + made).saturating_sub(1));
    if count < 2 || !newest_stays || (count <= MOST_SMALL && !too_many) {
        return Vec::new();
    }
    let mut bytes = 0_u64;
    let fits = |facts: &&BundleFacts| {
        bytes = bytes.saturating_add(facts.bytes);
        bytes <= MOST_BYTES
    };
    small.into_iter().map(|(_, facts)| facts).take_while(fits).collect()
}
