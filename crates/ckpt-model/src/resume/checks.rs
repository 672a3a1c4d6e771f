//! The checks. Each adds the findings about one subject; none of them decides anything.

use super::Limits;
use super::evaluate::{ResumePoint, is_delivered};
use super::facts::{Facts, FileCondition, OtherHead, OutputFact, Sharing};
use super::tasks::RecoveredTasks;
use crate::checkpoint::{Checkpoint, WorkflowStatus};
use crate::external::{ChangeSeverity, ComparedFact, Comparison, FactChange};
use crate::finding::{Code, Finding, Severity};
use crate::gate::failed_gate;
use crate::next_phase::{PhaseState, RunState};
use crate::phase::{Phase, PhaseId, PhaseStatus};
use crate::session_note::SessionNote;
use crate::span::{Span, ago, humane};
use crate::text::{shell_word, times};
use crate::text_diff::TextDiff;
use crate::time::Timestamp;

/// The input of the checks, and the findings so far.
pub(super) struct Checks<'a> {
    pub(super) checkpoint: &'a Checkpoint,
    pub(super) facts: &'a Facts,
    pub(super) limits: &'a Limits,
    pub(super) run: &'a RunState<'a>,
    pub(super) findings: Vec<Finding>,
}

impl Checks<'_> {
    fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Returns a command that saves to this workflow.
    fn save(&self, options: &str) -> String {
        format!("ckpt save {} {options}", self.checkpoint.workflow)
    }

    fn revise(&self, phase: &PhaseId) -> String {
        format!("ckpt revise {} --from {} --reason \"...\"", self.checkpoint.workflow, shell_word(phase))
    }

    /// Checks the phase to continue with.
    pub(super) fn phase(&mut self, phase: &Phase, state: PhaseState) {
        let id = &phase.id;
        if state == PhaseState::Failed {
            self.failed_phase(phase);
        }
        if state != PhaseState::InProgress {
            return;
        }
        for output in &phase.outputs {
            let finding = match self.facts.outputs.get(&output.path) {
                Some(OutputFact::Valid) => continue,
                None => {
                    let message = format!("phase {id} has not written {} yet", output.path);
                    Finding::info(Code::OutputMissing, message)
                }
                Some(OutputFact::Invalid(why)) => {
                    let message = format!("phase {id} wrote {}, but {why}", output.path);
                    Finding::advice(Code::OutputInvalid, message)
                }
            };
            self.add(finding.at(&output.path));
        }
    }

    fn failed_phase(&mut self, phase: &Phase) {
        let id = &phase.id;
        let word = shell_word(id);
        let why = after_colon(phase.error.clone().or_else(|| failed_gate(phase)).as_ref());
        let replans = self.checkpoint.content.replans.iter().filter(|replan| replan.phase == *id).count();
        let finding = if replans >= self.limits.replans as usize {
            let again = times(replans as u64);
            let message = format!("phase {id} failed again after it was reopened {again}{why}");
            let force = format!("ckpt revise {} --from {word} --force", self.checkpoint.workflow);
            Finding::blocker(Code::ReplanLimit, message).help(force)
        } else {
            let retry = format!("ckpt start {} --phase {word}", self.checkpoint.workflow);
            Finding::advice(Code::PhaseFailed, format!("phase {id} failed{why}")).help(retry)
        };
        let skip = self.save(&format!("--phase {word} --status skipped"));
        self.add(finding.help(skip).help(self.save("--workflow-status abandoned")));
    }

    /// Checks that complete phases still have their outputs.
    pub(super) fn outputs(&mut self) {
        let checkpoint = self.checkpoint;
        for phase in checkpoint.content.phases.iter().filter(|phase| phase.status == PhaseStatus::Complete) {
            for output in &phase.outputs {
                let (code, problem) = match self.facts.outputs.get(&output.path) {
                    Some(OutputFact::Valid) => continue,
                    None => (Code::OutputMissing, "is missing".to_owned()),
                    Some(OutputFact::Invalid(why)) => (Code::OutputInvalid, format!("is wrong: {why}")),
                };
                let message = format!("phase {} is complete, but its output {} {problem}", phase.id, output.path);
                self.add(Finding::confirm(code, message).help(self.revise(&phase.id)).at(&output.path));
            }
        }
    }

    pub(super) fn tasks(&mut self, tasks: &RecoveredTasks) {
        let checkpoint = self.checkpoint;
        for id in &tasks.exhausted {
            let task = checkpoint.content.find_task(id);
            let why = after_colon(task.and_then(|task| task.error.as_ref()));
            let attempts = task.map_or(0, |task| task.attempts);
            let message = format!("task {id} was tried {}{why}", times(attempts));
            let skip = self.save(&format!("--task {}", shell_word(format!("{id}=skipped"))));
            self.add(Finding::blocker(Code::TaskExhausted, message).help(skip));
        }
        for id in &tasks.reconciled {
            let task = checkpoint.content.find_task(id);
            let path = task.and_then(|task| task.output.clone()).unwrap_or_default();
            let message = format!("task {id} was recorded as running, but its output {path} is there");
            self.add(Finding::info(Code::TaskReconciled, message).at(path));
        }
        for id in &tasks.orphaned {
            let message = format!("task {id} was running and left nothing behind; it begins again");
            self.add(Finding::info(Code::TaskOrphaned, message));
        }
        for id in &tasks.blocked {
            let message = format!("task {id} waits for a task that will not come");
            self.add(Finding::advice(Code::TaskBlocked, message));
        }
    }

    /// Checks that complete tasks still have their outputs.
    pub(super) fn finished_tasks(&mut self) {
        for id in &self.facts.lost_task_outputs {
            let task = self.checkpoint.content.find_task(id);
            let Some(output) = task.and_then(|task| task.output.as_ref()) else { continue };
            let message = format!("task {id} is complete, but its output {output} is missing");
            let again = self.save(&format!("--task {}", shell_word(format!("{id}=pending"))));
            self.add(Finding::confirm(Code::OutputMissing, message).help(again).at(output));
        }
    }

    /// Checks that a person has agreed to what needs it.
    pub(super) fn approvals(&mut self) {
        for (phase, state) in &self.run.phases {
            let id = &phase.id;
            let approve = format!("ckpt approve {} --phase {}", self.checkpoint.workflow, shell_word(id));
            if *state == PhaseState::AwaitingApproval {
                let message = format!("phase {id} waits for a person's approval");
                let finding = Finding::confirm(Code::AwaitingApproval, message);
                self.add(finding.help(approve).help(self.revise(id)));
            } else if state.is_done() && phase.lacks_approval() && is_delivered(phase, self.facts) {
                let outputs = phase.outputs.iter().map(|output| output.path.as_str()).collect::<Vec<_>>();
                let message = format!("no approval of phase {id} was recorded; {} stands for it", outputs.join(", "));
                self.add(Finding::advice(Code::NotApproved, message).help(approve));
            }
        }
    }

    /// Checks for phases that were never begun although phases before and after them are done.
    pub(super) fn gaps(&mut self, point: &ResumePoint<'_>) {
        let phases = &self.run.phases;
        let Some(first) = phases.iter().position(|(_, state)| state.is_done()) else { return };
        let Some(last) = phases.iter().rposition(|(_, state)| state.is_done()) else { return };
        let is_gap = |(phase, state): &&(&Phase, PhaseState)| *state == PhaseState::Pending && !phase.was_begun();
        let gaps: Vec<&PhaseId> = phases[first..last].iter().filter(is_gap).map(|(phase, _)| &phase.id).collect();
        let Some(gap) = gaps.first() else { return };
        let (subject, verb) = enumerate(&gaps);
        let last = &phases[last].0.id;
        let message = format!("{subject} {verb} never begun, but {last} is done");
        if point.phase.as_ref().is_some_and(|id| gaps.contains(&id)) {
            return self.add(Finding::advice(Code::Gap, message));
        }
        let gap = shell_word(gap);
        let begin = format!("ckpt start {} --phase {gap}", self.checkpoint.workflow);
        let skip = self.save(&format!("--phase {gap} --status skipped"));
        self.add(Finding::confirm(Code::Gap, message).help(begin).help(skip));
    }

    /// Names the reason why a phase was reopened, until it is done again.
    pub(super) fn reopened(&mut self) {
        let Some(replan) = self.checkpoint.content.replans.last() else { return };
        let is_done = self.run.state(&replan.phase).is_none_or(PhaseState::is_done);
        if let (false, Some(reason)) = (is_done, &replan.reason) {
            let message = format!("phase {} was reopened: {reason}", replan.phase);
            self.add(Finding::advice(Code::Reopened, message));
        }
    }

    /// Names the declared phases that are not part of the run.
    pub(super) fn skipped(&mut self) {
        let skipped = self.run.ids(|state| state == PhaseState::SkippedByInference);
        let Some(first) = skipped.first() else { return };
        let (subject, verb) = enumerate(&skipped.iter().collect::<Vec<_>>());
        let message = format!("{subject} {verb} never begun, and skipped by inference: the run began later");
        let finding = Finding::advice(Code::PhasesSkipped, message);
        self.add(finding.help(self.revise(first)));
    }

    /// Checks the recorded next phase: one that a save named may come later, but must not be done already.
    pub(super) fn next(&mut self, point: &ResumePoint<'_>) {
        let content = &self.checkpoint.content;
        let Some(claimed) = content.next.as_ref().and_then(|next| next.phase.as_ref()) else { return };
        let is_explicit = content.next.as_ref().is_some_and(|next| next.explicit);
        let holds = match self.run.state(claimed) {
            Some(PhaseState::DoneByEvidence) => true,
            Some(PhaseState::DoneByRecord) | None => false,
            _ => is_explicit || point.phase.as_ref() == Some(claimed),
        };
        if holds || !content.is_declared() {
            return;
        }
        let computed = match &point.phase {
            Some(id) => format!("it is {id}"),
            None => "nothing is left".to_owned(),
        };
        let message = format!("the last save named {claimed} as the next phase; by the record {computed}");
        self.add(Finding::advice(Code::NextDisagrees, message));
    }

    /// Checks the status of the workflow and its last error.
    pub(super) fn workflow(&mut self, point: &ResumePoint<'_>) {
        let finding = match self.checkpoint.content.status {
            WorkflowStatus::Failed => {
                Some(Finding::confirm(Code::WorkflowFailed, "the workflow was given up as failed"))
            }
            WorkflowStatus::Abandoned => Some(Finding::confirm(Code::WorkflowAbandoned, "the workflow was abandoned")),
            WorkflowStatus::Complete if !point.complete => {
                let message = "the workflow is recorded as complete, but phases are left";
                Some(Finding::confirm(Code::StatusDisagrees, message))
            }
            WorkflowStatus::InProgress | WorkflowStatus::Complete => None,
        };
        if let Some(finding) = finding {
            self.add(finding.help(self.save("--workflow-status in_progress")));
        }
        let Some(error) = &self.checkpoint.content.last_error else { return };
        // The finding about a failed phase contains its error already.
        let reported = self.findings.iter().any(|finding| {
            matches!(finding.code, Code::PhaseFailed | Code::ReplanLimit) && finding.message.ends_with(&error.message)
        });
        if !reported {
            let phase = error.phase.as_ref().map(|id| format!(" in phase {id}")).unwrap_or_default();
            let message = format!("the last error{phase} was: {}", error.message);
            self.add(Finding::advice(Code::LastError, message));
        }
    }

    /// Checks how the checkpoint was chosen, and whether this version can continue it.
    pub(super) fn selection(&mut self, point: &ResumePoint<'_>) {
        let (workflow, handle) = (&self.checkpoint.workflow, self.checkpoint.handle());
        let selection = &self.facts.selection;
        if let Some(damaged) = &selection.damaged_newest {
            let finding = Finding::confirm(Code::DamagedNewest, damaged.to_string());
            let from = format!("ckpt resume {workflow} --from {handle}");
            let repair = format!("ckpt verify {workflow} --repair");
            self.add(finding.help(from).help(repair).at(&damaged.path));
        }
        if let Some(reason) = &selection.archived {
            let message = format!("the workflow was archived ({reason}); the next save takes it up again");
            self.add(if point.complete {
                Finding::info(Code::Archived, message)
            } else {
                Finding::confirm(Code::Archived, message).help(format!("ckpt resume {workflow} --yes"))
            });
        }
        if let Some(newest) = &selection.newest {
            let message = format!("{handle} was judged, as asked; the newest checkpoint is {newest}");
            self.add(Finding::info(Code::NotNewest, message));
        }
        let version = &self.checkpoint.version;
        if !version.is_writable() {
            let message = format!("it has format {version}, which this version cannot continue");
            self.add(Finding::blocker(Code::FormatNewer, message));
        }
    }

    pub(super) fn git(&mut self) {
        let recorded = self.checkpoint.context.git.as_ref().and_then(|git| git.branch.as_ref());
        let (Some(recorded), Some(git)) = (recorded, &self.facts.git) else { return };
        if git.recorded_branch_exists == Some(false) {
            let message = format!(
                "the branch {recorded} it was saved on no longer exists; a save on another branch goes on there"
            );
            let here = self.save("--note \"continue on another branch\"");
            self.add(Finding::blocker(Code::BranchMissing, message).help(here));
        } else if git.branch.as_ref() != Some(recorded) {
            let current = git.branch.as_deref().unwrap_or("no branch");
            let message = format!("it was saved on branch {recorded}; {current} is checked out");
            self.add(Finding::advice(Code::BranchDiffers, message));
        }
    }

    /// The command that brings back the artifacts whose contents were kept.
    fn restore_artifacts(&self) -> String {
        let (workflow, handle) = (&self.checkpoint.workflow, self.checkpoint.handle());
        match self.facts.selection.newest {
            Some(_) => format!("ckpt resume {workflow} --from {handle} --restore-artifacts"),
            None => format!("ckpt resume {workflow} --restore-artifacts"),
        }
    }

    /// Checks the artifacts and the watched files.
    pub(super) fn files(&mut self) {
        let (checkpoint, handle) = (self.checkpoint, self.checkpoint.handle());
        for (artifact, condition) in checkpoint.content.artifacts.iter().zip(&self.facts.artifacts) {
            let (path, name) = (&artifact.path, &artifact.name);
            let kept = self.facts.kept.get(name);
            let diff = kept.and_then(|kept| kept.diff.as_ref());
            let mut finding = match condition {
                FileCondition::Unchanged | FileCondition::NotCompared => continue,
                FileCondition::Missing if kept.is_some() => {
                    let message = format!("{path} is missing, and its content was kept");
                    Finding::confirm(Code::ArtifactMissing, message).help(self.restore_artifacts())
                }
                FileCondition::Missing => {
                    let message = format!("{path} is missing; put it back, record it anew, or forget it");
                    Finding::blocker(Code::ArtifactMissing, message)
                }
                FileCondition::Unreadable => {
                    Finding::confirm(Code::ArtifactUnreadable, format!("{path} cannot be read"))
                }
                FileCondition::Changed => {
                    // Without a setting, a change that can be shown is to be looked at.
                    let default = if diff.is_some() { ChangeSeverity::Confirm } else { ChangeSeverity::Advice };
                    let severity = self.limits.changed_artifacts.unwrap_or(default);
                    let Some(severity) = severity.severity() else { continue };
                    let mut message = format!("{path} changed since {handle}; look at it before you rely on it");
                    // If the content is not kept, git may have it.
                    let commit = checkpoint.context.git.as_ref().and_then(|git| git.commit.as_ref());
                    if let (Some(commit), true, None) = (commit, severity > Severity::Advice, diff) {
                        message.push_str(&format!(": git diff {commit} -- {}", shell_word(path)));
                    }
                    let finding = Finding::new(severity, Code::ArtifactChanged, message);
                    match kept {
                        Some(_) => finding
                            .with_diff(diff.map(shown).unwrap_or_default())
                            .help(self.restore_artifacts() + " --force"),
                        None => finding,
                    }
                }
            };
            if finding.severity > Severity::Advice {
                let record = self.save(&format!("--artifact {}", shell_word(format!("{name}={path}"))));
                let forget = self.save(&format!("--forget-artifact {}", shell_word(name)));
                finding = finding.help(record).help(forget);
            }
            self.add(finding.at(path));
        }
        for (file, condition) in checkpoint.context.watched.iter().zip(&self.facts.watched) {
            if *condition != FileCondition::Unchanged {
                let message = if *condition == FileCondition::Missing {
                    format!("{} is gone since {handle}", file.path)
                } else {
                    format!("{} changed since {handle}; read it again", file.path)
                };
                self.add(Finding::advice(Code::WatchedChanged, message).at(&file.path));
            }
        }
    }

    /// Checks the files that an agent edited: one finding for all of them.
    pub(super) fn touched(&mut self) {
        const MOST_NAMED: usize = 5;
        let files = self.checkpoint.context.touched.iter().zip(&self.facts.touched);
        let changed: Vec<&str> = files
            .filter(|(_, condition)| **condition != FileCondition::Unchanged)
            .map(|(file, _)| file.path.as_str())
            .collect();
        if changed.is_empty() {
            return;
        }
        let more = match changed.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = changed[..changed.len().min(MOST_NAMED)].join(", ");
        let handle = self.checkpoint.handle();
        let message = format!("edited files are different since {handle}; look at them: {named}{more}");
        self.add(Finding::advice(Code::TouchedChanged, message));
    }

    /// Reports the other sessions that are noted as being at work on the workflow. A note is advice, however old it is.
    pub(super) fn sessions(&mut self, now: Timestamp) {
        const MOST_NAMED: usize = 3;
        const DAY: u64 = 24 * 60 * 60;
        let workflow = &self.checkpoint.workflow;
        let own = self.facts.session.as_ref();
        let is_other = |note: &&SessionNote| note.session.is_none() || note.session.as_ref() != own;
        let notes = self.facts.sessions.iter().filter(|note| note.is_at_work_on(workflow)).filter(is_other);
        let mut notes: Vec<&SessionNote> = notes.collect();
        notes.sort_by_key(|note| std::cmp::Reverse(note.seen));
        let age = |time: Option<Timestamp>| {
            time.map_or(u64::MAX, |time| u64::try_from(now.seconds_since(time)).unwrap_or_default())
        };
        let findings: Vec<Finding> = notes
            .into_iter()
            .take(MOST_NAMED)
            .map(|note| {
                let severity = if age(note.seen) > DAY { Severity::Info } else { Severity::Advice };
                let times = match (note.since, note.seen) {
                    (Some(_), Some(_)) => {
                        format!(" since {}, seen {} ago", humane(age(note.since)), humane(age(note.seen)))
                    }
                    _ => String::new(),
                };
                let message = format!("{} is noted as being at work on it{times}", note.name());
                Finding::new(severity, Code::AtWork, message).help(format!("ckpt resume {workflow} --take"))
            })
            .collect();
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    /// Checks whether the workflow was continued elsewhere.
    pub(super) fn sharing(&mut self, now: Timestamp) {
        let workflow = &self.checkpoint.workflow;
        let Sharing { heads, behind, unpushed, unreachable } = &self.facts.sharing;
        let mut findings = Vec::new();
        for head in heads {
            let OtherHead { handle, saved_at, writer, progress, differs } = head;
            let who = writer.as_ref().map(|writer| format!(" by {writer}")).unwrap_or_default();
            let age = ago(u64::try_from(now.seconds_since(*saved_at)).unwrap_or_default());
            let message =
                format!("{workflow} was also continued elsewhere: {handle}, saved{who} {age}, {progress}; {differs}");
            let finding = Finding::confirm(Code::Forked, message).help(format!("ckpt diff {handle} {workflow}")).help(
                format!("ckpt merge {workflow}{}", if heads.len() > 1 { format!(" {handle}") } else { String::new() }),
            );
            findings.push(finding);
        }
        if *behind > 0 {
            let message = format!("the remote was seen to have more of it: {behind}");
            findings.push(Finding::advice(Code::Behind, message).help(format!("ckpt pull {workflow}")));
        }
        if *unpushed > 0 {
            let message = format!("checkpoints that the remote does not have: {unpushed}");
            findings.push(Finding::info(Code::Unpushed, message).help(format!("ckpt push {workflow}")));
        }
        if let Some(why) = unreachable {
            let message = format!("the remote could not be asked, so this is what the store has: {why}");
            findings.push(Finding::advice(Code::RemoteUnreachable, message));
        }
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    /// Checks the external facts.
    pub(super) fn external(&mut self) {
        let handle = self.checkpoint.handle();
        for ComparedFact { name, comparison } in &self.facts.external {
            match comparison {
                Comparison::NotCompared => {
                    let message = format!("the fact {name} is as it was recorded; --fact compares it");
                    self.add(Finding::info(Code::FactNotCompared, message));
                }
                Comparison::NotRecorded => {
                    let message = format!("the fact {name} was not recorded, so it was not compared");
                    self.add(Finding::advice(Code::FactNotCompared, message));
                }
                Comparison::Compared { changes, left_out } => {
                    for FactChange { pointer, change, severity } in changes {
                        let message =
                            format!("the fact {name} changed since {handle} at {}: {change}", or_root(pointer));
                        self.add(Finding::new(*severity, Code::FactChanged, message).at(pointer));
                    }
                    if let (Some(last), 1..) = (changes.last(), left_out) {
                        let message = format!("the fact {name} has {left_out} more changes");
                        self.add(Finding::new(last.severity, Code::FactChanged, message));
                    }
                }
            }
        }
    }

    /// Checks the age of the checkpoint, and whether another session saved it just now.
    pub(super) fn age(&mut self, age_seconds: i64) {
        let Ok(age) = u64::try_from(age_seconds) else {
            let message = format!("it was saved at {}, which is in the future", self.checkpoint.saved_at);
            // The clock of another system cannot be checked, so its state is doubtful.
            let severity = if self.checkpoint.imported.is_some() { Severity::Confirm } else { Severity::Advice };
            return self.add(Finding::new(severity, Code::FutureTime, message));
        };
        let exceeds = |limit: Span| age > limit.seconds();
        if exceeds(self.limits.confirm_after) {
            let message = format!("it is {} old; the project has probably moved on", humane(age));
            let show = format!("ckpt show {}", self.checkpoint.handle());
            self.add(Finding::confirm(Code::VeryStale, message).help(show));
        } else if exceeds(self.limits.stale_after) {
            let message = format!("it is {} old; check that its context still holds", humane(age));
            self.add(Finding::advice(Code::Stale, message));
        }
        let writer = &self.checkpoint.writer;
        let Some(session) = &writer.session else { return };
        // Its note says more: that it is at work, that it has ended, or that its work was taken over.
        let is_noted = self.facts.sessions.iter().any(|note| note.session.as_ref() == Some(session));
        if !is_noted && self.facts.session.as_ref() != Some(session) && !exceeds(self.limits.recent) {
            let agent = writer.agent.as_deref().unwrap_or("another agent");
            let message = format!("{agent} (session {session}) saved {} ago and may still be at work", humane(age));
            self.add(Finding::advice(Code::RecentWriter, message));
        }
    }
}

/// `phase 2` or `phases 2, 3`, and the verb for it.
fn enumerate(phases: &[&PhaseId]) -> (String, &'static str) {
    let names = phases.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
    if phases.len() == 1 { (format!("phase {names}"), "was") } else { (format!("phases {names}"), "were") }
}

/// A JSON pointer for people, who do not see an empty one.
fn or_root(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

/// The lines of a diff, and how many are left out.
fn shown(diff: &TextDiff) -> Vec<String> {
    let mut lines = diff.lines.clone();
    if diff.left_out > 0 {
        lines.push(format!("({} more lines)", diff.left_out));
    }
    lines
}

fn after_colon(error: Option<&String>) -> String {
    error.map(|error| format!(": {error}")).unwrap_or_default()
}
