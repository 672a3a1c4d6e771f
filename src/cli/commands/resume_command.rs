//! The command of `ckpt resume ID -- CMD`

use std::ffi::OsString;

use serde_json::json;

use super::brief;
use super::resume::exit;
use crate::cli::attempts::RetryFlags;
use crate::cli::child::{self, ChildEnvironment, Ended};
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::saving::SaveOptions;
use crate::cli::session::{Judgement, Session, Workspace};
use crate::cli::views::brief::BriefReport;
use crate::cli::views::resume::ResumeReport;
use ckpt_model::change::{Change, Edit};
use ckpt_model::resume::Verdict;
use ckpt_model::{PhaseId, PhaseStatus, WorkflowId, WorkflowStatus};
use ckpt_platform::SignalHandler;
use ckpt_store::observe::Selected;

/// A command that continues a workflow.
pub(super) struct ResumeCommand<'a> {
    pub(super) words: &'a [OsString],
    pub(super) retry: &'a RetryFlags,
    /// True if the verdict `confirm` is accepted.
    pub(super) yes: bool,
}

impl ResumeCommand<'_> {
    /// Runs the command with the brief on stdin. With `--retries`, each attempt that fails is recorded, and the next one
    /// gets the brief of what the store has by then.
    pub(super) fn run(&self, session: &Session, workspace: &Workspace, judgement: &Judgement) -> Result<Exit, Failure> {
        let signals = child::handle_signals()?;
        let workflow = &judgement.checkpoint.workflow;
        let judge = |session: &Session| -> Result<Judgement, Failure> {
            Ok(session.judge(workspace, Selected::newest(&workspace.store, workflow)?))
        };
        let mut ended = self.run_once(judgement, &signals)?;
        for failed in 1.. {
            let later = session.with_current_time()?;
            if let Some(interruption) = ended.interruption {
                child::save_interruption(&later, workspace, workflow, interruption)?;
                break;
            }
            if ended.code == 0 || self.retry.retries == 0 {
                break;
            }
            // The command itself may have finished the work, or given it up.
            let left = judge(&later)?;
            let is_open = left.checkpoint.content.status == WorkflowStatus::InProgress;
            if !is_open || left.resume.verdict == Verdict::Complete {
                break;
            }
            let phase = left.resume.phase.as_ref();
            record(&later, workspace, workflow, phase, AttemptEvent::Failed(ended.code))?;
            if failed >= self.retry.attempts() {
                break;
            }
            if let Some(interruption) = self.retry.wait(failed, &signals, &session.output) {
                child::save_interruption(&session.with_current_time()?, workspace, workflow, interruption)?;
                return Ok(Exit::Child(interruption.code));
            }
            let later = session.with_current_time()?;
            let judgement = judge(&later)?;
            if exit(judgement.resume.verdict, self.yes) != Exit::Ok {
                session.output.converse(&ResumeReport::new(&judgement), &later.clock);
                break;
            }
            record(&later, workspace, workflow, judgement.resume.phase.as_ref(), AttemptEvent::Begun)?;
            ended = self.run_once(&judge(&later)?, &signals)?;
        }
        Ok(ended.exit())
    }

    fn run_once(&self, judgement: &Judgement, signals: &SignalHandler) -> Result<Ended, Failure> {
        let Judgement { checkpoint, resume, .. } = judgement;
        let brief = BriefReport::one(judgement, brief::DEFAULT_TOKENS).text;
        let environment = ChildEnvironment {
            workflow: checkpoint.workflow.to_string(),
            handle: checkpoint.handle().to_string(),
            phase: resume.phase.as_ref().map(ToString::to_string),
            action: resume.action.clone(),
        };
        child::run(self.words, &environment, Some(brief.as_bytes()), signals)
    }
}

/// The begin or the end of an attempt.
#[derive(Debug, Clone, Copy)]
enum AttemptEvent {
    Begun,
    /// It ended with this exit code.
    Failed(u8),
}

/// Records an attempt: as one of the phase, if there is one.
fn record(
    session: &Session,
    workspace: &Workspace,
    workflow: &WorkflowId,
    phase: Option<&PhaseId>,
    event: AttemptEvent,
) -> Result<(), Failure> {
    let mut change = Change { phase: phase.cloned(), ..Change::default() };
    let what = match event {
        AttemptEvent::Begun if phase.is_none() => return Ok(()),
        AttemptEvent::Begun => {
            change.status = Some(PhaseStatus::InProgress);
            "another attempt begins".to_owned()
        }
        AttemptEvent::Failed(code) => {
            let message = format!("the command ended with exit code {code}");
            change.error = Some(message.clone());
            if phase.is_some() {
                change.status = Some(PhaseStatus::Failed);
                change.data = vec![Edit::Overlay(json!({"run": {"exit_code": code}}))];
            }
            message
        }
    };
    let report = session.save(workspace, workflow, change, &SaveOptions::default())?;
    if !session.output.is_quiet() {
        session.output.say(&report.summary(&what));
    }
    session.output.say(&report.notes(session.output.is_quiet()));
    Ok(())
}
