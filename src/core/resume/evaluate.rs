//! The judgement. Pure, and short enough to be read in one sitting.

use serde::Serialize;

use super::Limits;
use super::checks;
use super::facts::{Facts, OutputFact};
use super::tasks::{Tasks, recover};
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::finding::{Code, Finding, Severity};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::text::times;
use crate::core::time::Timestamp;

/// Whether it is safe to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Go on.
    Ready,
    /// Go on if somebody says yes.
    Confirm,
    /// Something must be mended first.
    Blocked,
    /// There is nothing left to do.
    Complete,
}

impl Verdict {
    /// The word for it.
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
    /// Whether it is safe.
    pub verdict: Verdict,
    /// The phase to continue with; none if complete, or if it cannot be told.
    pub phase: Option<PhaseId>,
    /// What to do, in words.
    pub action: Option<String>,
    /// The phases that are done, by record or by evidence, in declared order.
    pub done: Vec<PhaseId>,
    /// The phases that are not, in declared order.
    pub remaining: Vec<PhaseId>,
    /// Those that are done by evidence only.
    pub inferred: Vec<PhaseId>,
    /// The tasks of the phase to continue with.
    pub tasks: Tasks,
    /// Everything that was noticed, the heaviest first.
    pub findings: Vec<Finding>,
    /// Whole seconds since the save; negative if it lies in the future.
    pub age_seconds: i64,
    /// For every phase, what decided about it.
    pub evidence: Vec<Evidence>,
}

/// What decided about a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The phase.
    pub phase: PhaseId,
    /// Whether it is done.
    pub done: bool,
    /// Why.
    pub why: String,
}

/// What is known about one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    Recorded,
    ByEvidence,
    AwaitingApproval,
    Failed,
    Interrupted,
    Pending,
}

/// Judges a checkpoint in the light of the facts.
#[must_use]
pub fn evaluate(checkpoint: &Checkpoint, facts: &Facts, limits: &Limits, now: Timestamp) -> Resume {
    let mut findings = Vec::new();
    let judged: Vec<(&Phase, Judged)> =
        checkpoint.content.phases.iter().map(|phase| (phase, judge(phase, facts))).collect();
    let is_done = |judged: &Judged| matches!(judged, Judged::Recorded | Judged::ByEvidence);
    let ids = |wanted: &dyn Fn(&Judged) -> bool| -> Vec<PhaseId> {
        judged.iter().filter(|(_, judged)| wanted(judged)).map(|(phase, _)| phase.id.clone()).collect()
    };
    let first = judged.iter().find(|(_, judged)| !is_done(judged));
    let target = Target::choose(checkpoint, first.map(|(phase, _)| *phase), &mut findings);

    let mut tasks = Tasks::default();
    if let Some((phase, judged)) = first.filter(|(phase, _)| target.phase.as_ref() == Some(&phase.id)) {
        tasks = recover(&checkpoint.content.tasks, phase, limits.task_attempts, facts);
        checks::phase(checkpoint, phase, judged, limits, facts, &mut findings);
        checks::tasks(checkpoint, &tasks, &mut findings);
    }
    checks::gap(
        &judged.iter().map(|(phase, judged)| (*phase, is_done(judged))).collect::<Vec<_>>(),
        &mut findings,
    );
    checks::promises(checkpoint, facts, &mut findings);
    checks::next(checkpoint, &target, &ids(&|judged| *judged == Judged::ByEvidence), &mut findings);
    checks::workflow(checkpoint, &target, &mut findings);
    checks::world(checkpoint, &target, facts, &mut findings);
    let age_seconds = now.seconds_since(checkpoint.saved_at);
    checks::time(checkpoint, facts, limits, age_seconds, &mut findings);
    let doubts = checkpoint.imported.iter().flat_map(|imported| &imported.doubts);
    findings.extend(doubts.map(Finding::from));

    // Stable: within one severity, findings stay in the order of the checks.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let verdict = match findings.first().map(|finding| finding.severity) {
        _ if target.complete => Verdict::Complete,
        Some(Severity::Blocker) => Verdict::Blocked,
        Some(Severity::Confirm) => Verdict::Confirm,
        _ => Verdict::Ready,
    };
    let action = match first.filter(|(phase, _)| target.phase.as_ref() == Some(&phase.id)) {
        // What was to be done has been done.
        Some((phase, judged @ Judged::AwaitingApproval)) => Some(default_action(phase, judged)),
        first => target.action.clone().or_else(|| first.map(|(phase, judged)| default_action(phase, judged))),
    };
    Resume {
        verdict,
        action: action.filter(|_| !target.complete),
        done: ids(&is_done),
        remaining: ids(&|judged| !is_done(judged)),
        inferred: ids(&|judged| *judged == Judged::ByEvidence),
        evidence: judged.iter().map(|(phase, judged)| explain(phase, judged)).collect(),
        phase: target.phase,
        tasks,
        findings,
        age_seconds,
    }
}

/// Rules 1 to 3 for one phase.
fn judge(phase: &Phase, facts: &Facts) -> Judged {
    if phase.status.is_done() {
        return Judged::Recorded;
    }
    let delivered = !phase.outputs.is_empty()
        && phase.outputs.iter().all(|output| facts.outputs.get(&output.path) == Some(&OutputFact::Valid));
    let begun = phase.status != PhaseStatus::Pending;
    if let Some(approval) = phase.approval.as_ref().filter(|approval| approval.required) {
        let approved = approval.approved_at.is_some();
        // Where drafts are shown for approval, the finished output is made from the approved one.
        let to_show = match &approval.evidence {
            Some(drafts) => facts.outputs.contains_key(drafts) && !delivered,
            None => delivered,
        };
        if begun && to_show && !approved {
            return Judged::AwaitingApproval;
        }
    }
    match phase.status {
        PhaseStatus::InProgress if delivered => Judged::ByEvidence,
        PhaseStatus::InProgress => Judged::Interrupted,
        PhaseStatus::Failed => Judged::Failed,
        _ => Judged::Pending,
    }
}

/// Where to go on, before anything speaks against it.
pub(super) struct Target {
    pub(super) phase: Option<PhaseId>,
    action: Option<String>,
    pub(super) complete: bool,
}

impl Target {
    fn choose(checkpoint: &Checkpoint, first: Option<&Phase>, findings: &mut Vec<Finding>) -> Self {
        let next = checkpoint.content.next.as_ref();
        let claimed = next.and_then(|next| next.phase.clone());
        let action = next.and_then(|next| next.action.clone());
        if let Some(first) = first {
            // The recorded action is about the recorded phase; elsewhere it would mislead.
            let fits = claimed.as_ref().is_none_or(|claimed| *claimed == first.id);
            let action = action.filter(|_| fits).or_else(|| first.action.clone());
            return Self { phase: Some(first.id.clone()), action, complete: false };
        }
        if checkpoint.content.is_declared() || checkpoint.content.status == WorkflowStatus::Complete {
            return Self { phase: None, action: None, complete: true };
        }
        // Without declared phases, only the record can say what comes next. A phase that is done is no answer.
        let open = claimed
            .filter(|id| checkpoint.content.find_phase(id).is_none_or(|phase| !phase.status.is_done()));
        let declare = format!("ckpt save {} --phases a,b,c", checkpoint.workflow);
        findings.push(if open.is_some() || action.is_some() {
            Finding::new(
                Severity::Info,
                Code::PhasesUnknown,
                "the phases were never declared; the last save said what comes next",
            )
            .help(declare)
        } else {
            Finding::new(
                Severity::Blocker,
                Code::PhasesUnknown,
                "cannot tell what comes next: the phases were never declared, and no save said it",
            )
            .help(declare)
            .help(format!("ckpt save {} --next \"...\"", checkpoint.workflow))
        });
        Self { phase: open, action, complete: false }
    }
}

fn default_action(phase: &Phase, judged: &Judged) -> String {
    let what =
        phase.name.as_ref().map_or_else(|| phase.id.to_string(), |name| format!("{} ({name})", phase.id));
    match judged {
        Judged::AwaitingApproval => format!("Present the result of {what} for approval; do not redo it"),
        Judged::Failed => format!("Try {what} again"),
        Judged::Interrupted => format!("Do {what} again: it was interrupted"),
        _ => format!("Begin {what}"),
    }
}

fn explain(phase: &Phase, judged: &Judged) -> Evidence {
    let why = match judged {
        Judged::Recorded => format!("recorded as {}", phase.status.word()),
        Judged::ByEvidence => "in progress, and everything it promised is there".to_owned(),
        Judged::AwaitingApproval => "its result is there, but nobody has approved it".to_owned(),
        Judged::Failed => format!("recorded as failed, tried {}", times(phase.attempts.max(1))),
        Judged::Interrupted if phase.outputs.is_empty() => {
            "in progress, and it promised nothing that could be checked".to_owned()
        }
        Judged::Interrupted => "in progress, and something it promised is missing or wrong".to_owned(),
        Judged::Pending => "not begun".to_owned(),
    };
    Evidence { phase: phase.id.clone(), done: matches!(judged, Judged::Recorded | Judged::ByEvidence), why }
}
