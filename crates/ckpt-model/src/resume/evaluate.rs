//! The judgement of a checkpoint, without I/O.

use serde::Serialize;

use super::Limits;
use super::checks::Checks;
use super::facts::{Facts, OutputFact};
use super::tasks::{RecoveredTasks, open, recover};
use crate::checkpoint::{Checkpoint, Content, WorkflowStatus};
use crate::finding::{Code, Finding, Severity};
use crate::gate::failed_gate;
use crate::next_phase::{PhaseState, RunState};
use crate::phase::{Output, Phase, PhaseId, PhaseOption, PhaseStatus};
use crate::task::TaskId;
use crate::text::{shell_word, times};
use crate::time::Timestamp;
use crate::workflow_id::WorkflowId;

/// Stands for a phase that only the user knows.
const NEXT_PHASE: &str = "next-phase";

/// The judgement of `resume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Work can continue.
    Ready,
    /// Work can continue after a confirmation.
    Confirm,
    /// Something must be repaired first.
    Blocked,
    /// Nothing is left to do.
    Complete,
}

impl Verdict {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Confirm => "confirm",
            Self::Blocked => "blocked",
            Self::Complete => "complete",
        }
    }
}

/// Where to continue, why, and whether it is safe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resume {
    /// The verdict: is it safe to continue?
    pub verdict: Verdict,
    /// The phase to continue with; `None` if complete or unknown.
    pub phase: Option<PhaseId>,
    /// The next action, in words.
    pub action: Option<String>,
    /// The phases that are done, by record or by evidence, in declared order.
    pub done: Vec<PhaseId>,
    /// The phases of the run that are not done, in declared order.
    pub remaining: Vec<PhaseId>,
    /// The phases that are done by evidence only.
    pub inferred: Vec<PhaseId>,
    /// The declared phases before the first one that was ever begun, which are not part of the run.
    pub skipped_by_inference: Vec<PhaseId>,
    /// The phases whose result a person has not agreed to yet.
    pub awaiting_approval: Vec<PhaseId>,
    /// The options of those phases, from which a person selects.
    pub options: Vec<Offered>,
    /// The tasks of the phase to continue with.
    pub tasks: RecoveredTasks,
    /// All findings, heaviest first.
    pub findings: Vec<Finding>,
    /// Whole seconds since the save; negative if it is in the future, `None` if the time of the save is unknown.
    pub age_seconds: Option<i64>,
    /// The evidence about each phase.
    pub evidence: Vec<PhaseEvidence>,
}

/// An option of a phase that awaits approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offered {
    /// The phase.
    pub phase: PhaseId,
    /// The option, or a draft.
    #[serde(flatten)]
    pub option: PhaseOption,
}

/// Returns the options and drafts that a person selects from.
pub(super) fn offered(phase: &Phase, facts: &Facts) -> Vec<PhaseOption> {
    let drafts = phase.approval.as_ref().and_then(|approval| facts.drafts.get(approval.evidence.as_ref()?));
    let draft = |path: &String| PhaseOption { id: path.clone(), ..PhaseOption::default() };
    phase.options().into_iter().chain(drafts.into_iter().flatten().map(draft)).collect()
}

/// Why a phase counts as done or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseEvidence {
    /// The phase.
    pub phase: PhaseId,
    /// True if it is done.
    pub done: bool,
    /// The reason.
    pub why: String,
}

/// Judges a checkpoint by the facts.
#[must_use]
pub fn evaluate(checkpoint: &Checkpoint, facts: &Facts, limits: &Limits, now: Timestamp) -> Resume {
    let run = RunState::new(&checkpoint.content, |phase| phase_state(phase, facts));
    let mut findings = Vec::new();
    let point = ResumePoint::choose(checkpoint, &run, facts, &mut findings);
    let age_seconds = checkpoint.known_time().map(|saved_at| now.seconds_since(saved_at));

    let mut checks = Checks { checkpoint, facts, limits, run: &run, findings };
    let mut tasks = RecoveredTasks::default();
    if let Some((phase, state)) = point.recorded {
        tasks = recover(&checkpoint.content.tasks, phase, limits.task_attempts, facts);
        checks.phase(phase, state);
        checks.tasks(&tasks);
        checks.open_tasks();
    }
    checks.approvals();
    checks.gaps(&point);
    checks.skipped();
    checks.reopened();
    checks.finished_tasks();
    checks.outputs();
    checks.next(&point);
    checks.workflow(&point);
    checks.selection(&point);
    checks.git();
    checks.files();
    checks.touched();
    checks.sessions(now);
    checks.sharing(now);
    checks.external();
    if let Some(age_seconds) = age_seconds {
        checks.age(age_seconds, now);
    }
    let mut findings = checks.findings;
    let doubts = checkpoint.imported.iter().flat_map(|imported| &imported.doubts);
    findings.extend(doubts.map(Finding::from));

    // Each blocker names a way on, at least the one that starts again.
    let fresh = format!("ckpt resume {} --fresh", checkpoint.workflow);
    let blockers = findings.iter_mut().filter(|finding| finding.severity == Severity::Blocker);
    blockers.for_each(|finding| finding.help.push(fresh.clone()));
    // A stable sort: within one severity, findings stay in the order of the checks.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let verdict = match findings.first().map(|finding| finding.severity) {
        _ if point.complete => Verdict::Complete,
        Some(Severity::Blocker) => Verdict::Blocked,
        Some(Severity::Confirm) => Verdict::Confirm,
        _ => Verdict::Ready,
    };
    let waiting = run.phases.iter().filter(|(_, state)| *state == PhaseState::AwaitingApproval);
    let options = |(phase, _): &(&Phase, PhaseState)| {
        let id = phase.id.clone();
        offered(phase, facts).into_iter().map(move |option| Offered { phase: id.clone(), option })
    };
    Resume {
        verdict,
        phase: point.phase,
        action: point.action,
        done: run.ids(PhaseState::is_done),
        remaining: run.ids(PhaseState::is_left),
        inferred: run.ids(|state| state == PhaseState::DoneByEvidence),
        skipped_by_inference: run.ids(|state| state == PhaseState::SkippedByInference),
        awaiting_approval: run.ids(|state| state == PhaseState::AwaitingApproval),
        options: waiting.flat_map(options).collect(),
        evidence: run.phases.iter().map(|(phase, state)| explain(phase, *state)).collect(),
        tasks,
        findings,
        age_seconds,
    }
}

/// Returns the state of a phase by its record and its outputs.
#[must_use]
pub fn phase_state(phase: &Phase, facts: &Facts) -> PhaseState {
    let recorded = PhaseState::recorded(phase);
    let is_delivered = is_delivered(phase, facts);
    if phase.lacks_approval() && !matches!(phase.status, PhaseStatus::Pending | PhaseStatus::Skipped) {
        let evidence = phase.approval.as_ref().and_then(|approval| approval.evidence.as_ref());
        let is_shown = match evidence {
            Some(drafts) => facts.outputs.get(drafts) == Some(&OutputFact::Valid) && !is_delivered,
            None => is_delivered,
        };
        if is_shown {
            return PhaseState::AwaitingApproval;
        }
    }
    match recorded {
        PhaseState::InProgress if is_delivered => PhaseState::DoneByEvidence,
        recorded => recorded,
    }
}

/// True if the phase has outputs, and all of them exist and are valid.
pub(super) fn is_delivered(phase: &Phase, facts: &Facts) -> bool {
    let is_valid = |output: &Output| facts.outputs.get(&output.path) == Some(&OutputFact::Valid);
    !phase.outputs.is_empty() && phase.outputs.iter().all(is_valid)
}

/// The phase and action to continue with, before the findings are weighed.
pub(super) struct ResumePoint<'c> {
    pub(super) phase: Option<PhaseId>,
    /// The record of that phase; `None` if only the next phase of an undeclared workflow is known.
    pub(super) recorded: Option<(&'c Phase, PhaseState)>,
    action: Option<String>,
    pub(super) complete: bool,
}

impl<'c> ResumePoint<'c> {
    fn choose(checkpoint: &Checkpoint, run: &RunState<'c>, facts: &Facts, findings: &mut Vec<Finding>) -> Self {
        let content = &checkpoint.content;
        let next = content.next.as_ref();
        let action = next.and_then(|next| next.action.clone());
        let phase = run.next_phase();
        let recorded = phase.and_then(|id| run.phases.iter().find(|(phase, _)| phase.id == *id).copied());
        if let Some((phase, state)) = recorded {
            // The recorded action belongs to the recorded phase; for another phase it would mislead. Once a phase awaits
            // approval, its action has been carried out.
            let claimed = next.and_then(|next| next.phase.as_ref());
            let fits = claimed.is_none_or(|claimed| *claimed == phase.id);
            let action = match action {
                _ if state == PhaseState::AwaitingApproval => None,
                _ if is_chosen(phase, facts) => Some(from_chosen_draft(phase)),
                Some(action) if fits && !is_done_task(content, &action) => Some(action),
                _ => phase.action.clone(),
            };
            let is_half_done = has_done_tasks(content, phase);
            let action = Some(action.unwrap_or_else(|| default_action(phase, state, is_half_done)));
            return Self { phase: Some(phase.id.clone()), recorded, action, complete: false };
        }
        let nothing = Self { phase: None, recorded: None, action: None, complete: false };
        if content.is_declared() && content.status == WorkflowStatus::InProgress {
            let open = open(&content.tasks, facts);
            if let Some(finding) = open_tasks(&checkpoint.workflow, &open) {
                findings.push(finding);
                let action = action.unwrap_or_else(|| "Finish the open tasks".to_owned());
                return Self { action: Some(action), ..nothing };
            }
        }
        if content.is_declared() || content.status == WorkflowStatus::Complete {
            return Self { complete: true, ..nothing };
        }
        // Without declared phases, only the record names the next phase.
        let finding = if phase.is_some() || action.is_some() {
            let message = "the phases were never declared; the last save said what comes next";
            Finding::info(Code::PhasesUnknown, message)
        } else {
            let message = "cannot tell what comes next: the phases were never declared, and no save said it";
            Finding::blocker(Code::PhasesUnknown, message)
        };
        findings.push(with_commands(finding, checkpoint));
        Self { phase: phase.cloned(), action, ..nothing }
    }
}

/// Returns the finding about tasks that are left when all phases are done.
fn open_tasks(workflow: &WorkflowId, open: &[&TaskId]) -> Option<Finding> {
    const MOST_NAMED: usize = 5;
    let first = open.first()?;
    let mut names = open.iter().take(MOST_NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if open.len() > MOST_NAMED {
        names.push_str(&format!(" and {} more", open.len() - MOST_NAMED));
    }
    let finding = Finding::confirm(Code::TasksOpen, format!("all phases are done, but not the tasks {names}"));
    let task = shell_word(format!("{first}=complete"));
    Some(finding.help(format!("ckpt save {workflow} --task {task}")).help(format!("ckpt done {workflow}")))
}

/// Adds the commands that tell what comes next where the phases were never declared. Each can be typed as it is: those
/// phases that were recorded stay in the list.
fn with_commands(finding: Finding, checkpoint: &Checkpoint) -> Finding {
    let workflow = &checkpoint.workflow;
    let mut phases: Vec<&str> = checkpoint.content.phases.iter().map(|phase| phase.id.as_str()).collect();
    if !phases.contains(&NEXT_PHASE) {
        phases.push(NEXT_PHASE);
    }
    let declare = format!("ckpt save {workflow} --phases {}", shell_word(phases.join(",")));
    if finding.severity < Severity::Blocker {
        return finding.help(declare);
    }
    finding
        .help(format!("ckpt save {workflow} --next 'what comes next'"))
        .help(declare)
        .help(format!("ckpt done {workflow}"))
}

/// True if an action names a task that is done: it is from before the end of a batch.
fn is_done_task(content: &Content, action: &str) -> bool {
    let task = action.trim().parse().ok().and_then(|id| content.find_task(&id));
    task.is_some_and(|task| task.status.is_done())
}

/// True if a person has chosen one of the drafts of a phase, and what is to be made of it is missing.
fn is_chosen(phase: &Phase, facts: &Facts) -> bool {
    let Some(approval) = &phase.approval else { return false };
    let has_drafts = approval.evidence.as_ref().is_some_and(|drafts| facts.outputs.contains_key(drafts));
    has_drafts && approval.approved_at.is_some() && !phase.status.is_done() && !is_delivered(phase, facts)
}

fn from_chosen_draft(phase: &Phase) -> String {
    let outputs = phase.outputs.iter().map(|output| output.path.as_str()).collect::<Vec<_>>().join(", ");
    let approval = phase.approval.as_ref();
    let drafts = approval.and_then(|approval| approval.evidence.as_deref()).unwrap_or_default();
    match approval.and_then(|approval| approval.option.as_ref()) {
        Some(draft) => format!("Write {outputs} from {draft}, which was approved; do not make new ones"),
        None => format!("Write {outputs} from the draft in {drafts} that was approved; do not make new ones"),
    }
}

fn has_done_tasks(content: &Content, phase: &Phase) -> bool {
    content.tasks.iter().any(|task| task.phase.as_ref() == Some(&phase.id) && task.status.is_done())
}

fn default_action(phase: &Phase, state: PhaseState, is_half_done: bool) -> String {
    let id = &phase.id;
    let title = phase.name.as_ref().map_or_else(|| id.to_string(), |name| format!("{id} ({name})"));
    match state {
        PhaseState::AwaitingApproval if phase.lacks_selection() => {
            format!("Present the options of {title}; do not generate new ones")
        }
        PhaseState::AwaitingApproval => format!("Present the result of {title} for approval; do not redo it"),
        PhaseState::Failed | PhaseState::InProgress if is_half_done => format!("Continue {title}"),
        PhaseState::Failed => format!("Try {title} again"),
        PhaseState::InProgress => format!("Do {title} again: it was interrupted"),
        _ => format!("Begin {title}"),
    }
}

fn explain(phase: &Phase, state: PhaseState) -> PhaseEvidence {
    let why = match state {
        PhaseState::DoneByRecord => format!("recorded as {}", phase.status.word()),
        PhaseState::DoneByEvidence => "in progress, and everything it promised is there".to_owned(),
        PhaseState::AwaitingApproval => "its result is there, but nobody has approved it".to_owned(),
        PhaseState::Failed => {
            let status = phase.status.word();
            let gate = failed_gate(phase).map(|why| format!(", but {why}")).unwrap_or_default();
            format!("recorded as {status}{gate}, tried {}", times(phase.attempts.max(1)))
        }
        PhaseState::InProgress if phase.outputs.is_empty() => {
            "in progress, and it promised nothing that could be checked".to_owned()
        }
        PhaseState::InProgress => "in progress, and something it promised is missing or wrong".to_owned(),
        PhaseState::SkippedByInference => "never begun, and declared before the first phase that was".to_owned(),
        PhaseState::Pending => "not begun".to_owned(),
    };
    PhaseEvidence { phase: phase.id.clone(), done: state.is_done(), why }
}
