//! Snapshots and policies, made up.

use ckpt::core::retention::{
    BundleFacts, CheckpointFacts, Content, KeepRules, Limit, Policy, RetentionSettings, Rules, Scope,
    Snapshot, Standing, TriggerLimits, WorkflowFacts,
};
use ckpt::core::span::Span;
use ckpt::core::store::BundleName;
use ckpt::core::{ArchiveReason, Timestamp, Trigger, WorkflowId, WorkflowStatus};
use proptest::prelude::*;

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
    let content = Content { saved_at: ago(age), trigger, phase: phase.parse().ok(), pinned: false };
    CheckpointFacts { seq, bytes: 100, content: Some(content) }
}

pub(super) fn workflow(
    name: &str,
    status: WorkflowStatus,
    checkpoints: Vec<CheckpointFacts>,
) -> WorkflowFacts {
    WorkflowFacts {
        workflow: id(name),
        newest: checkpoints.last().map_or(0, |newest| newest.seq),
        standing: Standing::Live(status),
        checkpoints,
        bundles: Vec::new(),
    }
}

pub(super) fn snapshot(workflows: Vec<WorkflowFacts>) -> Snapshot {
    Snapshot { workflows, ..Snapshot::default() }
}

pub(super) fn bundle(last: u64, age: i64, reason: &ArchiveReason) -> BundleFacts {
    BundleFacts { name: BundleName::new(last, last, ago(age), reason), bytes: 10, mergeable: false }
}

/// What a store does on its own.
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
    prop::sample::select(Trigger::KNOWN.to_vec())
}

fn any_checkpoint() -> impl Strategy<Value = CheckpointFacts> {
    let phase = prop::sample::select(vec!["a", "b", ""]);
    let flags = (prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let days = prop_oneof![-2_i64..12, Just(7)];
    (days, 0_i64..2, any_trigger(), phase, flags, 1_u64..500).prop_map(
        |(days, more, trigger, phase, (pinned, damaged), bytes)| {
            let mut facts = checkpoint(0, days * DAY + more, trigger, phase);
            facts.bytes = bytes;
            facts.content.as_mut().unwrap().pinned = pinned;
            if damaged {
                facts.content = None;
            }
            facts
        },
    )
}

fn any_workflow() -> impl Strategy<Value = WorkflowFacts> {
    let bundles = prop::collection::vec((1_u64..9, 0_i64..60, prop::bool::ANY, prop::bool::ANY), 0..9);
    (any_status(), prop::collection::vec(any_checkpoint(), 1..12), bundles).prop_map(
        |(status, mut checkpoints, bundles)| {
            for (seq, facts) in (1..).zip(&mut checkpoints) {
                facts.seq = seq;
            }
            let mut facts = workflow("x", status, checkpoints);
            if facts.checkpoints.last().is_some_and(|newest| newest.content.is_none()) {
                facts.standing = Standing::Unknown;
            }
            let reason = |failed| if failed { ArchiveReason::Failed } else { ArchiveReason::Cleanup };
            facts.bundles = bundles
                .into_iter()
                .map(|(last, days, failed, mergeable)| BundleFacts {
                    mergeable: mergeable && !failed,
                    ..bundle(last, days * DAY, &reason(failed))
                })
                .collect();
            facts.bundles.sort_by_key(|bundle| std::cmp::Reverse(bundle.name.to_string()));
            facts.bundles.dedup_by_key(|bundle| bundle.name.to_string());
            facts
        },
    )
}

pub(super) fn any_snapshot() -> impl Strategy<Value = Snapshot> {
    prop::collection::vec(any_workflow(), 0..4).prop_map(|mut workflows| {
        for (number, facts) in workflows.iter_mut().enumerate() {
            facts.workflow = id(&format!("w{number}"));
        }
        snapshot(workflows)
    })
}

pub(super) fn any_keep() -> impl Strategy<Value = KeepRules> {
    let limits = prop::collection::vec((any_trigger(), 1_u32..4), 0..3);
    let last = prop::option::of(1_u32..4);
    let within = prop::option::of(0_u64..10);
    (last, within, limits).prop_map(|(last, within, limits)| KeepRules {
        last: last.map(newest),
        within: within.map(Span::from_days),
        triggers: TriggerLimits(
            limits.into_iter().map(|(trigger, count)| (trigger.word().to_owned(), newest(count))).collect(),
        ),
    })
}

pub(super) fn any_policy() -> impl Strategy<Value = Policy> {
    let rules = prop_oneof![
        Just(standing().rules),
        (0_u64..10).prop_map(|days| Rules::MaxAge(Span::from_days(days))),
        (0_u64..10).prop_map(|days| Rules::Standing {
            triggers: TriggerLimits::standard(),
            max_age: Some(Span::from_days(days))
        }),
        Just(Rules::Everything),
    ];
    let size = prop::option::of(0_u64..3000);
    let statuses = prop::collection::vec(any_status(), 0..2);
    (rules, any_keep(), size, statuses, prop::bool::ANY).prop_map(|(rules, keep, size, statuses, purge)| {
        Policy {
            rules,
            keep,
            scope: Scope { statuses, ..Scope::default() },
            max_size: size.map(ckpt::core::size::Size),
            purge,
            ..standing()
        }
    })
}
