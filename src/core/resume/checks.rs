//! The checks: each looks at one thing and says what it noticed. None of them decides anything.

use super::Limits;
use super::evaluate::{Judged, Target};
use super::facts::{Condition, Facts, OutputFact, Watched};
use super::select::damaged;
use super::tasks::Tasks;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::finding::{Code, Finding, Severity};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::span::{Span, humane};
use crate::core::text::{shell_word, times};

/// What speaks for or against going on with this phase.
pub(super) fn phase(
    checkpoint: &Checkpoint,
    phase: &Phase,
    judged: &Judged,
    limits: &Limits,
    facts: &Facts,
    findings: &mut Vec<Finding>,
) {
    let (workflow, id) = (&checkpoint.workflow, &phase.id);
    if *judged == Judged::AwaitingApproval {
        findings.push(
            Finding::new(
                Severity::Confirm,
                Code::AwaitingApproval,
                format!("phase {id} waits for a person's approval"),
            )
            .help(format!("ckpt approve {workflow} --phase {}", shell_word(id)))
            .help(format!("ckpt revise {workflow} --from {} --reason \"...\"", shell_word(id))),
        );
    }
    if phase.status == PhaseStatus::Failed {
        let why = phase.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        let replans = checkpoint.content.replans.iter().filter(|replan| replan.phase == *id).count();
        let spent = replans >= limits.replans as usize;
        let skip = format!("ckpt save {workflow} --phase {} --status skipped", shell_word(id));
        let abandon = format!("ckpt save {workflow} --workflow-status abandoned");
        findings.push(if spent {
            Finding::new(
                Severity::Blocker,
                Code::ReplanLimit,
                format!("phase {id} failed again after it was reopened {}{why}", times(replans as u64)),
            )
            .help(format!("ckpt revise {workflow} --from {} --force", shell_word(id)))
            .help(skip)
            .help(abandon)
        } else {
            Finding::new(Severity::Advice, Code::PhaseFailed, format!("phase {id} failed{why}"))
                .help(format!("ckpt save {workflow} --phase {} --status in_progress", shell_word(id)))
                .help(skip)
                .help(abandon)
        });
    }
    for output in phase.outputs.iter().filter(|_| *judged == Judged::Interrupted) {
        match facts.outputs.get(&output.path) {
            Some(OutputFact::Valid) => {}
            None => findings.push(
                Finding::new(
                    Severity::Info,
                    Code::OutputMissing,
                    format!("phase {id} has not written {} yet", output.path),
                )
                .at(&output.path),
            ),
            Some(OutputFact::Invalid(why)) => findings.push(
                Finding::new(
                    Severity::Advice,
                    Code::OutputInvalid,
                    format!("phase {id} wrote {}, but {why}", output.path),
                )
                .at(&output.path),
            ),
        }
    }
}

/// A phase that counts as done must still have what it promised.
pub(super) fn promises(checkpoint: &Checkpoint, facts: &Facts, findings: &mut Vec<Finding>) {
    for phase in checkpoint.content.phases.iter().filter(|phase| phase.status == PhaseStatus::Complete) {
        let redo =
            format!("ckpt revise {} --from {} --reason \"...\"", checkpoint.workflow, shell_word(&phase.id));
        for output in &phase.outputs {
            let (code, what) = match facts.outputs.get(&output.path) {
                Some(OutputFact::Valid) => continue,
                None => (Code::OutputMissing, "is missing".to_owned()),
                Some(OutputFact::Invalid(why)) => (Code::OutputInvalid, format!("is wrong: {why}")),
            };
            let message = format!("phase {} is complete, but its output {} {what}", phase.id, output.path);
            findings.push(Finding::new(Severity::Confirm, code, message).help(redo.clone()).at(&output.path));
        }
    }
}

pub(super) fn tasks(checkpoint: &Checkpoint, tasks: &Tasks, findings: &mut Vec<Finding>) {
    let workflow = &checkpoint.workflow;
    let find = |id| checkpoint.content.find_task(id);
    for id in &tasks.exhausted {
        let task = find(id);
        let why =
            task.and_then(|task| task.error.as_ref()).map(|error| format!(": {error}")).unwrap_or_default();
        let attempts = task.map_or(0, |task| task.attempts);
        findings.push(
            Finding::new(
                Severity::Blocker,
                Code::TaskExhausted,
                format!("task {id} was tried {}{why}", times(attempts)),
            )
            .help(format!("ckpt save {workflow} --task {}", shell_word(format!("{id}=skipped")))),
        );
    }
    for id in &tasks.reconciled {
        let path = find(id).and_then(|task| task.output.clone()).unwrap_or_default();
        let message = format!("task {id} was recorded as running, but its output {path} is there");
        findings.push(Finding::new(Severity::Info, Code::TaskReconciled, message).at(path));
    }
    for id in &tasks.orphaned {
        let message = format!("task {id} was running and left nothing behind; it begins again");
        findings.push(Finding::new(Severity::Info, Code::TaskOrphaned, message));
    }
    for id in &tasks.blocked {
        let message = format!("task {id} waits for a task that will not come");
        findings.push(Finding::new(Severity::Advice, Code::TaskBlocked, message));
    }
}

pub(super) fn gap(phases: &[(&Phase, bool)], findings: &mut Vec<Finding>) {
    let Some(first) = phases.iter().position(|(_, done)| !done) else { return };
    let later: Vec<&str> =
        phases[first..].iter().filter(|(_, done)| *done).map(|(phase, _)| phase.id.as_str()).collect();
    if !later.is_empty() {
        let message =
            format!("phase {} is not done, but {} behind it is done", phases[first].0.id, later.join(", "));
        findings.push(Finding::new(Severity::Advice, Code::Gap, message));
    }
}

pub(super) fn next(
    checkpoint: &Checkpoint,
    target: &Target,
    inferred: &[PhaseId],
    findings: &mut Vec<Finding>,
) {
    let claimed = checkpoint.content.next.as_ref().and_then(|next| next.phase.as_ref());
    let Some(claimed) = claimed.filter(|claimed| !inferred.contains(claimed)) else { return };
    if checkpoint.content.is_declared() && target.phase.as_ref() != Some(claimed) {
        let computed =
            target.phase.as_ref().map_or_else(|| "nothing is left".to_owned(), |id| format!("it is {id}"));
        let message = format!("the last save named {claimed} as the next phase; by the record {computed}");
        findings.push(Finding::new(Severity::Advice, Code::NextDisagrees, message));
    }
}

pub(super) fn workflow(checkpoint: &Checkpoint, target: &Target, findings: &mut Vec<Finding>) {
    let workflow = &checkpoint.workflow;
    let reopen = format!("ckpt save {workflow} --workflow-status in_progress");
    match checkpoint.content.status {
        WorkflowStatus::Failed => findings.push(
            Finding::new(Severity::Confirm, Code::WorkflowFailed, "the workflow was given up as failed")
                .help(reopen),
        ),
        WorkflowStatus::Abandoned => findings.push(
            Finding::new(Severity::Confirm, Code::WorkflowAbandoned, "the workflow was abandoned")
                .help(reopen),
        ),
        WorkflowStatus::Complete if !target.complete => findings.push(
            Finding::new(
                Severity::Confirm,
                Code::StatusDisagrees,
                "the workflow is recorded as complete, but phases are left",
            )
            .help(reopen),
        ),
        WorkflowStatus::InProgress | WorkflowStatus::Complete => {}
    }
    if let Some(error) = &checkpoint.content.last_error {
        let phase = error.phase.as_ref().map(|id| format!(" in phase {id}")).unwrap_or_default();
        // A failed phase says it already.
        let said = findings.iter().any(|finding| {
            matches!(finding.code, Code::PhaseFailed | Code::ReplanLimit)
                && finding.message.ends_with(&error.message)
        });
        if !said {
            let message = format!("the last error{phase} was: {}", error.message);
            findings.push(Finding::new(Severity::Advice, Code::LastError, message));
        }
    }
}

/// What has changed around the work.
pub(super) fn world(checkpoint: &Checkpoint, target: &Target, facts: &Facts, findings: &mut Vec<Finding>) {
    if let Some(newest @ (_, path, _)) = &facts.damaged_newest {
        findings.push(
            Finding::new(Severity::Confirm, Code::DamagedNewest, damaged(newest))
                .help(format!("ckpt resume {} --from {}", checkpoint.workflow, checkpoint.handle()))
                .help(format!("ckpt verify {} --repair", checkpoint.workflow))
                .at(path),
        );
    }
    if let Some(reason) = &facts.archived {
        let message = format!("the workflow was archived ({reason}); the next save takes it up again");
        let help = format!("ckpt resume {} --yes", checkpoint.workflow);
        findings.push(if target.complete {
            Finding::new(Severity::Info, Code::Archived, message)
        } else {
            Finding::new(Severity::Confirm, Code::Archived, message).help(help)
        });
    }
    if let Some(newest) = &facts.newest {
        let message =
            format!("{} was judged, as asked; the newest checkpoint is {newest}", checkpoint.handle());
        findings.push(Finding::new(Severity::Info, Code::NotNewest, message));
    }
    if !checkpoint.version.is_writable() {
        let message = format!("it has format {}, which this version cannot continue", checkpoint.version);
        findings.push(Finding::new(Severity::Blocker, Code::FormatNewer, message));
    }
    let recorded = checkpoint.context.git.as_ref().and_then(|git| git.branch.as_ref());
    if let (Some(recorded), Some(git)) = (recorded, &facts.git) {
        if git.recorded_branch_exists == Some(false) {
            let message = format!(
                "the branch {recorded} it was saved on no longer exists; a save on another branch goes on there"
            );
            let here = format!("ckpt save {} --note \"continue on another branch\"", checkpoint.workflow);
            findings.push(Finding::new(Severity::Blocker, Code::BranchMissing, message).help(here));
        } else if git.branch.as_ref() != Some(recorded) {
            let current = git.branch.as_deref().unwrap_or("no branch");
            let message = format!("it was saved on branch {recorded}; {current} is checked out");
            findings.push(Finding::new(Severity::Advice, Code::BranchDiffers, message));
        }
    }
    let handle = checkpoint.handle();
    for (artifact, condition) in checkpoint.content.artifacts.iter().zip(&facts.artifacts) {
        let path = &artifact.path;
        let (severity, code, message) = match condition {
            Condition::Unchanged => continue,
            Condition::Missing => (
                Severity::Blocker,
                Code::ArtifactMissing,
                format!("{path} is missing; put it back, record it anew, or forget it"),
            ),
            Condition::Unreadable => {
                (Severity::Confirm, Code::ArtifactUnreadable, format!("{path} cannot be read"))
            }
            Condition::Changed => (
                Severity::Advice,
                Code::ArtifactChanged,
                format!("{path} changed since {handle}; look at it before you rely on it"),
            ),
        };
        let again = format!(
            "ckpt save {} --artifact {}",
            checkpoint.workflow,
            shell_word(format!("{}={path}", artifact.name))
        );
        let forget =
            format!("ckpt save {} --forget-artifact {}", checkpoint.workflow, shell_word(&artifact.name));
        let finding = Finding::new(severity, code, message).at(path);
        findings.push(match severity {
            Severity::Advice => finding,
            _ => finding.help(again).help(forget),
        });
    }
    for (file, watched) in checkpoint.context.watched.iter().zip(&facts.watched) {
        if *watched == Watched::Changed {
            let message = format!("{} changed since {handle}; read it again", file.path);
            findings.push(Finding::new(Severity::Advice, Code::WatchedChanged, message).at(&file.path));
        }
    }
}

pub(super) fn time(
    checkpoint: &Checkpoint,
    facts: &Facts,
    limits: &Limits,
    age: i64,
    findings: &mut Vec<Finding>,
) {
    let Ok(age) = u64::try_from(age) else {
        let message = format!("it was saved at {}, which is in the future", checkpoint.saved_at);
        findings.push(Finding::new(Severity::Advice, Code::FutureTime, message));
        return;
    };
    let old = |limit: Span| age > limit.seconds();
    if old(limits.confirm_after) {
        let message = format!("it is {} old; the project has probably moved on", humane(age));
        let help = format!("ckpt show {}", checkpoint.handle());
        findings.push(Finding::new(Severity::Confirm, Code::VeryStale, message).help(help));
    } else if old(limits.stale_after) {
        let message = format!("it is {} old; check that its context still holds", humane(age));
        findings.push(Finding::new(Severity::Advice, Code::Stale, message));
    }
    let other = checkpoint.writer.session.as_ref().filter(|session| facts.session.as_ref() != Some(session));
    if let Some(session) = other.filter(|_| age <= limits.recent.seconds()) {
        let agent = checkpoint.writer.agent.as_deref().unwrap_or("another agent");
        let message =
            format!("{agent} (session {session}) saved {} ago and may still be at work", humane(age));
        findings.push(Finding::new(Severity::Advice, Code::RecentWriter, message));
    }
}
