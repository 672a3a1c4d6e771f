//! One workflow, judged.

use std::collections::BTreeMap;

use super::plan::{Removal, Verdict};
use super::policy::{KeepRules, Policy, Rules, kind};
use super::reason::Reason;
use super::snapshot::{CheckpointFacts, Content, Standing, WorkflowFacts};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::reason::ArchiveReason;
use crate::core::selector::Handle;
use crate::core::span::Span;
use crate::core::time::Timestamp;

/// A checkpoint, and how many newer ones there are: in its workflow, and of its kind.
struct Ranked<'a> {
    facts: &'a CheckpointFacts,
    newer: usize,
    newer_of_kind: usize,
}

/// Decides about every checkpoint of a workflow, and how they leave.
pub(super) fn judge(
    workflow: &WorkflowFacts,
    policy: &Policy,
    keep: &KeepRules,
    now: Timestamp,
) -> (Vec<Verdict>, Removal) {
    let idle = workflow.checkpoints.iter().find(|facts| facts.seq == workflow.newest);
    let idle = idle.and_then(|newest| Some(age(newest.content.as_ref()?, now)));
    let mut verdicts: Vec<Verdict> = ranked(workflow)
        .iter()
        .map(|ranked| {
            let (mut stays, mut goes) = (guards(workflow, ranked.facts, now), Vec::new());
            if let Some(content) = &ranked.facts.content {
                stays.extend(kept(keep, ranked, content, now));
                rules(workflow, &policy.rules, ranked, content, (idle, now), &mut stays, &mut goes);
            }
            let keep = !stays.is_empty() || goes.is_empty();
            Verdict {
                handle: Handle::new(&workflow.workflow, ranked.facts.seq),
                bytes: ranked.facts.bytes,
                keep,
                reasons: match keep {
                    true if stays.is_empty() => vec![Reason::NoRule],
                    true => stays,
                    false => goes,
                },
            }
        })
        .collect();
    let removal = removal(workflow, &mut verdicts);
    (verdicts, removal)
}

/// The checkpoints in the order they have, with their ranks.
fn ranked(workflow: &WorkflowFacts) -> Vec<Ranked<'_>> {
    let mut seen = BTreeMap::new();
    let mut ranked: Vec<Ranked<'_>> = workflow
        .checkpoints
        .iter()
        .rev()
        .enumerate()
        .map(|(newer, facts)| {
            let newer_of_kind = facts.content.as_ref().map_or(0, |content| {
                let count = seen.entry(kind(&content.trigger, content.phase.as_ref())).or_insert(0_usize);
                *count += 1;
                *count - 1
            });
            Ranked { facts, newer, newer_of_kind }
        })
        .collect();
    ranked.reverse();
    ranked
}

/// What no policy overrides.
fn guards(workflow: &WorkflowFacts, facts: &CheckpointFacts, now: Timestamp) -> Vec<Reason> {
    let open = workflow.standing == Standing::Live(WorkflowStatus::InProgress);
    let content = facts.content.as_ref();
    let guards = [
        (open && facts.seq == workflow.newest, Reason::NewestOfOpen),
        (content.is_some_and(|content| content.pinned), Reason::Pinned),
        (content.is_some_and(|content| content.saved_at > now), Reason::Future),
        (content.is_none(), Reason::Unreadable),
        (workflow.standing == Standing::Unknown && facts.seq != workflow.newest, Reason::NewestUnreadable),
    ];
    guards.into_iter().filter(|(applies, _)| *applies).map(|(_, reason)| reason).collect()
}

/// The keep rules that match.
fn kept(keep: &KeepRules, ranked: &Ranked<'_>, content: &Content, now: Timestamp) -> Vec<Reason> {
    let last = keep.last.filter(|limit| limit.admits(ranked.newer)).map(Reason::KeepLast);
    let within = keep.within.filter(|span| !is_older(age(content, now), *span)).map(Reason::KeepWithin);
    let of_kind = keep.triggers.of(&content.trigger).filter(|limit| limit.admits(ranked.newer_of_kind));
    let of_kind = of_kind.map(|limit| Reason::KeepTrigger(content.trigger.clone(), limit));
    [last, within, of_kind].into_iter().flatten().collect()
}

fn rules(
    workflow: &WorkflowFacts,
    rules: &Rules,
    ranked: &Ranked<'_>,
    content: &Content,
    (idle, now): (Option<i64>, Timestamp),
    stays: &mut Vec<Reason>,
    goes: &mut Vec<Reason>,
) {
    let status = match workflow.standing {
        Standing::Live(status) => status,
        Standing::Sealed { .. } => return goes.push(Reason::AlreadyArchived),
        Standing::Unknown => return,
    };
    let open = status == WorkflowStatus::InProgress;
    let max_age = match rules {
        Rules::Everything => return goes.push(Reason::NotKept),
        Rules::MaxAge(span) => Some(*span),
        Rules::Standing { max_age, .. } => *max_age,
    };
    let idle_too_long = max_age.filter(|span| idle.is_some_and(|idle| is_older(idle, *span)));
    match max_age {
        Some(span) if open && is_older(age(content, now), span) => goes.push(Reason::OlderThan(span)),
        Some(span) if !open && idle_too_long.is_some() => goes.push(Reason::IdleFor(status, span)),
        _ => {}
    }
    match (rules, status) {
        (Rules::Standing { triggers, .. }, WorkflowStatus::InProgress) => {
            match triggers.of(&content.trigger) {
                Some(limit) if !limit.admits(ranked.newer_of_kind) => {
                    let phase = kind(&content.trigger, content.phase.as_ref()).1.cloned();
                    goes.push(Reason::BeyondLimit(content.trigger.clone(), limit, phase));
                }
                Some(limit) if goes.is_empty() => {
                    stays.push(Reason::WithinLimit(content.trigger.clone(), limit));
                }
                _ => {}
            }
        }
        (Rules::Standing { .. }, WorkflowStatus::Complete) => {
            match (ranked.facts.seq == workflow.newest, idle_too_long) {
                (false, _) => goes.push(Reason::Finished(status)),
                (true, None) => stays.push(Reason::Final),
                (true, Some(_)) => {}
            }
        }
        (Rules::Standing { .. }, _) => goes.push(Reason::Finished(status)),
        _ => {}
    }
    if let (true, true, Some(span)) = (goes.is_empty(), stays.is_empty(), max_age) {
        stays.push(if open { Reason::Recent(span) } else { Reason::RecentlyActive(span) });
    }
}

/// How what goes leaves; completes the verdicts by what follows from the others.
fn removal(workflow: &WorkflowFacts, verdicts: &mut [Verdict]) -> Removal {
    if verdicts.iter().all(|verdict| verdict.keep) {
        return Removal::Nothing;
    }
    let whole = verdicts.iter().all(|verdict| !verdict.keep);
    match workflow.standing {
        // A bundle that is there may expire; what came back from it since is archived anew.
        Standing::Live(status) | Standing::Sealed { bundle_missing: true, status } if whole => {
            Removal::Whole(reason(status))
        }
        Standing::Live(_) => {
            let newest = verdicts.iter_mut().find(|verdict| verdict.handle.seq == workflow.newest);
            if let Some(newest) = newest.filter(|newest| !newest.keep) {
                newest.keep = true;
                newest.reasons = vec![Reason::NewestOfKept];
            }
            if verdicts.iter().all(|verdict| verdict.keep) { Removal::Nothing } else { Removal::Some }
        }
        Standing::Sealed { .. } | Standing::Unknown => Removal::Some,
    }
}

/// Why a workflow of this status is archived.
pub(super) fn reason(status: WorkflowStatus) -> ArchiveReason {
    match status {
        WorkflowStatus::InProgress => ArchiveReason::Cleanup,
        WorkflowStatus::Complete => ArchiveReason::Completed,
        WorkflowStatus::Failed => ArchiveReason::Failed,
        WorkflowStatus::Abandoned => ArchiveReason::Abandoned,
    }
}

/// In seconds; negative in the future.
fn age(content: &Content, now: Timestamp) -> i64 {
    now.seconds_since(content.saved_at)
}

/// Exactly the span is not older.
pub(super) fn is_older(age: i64, span: Span) -> bool {
    u64::try_from(age).is_ok_and(|age| age > span.seconds())
}
