//! What holds for every snapshot and every policy.

use std::collections::BTreeSet;

use ckpt::core::retention::{
    BundleFacts, CleanupEffect, CleanupPlan, HeadFacts, KeepRules, PolicyError, Snapshot, plan,
};
use ckpt::core::store::BundleName;
use ckpt::core::{ArchiveReason, Handle, Timestamp};
use proptest::prelude::*;

use super::facts::{any_keep, any_policy, any_snapshot, now, plan_or_reject, standing};

fn removed(plan: &CleanupPlan) -> BTreeSet<Handle> {
    plan.leaving().map(|decision| decision.handle.clone()).collect()
}

/// The snapshot as it is after the plan was carried out.
fn after(snapshot: &Snapshot, plan: &CleanupPlan) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for done in &plan.workflows {
        let facts = snapshot.workflows.iter_mut().find(|facts| facts.workflow == done.workflow).unwrap();
        let gone: BTreeSet<u64> = done.leaving().map(|decision| decision.handle.seq).collect();
        facts.checkpoints.retain(|checkpoint| !gone.contains(&checkpoint.seq));
        let old: BTreeSet<&str> = done.expired.iter().map(|bundle| bundle.name.as_str()).collect();
        facts.bundles.retain(|bundle| !old.contains(bundle.name.to_string().as_str()));
        let mut parts: Vec<BundleName> = facts.bundles.iter().map(|bundle| bundle.name.clone()).collect();
        parts.retain(|name| done.merge.contains(&name.to_string()));
        facts.bundles.retain(|bundle| !parts.contains(&bundle.name));
        if let CleanupEffect::Workflow(_) = done.effect {
            let status = done.status.unwrap();
            facts.head = HeadFacts::Seal { status, bundle_missing: false };
            facts.newest += 1;
        }
        if let (Some(first), Some(last), false) = (gone.first(), gone.last(), plan.purge) {
            let name = BundleName::new(*first, *last, now(), &ArchiveReason::Cleanup);
            match (&done.effect, parts.is_empty()) {
                (CleanupEffect::Checkpoints, false) => parts.push(name),
                (removal, _) => {
                    let mergeable = *removal == CleanupEffect::Checkpoints;
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
    snapshot.temporary_files.retain(|leftover| !plan.stale_files.contains(leftover));
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
        let in_scope = snapshot.workflows.iter().filter(|w| policy.filter.matches(&w.workflow, w.head.status()));
        let expected: Vec<Handle> = in_scope
            .flat_map(|w| w.checkpoints.iter().map(|c| Handle::new(&w.workflow, c.seq)))
            .collect();
        let found: Vec<Handle> = plan.decisions().map(|decision| decision.handle.clone()).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(plan.decisions().all(|decision| !decision.reasons.is_empty()));
        for workflow in &plan.workflows {
            let gone = workflow.leaving().count();
            match workflow.effect {
                CleanupEffect::Nothing => prop_assert_eq!(gone, 0),
                CleanupEffect::Checkpoints => prop_assert!(gone > 0 && workflow.leaving().all(|v| v.handle.seq < workflow.newest)),
                CleanupEffect::Workflow(_) => prop_assert_eq!(gone, workflow.decisions.len()),
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
                let open = workflow.head == HeadFacts::Checkpoint(ckpt::core::WorkflowStatus::InProgress);
                let guarded = checkpoint.details.as_ref().is_none_or(|c| c.pinned || c.saved_at > now())
                    || workflow.head == HeadFacts::Unreadable
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
            let made = usize::from(done.effect == CleanupEffect::Checkpoints && !plan.purge);
            prop_assert!(done.merge.is_empty() || done.merge.len() + made > 1);
            for name in &done.merge {
                prop_assert!(done.expired.iter().all(|gone| gone.name != *name));
                let bundle = facts.bundles.iter().find(|bundle| bundle.name.to_string() == *name).unwrap();
                prop_assert!(bundle.mergeable && bundle.name.reason == ArchiveReason::Cleanup);
            }
            // Single checkpoints of an open workflow do not drive each other out.
            let small = |name: &str| facts.bundles.iter().any(|b| b.mergeable && b.name.to_string() == name);
            if facts.bundles.iter().all(|bundle| bundle.mergeable) {
                prop_assert!(done.expired.iter().all(|gone| !small(&gone.name)), "{:#?}", done);
            }
        }
    }

    #[test]
    fn the_bundle_with_the_highest_number_always_stays(snapshot in any_snapshot()) {
        let plan = plan(&snapshot, &standing(), now()).unwrap();
        // Where a bundle is about to be made, that one carries the workflow on.
        let pairs = snapshot.workflows.iter().zip(&plan.workflows);
        for (facts, done) in pairs.filter(|(_, done)| done.effect == CleanupEffect::Nothing) {
            let highest = facts.bundles.iter().map(|bundle| bundle.name.last).max();
            for bundle in facts.bundles.iter().filter(|bundle| Some(bundle.name.last) == highest) {
                prop_assert!(done.expired.iter().all(|gone| gone.name != bundle.name.to_string()));
            }
        }
    }
}
