//! What holds for every snapshot and every policy.

use std::collections::BTreeSet;

use ckpt::core::retention::{
    BundleFacts, CleanupPlan, KeepRules, PolicyError, Removal, Snapshot, Standing, plan,
};
use ckpt::core::store::BundleName;
use ckpt::core::{ArchiveReason, Handle, Timestamp};
use proptest::prelude::*;

use super::facts::{any_keep, any_policy, any_snapshot, now, plan_or_reject, standing};

fn removed(plan: &CleanupPlan) -> BTreeSet<Handle> {
    plan.removed().map(|verdict| verdict.handle.clone()).collect()
}

/// The snapshot as it is after the plan was carried out.
fn after(snapshot: &Snapshot, plan: &CleanupPlan) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for done in &plan.workflows {
        let facts = snapshot.workflows.iter_mut().find(|facts| facts.workflow == done.workflow).unwrap();
        let gone: BTreeSet<u64> = done.removed().map(|verdict| verdict.handle.seq).collect();
        facts.checkpoints.retain(|checkpoint| !gone.contains(&checkpoint.seq));
        let old: BTreeSet<&str> = done.bundles.iter().map(|bundle| bundle.name.as_str()).collect();
        facts.bundles.retain(|bundle| !old.contains(bundle.name.to_string().as_str()));
        let mut parts: Vec<BundleName> = facts.bundles.iter().map(|bundle| bundle.name.clone()).collect();
        parts.retain(|name| done.merge.contains(&name.to_string()));
        facts.bundles.retain(|bundle| !parts.contains(&bundle.name));
        if let Removal::Whole(_) = done.removal {
            let status = done.status.unwrap();
            facts.standing = Standing::Sealed { status, bundle_missing: false };
            facts.newest += 1;
        }
        if let (Some(first), Some(last), false) = (gone.first(), gone.last(), plan.purge) {
            let name = BundleName::new(*first, *last, now(), &ArchiveReason::Cleanup);
            match (&done.removal, parts.is_empty()) {
                (Removal::Some, false) => parts.push(name),
                (removal, _) => {
                    let mergeable = *removal == Removal::Some;
                    facts.bundles.push(BundleFacts { name, bytes: 1, mergeable });
                }
            }
        }
        if let (Some(first), Some(last), Some(at)) = (
            parts.iter().map(|name| name.first).min(),
            parts.iter().map(|name| name.last).max(),
            parts.iter().map(|name| name.at).max(),
        ) {
            let later = Timestamp::new(at.to_chrono() + chrono::TimeDelta::seconds(1));
            let name = BundleName::new(first, last, later, &ArchiveReason::Cleanup);
            facts.bundles.push(BundleFacts { name, bytes: 1, mergeable: true });
        }
        facts.bundles.sort_by_key(|bundle| std::cmp::Reverse(bundle.name.last));
    }
    snapshot.leftovers.retain(|leftover| !plan.leftovers.contains(leftover));
    snapshot
}

fn with(a: &KeepRules, b: &KeepRules) -> KeepRules {
    let mut both = a.clone();
    both.last = a.last.max(b.last);
    both.within = a.within.max(b.within);
    for (trigger, limit) in &b.triggers.0 {
        let entry = both.triggers.0.entry(trigger.clone()).or_insert(*limit);
        *entry = (*entry).max(*limit);
    }
    both
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_checkpoint_in_scope_has_one_verdict_with_reasons(snapshot in any_snapshot(), policy in any_policy()) {
        let plan = plan_or_reject(&snapshot, &policy)?;
        let in_scope = snapshot.workflows.iter().filter(|w| policy.scope.covers(&w.workflow, w.standing.status()));
        let expected: Vec<Handle> = in_scope
            .flat_map(|w| w.checkpoints.iter().map(|c| Handle::new(&w.workflow, c.seq)))
            .collect();
        let found: Vec<Handle> = plan.verdicts().map(|verdict| verdict.handle.clone()).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(plan.verdicts().all(|verdict| !verdict.reasons.is_empty()));
        for workflow in &plan.workflows {
            let gone = workflow.removed().count();
            match workflow.removal {
                Removal::Nothing => prop_assert_eq!(gone, 0),
                Removal::Some => prop_assert!(gone > 0 && workflow.removed().all(|v| v.handle.seq < workflow.newest)),
                Removal::Whole(_) => prop_assert_eq!(gone, workflow.verdicts.len()),
            }
        }
    }

    #[test]
    fn planning_again_after_it_was_done_finds_nothing(snapshot in any_snapshot(), policy in any_policy()) {
        let first = plan_or_reject(&snapshot, &policy)?;
        let again = plan(&after(&snapshot, &first), &policy, now()).unwrap();
        prop_assert!(again.is_empty(), "{:#?}", again);
    }

    #[test]
    fn adding_a_keep_rule_never_removes_more(snapshot in any_snapshot(), policy in any_policy(), more in any_keep()) {
        let before = plan_or_reject(&snapshot, &policy)?;
        let mut stricter = policy.clone();
        stricter.keep = with(&policy.keep, &more);
        match plan(&snapshot, &stricter, now()) {
            Ok(after) => prop_assert!(removed(&after).is_subset(&removed(&before))),
            Err(error) => prop_assert_ne!(error, PolicyError::Empty),
        }
    }

    #[test]
    fn fingerprints_are_equal_exactly_when_plans_are(
        a in any_snapshot(), b in any_snapshot(), p in any_policy(), q in any_policy()
    ) {
        let plans: Vec<CleanupPlan> = [(&a, &p), (&a, &q), (&b, &p), (&a, &p)]
            .into_iter()
            .filter_map(|(snapshot, policy)| plan(snapshot, policy, now()).ok())
            .collect();
        for one in &plans {
            for other in &plans {
                prop_assert_eq!(one == other, one.fingerprint() == other.fingerprint());
            }
        }
    }

    #[test]
    fn guarded_ones_always_stay(snapshot in any_snapshot(), policy in any_policy()) {
        let plan = plan_or_reject(&snapshot, &policy)?;
        let gone = removed(&plan);
        for workflow in &snapshot.workflows {
            for checkpoint in &workflow.checkpoints {
                let open = workflow.standing == Standing::Live(ckpt::core::WorkflowStatus::InProgress);
                let guarded = checkpoint.content.as_ref().is_none_or(|c| c.pinned || c.saved_at > now())
                    || workflow.standing == Standing::Unknown
                    || (open && checkpoint.seq == workflow.newest);
                prop_assert!(!guarded || !gone.contains(&Handle::new(&workflow.workflow, checkpoint.seq)));
            }
        }
    }

    #[test]
    fn what_is_merged_does_not_expire_and_is_more_than_one(snapshot in any_snapshot(), policy in any_policy()) {
        let plan = plan_or_reject(&snapshot, &policy)?;
        for (workflow, done) in plan.workflows.iter().map(|done| (&done.workflow, done)) {
            let facts = snapshot.workflows.iter().find(|facts| facts.workflow == *workflow).unwrap();
            let made = usize::from(done.removal == Removal::Some && !plan.purge);
            prop_assert!(done.merge.is_empty() || done.merge.len() + made > 1);
            for name in &done.merge {
                prop_assert!(done.bundles.iter().all(|gone| gone.name != *name));
                let bundle = facts.bundles.iter().find(|bundle| bundle.name.to_string() == *name).unwrap();
                prop_assert!(bundle.mergeable && bundle.name.reason == ArchiveReason::Cleanup);
            }
            // Single checkpoints of an open workflow do not drive each other out.
            let small = |name: &str| facts.bundles.iter().any(|b| b.mergeable && b.name.to_string() == name);
            if facts.bundles.iter().all(|bundle| bundle.mergeable) {
                prop_assert!(done.bundles.iter().all(|gone| !small(&gone.name)), "{:#?}", done);
            }
        }
    }

    #[test]
    fn the_bundle_with_the_highest_number_always_stays(snapshot in any_snapshot()) {
        let plan = plan(&snapshot, &standing(), now()).unwrap();
        // Where a bundle is about to be made, that one carries the workflow on.
        let pairs = snapshot.workflows.iter().zip(&plan.workflows);
        for (facts, done) in pairs.filter(|(_, done)| done.removal == Removal::Nothing) {
            let highest = facts.bundles.iter().map(|bundle| bundle.name.last).max();
            for bundle in facts.bundles.iter().filter(|bundle| Some(bundle.name.last) == highest) {
                prop_assert!(done.bundles.iter().all(|gone| gone.name != bundle.name.to_string()));
            }
        }
    }
}
