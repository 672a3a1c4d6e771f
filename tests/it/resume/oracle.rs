//! Random histories, judged twice: by `evaluate`, and by a decision table written without looking at it.

use std::collections::HashMap;

use ckpt::core::change::{Approve, Change, Reopen};
use ckpt::core::checkpoint::{Artifact, GitContext};
use ckpt::core::phase::PhaseStatus::{self, Complete, Failed, InProgress, Pending, Skipped};
use ckpt::core::pipeline::{OutputSpec, PhaseSpec, Pipeline};
use ckpt::core::resume::{Facts, FileCondition, GitFact, Limits, OutputFact, Verdict, evaluate};
use ckpt::core::{Checkpoint, PhaseId, Timestamp, WorkflowStatus};
use proptest::prelude::*;

use super::setup::{SAVED, apply, at};

const PHASES: usize = 4;

#[derive(Debug, Clone)]
enum Step {
    Save(usize, PhaseStatus),
    Revise(usize),
    Approve(usize),
    GiveUp(WorkflowStatus),
    WriteOutput(usize),
    BreakOutput(usize),
    LoseOutput(usize),
    Artifact(FileCondition),
    LoseBranch,
    SwitchBranch,
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let phase = 0..PHASES;
    let status =
        prop_oneof![1 => Just(InProgress), 4 => Just(Complete), 1 => Just(Failed), 1 => Just(Skipped)];
    let condition = prop_oneof![
        3 => Just(FileCondition::Unchanged),
        1 => Just(FileCondition::Changed),
        1 => Just(FileCondition::Missing),
        1 => Just(FileCondition::Unreadable)
    ];
    prop_oneof![
        8 => (phase.clone(), status).prop_map(|(phase, status)| Step::Save(phase, status)),
        1 => phase.clone().prop_map(Step::Revise),
        1 => phase.clone().prop_map(Step::Approve),
        1 => prop_oneof![Just(WorkflowStatus::Failed), Just(WorkflowStatus::Abandoned)].prop_map(Step::GiveUp),
        3 => phase.clone().prop_map(Step::WriteOutput),
        1 => phase.clone().prop_map(Step::BreakOutput),
        1 => phase.prop_map(Step::LoseOutput),
        1 => condition.prop_map(Step::Artifact),
        1 => Just(Step::LoseBranch),
        1 => Just(Step::SwitchBranch),
        1 => prop_oneof![Just(0), Just(6), Just(7), Just(8), Just(30), Just(31), Just(-1)].prop_map(Step::Wait),
    ]
}

/// Everything the oracle knows, kept in plain variables.
#[derive(Debug, Clone)]
struct World {
    status: [PhaseStatus; PHASES],
    approved: [bool; PHASES],
    output: [Option<bool>; PHASES],
    replans: [usize; PHASES],
    workflow: WorkflowStatus,
    artifact: FileCondition,
    branch_gone: bool,
    days: i64,
}

/// Phases 1 and 2 promise an output; phase 2 needs approval of it.
fn promises(phase: usize) -> bool {
    phase == 1 || phase == 2
}

fn gated(phase: usize) -> bool {
    phase == 2
}

fn id(phase: usize) -> PhaseId {
    ["a", "b", "c", "d"][phase].parse().unwrap()
}

fn pipeline() -> Pipeline {
    let spec = |phase: usize| PhaseSpec {
        approval: gated(phase),
        outputs: promises(phase)
            .then(|| OutputSpec { path: format!("{phase}.txt"), schema: None })
            .into_iter()
            .collect(),
        ..PhaseSpec::bare(id(phase))
    };
    Pipeline::new("test".into(), (0..PHASES).map(spec).collect()).unwrap()
}

/// Plays a history against the real thing and keeps the oracle's books.
fn play(steps: &[Step]) -> (Checkpoint, Facts, World) {
    let mut world = World {
        status: [Pending; PHASES],
        approved: [false; PHASES],
        output: [None; PHASES],
        replans: [0; PHASES],
        workflow: WorkflowStatus::InProgress,
        artifact: FileCondition::Unchanged,
        branch_gone: false,
        days: 0,
    };
    let mut branch = "main".to_owned();
    let mut checkpoint = apply(None, &Change { pipeline: Some(pipeline()), ..Change::default() });
    for step in steps {
        let change = match step {
            Step::Save(phase, status) => {
                world.status[*phase] = *status;
                let all = world.status.iter().all(|status| matches!(status, Complete | Skipped));
                world.workflow = if all { WorkflowStatus::Complete } else { WorkflowStatus::InProgress };
                Change { phase: Some(id(*phase)), status: Some(*status), ..Change::default() }
            }
            Step::Revise(from) => {
                if world.replans[*from] >= 2 {
                    continue;
                }
                world.replans[*from] += 1;
                world.status[*from..].fill(Pending);
                world.approved[*from..].fill(false);
                world.workflow = WorkflowStatus::InProgress;
                let reopen = Reopen { from: id(*from), reason: None, limit: Some(2) };
                Change { reopen: Some(reopen), ..Change::default() }
            }
            Step::Approve(phase) => {
                world.approved[*phase] = true;
                Change { approve: Some(Approve { phase: id(*phase), by: None }), ..Change::default() }
            }
            Step::GiveUp(status) => {
                world.workflow = *status;
                Change { workflow_status: Some(*status), ..Change::default() }
            }
            Step::WriteOutput(phase) => {
                world.output[*phase] = Some(true);
                continue;
            }
            Step::BreakOutput(phase) => {
                world.output[*phase] = Some(false);
                continue;
            }
            Step::LoseOutput(phase) => {
                world.output[*phase] = None;
                continue;
            }
            Step::Artifact(condition) => {
                world.artifact = *condition;
                continue;
            }
            Step::LoseBranch => {
                world.branch_gone = true;
                continue;
            }
            Step::SwitchBranch => {
                branch = "other".to_owned();
                continue;
            }
            Step::Wait(days) => {
                world.days = *days;
                continue;
            }
        };
        checkpoint = apply(Some(checkpoint), &change);
    }
    checkpoint.content.artifacts = vec![Artifact {
        name: "x".into(),
        path: "x".into(),
        size: Some(1),
        sha256: None,
        extra: Default::default(),
    }];
    checkpoint.context.git =
        Some(GitContext { branch: Some("main".into()), commit: None, extra: Default::default() });
    let outputs: HashMap<String, OutputFact> = (0..PHASES)
        .filter_map(|phase| Some((format!("{phase}.txt"), world.output[phase]?)))
        .map(|(path, valid)| {
            (path, if valid { OutputFact::Valid } else { OutputFact::Invalid("bad".into()) })
        })
        .collect();
    let facts = Facts {
        artifacts: vec![world.artifact],
        outputs,
        git: Some(GitFact { branch: Some(branch), recorded_branch_exists: Some(!world.branch_gone) }),
        ..Facts::default()
    };
    (checkpoint, facts, world)
}

/// The decision table.
fn oracle(world: &World) -> (Option<usize>, Verdict) {
    let finished = |phase: usize| {
        let delivered = promises(phase) && world.output[phase] == Some(true);
        let allowed = !gated(phase) || world.approved[phase];
        match world.status[phase] {
            Complete | Skipped => true,
            InProgress => delivered && allowed,
            Failed | Pending => false,
        }
    };
    let here = (0..PHASES).find(|phase| !finished(*phase));
    let Some(here) = here else { return (None, Verdict::Complete) };
    let shown = gated(here) && world.output[here] == Some(true) && !world.approved[here];
    let broken_promise = (0..PHASES)
        .any(|phase| promises(phase) && world.status[phase] == Complete && world.output[phase] != Some(true));
    let table = [
        (world.artifact == FileCondition::Missing, Verdict::Blocked),
        (world.branch_gone, Verdict::Blocked),
        (world.status[here] == Failed && world.replans[here] >= 2, Verdict::Blocked),
        (world.artifact == FileCondition::Unreadable, Verdict::Confirm),
        (matches!(world.workflow, WorkflowStatus::Failed | WorkflowStatus::Abandoned), Verdict::Confirm),
        (world.workflow == WorkflowStatus::Complete, Verdict::Confirm),
        (matches!(world.status[here], InProgress | Failed) && shown, Verdict::Confirm),
        (broken_promise, Verdict::Confirm),
        (world.days > 30, Verdict::Confirm),
    ];
    let verdict = table.iter().find(|(holds, _)| *holds).map_or(Verdict::Ready, |(_, verdict)| *verdict);
    (Some(here), verdict)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn evaluate_agrees_with_the_decision_table(steps in prop::collection::vec(step(), 0..24)) {
        let (checkpoint, facts, world) = play(&steps);
        let now = Timestamp::new(at(SAVED).to_chrono() + chrono::TimeDelta::days(world.days));
        let resume = evaluate(&checkpoint, &facts, &Limits::default(), now);
        let (phase, verdict) = oracle(&world);
        prop_assert_eq!(&resume.phase, &phase.map(id));
        prop_assert_eq!(resume.verdict, verdict, "{:?}", resume.findings);

        let recorded_done: Vec<_> = checkpoint.content.done().map(|phase| phase.id.clone()).collect();
        prop_assert!(resume.phase.iter().all(|phase| !recorded_done.contains(phase)));
        prop_assert!(resume.phase.iter().all(|phase| !resume.inferred.contains(phase)));
        prop_assert_eq!(resume.done.len() + resume.remaining.len(), PHASES);
    }
}
