//! The answer of `ckpt save`.

use std::borrow::Cow;

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use ckpt_model::checkpoint::{Content, Next};
use ckpt_model::next_phase::{PhaseState, RunState};
use ckpt_model::phase::PhaseStatus;
use ckpt_model::{Checkpoint, Handle, PhaseId, Trigger, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::observe::observed_run;
use ckpt_store::save::Outcome;

#[derive(Debug, Serialize)]
pub(crate) struct SaveReport {
    pub(crate) handle: Option<Handle>,
    workflow: WorkflowId,
    seq: Option<u64>,
    pub(crate) created: bool,
    /// True if this is the first checkpoint of the workflow.
    pub(crate) new_workflow: bool,
    /// True if the workflow was archived, and goes on with this checkpoint.
    taken_up: bool,
    /// The last checkpoint of the run before, if this one begins another.
    pub(crate) restarted_from: Option<Handle>,
    /// An older workflow of which the new one may be a misspelling.
    pub(crate) similar: Option<WorkflowId>,
    /// Names the store at the end of an offered line, if it has to be named.
    #[serde(skip)]
    pub(crate) store_flag: String,
    pub(crate) status: Option<WorkflowStatus>,
    pub(crate) phase: Option<PhaseId>,
    done: Vec<PhaseId>,
    remaining: Vec<PhaseId>,
    skipped_by_inference: Vec<PhaseId>,
    awaiting_approval: Vec<PhaseId>,
    pub(crate) next: Option<Next>,
    /// The JSON pointers of the secrets that were replaced.
    pub(crate) redactions: Vec<String>,
    path: Option<String>,
    skipped_trigger: Option<Trigger>,
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    verb: Cow<'static, str>,
    /// `phase 2 (Strategic Synthesis) complete`
    #[serde(skip)]
    phase_summary: Option<String>,
    /// True if the status of the phase was not given.
    #[serde(skip)]
    by_default: bool,
    /// `4 of 7 done`
    #[serde(skip)]
    progress: String,
    #[serde(skip)]
    pub(crate) new_store: Option<String>,
    /// The number of warnings, from the first, that are about the input; the others are about failures.
    #[serde(skip)]
    advice: usize,
    /// True if the same save was made before under the same key.
    #[serde(skip)]
    repeated: bool,
    /// The number that the new checkpoint continues.
    #[serde(skip)]
    pub(crate) parent: Option<u64>,
    /// A line about the cleanup after the save.
    #[serde(skip)]
    pub(crate) cleanup: Option<String>,
    /// True if `ckpt resume` could not tell what comes next.
    #[serde(skip)]
    lacks_next: bool,
    /// True if the command has the flag `--allow-secrets`.
    #[serde(skip)]
    has_allow_secrets: bool,
    /// True if the checkpoint would be created.
    #[serde(skip)]
    would_create: bool,
}

impl SaveReport {
    /// Reports an outcome. `checkpoint` is the one that was written or kept, if it can be read.
    pub(crate) fn new(
        store: &Store,
        workflow: &WorkflowId,
        outcome: &Outcome,
        checkpoint: Option<&Checkpoint>,
    ) -> Self {
        let handle = outcome.seq().map(|seq| Handle::new(workflow, seq));
        let content = checkpoint.map(|checkpoint| &checkpoint.content);
        let run = content.map(|content| observed_run(content, store.project()));
        let ids = |selects: fn(PhaseState) -> bool| run.as_ref().map(|run| run.ids(selects)).unwrap_or_default();
        let mut report = Self {
            workflow: workflow.clone(),
            seq: outcome.seq(),
            created: false,
            new_workflow: false,
            taken_up: false,
            restarted_from: None,
            similar: None,
            store_flag: String::new(),
            status: content.map(|content| content.status),
            phase: content.and_then(|content| content.phase.clone()),
            done: ids(PhaseState::is_done),
            remaining: ids(PhaseState::is_left),
            skipped_by_inference: ids(|state| state == PhaseState::SkippedByInference),
            awaiting_approval: ids(|state| state == PhaseState::AwaitingApproval),
            next: run.as_ref().and_then(RunState::next),
            redactions: Vec::new(),
            path: handle.as_ref().map(|handle| store.checkpoint_path(handle).display().to_string()),
            handle,
            skipped_trigger: None,
            warnings: Vec::new(),
            advice: 0,
            verb: Cow::Borrowed("Saved"),
            phase_summary: content.and_then(phase_summary),
            by_default: false,
            progress: run.as_ref().map(progress).unwrap_or_default(),
            new_store: None,
            repeated: false,
            parent: None,
            cleanup: None,
            lacks_next: content.is_some_and(lacks_next),
            has_allow_secrets: false,
            would_create: false,
        };
        match outcome {
            Outcome::Written(checkpoint) | Outcome::Reopened(checkpoint) => {
                report.created = true;
                report.taken_up = matches!(outcome, Outcome::Reopened(_));
                report.new_workflow = checkpoint.seq == 1;
                report.parent = checkpoint.parent.as_ref().map(|parent| parent.seq);
            }
            Outcome::Repeated(_) => report.repeated = true,
            Outcome::Unchanged(_) => {}
            Outcome::TriggerOff { trigger, .. } => report.skipped_trigger = Some(trigger.clone()),
        }
        report
    }

    /// Makes this the report of `ckpt save`, with warnings about its input. `by_default` is true if it did not name the
    /// status of the phase.
    pub(crate) fn of_save(mut self, mut advice: Vec<String>, by_default: bool) -> Self {
        self.has_allow_secrets = true;
        self.by_default = by_default;
        if self.created && self.lacks_next {
            let id = &self.workflow;
            advice.push(format!(
                "nothing says what comes next; `ckpt save {id} --next 'what comes next'` does, \
                 or `ckpt done {id}` if all is done"
            ));
        }
        self.advice = advice.len();
        self.warnings.splice(..0, advice);
        self
    }

    /// Makes this the report of a dry run.
    pub(crate) fn planned(mut self) -> Self {
        self.would_create = std::mem::take(&mut self.created);
        self
    }

    /// Replaces the word "Saved" in the summary.
    pub(crate) fn titled(mut self, verb: impl Into<Cow<'static, str>>) -> Self {
        self.verb = verb.into();
        self
    }

    /// A line about what happened, for a command with words of its own: `Saved 042/7: phase test failed`.
    pub(crate) fn summary(&self, what: &str) -> String {
        match (&self.handle, &self.skipped_trigger) {
            (_, Some(trigger)) => format!("Not saved: {what}\n{}\n", trigger_off(trigger)),
            (Some(handle), None) => format!("Saved {handle}: {what}\n"),
            (None, None) => format!("{what}\n"),
        }
    }

    /// The warnings and the line about the cleanup, for a command with a summary of its own.
    pub(crate) fn notes(&self, is_quiet: bool) -> String {
        let mut page = TextPage::new(false, None, None, false);
        page.warnings(&self.warnings);
        self.redaction_warning(&mut page);
        if let Some(cleanup) = &self.cleanup
            && !is_quiet
        {
            page.line(cleanup);
        }
        page.into_text()
    }

    /// True if the phase to continue with waits for approval.
    fn waits(&self) -> bool {
        let next = self.next.as_ref().and_then(|next| next.phase.as_ref());
        next.is_some_and(|phase| self.awaiting_approval.contains(phase))
    }

    fn redaction_warning(&self, page: &mut TextPage) {
        if self.redactions.is_empty() {
            return;
        }
        let label = page.paint(Style::Warning, "warning:");
        let pointers = page.escape(&self.redactions.join(", "));
        let flag = if self.has_allow_secrets { "; `--allow-secrets` keeps them" } else { "" };
        page.line(format!("{label} replaced what looks like secrets at {pointers}{flag}"));
    }
}

fn trigger_off(trigger: &Trigger) -> String {
    format!("Nothing saved: the trigger {trigger} is switched off in the configuration")
}

/// `4 of 7 done`, or `4 of 5 done, 2 skipped by inference`
fn progress(run: &RunState<'_>) -> String {
    let counted = run.progress();
    let (progress, skipped) = (super::parts::progress(counted), counted.skipped);
    if skipped == 0 { progress } else { format!("{progress}, {skipped} skipped by inference") }
}

/// True if the phases were never declared, none is open, and no save said what comes next.
fn lacks_next(content: &Content) -> bool {
    !content.is_declared()
        && content.status == WorkflowStatus::InProgress
        && content.next.is_none()
        && content.remaining().next().is_none()
}

fn phase_summary(content: &Content) -> Option<String> {
    let phase = content.phase.as_ref().and_then(|id| content.find_phase(id))?;
    let name = phase.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let status = match phase.status {
        PhaseStatus::InProgress => "in progress",
        other => other.word(),
    };
    Some(format!("phase {}{name} {status}", phase.id))
}

impl Report for SaveReport {
    const FORMAT: &'static str = "ckpt.save.v1";

    fn essential(&self) -> String {
        self.handle.as_ref().map(|handle| format!("{handle}\n")).unwrap_or_default()
    }

    fn answer(&self, page: &mut TextPage) {
        page.raw(&self.essential());
    }

    fn failures(&self, page: &mut TextPage) {
        page.warnings(self.warnings.get(self.advice..).unwrap_or_default());
    }

    fn remarks(&self, page: &mut TextPage) {
        if let Some(store) = &self.new_store {
            page.line(format!("Created the store {}", page.escape(store)));
        }
        page.warnings(self.warnings.get(..self.advice).unwrap_or_default());
        self.redaction_warning(page);
        if let Some(trigger) = &self.skipped_trigger {
            page.line(trigger_off(trigger));
            return;
        }
        let Some(handle) = &self.handle else { return };
        if !self.created && !self.would_create {
            page.line(if self.repeated {
                format!("Nothing new: {handle} was saved under this key")
            } else {
                format!("Nothing new: {handle} says it already")
            });
            return;
        }
        let next = match (self.status, &self.next) {
            (Some(status), _) if status != WorkflowStatus::InProgress => {
                format!(" The workflow is {}.", status.word())
            }
            (_, Some(Next { phase: Some(phase), .. })) => {
                let id = page.escape(phase.as_str());
                if self.waits() { format!(" Phase {id} waits for approval.") } else { format!(" Next: {id}.") }
            }
            (_, Some(Next { action: Some(action), .. })) => format!(" Next: {}.", page.escape(action)),
            _ => String::new(),
        };
        let resume = match self.status {
            _ if self.would_create => String::new(),
            Some(WorkflowStatus::InProgress) if self.lacks_next => String::new(),
            Some(WorkflowStatus::InProgress) if self.waits() => {
                format!(" Approve with: ckpt approve {}", self.workflow)
            }
            Some(WorkflowStatus::InProgress) => format!(" Resume with: ckpt resume {}", self.workflow),
            _ => String::new(),
        };
        let by_default = if self.by_default { " by default" } else { "" };
        let phase = self.phase_summary.as_ref().map(|phase| format!("{}{by_default}, ", page.escape(phase)));
        let phase = phase.unwrap_or_default();
        let new = if self.new_workflow { ", a new workflow" } else { "" };
        page.line(format!("{} {handle}{new}: {phase}{}.{next}{resume}", self.verb, self.progress));
        if let Some(before) = &self.restarted_from {
            page.line(format!("Archived what there was. Undo with: ckpt rollback {before}{}", self.store_flag));
        } else if self.taken_up {
            let id = &self.workflow;
            page.line(format!(
                "{id} was archived, and this save takes it up again. To start over: ckpt save {id} --fresh"
            ));
        }
        if let Some(similar) = &self.similar {
            let label = page.paint(Style::Warning, "warning:");
            page.line(format!(
                "{label} there is a workflow {similar}; if you meant it, take this one back: \
                 `ckpt archive {} --as abandoned`",
                self.workflow
            ));
        }
        if let Some(cleanup) = &self.cleanup {
            page.line(cleanup);
        }
        if let Some(path) = &self.path
            && page.verbose
        {
            page.line(format!("  {}", page.escape(path)));
        }
    }

    fn already_done(&self) -> Option<String> {
        if self.would_create {
            return None;
        }
        self.handle
            .as_ref()
            .map(|handle| if self.created { format!("saved {handle}") } else { format!("{handle} says it already") })
    }
}
