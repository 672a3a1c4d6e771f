//! Random histories, judged twice: by `evaluate`, and by a decision table written from the rule alone:
//!
//! > A phase that is failed or in progress (of several, the one saved last); else the recorded next phase, if it was given
//! > explicitly and is not done; else the first declared phase that is not done. Declared phases before the earliest one
//! > that was ever begun are not part of this run. A never-begun phase between done ones is a gap: it is the resume point
//! > unless something explicit says otherwise, and then the gap needs a confirmation.

use std::collections::HashMap;

use ckpt_model::change::{Approve, Change, Reopen};
use ckpt_model::checkpoint::{Artifact, GitContext};
use ckpt_model::next_phase::RunState;
use ckpt_model::phase::PhaseStatus::{self, Complete, Failed, InProgress, Pending, Skipped};
use ckpt_model::pipeline::{OutputSpec, PhaseSpec, Pipeline};
use ckpt_model::resume::{Facts, FileCondition, GitFact, Limits, OutputFact, Verdict, evaluate};
use ckpt_model::{Checkpoint, PhaseId, Timestamp, WorkflowStatus};
use proptest::prelude::*;

use crate::support::proof::amount;
use ckpt::setup::{SAVED, apply, at};

const PHASES: usize = 5;

#[derive(Debug, Clone)]
enum Step {
    /// A phase, its status, and perhaps the phase that is named as the next one.
    Save(usize, PhaseStatus, Option<usize>),
    NameNext(usize),
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
    let status = prop_oneof![2 => Just(InProgress), 4 => Just(Complete), 1 => Just(Failed), 1 => Just(Skipped)];
    let next = prop_oneof![5 => Just(None), 1 => phase.clone().prop_map(Some)];
    let condition = prop_oneof![
        3 => Just(FileCondition::Unchanged),
        1 => Just(FileCondition::Changed),
        1 => Just(FileCondition::Missing),
        1 => Just(FileCondition::Unreadable)
    ];
    prop_oneof![
        8 => (phase.clone(), status, next).prop_map(|(phase, status, next)| Step::Save(phase, status, next)),
        1 => phase.clone().prop_map(Step::NameNext),
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
    /// The step of the last save of each phase.
    saved: [usize; PHASES],
    begun: [bool; PHASES],
    approved: [bool; PHASES],
    output: [Option<bool>; PHASES],
    replans: [usize; PHASES],
    named: Option<usize>,
    workflow: WorkflowStatus,
    artifact: FileCondition,
    branch_gone: bool,
    days: i64,
}

impl World {
    /// True if the record says that nothing of a phase is left to do.
    fn recorded_done(&self, phase: usize) -> bool {
        self.status[phase] == Skipped || self.status[phase] == Complete && (self.approved[phase] || !gated(phase))
    }

    /// True if a phase was declared before everything that was ever begun, or asked for again.
    fn before_the_run(&self, phase: usize) -> bool {
        let first = (0..PHASES).find(|other| self.begun[*other] || self.replans[*other] > 0);
        self.status[phase] == Pending && first.is_some_and(|first| phase < first)
    }

    fn all_recorded_done(&self) -> bool {
        (0..PHASES).all(|phase| self.recorded_done(phase) || self.before_the_run(phase))
    }

    /// A named phase is forgotten once it is done.
    fn after_a_save(&mut self) {
        if self.named.is_some_and(|named| self.recorded_done(named)) {
            self.named = None;
        }
    }
}

/// Phases 1 and 2 promise an output; phase 2 needs approval of it.
fn promises(phase: usize) -> bool {
    phase == 1 || phase == 2
}

fn gated(phase: usize) -> bool {
    phase == 2
}

fn id(phase: usize) -> PhaseId {
    ["a", "b", "c", "d", "e"][phase].parse().unwrap()
}

fn pipeline() -> Pipeline {
    let spec = |phase: usize| PhaseSpec {
        approval: gated(phase),
        outputs: promises(phase)
            .then(|| OutputSpec { path: format!("{phase}.txt"), or: Vec::new(), schema: None })
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
        saved: [0; PHASES],
        begun: [false; PHASES],
        named: None,
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
    for (number, step) in steps.iter().enumerate() {
        let change = match step {
            Step::Save(phase, status, next) => {
                world.status[*phase] = *status;
                world.saved[*phase] = number;
                world.begun[*phase] |= *status != Skipped;
                let all_done = world.all_recorded_done();
                world.workflow = if all_done { WorkflowStatus::Complete } else { WorkflowStatus::InProgress };
                world.named = next.or(world.named);
                Change { phase: Some(id(*phase)), status: Some(*status), next_phase: next.map(id), ..Change::default() }
            }
            Step::NameNext(phase) => {
                world.named = Some(*phase);
                Change { next_phase: Some(id(*phase)), ..Change::default() }
            }
            Step::Revise(from) => {
                if world.replans[*from] >= 2 {
                    continue;
                }
                world.replans[*from] += 1;
                world.status[*from..].fill(Pending);
                world.approved[*from..].fill(false);
                world.workflow = WorkflowStatus::InProgress;
                world.named = None;
                let reopen = Reopen { from: id(*from), reason: None, limit: Some(2) };
                Change { reopen: Some(reopen), ..Change::default() }
            }
            Step::Approve(phase) => {
                world.approved[*phase] = true;
                if world.workflow == WorkflowStatus::InProgress && world.all_recorded_done() {
                    world.workflow = WorkflowStatus::Complete;
                }
                let approve = Approve { phase: Some(id(*phase)), by: None, recorded_by: None };
                Change { approve: Some(approve), ..Change::default() }
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
        world.after_a_save();
    }
    checkpoint.content.artifacts = vec![Artifact {
        name: "x".into(),
        path: "x".into(),
        size: Some(1),
        sha256: None,
        phase: None,
        captured: false,
        extra: Default::default(),
    }];
    checkpoint.context.git = Some(GitContext { branch: Some("main".into()), commit: None, extra: Default::default() });
    let outputs: HashMap<String, OutputFact> = (0..PHASES)
        .filter_map(|phase| Some((format!("{phase}.txt"), world.output[phase]?)))
        .map(|(path, valid)| (path, if valid { OutputFact::Valid } else { OutputFact::Invalid("bad".into()) }))
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
    let delivered = |phase: usize| promises(phase) && world.output[phase] == Some(true);
    let done = |phase: usize| {
        let by_evidence = world.status[phase] == InProgress && delivered(phase);
        world.recorded_done(phase) || by_evidence && (world.approved[phase] || !gated(phase))
    };
    let open = |phase: usize| matches!(world.status[phase], InProgress | Failed) && !done(phase);
    let failed_or_in_progress = (0..PHASES).filter(|phase| open(*phase)).max_by_key(|phase| world.saved[*phase]);
    let named = world.named.filter(|named| !done(*named));
    let first_left = (0..PHASES).find(|phase| !done(*phase) && !world.before_the_run(*phase));
    let Some(here) = failed_or_in_progress.or(named).or(first_left) else {
        return (None, Verdict::Complete);
    };

    let is_gap = |phase: usize| {
        let never_begun = world.status[phase] == Pending && !world.begun[phase];
        let between = (0..phase).any(done) && (phase + 1..PHASES).any(done);
        never_begun && between && !world.before_the_run(phase)
    };
    let unanswered = |phase: usize| {
        let finished = world.status[phase] == Complete;
        let shown = matches!(world.status[phase], InProgress | Failed) && delivered(phase);
        gated(phase) && !world.approved[phase] && (finished || shown)
    };
    let broken_promise =
        |phase: usize| promises(phase) && world.status[phase] == Complete && world.output[phase] != Some(true);
    let any = |holds: &dyn Fn(usize) -> bool| (0..PHASES).any(holds);
    let table = [
        (world.artifact == FileCondition::Missing, Verdict::Blocked),
        (world.branch_gone, Verdict::Blocked),
        (world.status[here] == Failed && world.replans[here] >= 2, Verdict::Blocked),
        (world.artifact == FileCondition::Unreadable, Verdict::Confirm),
        (matches!(world.workflow, WorkflowStatus::Failed | WorkflowStatus::Abandoned), Verdict::Confirm),
        (world.workflow == WorkflowStatus::Complete, Verdict::Confirm),
        (any(&unanswered), Verdict::Confirm),
        (any(&is_gap) && !is_gap(here), Verdict::Confirm),
        (any(&broken_promise), Verdict::Confirm),
        (world.days > 30, Verdict::Confirm),
    ];
    let verdict = table.iter().find(|(holds, _)| *holds).map_or(Verdict::Ready, |(_, verdict)| *verdict);
    (Some(here), verdict)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: u32::try_from(amount(512, 2_048)).unwrap(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn evaluate_agrees_with_the_decision_table(steps in prop::collection::vec(step(), 0..24)) {
        let (checkpoint, facts, world) = play(&steps);
        let now = Timestamp::new(at(SAVED).to_chrono() + chrono::TimeDelta::days(world.days));
        let resume = evaluate(&checkpoint, &facts, &Limits::default(), now);
        let (phase, verdict) = oracle(&world);
        prop_assert_eq!(&resume.phase, &phase.map(id));
        prop_assert_eq!(resume.verdict, verdict, "{:?}", resume.findings);

        let skipped: Vec<_> = (0..PHASES).filter(|phase| world.before_the_run(*phase)).map(id).collect();
        prop_assert_eq!(&resume.skipped_by_inference, &skipped);
        prop_assert!(resume.phase.iter().all(|phase| !resume.done.contains(phase)));
        prop_assert!(resume.inferred.iter().all(|phase| resume.done.contains(phase)));
        prop_assert_eq!(resume.done.len() + resume.remaining.len() + skipped.len(), PHASES);
    }

    /// By the record alone: there are no outputs here.
    #[test]
    fn save_and_resume_name_the_same_next_phase(steps in prop::collection::vec(step(), 0..24)) {
        let (checkpoint, facts, _) = play(&steps);
        let facts = Facts { outputs: HashMap::new(), ..facts };
        let resume = evaluate(&checkpoint, &facts, &Limits::default(), at(SAVED));
        let saved = RunState::recorded(&checkpoint.content).next();
        prop_assert_eq!(resume.phase, saved.and_then(|next| next.phase));
    }
}
