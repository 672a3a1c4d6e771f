//! `ckpt run`

use std::ffi::OsString;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use serde_json::json;

use crate::cli::args::{CommandSpec, command};
use crate::cli::attempts::RetryFlags;
use crate::cli::child::{self, ChildEnvironment, Ended};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::question::{AfterFailure, ask_after_failure};
use crate::cli::saving::SaveOptions;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::save::SaveReport;
use ckpt_model::change::{Change, Edit};
use ckpt_model::text::shell_word;
use ckpt_model::{PhaseId, PhaseStatus, Timestamp, WorkflowId, WorkflowStatus};
use ckpt_platform::SignalHandler;
use ckpt_store as store;

pub(crate) const COMMAND: CommandSpec = command!(RunArgs, "run", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt run 042 --phase test -- cargo test
  ckpt run 042 --phase build -- make -j4
  ckpt run 042 --phase fetch --retries 3 --backoff 10s -- ./fetch.sh";

/// Run a command as one phase: in progress while it runs, then complete or failed
///
/// The command, its exit code and how long it took become data of the phase. `ckpt run` exits with its exit code. With `--retries`, a
/// command that fails is run again; the exit code is that of the last attempt. On a terminal you are asked then whether
/// to retry, skip or abort.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: WorkflowId,
    /// The phase
    #[arg(long, value_name = "P", add = ArgValueCandidates::new(complete::phases))]
    phase: PhaseId,
    #[command(flatten)]
    retry: RetryFlags,
    /// The command
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn run(args: &RunArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let workflow = workspace.store.resolve_workflow(&args.id).map_err(|error| match error {
        store::Error::NoSuchWorkflow { .. } => {
            Failure::from(error).help(format!("ckpt save {} --phases build,test", args.id))
        }
        error => error.into(),
    })?;
    let lease = session.lease(&workspace.store, &workflow);
    let ended = run_until_settled(args, session, &workspace, &workflow);
    lease.end();
    ended
}

fn run_until_settled(
    args: &RunArgs,
    session: &Session,
    workspace: &Workspace,
    workflow: &WorkflowId,
) -> Result<Exit, Failure> {
    let signals = child::handle_signals()?;
    let mut attempts = Attempts { args, session, workspace, workflow, exit_codes: Vec::new() };
    // A person may grant more.
    let mut granted = args.retry.attempts();
    loop {
        let ended = attempts.run_once(&signals)?;
        if let Some(interruption) = ended.interruption {
            child::save_interruption(&session.with_current_time()?, workspace, workflow, interruption)?;
            return Ok(ended.exit());
        }
        if ended.code == 0 {
            return Ok(ended.exit());
        }
        let failed = u32::try_from(attempts.exit_codes.len()).unwrap_or(u32::MAX);
        if failed < granted {
            let Some(interruption) = args.retry.wait(failed, &signals, &session.output) else { continue };
            child::save_interruption(&session.with_current_time()?, workspace, workflow, interruption)?;
            return Ok(Exit::Child(interruption.code));
        }
        if !session.is_interactive() {
            return Ok(ended.exit());
        }
        let answer = signals.released(|| ask_after_failure(&session.output, false));
        let later = session.with_current_time()?;
        match answer {
            Some(AfterFailure::Retry) => granted = failed.saturating_add(1),
            Some(AfterFailure::Skip) => return skip_phase(&later, workspace, workflow, &args.phase),
            Some(AfterFailure::Abort) => {
                abandon(&later, workspace, workflow)?;
                return Ok(ended.exit());
            }
            Some(AfterFailure::Other) | None => return Ok(ended.exit()),
        }
    }
}

/// The attempts to run a command as a phase.
struct Attempts<'a> {
    args: &'a RunArgs,
    session: &'a Session,
    workspace: &'a Workspace,
    workflow: &'a WorkflowId,
    /// The exit code of each attempt so far.
    exit_codes: Vec<u8>,
}

impl Attempts<'_> {
    /// Runs the command once and records its begin and its end, except for the end of one that was interrupted.
    fn run_once(&mut self, signals: &SignalHandler) -> Result<Ended, Failure> {
        let phase = &self.args.phase;
        let begin = self.session.with_current_time()?;
        let begun = self.save(&begin, PhaseStatus::InProgress, Change::default())?;
        let environment = ChildEnvironment {
            workflow: self.workflow.to_string(),
            handle: begun.handle.map(|handle| handle.to_string()).unwrap_or_default(),
            phase: begun.phase.map(|id| id.to_string()),
            action: begun.next.and_then(|next| next.action),
        };
        let begin = self.session.with_current_time()?;
        let ended = match child::run(&self.args.command, &environment, None, signals) {
            Ok(ended) => ended,
            Err(failure) => {
                let change = Change { error: Some(failure.message.clone()), ..Change::default() };
                self.save(&begin.with_current_time()?, PhaseStatus::Failed, change)?;
                return Err(failure);
            }
        };
        if ended.interruption.is_some() {
            return Ok(ended);
        }
        self.exit_codes.push(ended.code);
        let end = self.session.with_current_time()?;
        let status = if ended.code == 0 { PhaseStatus::Complete } else { PhaseStatus::Failed };
        let error = (ended.code != 0).then(|| format!("the command ended with exit code {}", ended.code));
        let data = vec![Edit::Overlay(self.data(ended.code, begin.now(), end.now()))];
        let change = Change { data, error, ..Change::default() };
        let (report, status) = self.save_end(&end, status, change)?;
        if !self.session.output.is_quiet() {
            let complete = report.created && report.status == Some(WorkflowStatus::Complete);
            let complete = if complete { ". The workflow is complete." } else { "" };
            let (word, code) = (status.word(), ended.code);
            self.session.output.say(&report.summary(&format!("phase {phase} {word}, exit code {code}{complete}")));
        }
        self.session.output.say(&report.notes(self.session.output.is_quiet()));
        Ok(ended)
    }

    /// Records the end. What the command did is not lost if the data of the phase lacks something: it stays in progress.
    fn save_end(
        &self,
        session: &Session,
        status: PhaseStatus,
        change: Change,
    ) -> Result<(SaveReport, PhaseStatus), Failure> {
        match self.save(session, status, change.clone()) {
            Err(failure) if matches!(failure.code, ErrorCode::InvalidData | ErrorCode::GateFailed) => {
                let mut report = self.save(session, PhaseStatus::InProgress, change)?;
                let phase = &self.args.phase;
                report.warnings.push(format!("phase {phase} stays in progress: {}", failure.message));
                Ok((report, PhaseStatus::InProgress))
            }
            report => Ok((report?, status)),
        }
    }

    fn save(&self, session: &Session, status: PhaseStatus, change: Change) -> Result<SaveReport, Failure> {
        let change = Change { phase: Some(self.args.phase.clone()), status: Some(status), ..change };
        session.save(self.workspace, self.workflow, change, &SaveOptions::default())
    }

    /// The data of the phase: command, exit codes and duration.
    fn data(&self, code: u8, begin: Timestamp, end: Timestamp) -> serde_json::Value {
        let command: Vec<_> = self.args.command.iter().map(|word| word.to_string_lossy()).collect();
        let seconds = end.seconds_since(begin).max(0);
        json!({"run": {
            "command": command, "exit_code": code, "exit_codes": self.exit_codes, "duration_seconds": seconds
        }})
    }
}

/// Records that a failed phase is left out.
pub(super) fn skip_phase(
    session: &Session,
    workspace: &Workspace,
    workflow: &WorkflowId,
    phase: &PhaseId,
) -> Result<Exit, Failure> {
    let change = Change { phase: Some(phase.clone()), status: Some(PhaseStatus::Skipped), ..Change::default() };
    let report = session.save(workspace, workflow, change, &SaveOptions::default())?;
    let again = format!("ckpt start {workflow} --phase {}", shell_word(phase));
    session.output.say(&report.summary(&format!("phase {phase} skipped. To do it after all: {again}")));
    session.output.say(&report.notes(session.output.is_quiet()));
    Ok(Exit::Ok)
}

/// Records that the workflow is given up after a failure.
pub(super) fn abandon(session: &Session, workspace: &Workspace, workflow: &WorkflowId) -> Result<(), Failure> {
    let change = Change { workflow_status: Some(WorkflowStatus::Abandoned), ..Change::default() };
    let report = session.save(workspace, workflow, change, &SaveOptions::default())?;
    let undo = format!("ckpt save {workflow} --workflow-status in_progress");
    session.output.say(&report.summary(&format!("{workflow} is abandoned. Undo with: {undo}")));
    session.output.say(&report.notes(session.output.is_quiet()));
    Ok(())
}
