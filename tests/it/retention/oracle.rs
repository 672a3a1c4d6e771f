//! The policy once more, as a table: the first row that fits decides. Written from the rules, not from the code.

use std::collections::BTreeSet;

use ckpt_model::retention::{
    BundleFacts, CheckpointDetails, CheckpointFacts, HeadFacts, Policy, Rules, Snapshot, WorkflowFacts,
};
use ckpt_model::span::Span;
use ckpt_model::{ArchiveReason, Handle, Timestamp, Trigger, WorkflowStatus};
use proptest::prelude::*;

use ckpt::facts::{RUN, any_policy, any_snapshot, now, plan_or_reject};

/// Why a row fits, and whether what it fits stays.
type Row = (&'static str, fn(&Case<'_>) -> bool, bool);

struct Case<'a> {
    workflow: &'a WorkflowFacts,
    checkpoint: &'a CheckpointFacts,
    policy: &'a Policy,
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("cannot be read",                      |c| c.checkpoint.details.is_none(),                        true),
    ("the newest cannot be read",           |c| c.workflow.head == HeadFacts::Unreadable,              true),
    ("pinned",                              |c| c.content().pinned,                                    true),
    ("from the future",                     |c| c.content().saved_at > now(),                          true),
    ("newest of an open one",               |c| c.is(WorkflowStatus::InProgress) && c.is_newest(),     true),
    ("among the last",                      |c| c.among_the_last(),                                  true),
    ("young enough",                        |c| c.within(),                                          true),
    ("among the last of its trigger",       |c| c.among_the_last_of_its_trigger(),                   true),
    ("archived already",                    |c| c.is_archived(),                                       false),
    ("nothing else stays",                  |c| c.policy.rules == Rules::Everything,                   false),
    ("open and too old",                    |c| c.is(WorkflowStatus::InProgress) && c.too_old(),       false),
    ("finished and idle",                   |c| !c.is(WorkflowStatus::InProgress) && c.idle(),         false),
    ("no other rule",                       |c| matches!(c.policy.rules, Rules::MaxAge(_)),            true),
    ("failed",                              |c| c.is(WorkflowStatus::Failed),                          false),
    ("abandoned",                           |c| c.is(WorkflowStatus::Abandoned),                       false),
    ("complete and final",                  |c| c.is(WorkflowStatus::Complete) && c.is_newest(),       true),
    ("complete",                            |c| c.is(WorkflowStatus::Complete),                        false),
    ("open, idle and to be compressed",     |c| c.compressed(),                                        false),
    ("a fourth batch of a phase",           |c| c.rank(&Trigger::BatchComplete, true) > Some(3),        false),
    ("a second agent of a phase",           |c| c.rank(&Trigger::AgentComplete, true) > Some(1),        false),
    ("a second interrupt",                  |c| c.rank(&Trigger::UserInterrupt, false) > Some(1),       false),
    ("anything else",                       |_| true,                                                  true),
];

impl Case<'_> {
    fn content(&self) -> &CheckpointDetails {
        self.checkpoint.details.as_ref().unwrap()
    }
    fn is(&self, status: WorkflowStatus) -> bool {
        self.workflow.head == HeadFacts::Checkpoint(status)
    }
    fn is_archived(&self) -> bool {
        matches!(self.workflow.head, HeadFacts::Seal(..))
    }
    fn is_newest(&self) -> bool {
        self.workflow.newest == self.checkpoint.seq
    }
    fn limit(&self) -> Option<u64> {
        match &self.policy.rules {
            Rules::MaxAge(span) => Some(span.seconds()),
            Rules::Configured { max_age, .. } => max_age.map(Span::seconds),
            Rules::Everything => None,
        }
    }
    fn is_older(content: &CheckpointDetails, seconds: u64) -> bool {
        now().to_chrono() - content.saved_at.to_chrono() > chrono::TimeDelta::seconds(seconds.try_into().unwrap())
    }
    fn too_old(&self) -> bool {
        self.limit().is_some_and(|limit| Self::is_older(self.content(), limit))
    }
    fn idle(&self) -> bool {
        let newest = self.workflow.checkpoints.last().unwrap().details.as_ref().unwrap();
        self.limit().is_some_and(|limit| Self::is_older(newest, limit))
    }
    fn compressed(&self) -> bool {
        let Rules::Configured { compress_after: Some(span), .. } = &self.policy.rules else { return false };
        let newest = self.workflow.checkpoints.last().unwrap().details.as_ref().unwrap();
        !self.policy.purge && Self::is_older(newest, span.seconds())
    }
    fn within(&self) -> bool {
        self.policy.keep.within.is_some_and(|span| !Self::is_older(self.content(), span.seconds()))
    }
    fn among_the_last(&self) -> bool {
        let newer = self.workflow.checkpoints.iter().filter(|other| other.seq > self.checkpoint.seq).count();
        self.policy.keep.last.is_some_and(|limit| newer < limit.to_string().parse().unwrap_or(usize::MAX))
    }
    fn among_the_last_of_its_trigger(&self) -> bool {
        let content = self.content();
        let phases = matches!(content.trigger, Trigger::BatchComplete | Trigger::AgentComplete);
        let limit = self.policy.keep.triggers.0.get(content.trigger.word());
        let rank = self.rank(&content.trigger, phases).unwrap();
        limit.is_some_and(|limit| rank <= limit.to_string().parse().unwrap_or(usize::MAX))
    }
    /// 1 for the newest of this trigger (in its phase); none if it has another one.
    fn rank(&self, trigger: &Trigger, in_phase: bool) -> Option<usize> {
        let own = self.content();
        let same = |other: &&CheckpointFacts| {
            let content = other.details.as_ref();
            content.is_some_and(|c| c.trigger == *trigger && (!in_phase || c.phase == own.phase))
        };
        let newer = self.workflow.checkpoints.iter().filter(same).filter(|other| other.seq > self.checkpoint.seq);
        (own.trigger == *trigger).then(|| newer.count() + 1)
    }
}

/// An open workflow idle for too long goes as a whole, unless something keeps one of its checkpoints.
fn is_abandoned(workflow: &WorkflowFacts, policy: &Policy) -> bool {
    let (Some(limit), Some(newest)) = (policy.abandon_idle, workflow.checkpoints.last()) else {
        return false;
    };
    let stays = |checkpoint: &CheckpointFacts| {
        let case = Case { workflow, checkpoint, policy };
        let guarded = checkpoint.details.as_ref().is_none_or(|details| details.pinned || details.saved_at > now());
        guarded || case.among_the_last() || case.within() || case.among_the_last_of_its_trigger()
    };
    workflow.head == HeadFacts::Checkpoint(WorkflowStatus::InProgress)
        && newest.details.as_ref().is_some_and(|details| Case::is_older(details, limit.seconds()))
        && !workflow.checkpoints.iter().any(stays)
}

fn expected(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<Handle> {
    let mut gone = BTreeSet::new();
    for workflow in in_scope(snapshot, policy) {
        if is_abandoned(workflow, policy) {
            gone.extend(workflow.checkpoints.iter().map(|c| Handle::new(&workflow.workflow, c.seq)));
            continue;
        }
        let goes = |checkpoint: &&CheckpointFacts| {
            let case = Case { workflow, checkpoint, policy };
            !TABLE.iter().find(|(_, fits, _)| fits(&case)).unwrap().2
        };
        let mut going: BTreeSet<u64> = workflow.checkpoints.iter().filter(goes).map(|c| c.seq).collect();
        // The numbers of what does not leave entirely continue from its newest.
        if going.len() < workflow.checkpoints.len() {
            going.remove(&workflow.newest);
        }
        gone.extend(going.into_iter().map(|seq| Handle::new(&workflow.workflow, seq)));
    }
    gone
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_plan_is_what_the_table_says(snapshot in any_snapshot(), mut policy in any_policy()) {
        policy.max_size = None;
        let plan = plan_or_reject(&snapshot, &policy)?;
        let removed: BTreeSet<Handle> = plan.leaving().map(|decision| decision.handle.clone()).collect();
        prop_assert_eq!(removed, expected(&snapshot, &policy));
    }

    #[test]
    fn the_runs_that_expire_are_those_the_rules_name(snapshot in any_snapshot(), mut policy in any_policy()) {
        policy.max_size = None;
        let plan = plan_or_reject(&snapshot, &policy)?;
        let mut stays: BTreeSet<Handle> = plan.decisions().map(|decision| decision.handle.clone()).collect();
        let gone = expected(&snapshot, &policy);
        stays.retain(|handle| !gone.contains(handle));
        for (workflow, done) in in_scope(&snapshot, &policy).zip(&plan.workflows) {
            let found: Vec<u64> = done.expired.iter().map(|run| run.first).collect();
            prop_assert_eq!(found, expired(workflow, &stays), "{:?}", workflow);
        }
    }
}

fn in_scope<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> impl Iterator<Item = &'a WorkflowFacts> {
    snapshot.workflows.iter().filter(|facts| policy.filter.matches(&facts.workflow, facts.head.status()))
}

/// The first numbers of the runs that go: those before the newest six, and failed or abandoned ones after thirty days,
/// unless one of their checkpoints stays.
fn expired(workflow: &WorkflowFacts, stays: &BTreeSet<Handle>) -> Vec<u64> {
    if workflow.head == HeadFacts::Unreadable {
        return Vec::new();
    }
    let runs: Vec<u64> = (1..=workflow.run).step_by(usize::try_from(RUN).unwrap()).collect();
    let is_old = |time: Timestamp| now().to_chrono() - time.to_chrono() > chrono::TimeDelta::days(30);
    let goes = |first: u64, newer: usize| {
        let end = if first == workflow.run { u64::MAX } else { first + RUN - 1 };
        let kept = stays.range(Handle::new(&workflow.workflow, first)..=Handle::new(&workflow.workflow, end));
        if kept.count() > 0 {
            return false;
        }
        let of_run = |bundle: &&BundleFacts| bundle.name.run == first;
        let live = workflow.checkpoints.iter().any(|checkpoint| (first..=end).contains(&checkpoint.seq));
        if !live && !workflow.bundles.iter().any(|bundle| of_run(&bundle)) {
            return false;
        }
        let last = workflow.bundles.iter().filter(of_run).max_by_key(|bundle| bundle.name.last);
        let failed = [WorkflowStatus::Failed, WorkflowStatus::Abandoned];
        let is_failed = match workflow.head.status() {
            Some(status) if newer == 0 => failed.contains(&status),
            _ => last.is_some_and(|b| matches!(b.name.reason, ArchiveReason::Failed | ArchiveReason::Abandoned)),
        };
        let saved_at = match workflow.head {
            HeadFacts::Checkpoint(_) if newer == 0 => {
                let newest = workflow.checkpoints.last().unwrap();
                newest.details.as_ref().unwrap().saved_at
            }
            _ => last.unwrap().name.saved_at,
        };
        newer > 5 || (is_failed && is_old(saved_at))
    };
    let newer = (0..runs.len()).rev();
    runs.iter().zip(newer).filter(|(first, newer)| goes(**first, *newer)).map(|(first, _)| *first).collect()
}
