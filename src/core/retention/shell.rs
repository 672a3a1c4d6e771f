//! Whether the directory of an archived workflow goes.

use super::judge::is_older;
use super::plan::{Removal, WorkflowPlan};
use super::snapshot::{COMPACTING, Leftover, Place, SealBundle, Snapshot, Standing, WorkflowFacts};
use crate::core::span::Span;
use crate::core::time::Timestamp;

/// How long an archived workflow keeps its directory.
const COMPACTED_AFTER: Span = Span::from_days(1);

/// Whether the directory goes: nothing of the workflow stays in it, the archive holds its seal or will, nobody is
/// writing there, and it was sealed more than a day ago.
///
/// `swept` are the files of writers that go too.
pub(super) fn goes(
    facts: &WorkflowFacts,
    plan: &WorkflowPlan,
    snapshot: &Snapshot,
    swept: &[Leftover],
    now: Timestamp,
) -> bool {
    let Some(shell) = facts.shell.filter(|shell| !shell.has_strangers) else { return false };
    let archived = match facts.standing {
        // Where there is no bundle, because it was purged, one is made for the seal.
        Standing::Sealed { bundle: SealBundle::There | SealBundle::Purged, .. } => true,
        Standing::Sealed { bundle: SealBundle::Missing, .. } => matches!(plan.removal, Removal::Whole(_)),
        Standing::Live(_) | Standing::Unknown => false,
    };
    let old = |sealed_at| is_older(now.seconds_since(sealed_at), COMPACTED_AFTER);
    let place = Place::Workflow(facts.workflow.clone());
    let writing = |leftover: &&Leftover| {
        let compacting = leftover.name.starts_with(COMPACTING) && leftover.name.ends_with(".json");
        leftover.place == place && !compacting && !swept.contains(leftover)
    };
    archived
        && shell.sealed_at.is_none_or(old)
        && plan.verdicts.iter().all(|verdict| !verdict.keep)
        && !snapshot.leftovers.iter().any(|leftover| writing(&leftover))
}
