//! Snapshots and policies, made up.

use ckpt_model::retention::{
    BundleFacts, CheckpointDetails, CheckpointFacts, CleanupEffect, CleanupPlan, HeadFacts, KeepRules, Limit, Policy,
    RetentionSettings, Rules, Snapshot, TriggerLimits, WorkflowFacts, WorkflowFilter, WorkflowPlan, plan,
};
use ckpt_model::span::Span;
use ckpt_model::{ArchiveReason, Timestamp, Trigger, WorkflowId, WorkflowStatus};
use ckpt_store::BundleName;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

pub(super) const DAY: i64 = 24 * 3600;

pub(super) fn id(text: &str) -> WorkflowId {
    text.parse().unwrap()
}

pub(super) fn now() -> Timestamp {
    Timestamp::parse("2026-06-30T12:00:00Z").unwrap()
}

pub(super) fn ago(seconds: i64) -> Timestamp {
    Timestamp::new(now().to_chrono() - chrono::TimeDelta::seconds(seconds))
}

/// A checkpoint saved so many seconds ago.
pub(super) fn checkpoint(seq: u64, age: i64, trigger: Trigger, phase: &str) -> CheckpointFacts {
    let phase = phase.parse().ok();
    let details = CheckpointDetails { run: 1, saved_at: ago(age), trigger, phase, pinned: false };
    CheckpointFacts { seq, bytes: 100, details: Some(details) }
}

pub(super) fn workflow(name: &str, status: WorkflowStatus, checkpoints: Vec<CheckpointFacts>) -> WorkflowFacts {
    WorkflowFacts {
        workflow: id(name),
        newest: checkpoints.last().map_or(0, |newest| newest.seq),
        head: HeadFacts::Checkpoint(status),
        run: 1,
        checkpoints,
        bundles: Vec::new(),
    }
}

pub(super) fn snapshot(workflows: Vec<WorkflowFacts>) -> Snapshot {
    Snapshot { workflows, ..Snapshot::default() }
}

/// A bundle of the run that begins with `run`, last saved so many seconds ago.
pub(super) fn bundle(run: u64, numbers: (u64, u64), age: i64, reason: &ArchiveReason) -> BundleFacts {
    BundleFacts { name: BundleName::new(run, numbers, ago(age), reason), bytes: 10 }
}

/// The automatic actions of a store.
pub(super) fn standing() -> Policy {
    RetentionSettings::default().policy()
}

pub(super) fn max_age(days: u64) -> Policy {
    Policy { rules: Rules::MaxAge(Span::from_days(days)), ..standing() }
}

pub(super) fn keeping(keep: KeepRules) -> Policy {
    Policy { rules: Rules::Everything, keep, ..standing() }
}

pub(super) fn newest(count: u32) -> Limit {
    Limit::newest(count).unwrap()
}

fn any_status() -> impl Strategy<Value = WorkflowStatus> {
    prop::sample::select(WorkflowStatus::ALL.to_vec())
}

fn any_trigger() -> impl Strategy<Value = Trigger> {
    prop::sample::select(Trigger::OF_SAVES.to_vec())
}

fn any_checkpoint() -> impl Strategy<Value = CheckpointFacts> {
    let phase = prop::sample::select(vec!["a", "b", ""]);
    let flags = (prop::bool::weighted(0.05), prop::bool::weighted(0.05));
    let days = prop_oneof![1 => -2_i64..0, 12 => 0_i64..30, 1 => Just(7)];
    (days, 0_i64..2, any_trigger(), phase, flags, 1_u64..500).prop_map(
        |(days, more, trigger, phase, (pinned, damaged), bytes)| {
            let mut facts = checkpoint(0, days * DAY + more, trigger, phase);
            facts.bytes = bytes;
            facts.details.as_mut().unwrap().pinned = pinned;
            if damaged {
                facts.details = None;
            }
            facts
        },
    )
}

/// How many numbers each previous run has.
pub(super) const RUN: u64 = 10;

/// A run before the newest one: how it ended, how many days ago, and whether its first checkpoint was restored.
fn any_previous_run() -> impl Strategy<Value = (ArchiveReason, i64, bool)> {
    let reason = prop::sample::select(vec![
        ArchiveReason::Completed,
        ArchiveReason::Restarted,
        ArchiveReason::Failed,
        ArchiveReason::Abandoned,
    ]);
    (reason, 0_i64..60, prop::bool::weighted(0.1))
}

/// A workflow with any number of previous runs, in two bundles each, and a newest run that is live, in part or whole.
fn any_workflow() -> impl Strategy<Value = WorkflowFacts> {
    let previous = prop::collection::vec(any_previous_run(), 0..9);
    let newest = (any_status(), prop::collection::vec(any_checkpoint(), 1..16), 0_u64..3);
    (previous, newest, prop::option::weighted(0.2, 0_i64..60)).prop_map(
        |(previous, (status, mut checkpoints, cleaned), sealed)| {
            let mut restored_ones = Vec::new();
            let mut bundles = Vec::new();
            let mut run = 1;
            for (reason, days, restored) in previous {
                bundles.push(bundle(run, (run, run + 4), (days + 1) * DAY, &ArchiveReason::Cleanup));
                bundles.push(bundle(run, (run + 5, run + RUN - 2), days * DAY, &reason));
                if restored {
                    let mut facts = checkpoint(run, (days + 1) * DAY, Trigger::UserInterrupt, "a");
                    facts.details.as_mut().unwrap().run = run;
                    restored_ones.push(facts);
                }
                run += RUN;
            }
            for (seq, facts) in (run + cleaned..).zip(&mut checkpoints) {
                facts.seq = seq;
                if let Some(details) = &mut facts.details {
                    details.run = run;
                }
            }
            if cleaned > 0 {
                bundles.push(bundle(run, (run, run + cleaned - 1), 50 * DAY, &ArchiveReason::Cleanup));
            }
            let mut facts = workflow("x", status, checkpoints);
            facts.run = run;
            if facts.checkpoints.last().is_some_and(|newest| newest.details.is_none()) {
                facts.head = HeadFacts::Unreadable;
            } else if let Some(days) = sealed {
                // Archived as a whole.
                let reason = status.archive_reason().unwrap_or(ArchiveReason::Restarted);
                bundles.push(bundle(run, (run + cleaned, facts.newest), days * DAY, &reason));
                facts.checkpoints.clear();
                facts.newest += 1;
                facts.head = HeadFacts::Seal(status, ago(days * DAY));
            }
            facts.checkpoints.splice(0..0, restored_ones);
            bundles.reverse();
            facts.bundles = bundles;
            facts
        },
    )
}

pub(super) fn any_snapshot() -> impl Strategy<Value = Snapshot> {
    prop::collection::vec(any_workflow(), 0..6).prop_map(|mut workflows| {
        for (number, facts) in workflows.iter_mut().enumerate() {
            facts.workflow = id(&format!("w{number}"));
        }
        snapshot(workflows)
    })
}

/// Any keep rules, often none: each rule added keeps more, and a rule that matches nothing makes a policy invalid.
pub(super) fn any_keep() -> impl Strategy<Value = KeepRules> {
    let limits = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec((any_trigger(), 1_u32..4), 1..3),
    ];
    let last = prop::option::weighted(0.3, 1_u32..4);
    let within = prop::option::weighted(0.2, 0_u64..10);
    (last, within, limits).prop_map(|(last, within, limits)| KeepRules {
        last: last.map(newest),
        within: within.map(Span::from_days),
        triggers: TriggerLimits(
            limits.into_iter().map(|(trigger, count)| (trigger.word().to_owned(), newest(count))).collect(),
        ),
    })
}

/// Any policy that has a rule.
pub(super) fn any_policy() -> impl Strategy<Value = Policy> {
    let rules = prop_oneof![
        Just(standing().rules),
        (0_u64..20).prop_map(|days| Rules::MaxAge(Span::from_days(days))),
        (0_u64..20).prop_map(|days| Rules::Configured {
            triggers: TriggerLimits::standard(),
            max_age: Some(Span::from_days(days)),
            compress_after: Some(Span::from_days(2 * days)),
        }),
        Just(Rules::Everything),
    ];
    let size = prop::option::weighted(0.3, 0_u64..3000);
    let statuses = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(any_status(), 1..3)];
    let idle = prop::option::weighted(0.3, (0_u64..40).prop_map(Span::from_days));
    (rules, any_keep(), size, statuses, prop::bool::ANY, idle).prop_map(
        |(rules, mut keep, size, statuses, purge, abandon_idle)| {
            if rules == Rules::Everything && keep.is_empty() {
                keep.last = Some(newest(1));
            }
            Policy {
                rules,
                keep,
                filter: WorkflowFilter { statuses, ..WorkflowFilter::default() },
                max_size: size.map(ckpt_model::size::Size),
                purge,
                abandon_idle,
                ..standing()
            }
        },
    )
}

/// Plans, or rejects the generated case: one of its keep rules matches no checkpoint.
pub(super) fn plan_or_reject(snapshot: &Snapshot, policy: &Policy) -> Result<CleanupPlan, TestCaseError> {
    plan(snapshot, policy, now()).map_err(|error| TestCaseError::reject(error.to_string()))
}

/// The properties say little about plans that keep everything, so most generated plans must not.
#[test]
fn most_generated_plans_remove_something() {
    const CASES: usize = 500;
    let mut runner = TestRunner::deterministic();
    let cases = (any_snapshot(), any_policy());
    let (mut valid, mut removing, mut partly, mut wholly, mut expiring) = (0, 0, 0, 0, 0);
    for _ in 0..CASES {
        let (snapshot, policy) = cases.new_tree(&mut runner).unwrap().current();
        let Ok(plan) = plan(&snapshot, &policy, now()) else { continue };
        let any = |test: &dyn Fn(&WorkflowPlan) -> bool| usize::from(plan.workflows.iter().any(test));
        valid += 1;
        removing += usize::from(plan.leaving().next().is_some());
        partly += any(&|workflow| workflow.effect == CleanupEffect::Checkpoints);
        wholly += any(&|workflow| matches!(workflow.effect, CleanupEffect::Workflow(_)));
        expiring += any(&|workflow| !workflow.expired.is_empty());
    }
    let counts =
        format!("of {CASES}: {valid} valid, {removing} remove, {partly} partly, {wholly} wholly, {expiring} expire");
    assert!(valid * 4 > CASES * 3, "{counts}");
    assert!(removing * 2 > valid, "{counts}");
    assert!([partly, wholly, expiring].iter().all(|count| count * 10 > valid), "{counts}");
    println!("{counts}");
}
