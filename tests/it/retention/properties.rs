//! Properties of every snapshot and every policy.

use std::collections::BTreeSet;

use ckpt_model::retention::{
    BundleFacts, CleanupEffect, CleanupPlan, HeadFacts, KeepRules, PolicyError, Snapshot, plan,
};
use ckpt_model::{ArchiveReason, Handle, WorkflowStatus};
use ckpt_store::BundleName;
use proptest::prelude::*;

use ckpt::facts::{any_keep, any_policy, any_snapshot, now, plan_or_reject};

fn removed(plan: &CleanupPlan) -> BTreeSet<Handle> {
    plan.leaving().map(|decision| decision.handle.clone()).collect()
}

/// The snapshot as it is after the plan was carried out.
fn after(snapshot: &Snapshot, plan: &CleanupPlan) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for done in &plan.workflows {
        let facts = snapshot.workflows.iter_mut().find(|facts| facts.workflow == done.workflow).unwrap();
        let expired: Vec<&String> = done.expired.iter().flat_map(|run| &run.bundles).collect();
        facts.bundles.retain(|bundle| !expired.contains(&&bundle.name.to_string()));
        for decision in done.leaving().filter(|decision| !decision.delete) {
            let seq = decision.handle.seq;
            let left = facts.checkpoints.iter().find(|checkpoint| checkpoint.seq == seq).unwrap();
            let details = left.details.as_ref().unwrap();
            let reason = match &done.effect {
                CleanupEffect::Workflow(reason) if details.run == facts.run => reason,
                _ => &ArchiveReason::Cleanup,
            };
            // What archiving ends has ended now.
            let ended_now = done.status == Some(WorkflowStatus::InProgress) && *reason == ArchiveReason::Abandoned;
            let saved_at = if ended_now { now() } else { details.saved_at };
            let name = BundleName::new(details.run, (seq, seq), saved_at, reason);
            facts.bundles.push(BundleFacts { name, bytes: 1 });
        }
        let gone: BTreeSet<u64> = done.leaving().map(|decision| decision.handle.seq).collect();
        facts.checkpoints.retain(|checkpoint| !gone.contains(&checkpoint.seq));
        if let CleanupEffect::Workflow(reason) = &done.effect {
            let status = WorkflowStatus::archived_as(reason).unwrap_or(done.status.unwrap());
            facts.head = HeadFacts::Seal(status, now());
            facts.newest += 1;
        } else if done.expired.iter().any(|run| run.last == done.newest) {
            facts.newest += 1;
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
                let open = workflow.head == HeadFacts::Checkpoint(ckpt_model::WorkflowStatus::InProgress);
                let guarded = checkpoint.details.as_ref().is_none_or(|c| c.pinned || c.saved_at > now())
                    || workflow.head == HeadFacts::Unreadable
                    || (open && policy.abandon_idle.is_none() && checkpoint.seq == workflow.newest);
                prop_assert!(!guarded || !gone.contains(&Handle::new(&workflow.workflow, checkpoint.seq)));
            }
        }
    }

    #[test]
    fn a_run_goes_as_a_whole_or_not_at_all(snapshot in any_snapshot(), policy in any_policy()) {
        let plan = plan_or_reject(&snapshot, &policy)?;
        for done in &plan.workflows {
            let facts = snapshot.workflows.iter().find(|facts| facts.workflow == done.workflow).unwrap();
            for run in &done.expired {
                let of_run = |bundle: &&BundleFacts| bundle.name.run == run.first;
                let all: Vec<String> = facts.bundles.iter().filter(of_run).map(|b| b.name.to_string()).collect();
                prop_assert_eq!(&run.bundles, &all);
                prop_assert!(!run.reasons.is_empty());
                prop_assert!(done.decisions.iter().all(|d| !run.contains(d.handle.seq) || d.delete));
            }
            // What a checkpoint that stays continues, stays too.
            let newest_stays = done.decisions.iter().any(|d| d.keep && d.handle.seq >= facts.run);
            prop_assert!(!newest_stays || done.expired.iter().all(|run| run.first != facts.run));
        }
    }

    #[test]
    fn without_a_rule_for_runs_nothing_is_deleted(snapshot in any_snapshot(), mut policy in any_policy()) {
        policy.runs = None;
        policy.purge = false;
        let plan = plan_or_reject(&snapshot, &policy)?;
        prop_assert_eq!(plan.expired_runs().count(), 0);
        prop_assert!(plan.decisions().all(|decision| !decision.delete));
    }
}
