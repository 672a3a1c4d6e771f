//! Where the systems people use disagree, one ruling each.

use std::collections::HashMap;

use ckpt_model::PhaseStatus::{Complete, Failed, InProgress, Skipped};
use ckpt_model::WorkflowStatus;
use ckpt_model::change::{Approve, Change, Reopen};
use ckpt_model::checkpoint::{GitContext, Next};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::resume::{CommitPlace, Facts, GitFact, OutputFact, Verdict};
use ckpt_model::task::{Task, TaskStatus};

use super::setup::{apply, codes, ids, judge, phase, workflow};

#[test]
fn a_phase_that_is_failed_or_in_progress_comes_first_and_of_several_the_one_saved_last() {
    let phases = ["1", "2", "3", "4"];
    let resumed = |saved: &[(&str, ckpt_model::PhaseStatus)]| {
        let resume = judge(&workflow(&phases, saved), &Facts::default());
        phase(&resume).unwrap().to_owned()
    };
    assert_eq!(resumed(&[("1", Complete), ("2", InProgress)]), "2");
    assert_eq!(resumed(&[("1", InProgress), ("3", Failed)]), "3");
    assert_eq!(resumed(&[("1", InProgress), ("3", Failed), ("1", InProgress)]), "1");
    assert_eq!(resumed(&[("2", InProgress), ("3", Failed), ("2", Failed), ("4", Complete)]), "2");
    assert_eq!(resumed(&[("2", InProgress), ("3", InProgress), ("3", Complete), ("4", Failed)]), "4");
}

#[test]
fn the_next_phase_that_a_save_named_counts_until_it_is_done() {
    let name = |checkpoint, next: &str| {
        apply(Some(checkpoint), &Change { next_phase: Some(next.parse().unwrap()), ..Change::default() })
    };
    let named = name(workflow(&["1", "2", "3", "4"], &[("1", Complete)]), "3");
    assert_eq!(phase(&judge(&named, &Facts::default())), Some("3"));
    let save = |checkpoint, id: &str, status| {
        let change = Change { phase: Some(id.parse().unwrap()), status: Some(status), ..Change::default() };
        apply(Some(checkpoint), &change)
    };
    let other = save(named, "2", InProgress);
    assert_eq!(phase(&judge(&other, &Facts::default())), Some("2"), "what is in progress comes first");
    let other = save(other, "2", Complete);
    assert_eq!(phase(&judge(&other, &Facts::default())), Some("3"));
    let done = save(other, "3", Complete);
    assert_eq!(phase(&judge(&done, &Facts::default())), Some("4"));
    assert_eq!(codes(&judge(&done, &Facts::default())), []);
    let done = name(done, "2");
    assert_eq!(done.content.next.as_ref().unwrap().phase, Some("4".parse().unwrap()), "2 is done already");
    let again = save(save(done, "2", Failed), "2", Skipped);
    assert_eq!(phase(&judge(&again, &Facts::default())), Some("4"));
}

#[test]
fn phases_before_the_first_one_that_was_begun_are_skipped_by_inference() {
    let phases = ["0", "0.5", "1", "2"];
    let lazy = workflow(&phases, &[("1", Complete)]);
    let resume = judge(&lazy, &Facts::default());
    assert_eq!((phase(&resume), resume.verdict), (Some("2"), Verdict::Ready));
    assert_eq!(resume.skipped_by_inference, ids(&["0", "0.5"]));
    assert_eq!((resume.done, resume.remaining), (ids(&["1"]), ids(&["2"])));
    assert_eq!(resume.findings.len(), 1);
    assert_eq!((resume.findings[0].code, resume.findings[0].severity), (Code::PhasesSkipped, Severity::Advice));

    let revise = Reopen { from: "0.5".parse().unwrap(), reason: None, limit: None };
    let revised = apply(Some(lazy.clone()), &Change { reopen: Some(revise), ..Change::default() });
    let resume = judge(&revised, &Facts::default());
    assert_eq!((phase(&resume), &resume.skipped_by_inference), (Some("0.5"), &ids(&["0"])));

    let finish = Change { phase: Some("2".parse().unwrap()), ..Change::default() };
    let finished = apply(Some(lazy), &finish);
    assert_eq!(finished.content.status, WorkflowStatus::Complete);
    assert_eq!(judge(&finished, &Facts::default()).verdict, Verdict::Complete);
}

#[test]
fn to_skip_a_phase_is_not_to_begin_it() {
    let resume = judge(&workflow(&["1", "2", "3"], &[("2", Skipped)]), &Facts::default());
    assert_eq!((phase(&resume), &resume.skipped_by_inference), (Some("1"), &ids(&[])));
}

#[test]
fn a_pointer_at_a_completed_phase_is_corrected_with_a_finding() {
    let mut checkpoint = workflow(&["1", "2", "3"], &[("1", Complete), ("2", Complete)]);
    let two = "2".parse().unwrap();
    checkpoint.content.next = Some(Next { phase: Some(two), action: Some("old".into()), ..Next::default() });
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((phase(&resume), codes(&resume)), (Some("3"), vec![Code::NextDisagrees]));
    assert_ne!(resume.action.as_deref(), Some("old"), "the action belonged to the other phase");
}

#[test]
fn a_gap_is_resumed_and_reported() {
    let checkpoint = workflow(&["1", "2", "3", "4", "5"], &[("1", Complete), ("2", Complete), ("4", Complete)]);
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((phase(&resume), codes(&resume)), (Some("3"), vec![Code::Gap]));
    assert_eq!(resume.verdict, Verdict::Ready);
    assert_eq!((resume.done, resume.remaining), (ids(&["1", "2", "4"]), ids(&["3", "5"])));
}

#[test]
fn a_gap_that_something_explicit_leaves_behind_needs_a_confirmation() {
    let gap = || workflow(&["1", "2", "3", "4"], &[("1", Complete), ("3", Complete)]);
    let named = Change { next_phase: Some("4".parse().unwrap()), ..Change::default() };
    let begun = Change { phase: Some("4".parse().unwrap()), status: Some(InProgress), ..Change::default() };
    for change in [named, begun] {
        let resume = judge(&apply(Some(gap()), &change), &Facts::default());
        assert_eq!((phase(&resume), codes(&resume)), (Some("4"), vec![Code::Gap]));
        assert_eq!(resume.verdict, Verdict::Confirm);
    }
}

fn gated(saved: &[(&str, ckpt_model::PhaseStatus)]) -> ckpt_model::Checkpoint {
    let mut pipeline = ckpt_model::pipeline::Pipeline::custom(ids(&["1", "2", "3", "4"])).unwrap();
    pipeline.phases[1].approval = true;
    let declare = Change { pipeline: Some(pipeline), ..Change::default() };
    saved.iter().fold(apply(None, &declare), |checkpoint, (phase, status)| {
        let (phase, status) = (Some(phase.parse().unwrap()), Some(*status));
        apply(Some(checkpoint), &Change { phase, status, ..Change::default() })
    })
}

#[test]
fn phases_that_work_has_passed_over_are_named_and_need_a_confirmation() {
    let phases = ["1", "2", "3", "4"];
    for saved in [
        &[("1", Complete), ("4", InProgress)][..],
        &[("1", Complete), ("3", Failed), ("2", Failed), ("4", InProgress)],
        &[("1", Complete), ("2", InProgress), ("3", InProgress), ("4", InProgress)],
    ] {
        let resume = judge(&workflow(&phases, saved), &Facts::default());
        assert_eq!((phase(&resume), resume.verdict), (Some("4"), Verdict::Confirm));
        let gap = resume.findings.iter().find(|finding| finding.code == Code::Gap).unwrap();
        assert_eq!(gap.message, "phases 2, 3 were passed over: not done, and the work is at 4");
        let skip = |phase| format!("ckpt save 042 --phase {phase} --status skipped");
        assert_eq!(gap.help, ["ckpt start 042 --phase 2".to_owned(), skip(2), skip(3)]);
    }
    let skipped = [("1", Complete), ("2", Skipped), ("3", Skipped), ("4", InProgress)];
    assert_eq!(judge(&workflow(&phases, &skipped), &Facts::default()).verdict, Verdict::Ready);
}

#[test]
fn a_reopened_phase_is_not_passed_over_in_silence() {
    let done = workflow(&["1", "2", "3", "4"], &[("1", Complete), ("2", Complete), ("3", Complete)]);
    let reopen = Reopen { from: "2".parse().unwrap(), reason: None, limit: None };
    let revised = apply(Some(done), &Change { reopen: Some(reopen), ..Change::default() });
    let begin = Change { phase: Some("4".parse().unwrap()), status: Some(InProgress), ..Change::default() };
    let resume = judge(&apply(Some(revised), &begin), &Facts::default());
    assert_eq!((codes(&resume), resume.verdict), (vec![Code::Gap], Verdict::Confirm));
}

#[test]
fn a_phase_that_needs_an_approval_is_not_passed_over() {
    for saved in [&[("1", Complete), ("3", InProgress)][..], &[("3", Complete), ("4", InProgress)]] {
        let resume = judge(&gated(saved), &Facts::default());
        assert_eq!(resume.verdict, Verdict::Blocked, "{:?}", resume.findings);
        assert_eq!(resume.findings[0].code, Code::Gap);
    }
    let left_out = gated(&[("1", Complete), ("2", Skipped), ("3", InProgress)]);
    assert_eq!(judge(&left_out, &Facts::default()).verdict, Verdict::Ready);
}

#[test]
fn stopped_between_phases_is_a_resume_not_a_fresh_start() {
    let checkpoint = workflow(&["REQUIREMENTS", "ARCHITECTURE"], &[("REQUIREMENTS", Complete)]);
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((phase(&resume), resume.verdict), (Some("ARCHITECTURE"), Verdict::Ready));
}

#[test]
fn a_failed_phase_is_never_counted_as_done() {
    let checkpoint = workflow(&["1", "2", "3"], &[("1", Complete), ("2", Failed), ("3", Complete)]);
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((phase(&resume), &resume.done), (Some("2"), &ids(&["1", "3"])));
}

#[test]
fn all_phases_done_is_complete_and_never_the_first_phase_again() {
    let checkpoint = workflow(&["1", "2"], &[("1", Complete), ("2", Skipped)]);
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((phase(&resume), resume.verdict, &resume.action), (None, Verdict::Complete, &None));
    assert_eq!(checkpoint.content.status, WorkflowStatus::Complete);
}

#[test]
fn a_branch_that_is_gone_blocks_only_if_its_commit_is_lost() {
    let mut checkpoint = workflow(&["1", "2"], &[("1", Complete)]);
    checkpoint.context.git =
        Some(GitContext { branch: Some("feature/x".into()), commit: None, extra: Default::default() });
    let judged = |exists, commit| {
        let git = GitFact { branch: Some("main".into()), recorded_branch_exists: Some(exists), commit };
        let resume = judge(&checkpoint, &Facts { git: Some(git), ..Facts::default() });
        (codes(&resume), resume.verdict)
    };
    let elsewhere = CommitPlace::Elsewhere(vec!["v1".to_owned()]);
    for (commit, verdict) in
        [(CommitPlace::Here, Verdict::Ready), (elsewhere, Verdict::Confirm), (CommitPlace::Lost, Verdict::Blocked)]
    {
        assert_eq!(judged(false, commit), (vec![Code::BranchMissing], verdict));
    }
    assert_eq!(judged(true, CommitPlace::Here), (vec![Code::BranchDiffers], Verdict::Ready));
}

#[test]
fn staleness_is_measured_from_the_last_save_not_the_start() {
    let mut checkpoint = workflow(&["1", "2"], &[("1", Complete)]);
    checkpoint.content.phases[0].started_at = ckpt_model::Timestamp::parse("2020-01-01T00:00:00Z");
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((codes(&resume), resume.verdict), (vec![Code::Stale], Verdict::Ready));
    assert_eq!(resume.findings[0].severity, Severity::Info, "only the run is old");
}

#[test]
fn an_abandoned_or_failed_workflow_needs_a_confirmation() {
    for (status, code) in
        [(WorkflowStatus::Failed, Code::WorkflowFailed), (WorkflowStatus::Abandoned, Code::WorkflowAbandoned)]
    {
        let change = Change { workflow_status: Some(status), ..Change::default() };
        let checkpoint = apply(Some(workflow(&["1", "2"], &[("1", Complete)])), &change);
        let resume = judge(&checkpoint, &Facts::default());
        assert_eq!((codes(&resume), resume.verdict), (vec![code], Verdict::Confirm));
    }
}

fn dotagent(status: ckpt_model::PhaseStatus, present: &[&str]) -> ckpt_model::resume::Resume {
    let pipeline = ckpt_model::builtin::find("dotagent").unwrap().pipeline(0);
    let declare = Change { pipeline: Some(pipeline), ..Change::default() };
    let mut checkpoint = apply(None, &declare);
    for (name, status) in [("REQUIREMENTS", Complete), ("ARCHITECTURE", status)] {
        let approve = (name == "REQUIREMENTS").then(Approve::default);
        let phase = Some(name.parse().unwrap());
        let change = Change { phase, status: Some(status), approve, ..Change::default() };
        checkpoint = apply(Some(checkpoint), &change);
    }
    let demand = ["memory/reports/demand.json"];
    let paths = demand.iter().chain(present);
    let outputs: HashMap<_, _> = paths.map(|path| ((*path).to_owned(), OutputFact::Valid)).collect();
    judge(&checkpoint, &Facts { outputs, ..Facts::default() })
}

#[test]
fn designs_without_a_final_one_wait_for_approval_and_are_not_redone() {
    let resume = dotagent(InProgress, &["memory/reports/designs/"]);
    assert_eq!((phase(&resume), resume.verdict), (Some("ARCHITECTURE"), Verdict::Confirm));
    assert_eq!(codes(&resume), [Code::AwaitingApproval]);
}

#[test]
fn a_final_design_is_evidence_enough() {
    let resume = dotagent(InProgress, &["memory/reports/designs/", "memory/reports/final_design.json"]);
    assert_eq!((phase(&resume), resume.verdict), (Some("IMPLEMENTATION"), Verdict::Confirm));
    assert_eq!(resume.inferred, ids(&["ARCHITECTURE"]));
    assert_eq!((codes(&resume), resume.findings[0].severity), (vec![Code::NotApproved], Severity::Confirm));
}

#[test]
fn nothing_written_means_interrupted() {
    let resume = dotagent(InProgress, &[]);
    assert_eq!((phase(&resume), resume.verdict), (Some("ARCHITECTURE"), Verdict::Ready));
    assert_eq!(codes(&resume), [Code::OutputMissing]);
}

#[test]
fn without_declared_phases_the_recorded_next_is_the_only_answer() {
    let save = |next: Option<&str>, next_phase: Option<&str>| Change {
        phase: Some("x".parse().unwrap()),
        next_action: next.map(str::to_owned),
        next_phase: next_phase.map(|id| id.parse().unwrap()),
        ..Change::default()
    };
    let blind = judge(&apply(None, &save(None, None)), &Facts::default());
    assert_eq!((phase(&blind), blind.verdict, codes(&blind)), (None, Verdict::Blocked, vec![Code::PhasesUnknown]));
    let told = judge(&apply(None, &save(Some("write it"), None)), &Facts::default());
    assert_eq!((phase(&told), told.verdict, told.action.as_deref()), (None, Verdict::Ready, Some("write it")));
    let named = judge(&apply(None, &save(None, Some("y"))), &Facts::default());
    assert_eq!((phase(&named), named.verdict), (Some("y"), Verdict::Ready));
    let circle = judge(&apply(None, &save(None, Some("x"))), &Facts::default());
    assert_eq!((phase(&circle), circle.verdict), (None, Verdict::Blocked));
}

#[test]
fn a_next_action_that_names_a_task_which_is_done_is_dropped() {
    let mut checkpoint = workflow(&["1", "2"], &[("1", InProgress)]);
    let batch = Change { next_action: Some("task-1".to_owned()), ..Change::default() };
    checkpoint = apply(Some(checkpoint), &batch);
    assert_eq!(judge(&checkpoint, &Facts::default()).action.as_deref(), Some("task-1"));
    let mut task = Task::pending("task-1".parse().unwrap(), Some("1".parse().unwrap()));
    task.status = TaskStatus::Complete;
    checkpoint.content.tasks = vec![task];
    let action = judge(&checkpoint, &Facts::default()).action.unwrap();
    assert_eq!(action, "Continue 1");
}

#[test]
fn tasks_of_a_phase_that_is_done_stay_named() {
    let mut checkpoint = workflow(&["1", "2"], &[("1", Complete), ("2", InProgress)]);
    checkpoint.content.tasks = vec![Task::pending("left".parse().unwrap(), Some("1".parse().unwrap()))];
    let resume = judge(&checkpoint, &Facts::default());
    assert_eq!((codes(&resume), resume.verdict), (vec![Code::TasksOpen], Verdict::Ready));
    assert_eq!(resume.findings[0].message, "tasks of phases that are done are open: left");
}
