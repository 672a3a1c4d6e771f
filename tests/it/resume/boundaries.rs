//! Every limit, on it and just beyond it.

use ckpt_model::PhaseStatus::{Complete, Failed, InProgress};
use ckpt_model::Timestamp;
use ckpt_model::change::{Change, Reopen};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::resume::{Facts, Limits, Verdict, evaluate};

use super::setup::{apply, at, codes, ids, judge, phase, workflow};

fn aged(milliseconds: i64) -> ckpt_model::resume::Resume {
    let checkpoint = workflow(&["a", "b"], &[("a", Complete)]);
    let saved = checkpoint.saved_at.to_chrono();
    let now = Timestamp::new(saved + chrono::TimeDelta::milliseconds(milliseconds));
    evaluate(&checkpoint, &Facts::default(), &Limits::default(), now)
}

const SECOND: i64 = 1000;
const DAY: i64 = 86_400 * SECOND;

#[test]
fn exactly_seven_days_is_fresh_and_a_second_more_is_advice() {
    assert_eq!(codes(&aged(7 * DAY)), []);
    let stale = aged(7 * DAY + SECOND);
    assert_eq!((codes(&stale), stale.verdict), (vec![Code::Stale], Verdict::Ready));
    assert_eq!(stale.findings[0].severity, Severity::Advice);
}

#[test]
fn more_than_thirty_days_needs_a_confirmation() {
    assert_eq!((codes(&aged(30 * DAY)), aged(30 * DAY).verdict), (vec![Code::Stale], Verdict::Ready));
    let old = aged(30 * DAY + SECOND);
    assert_eq!((codes(&old), old.verdict), (vec![Code::VeryStale], Verdict::Confirm));
}

#[test]
fn a_time_in_the_future_is_a_finding_and_no_age() {
    let future = aged(-SECOND);
    assert_eq!(
        (codes(&future), future.verdict, future.age_seconds),
        (vec![Code::FutureTime], Verdict::Ready, Some(-1))
    );
    assert_eq!(codes(&aged(0)), []);
}

#[test]
fn another_session_within_ten_minutes_is_worth_a_word() {
    let mut checkpoint = workflow(&["a", "b"], &[("a", Complete)]);
    checkpoint.writer.session = Some("theirs".into());
    let judged = |session: Option<&str>, minutes: i64| {
        let facts = Facts { session: session.map(str::to_owned), ..Facts::default() };
        let now = Timestamp::new(checkpoint.saved_at.to_chrono() + chrono::TimeDelta::minutes(minutes));
        codes(&evaluate(&checkpoint, &facts, &Limits::default(), now))
    };
    assert_eq!(judged(Some("mine"), 10), [Code::RecentWriter]);
    assert_eq!(judged(None, 10), [Code::RecentWriter]);
    assert_eq!(judged(Some("theirs"), 10), []);
    assert_eq!(judged(Some("mine"), 11), []);
}

#[test]
fn the_third_replan_of_one_phase_is_refused_and_changes_nothing() {
    let reopen = |limit| Change {
        reopen: Some(Reopen { from: "a".parse().unwrap(), reason: Some("why".into()), limit }),
        ..Change::default()
    };
    let mut checkpoint = workflow(&["a", "b"], &[("a", Complete), ("b", Complete)]);
    for _ in 0..2 {
        checkpoint = apply(Some(checkpoint), &reopen(Some(2)));
    }
    let refused = reopen(Some(2)).apply(
        &"042".parse().unwrap(),
        Some(Box::new(checkpoint.clone())),
        &super::setup::stamp(at("2026-03-02T00:00:00Z")),
    );
    assert!(refused.unwrap_err().to_string().contains("reopened 2 times"));
    assert_eq!(checkpoint.content.replans.len(), 2);
    assert_eq!(apply(Some(checkpoint), &reopen(None)).content.replans.len(), 3);
}

#[test]
fn a_phase_that_fails_after_all_its_replans_blocks() {
    let reopen =
        Change { reopen: Some(Reopen { from: "b".parse().unwrap(), reason: None, limit: None }), ..Change::default() };
    let fail = Change { phase: Some("b".parse().unwrap()), status: Some(Failed), ..Change::default() };
    let mut checkpoint = workflow(&["a", "b"], &[("a", Complete), ("b", Failed)]);
    assert_eq!(judge(&checkpoint, &Facts::default()).verdict, Verdict::Ready);
    checkpoint = apply(Some(apply(Some(checkpoint), &reopen)), &fail);
    assert_eq!(codes(&judge(&checkpoint, &Facts::default())), [Code::PhaseFailed]);
    checkpoint = apply(Some(checkpoint), &reopen);
    assert_eq!(judge(&checkpoint, &Facts::default()).verdict, Verdict::Ready, "reopened, not failed yet");
    checkpoint = apply(Some(checkpoint), &fail);
    let blocked = judge(&checkpoint, &Facts::default());
    assert_eq!((codes(&blocked), blocked.verdict), (vec![Code::ReplanLimit], Verdict::Blocked));
}

#[test]
fn two_hundred_phases_and_five_thousand_tasks_are_judged() {
    let names: Vec<String> = (0..200).map(|n| format!("p{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut checkpoint = workflow(&names, &[("p0", Complete), ("p1", InProgress)]);
    for n in 0..5000_u32 {
        let mut task = ckpt_model::task::Task::pending(format!("t{n}").parse().unwrap(), Some("p1".parse().unwrap()));
        if n > 0 {
            task.depends_on = vec![format!("t{}", n / 2).parse().unwrap()];
        }
        checkpoint.content.tasks.push(task);
    }
    checkpoint.content.tasks[1].depends_on.clear();
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!(phase(&resume), Some("p1"));
    assert_eq!((resume.tasks.ready.len(), resume.tasks.waiting.len()), (2, 4998));
    assert_eq!(resume.remaining.len(), 199);
    assert_eq!(resume.done, ids(&["p0"]));
}
