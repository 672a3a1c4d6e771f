//! Where a rule begins and ends.

use ckpt_model::retention::{
    CleanupEffect, HeadFacts, KeepRules, Limit, Policy, PolicyError, Reason, Rules, RunRule, Snapshot, StoreDirectory,
    TemporaryFile, TriggerLimits, WorkflowFacts, plan,
};
use ckpt_model::size::Size;
use ckpt_model::span::Span;
use ckpt_model::{ArchiveReason, Trigger, WorkflowStatus};

use ckpt::facts::{DAY, ago, bundle, checkpoint, id, keeping, max_age, newest, now, snapshot, standing, workflow};

/// The numbers that stay in the only workflow.
fn staying(facts: WorkflowFacts, policy: &Policy) -> Vec<u64> {
    let plan = plan(&snapshot(vec![facts]), policy, now()).unwrap();
    plan.decisions().filter(|decision| decision.keep).map(|decision| decision.handle.seq).collect()
}

fn aged(status: WorkflowStatus, days: &[i64]) -> WorkflowFacts {
    let checkpoints = (1..).zip(days).map(|(seq, days)| checkpoint(seq, days * DAY, Trigger::PhaseTransition, "a"));
    workflow("042", status, checkpoints.collect())
}

#[test]
fn seven_days_are_young_and_eight_are_old() {
    assert_eq!(staying(aged(WorkflowStatus::InProgress, &[8, 7, 6, 0]), &max_age(7)), [2, 3, 4]);
    let mut second = aged(WorkflowStatus::InProgress, &[7, 0]);
    second.checkpoints[0].details.as_mut().unwrap().saved_at = ago(7 * DAY + 1);
    assert_eq!(staying(second, &max_age(7)), [2]);
    for (days, whole) in [(6, false), (7, false), (8, true)] {
        for status in [WorkflowStatus::Complete, WorkflowStatus::Failed, WorkflowStatus::Abandoned] {
            let plan = plan(&snapshot(vec![aged(status, &[20, days])]), &max_age(7), now()).unwrap();
            let reason = match status {
                WorkflowStatus::Complete => ArchiveReason::Completed,
                WorkflowStatus::Failed => ArchiveReason::Failed,
                _ => ArchiveReason::Abandoned,
            };
            let expected = if whole { CleanupEffect::Workflow(reason) } else { CleanupEffect::Nothing };
            assert_eq!(plan.workflows[0].effect, expected, "{status:?} {days}");
        }
    }
}

#[test]
fn an_open_workflow_is_compressed_one_second_after_the_limit() {
    let mut facts = aged(WorkflowStatus::InProgress, &[900, 40, 30]);
    assert_eq!(staying(facts.clone(), &standing()), [1, 2, 3], "exactly the limit");
    facts.checkpoints[2].details.as_mut().unwrap().saved_at = ago(30 * DAY + 1);
    assert_eq!(staying(facts.clone(), &standing()), [3]);
    assert_eq!(staying(facts, &Policy { purge: true, ..standing() }), [1, 2, 3], "it deletes nothing");
}

#[test]
fn an_open_workflow_is_abandoned_as_a_whole_one_second_after_the_limit() {
    let days = |days| Policy { abandon_idle: Some(Span::from_days(days)), ..standing() };
    let effect = |facts: &WorkflowFacts, policy: &Policy| {
        plan(&snapshot(vec![facts.clone()]), policy, now()).unwrap().workflows[0].effect.clone()
    };
    let abandoned = CleanupEffect::Workflow(ArchiveReason::Abandoned);
    let mut facts = aged(WorkflowStatus::InProgress, &[900, 30]);
    assert_eq!(effect(&facts, &days(30)), CleanupEffect::Nothing, "exactly the limit");
    facts.checkpoints[1].details.as_mut().unwrap().saved_at = ago(30 * DAY + 1);
    assert_eq!(effect(&facts, &days(30)), abandoned);
    assert_eq!(effect(&facts, &standing()), CleanupEffect::Checkpoints, "by default it stays open");
    // The other rules do not matter: neither a limit of age that is not reached, nor that nothing else leaves.
    assert_eq!(effect(&facts, &Policy { rules: Rules::MaxAge(Span::from_days(1000)), ..days(30) }), abandoned);
    // Finished ones are none of its business.
    for status in [WorkflowStatus::Complete, WorkflowStatus::Failed] {
        assert_ne!(effect(&aged(status, &[900, 800]), &days(30)), abandoned, "{status:?}");
    }
    let keep = KeepRules { last: Some(newest(1)), ..KeepRules::default() };
    assert_eq!(effect(&facts, &Policy { keep, ..days(30) }), CleanupEffect::Checkpoints, "a keep rule wins");
    facts.checkpoints[0].details.as_mut().unwrap().pinned = true;
    assert_eq!(effect(&facts, &days(30)), CleanupEffect::Nothing, "a part of it is never abandoned");
    facts.checkpoints[0].details.as_mut().unwrap().pinned = false;
    // It ends now, so its run expires later; a run that failed as long ago would expire at once.
    let plan = plan(&snapshot(vec![facts]), &days(30), now()).unwrap();
    assert_eq!(plan.expired_runs().count(), 0);
}

#[test]
fn an_open_workflow_keeps_its_newest_however_old() {
    assert_eq!(staying(aged(WorkflowStatus::InProgress, &[900, 800]), &max_age(7)), [2]);
}

#[test]
fn three_per_phase_of_five_in_each_of_two_phases_leave_the_newest_six() {
    let phases = ["a", "b", "a", "b", "a", "b", "a", "b", "a", "b"];
    let all: Vec<_> = (1..).zip(phases).map(|(n, p)| checkpoint(n, 0, Trigger::BatchComplete, p)).collect();
    let facts = workflow("042", WorkflowStatus::InProgress, all);
    assert_eq!(staying(facts.clone(), &standing()), [5, 6, 7, 8, 9, 10]);
    let keep = KeepRules {
        triggers: TriggerLimits([("batch_complete".to_owned(), newest(3))].into()),
        ..KeepRules::default()
    };
    assert_eq!(staying(facts.clone(), &keeping(keep)), [5, 6, 7, 8, 9, 10]);
    let all = TriggerLimits([("batch_complete".to_owned(), Limit::All)].into());
    let rules = Rules::Configured { triggers: all, max_age: None, compress_after: None };
    assert_eq!(staying(facts, &Policy { rules, ..standing() }).len(), 10);
}

#[test]
fn triggers_have_the_documented_limits() {
    for (trigger, left) in [
        (Trigger::PhaseTransition, 6),
        (Trigger::ConflictStart, 6),
        (Trigger::ConflictResolved, 6),
        (Trigger::Manual, 6),
        (Trigger::PreCompact, 6),
        (Trigger::SessionEnd, 6),
        (Trigger::Other("later".to_owned()), 6),
        (Trigger::BatchComplete, 3),
        (Trigger::AgentComplete, 1),
        (Trigger::UserInterrupt, 1),
    ] {
        let all = (1..=6).map(|seq| checkpoint(seq, 0, trigger.clone(), "a")).collect();
        let facts = workflow("042", WorkflowStatus::InProgress, all);
        assert_eq!(staying(facts, &standing()).len(), left, "{trigger}");
    }
}

#[test]
fn finished_workflows_on_their_own() {
    assert_eq!(staying(aged(WorkflowStatus::Complete, &[3, 2, 1]), &standing()), [3]);
    let plan = plan(&snapshot(vec![aged(WorkflowStatus::Failed, &[1, 0])]), &standing(), now()).unwrap();
    assert_eq!(plan.workflows[0].effect, CleanupEffect::Workflow(ArchiveReason::Failed));
}

#[test]
fn a_pinned_one_keeps_a_finished_workflow_from_leaving_entirely() {
    let mut facts = aged(WorkflowStatus::Failed, &[30, 20, 10]);
    facts.checkpoints[1].details.as_mut().unwrap().pinned = true;
    let plan = plan(&snapshot(vec![facts]), &max_age(7), now()).unwrap();
    let kept: Vec<_> = plan.decisions().filter(|v| v.keep).map(|v| (v.handle.seq, v.reasons.clone())).collect();
    assert_eq!(kept, [(2, vec![Reason::Pinned]), (3, vec![Reason::NewestOfKept])]);
    assert_eq!(plan.workflows[0].effect, CleanupEffect::Checkpoints);
}

#[test]
fn all_reasons_are_given() {
    let mut facts = aged(WorkflowStatus::InProgress, &[0]);
    facts.checkpoints[0].details.as_mut().unwrap().pinned = true;
    let keep = KeepRules { last: Some(newest(2)), within: Some(Span::from_days(1)), ..KeepRules::default() };
    let plan = plan(&snapshot(vec![facts]), &keeping(keep), now()).unwrap();
    let codes: Vec<_> = plan.decisions().flat_map(|v| v.reasons.iter().map(Reason::code)).collect();
    assert_eq!(codes, ["newest_of_open", "pinned", "keep_last", "keep_within"]);
}

/// The first numbers of the runs that go for good.
fn expired(facts: &WorkflowFacts, policy: &Policy) -> Vec<u64> {
    let plan = plan(&snapshot(vec![facts.clone()]), policy, now()).unwrap();
    plan.expired_runs().map(|(_, run)| run.first).collect()
}

/// An open run above seven previous ones of ten numbers each, the oldest of which began with 1.
fn eighth_run() -> WorkflowFacts {
    let mut facts = workflow("x", WorkflowStatus::InProgress, vec![checkpoint(71, 0, Trigger::Manual, "a")]);
    facts.checkpoints[0].details.as_mut().unwrap().run = 71;
    facts.run = 71;
    facts.bundles = (0..7)
        .rev()
        .map(|n| {
            let run = n * 10 + 1;
            bundle(run, (run, run + 8), (10 - i64::try_from(n).unwrap()) * DAY, &ArchiveReason::Restarted)
        })
        .collect();
    facts
}

#[test]
fn seven_previous_runs_leave_the_newest_five() {
    let mut facts = eighth_run();
    assert_eq!(expired(&facts, &standing()), [1, 11]);
    let rule = |previous_runs| Some(RunRule { previous_runs, failed_for: Span::from_days(30) });
    assert_eq!(expired(&facts, &Policy { runs: rule(Limit::All), ..standing() }), [0; 0]);
    assert_eq!(expired(&facts, &Policy { runs: None, ..standing() }), [0; 0]);
    assert_eq!(expired(&facts, &Policy { runs: rule(newest(6)), ..standing() }), [1]);
    // A restored checkpoint that stays keeps its run.
    let mut restored = checkpoint(3, 9 * DAY, Trigger::Manual, "a");
    restored.details.as_mut().unwrap().run = 1;
    facts.checkpoints.insert(0, restored);
    assert_eq!(expired(&facts, &standing()), [11]);
    // If the newest run is unknown, nothing goes.
    facts.head = HeadFacts::Unreadable;
    assert_eq!(expired(&facts, &standing()), [0; 0]);
}

#[test]
fn any_number_of_bundles_of_one_run_stay() {
    for head in [
        HeadFacts::Checkpoint(WorkflowStatus::InProgress),
        HeadFacts::Seal(WorkflowStatus::Complete, ago(0)),
        HeadFacts::Seal(WorkflowStatus::InProgress, ago(99 * DAY)),
    ] {
        let mut facts = aged(WorkflowStatus::InProgress, &[0]);
        (facts.newest, facts.head) = (100, head);
        let reason = |n| if n % 2 == 0 { ArchiveReason::Completed } else { ArchiveReason::Failed };
        facts.bundles = (1..=50).rev().map(|n| bundle(1, (n, n), 99 * DAY, &reason(n))).collect();
        assert_eq!(expired(&facts, &standing()), [0; 0], "{head:?}");
    }
}

#[test]
fn failed_and_abandoned_runs_stay_thirty_days_after_their_last_save() {
    use WorkflowStatus::{Abandoned, Complete, Failed, InProgress};
    for status in [Failed, Abandoned, Complete, InProgress] {
        for (age, is_due) in [(29 * DAY, false), (30 * DAY, false), (30 * DAY + 1, true), (31 * DAY, true)] {
            let why = format!("{status:?} {age}");
            let goes = is_due && matches!(status, Failed | Abandoned);
            let reason = status.archive_reason().unwrap_or(ArchiveReason::Restarted);
            // The newest run, archived, in the only bundle there is. It was archived later.
            let mut archived = aged(status, &[0]);
            (archived.newest, archived.head) = (4, HeadFacts::Seal(status, ago(0)));
            archived.checkpoints.clear();
            archived.bundles = vec![bundle(1, (1, 3), age, &reason)];
            assert_eq!(expired(&archived, &standing()), [1][..usize::from(goes)], "{why}");
            // The newest run, live.
            let live = workflow("x", status, vec![checkpoint(1, age, Trigger::Manual, "a")]);
            assert_eq!(expired(&live, &standing()), [1][..usize::from(goes)], "{why}");
            let mut pinned = live;
            pinned.checkpoints[0].details.as_mut().unwrap().pinned = true;
            assert_eq!(expired(&pinned, &standing()), [0; 0], "{why}");
            // A previous run, some of which a cleanup archived later.
            let mut previous = eighth_run();
            previous.bundles.truncate(1);
            previous.bundles.push(bundle(1, (6, 8), age, &reason));
            previous.bundles.push(bundle(1, (1, 5), 0, &ArchiveReason::Cleanup));
            assert_eq!(expired(&previous, &standing()), [1][..usize::from(goes)], "{why}");
        }
    }
}

#[test]
fn no_rule_never_means_everything() {
    let facts = snapshot(vec![aged(WorkflowStatus::Complete, &[9, 8])]);
    assert_eq!(plan(&facts, &keeping(KeepRules::default()), now()), Err(PolicyError::Empty));
    let within = KeepRules { within: Some(Span::from_days(1)), ..KeepRules::default() };
    let manual = TriggerLimits([("manual".to_owned(), newest(9))].into());
    let manual = KeepRules { triggers: manual, ..KeepRules::default() };
    for keep in [within, manual] {
        for rules in [Rules::Everything, Rules::MaxAge(Span::from_days(7))] {
            let policy = Policy { rules, keep: keep.clone(), ..standing() };
            let error = plan(&facts, &policy, now()).unwrap_err();
            assert!(matches!(error, PolicyError::MatchesNothing { leaving: 2, .. }), "{error}");
            // Where nothing would go, nothing is to be refused.
            assert!(plan(&Snapshot::default(), &policy, now()).unwrap().is_empty());
        }
    }
}

#[test]
fn a_store_that_is_too_large_loses_its_oldest_finished_workflows() {
    let of = |name: &str, status, days: i64| {
        let checkpoints = vec![checkpoint(1, days * DAY, Trigger::Manual, "a")];
        workflow(name, status, checkpoints)
    };
    let facts = || {
        snapshot(vec![
            of("a", WorkflowStatus::InProgress, 90),
            of("b", WorkflowStatus::Complete, 10),
            of("c", WorkflowStatus::Complete, 30),
            of("d", WorkflowStatus::Complete, 20),
        ])
    };
    let gone = |size: u64| -> Vec<String> {
        let policy = Policy { max_size: Some(Size(size)), ..standing() };
        let plan = plan(&facts(), &policy, now()).unwrap();
        plan.leaving().map(|decision| decision.handle.to_string()).collect()
    };
    assert_eq!(gone(400), Vec::<String>::new());
    assert_eq!(gone(399), ["c/1"]);
    assert_eq!(gone(300), ["c/1"]);
    assert_eq!(gone(200), ["c/1", "d/1"]);
    assert_eq!(gone(0), ["b/1", "c/1", "d/1"], "open ones stay");
    let policy = Policy { max_size: Some(Size(399)), ..standing() };
    let plan = plan(&facts(), &policy, now()).unwrap();
    let reasons = plan.leaving().next().unwrap().reasons.clone();
    assert_eq!(reasons, [Reason::MaxSize(Size(399))]);
}

#[test]
fn files_that_were_being_written_go_after_a_day() {
    let leftover = |age| TemporaryFile {
        directory: StoreDirectory::Workflow(id("042")),
        name: format!(".tmp-{age}"),
        modified: ago(age),
    };
    let found = [DAY - 1, DAY, DAY + 1, -DAY].map(leftover);
    let facts = Snapshot { temporary_files: found.to_vec(), ..Snapshot::default() };
    assert_eq!(plan(&facts, &standing(), now()).unwrap().stale_files, [leftover(DAY + 1)]);
}
