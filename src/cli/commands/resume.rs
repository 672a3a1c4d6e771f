//! `ckpt resume`

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::pull_flag::PullFlag;
use super::resume_command::ResumeCommand;
use super::run::{abandon, skip_phase};
use super::save_flags::named_json;
use super::unfinished::only_unfinished;
use crate::cli::args::{CommandSpec, command};
use crate::cli::attempts::RetryFlags;
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::escape;
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::input::{Input, STDIN, read_foreign_stdin};
use crate::cli::question::{AfterFailure, Choice, ask, ask_after_failure};
use crate::cli::saving::last_content;
use crate::cli::session::{Judgement, Session, Workspace};
use crate::cli::views::context::ContextReport;
use crate::cli::views::resume::{ResumeHints, ResumeReport};
use crate::cli::words;
use ckpt_formats::dialects::Reading;
use ckpt_formats::import::{Companions, ForeignFile, Importer, ReadOptions, Source, SourceError};
use ckpt_model::resume::Verdict;
use ckpt_model::selector::Which;
use ckpt_model::text::shell_word;
use ckpt_model::{ArchiveReason, Checkpoint, Config, PhaseStatus, Selector, WorkflowId};
use ckpt_store::Store;
use ckpt_store::observe::Selected;
use ckpt_store::restore_artifacts::{self, ArtifactStep};

pub(crate) const COMMAND: CommandSpec = command!(ResumeArgs, "resume", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt resume 042
  ckpt resume 042 && start-agent
  ckpt resume 042 --context --json
  ckpt resume 042 --from 042/3 --explain
  ckpt resume 042 --fact issue=@issue.json
  ckpt resume 042 --fresh
  ckpt resume 042 --take
  ckpt resume 042 --restore-artifacts
  ckpt resume --file .claude/checkpoints/implement_auth_20251003_184530.json
  ckpt resume 042 -- claude -p \"Continue the work described on stdin\"

Exit codes: 0 ready, 4 complete or not found, 5 several unfinished, 7 confirm or blocked";

/// Say where to continue, why, and whether it is safe
///
/// The checkpoint is only a claim: files, git, time and tasks are checked before anything is said. On a terminal you
/// are asked what to do; elsewhere the exit code is the answer. Without an id: the only unfinished workflow; of several,
/// you pick one on a terminal.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The workflow
    #[arg(value_name = "ID", add = complete::selector())]
    id: Option<Query>,
    /// Judge this checkpoint instead of the newest one
    #[arg(long, value_name = "SELECTOR", add = complete::selector())]
    from: Option<Selector>,
    /// Judge the checkpoint file of another system, without importing it
    #[arg(long, value_name = "PATH", conflicts_with_all = ["id", "from", "context", "command", "fact", "pull"])]
    file: Option<PathBuf>,
    /// With `--file`, take the list at this JSON pointer as the work
    #[arg(long, value_name = "POINTER", requires = "file")]
    list: Option<String>,
    /// Compare a recorded external fact with what it is now; what changed is listed by JSON pointer
    #[arg(long, value_name = "NAME=JSON|@FILE|-")]
    fact: Vec<String>,
    /// Start over: archive what there is, and begin at the first phase
    #[arg(long, requires = "id", conflicts_with_all = ["from", "file"])]
    fresh: bool,
    /// Bring back the artifacts that are missing and whose contents were kept
    #[arg(long, conflicts_with_all = ["file", "fresh"])]
    restore_artifacts: bool,
    /// With `--restore-artifacts`, those that have changed too; what is there is renamed to `NAME.orig`
    #[arg(long, requires = "restore_artifacts")]
    force: bool,
    #[command(flatten)]
    pull: PullFlag,
    /// Note that you are at work on it now, in place of whoever was
    #[arg(long, conflicts_with = "file")]
    take: bool,
    /// Accept the verdict `confirm`; nothing accepts `blocked`
    #[arg(short = 'y', long)]
    yes: bool,
    /// Print for every phase what decided about it
    #[arg(long, conflicts_with = "context")]
    explain: bool,
    /// Print what an agent must reload: action, data of finished phases, artifacts, watched files
    #[arg(long)]
    context: bool,
    /// Run this command if it is safe, with the brief on stdin and `CKPT_WORKFLOW`, `CKPT_HANDLE`, `CKPT_PHASE` and
    /// `CKPT_ACTION` in its environment
    #[arg(last = true, value_name = "CMD", conflicts_with = "context")]
    command: Vec<OsString>,
    #[command(flatten)]
    retry: RetryFlags,
}

fn run(args: &ResumeArgs, session: &Session) -> Result<Exit, Failure> {
    if let Some(file) = &args.file {
        let (judgement, reading) = judge_file(session, file, args.list.clone())?;
        let file = Some((file.as_path(), &reading));
        session.answer(&ResumeReport { file, ..args.report(&judgement) })?;
        return Ok(exit(judgement.resume.verdict, args.yes));
    }
    let mut workspace = session.workspace()?;
    args.pull.first(session, &mut workspace)?;
    let selected = match &args.id {
        Some(id) if args.fresh => {
            let workflow = named_workflow(&workspace.store, id.selector()?)?;
            restart(session, &workspace, &workflow)?;
            Selected::newest(&workspace.store, &workflow)?
        }
        _ => args.select(session, &workspace)?,
    };
    let restored = if args.restore_artifacts {
        restore_artifacts(&workspace, &selected.checkpoint, args.force, true)?
    } else {
        Vec::new()
    };
    let current_facts = args.current_facts(session)?;
    if args.take {
        take(session, &workspace, &selected.checkpoint.workflow);
    }
    let judgement = session.judge_with_facts(&workspace, selected, &current_facts);
    if args.context {
        session.answer(&ContextReport::new(&judgement, &workspace.store))?;
        return Ok(exit(judgement.resume.verdict, args.yes));
    }
    // A command that is run owns stdout, so the verdict goes to stderr then.
    let report = ResumeReport { restored: &restored, ..args.report(&judgement) };
    if args.command.is_empty() {
        session.answer(&report)?;
    } else {
        session.output.converse(&report, &session.clock);
    }
    let verdict = judgement.resume.verdict;
    if verdict != Verdict::Complete && !args.yes && session.is_interactive() {
        if let Some(exit) = decide_on_failure(args, session, &workspace, &judgement)? {
            return Ok(exit);
        }
        return decide(args, session, &workspace, &judgement);
    }
    match exit(verdict, args.yes) {
        Exit::Ok => start(args, session, &workspace, &judgement),
        exit => Ok(exit),
    }
}

/// Returns the workflow that a selector names. What it has need not be readable.
fn named_workflow(store: &Store, selector: &Selector) -> Result<WorkflowId, Failure> {
    Ok(match selector.which {
        Which::Newest => store.resolve_workflow(&selector.workflow)?,
        _ => store.resolve(selector)?.workflow,
    })
}

/// Brings back the artifacts of a checkpoint whose contents were kept, or only plans it.
pub(super) fn restore_artifacts(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
    force: bool,
    apply: bool,
) -> Result<Vec<ArtifactStep>, Failure> {
    let Workspace { store, config, .. } = workspace;
    let mut steps = restore_artifacts::plan(store, checkpoint, force, config.max_artifact())?;
    if apply {
        let applied = restore_artifacts::apply(store, checkpoint, &mut steps);
        applied.map_err(|error| name_copies(error.into(), &steps))?;
    }
    Ok(steps)
}

/// Adds where the files are that were replaced before a failure.
fn name_copies(mut failure: Failure, steps: &[ArtifactStep]) -> Failure {
    for step in steps {
        if let Some(copy) = &step.copy {
            failure = failure.help(format!("what was in `{}` is in `{copy}`", step.path));
        }
    }
    failure
}

/// Takes the work over, and names those who were noted as being at work.
fn take(session: &Session, workspace: &Workspace, workflow: &WorkflowId) {
    let before = session.take(&workspace.store, workflow);
    if !session.output.is_quiet() && !session.output.is_json() && !before.is_empty() {
        let names: Vec<String> = before.iter().map(|name| escape::inline(name).into_owned()).collect();
        session.output.say(&format!("Took {workflow} over from {}.\n", words::and(&names)));
    }
}

/// Judges a foreign file, or stdin, as if it had been imported. Nothing is written, and no store is needed.
fn judge_file(session: &Session, file: &Path, list: Option<String>) -> Result<(Judgement, Reading), Failure> {
    let source = if file == Path::new(STDIN) {
        Source::Stdin(read_foreign_stdin(session, "resume --file -")?)
    } else {
        Source::Named(file.to_owned())
    };
    let fail = |error: SourceError| error.of(&source.name());
    let foreign =
        ForeignFile::open(&source, &ReadOptions { list, ..ReadOptions::default() }, &mut Companions::default());
    let foreign = foreign.map_err(fail)?;
    let workflow = foreign.workflow().map_err(fail)?;
    let place = session.place()?;
    let store = Store::at(place.located())?;
    let config = session.config(&store).unwrap_or_default();
    let stamp = session.stamp(&place, &Config::default())?;
    let importer =
        Importer { store: &store, project: &place.located().project, max_file: config.max_artifact(), stamp: &stamp };
    let checkpoint = importer.checkpoint(&foreign, &workflow, None);
    let mut judgement = session.judge_unsaved(&place, &config, checkpoint, &foreign.reading.draft);
    // The help names commands for stored workflows.
    judgement.resume.findings.iter_mut().for_each(|finding| finding.help.clear());
    Ok((judgement, foreign.reading))
}

/// Judges the checkpoint that a text names: a selector, or words.
pub(crate) fn judge(session: &Session, query: &str) -> Result<(Workspace, Judgement), Failure> {
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let selected = session.find(store, &query.parse()?, "resume", |selector| Selected::resolve(store, selector))?;
    let judgement = session.judge(&workspace, selected);
    Ok((workspace, judgement))
}

/// Returns the exit code of a verdict.
pub(super) fn exit(verdict: Verdict, yes: bool) -> Exit {
    match verdict {
        Verdict::Ready => Exit::Ok,
        Verdict::Confirm if yes => Exit::Ok,
        Verdict::Confirm | Verdict::Blocked => Exit::NotResumable,
        Verdict::Complete => Exit::NotFound,
    }
}

impl ResumeArgs {
    fn report<'a>(&self, judgement: &'a Judgement) -> ResumeReport<'a> {
        let hints = ResumeHints { accepted: self.yes, explained: self.explain, contents: false };
        ResumeReport { hints, ..ResumeReport::new(judgement) }
    }

    fn current_facts(&self, session: &Session) -> Result<Vec<(String, Value)>, Failure> {
        let reader = Input::new(session);
        self.fact.iter().map(|argument| named_json("--fact", argument, &reader)).collect()
    }

    fn select(&self, session: &Session, workspace: &Workspace) -> Result<Selected, Failure> {
        let store = &workspace.store;
        if let Some(from) = &self.from {
            let handle = store.resolve(from)?;
            let other = self.id.as_ref().map(Query::selector).transpose()?.map(|id| &id.workflow);
            if let Some(other) = other.filter(|other| **other != handle.workflow && **other != from.workflow) {
                return Err(Failure::new(
                    ErrorCode::Usage,
                    format!("`--from {from}` is not a checkpoint of `{other}`"),
                )
                .help(format!("write `ckpt resume {} --from {handle}`", handle.workflow)));
            }
            return Ok(Selected::at(store, &handle)?);
        }
        match &self.id {
            Some(id) => session.find(store, id, "resume", |selector| Selected::resolve(store, selector)),
            None => Ok(Selected::newest(store, &only_unfinished(session, store, "resume")?)?),
        }
    }
}

/// Asks what to do about the phase to continue with, if it failed; none if the person wants to be asked about the workflow.
fn decide_on_failure(
    args: &ResumeArgs,
    session: &Session,
    workspace: &Workspace,
    judgement: &Judgement,
) -> Result<Option<Exit>, Failure> {
    let Judgement { checkpoint, resume, .. } = judgement;
    let phase = resume.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let Some(phase) = phase.filter(|phase| phase.status == PhaseStatus::Failed) else { return Ok(None) };
    if resume.verdict == Verdict::Blocked {
        return Ok(None);
    }
    Ok(match ask_after_failure(&session.output, true) {
        Some(AfterFailure::Retry) => Some(go_on(args, session, workspace, judgement)?),
        Some(AfterFailure::Skip) => Some(skip_phase(session, workspace, &checkpoint.workflow, &phase.id)?),
        Some(AfterFailure::Abort) => {
            abandon(session, workspace, &checkpoint.workflow)?;
            Some(Exit::NotFound)
        }
        Some(AfterFailure::Other) => None,
        None => Some(leave(session, &checkpoint.workflow)),
    })
}

/// Asks the person at the terminal until there is an answer.
fn decide(args: &ResumeArgs, session: &Session, workspace: &Workspace, judgement: &Judgement) -> Result<Exit, Failure> {
    let workflow = &judgement.checkpoint.workflow;
    loop {
        match ask(&session.output, judgement.resume.verdict == Verdict::Ready) {
            Some(Choice::Resume) if judgement.resume.verdict == Verdict::Blocked => {
                session.output.say("It is blocked: mend what is listed above first.\n");
                return Ok(Exit::NotResumable);
            }
            Some(Choice::Resume) => return go_on(args, session, workspace, judgement),
            Some(Choice::View) => {
                let hints = ResumeHints { explained: true, contents: true, ..ResumeHints::default() };
                let report = ResumeReport { hints, ..ResumeReport::new(judgement) };
                session.output.converse(&report, &session.clock);
            }
            Some(Choice::StartFresh) => {
                restart(session, workspace, workflow)?;
                let judgement = session.judge(workspace, Selected::newest(&workspace.store, workflow)?);
                return go_on(args, session, workspace, &judgement);
            }
            Some(Choice::Discard) => {
                let stamp = session.stamp(&workspace.place, &workspace.config)?;
                workspace.store.archive(workflow, &ArchiveReason::Abandoned, &stamp, &mut |_| {})?;
                let flag = session.store_flag();
                session.output.say(&format!(
                    "Archived {workflow} as abandoned; nothing was deleted. Undo with: ckpt restore {workflow}{flag}\n"
                ));
                return Ok(Exit::NotFound);
            }
            None => return Ok(leave(session, workflow)),
        }
    }
}

/// Says how to come back to what a person leaves as it is.
fn leave(session: &Session, workflow: &WorkflowId) -> Exit {
    let flag = session.store_flag();
    session.output.say(&format!(
        "Nothing was changed. Resume with: ckpt resume {workflow}{flag}, start over with: ckpt resume {workflow} --fresh{flag}\n"
    ));
    Exit::NotResumable
}

/// Goes on as the person has decided: runs the command or, without one, names the next step.
fn go_on(args: &ResumeArgs, session: &Session, workspace: &Workspace, judgement: &Judgement) -> Result<Exit, Failure> {
    let Judgement { checkpoint, resume, .. } = judgement;
    if let Some(id) = &resume.phase
        && args.command.is_empty()
    {
        let (workflow, flag) = (&checkpoint.workflow, session.store_flag());
        let status = checkpoint.content.find_phase(id).map(|phase| phase.status);
        let verb = match status {
            _ if resume.awaiting_approval.contains(id) => "Approve it with: ckpt approve",
            Some(PhaseStatus::InProgress) => "When it is done: ckpt done",
            _ => "Begin it with: ckpt start",
        };
        session.output.say(&format!("{verb} {workflow} --phase {}{flag}\n", shell_word(id.as_str())));
    }
    start(args, session, workspace, judgement)
}

/// Archives what a workflow has, begins another run of it, and names the undo.
fn restart(session: &Session, workspace: &Workspace, workflow: &WorkflowId) -> Result<(), Failure> {
    let before = last_content(&workspace.store, workflow);
    let stamp = session.stamp(&workspace.place, &workspace.config)?;
    let fresh = workspace.store.restart(workflow, &stamp)?.handle();
    if !session.output.is_quiet() {
        let flag = session.store_flag();
        let (undo, left) = match before {
            Some((before, left)) => (format!(" Undo with: ckpt rollback {before}{flag}"), left),
            None => (String::new(), String::new()),
        };
        let left = escape::inline(&left);
        session.output.say(&format!("Archived what there was{left}; {fresh} is a fresh start.{undo}\n"));
    }
    Ok(())
}

/// Runs the command, if there is one.
fn start(args: &ResumeArgs, session: &Session, workspace: &Workspace, judgement: &Judgement) -> Result<Exit, Failure> {
    if args.command.is_empty() {
        return Ok(Exit::Ok);
    }
    let command = ResumeCommand { words: &args.command, retry: &args.retry, yes: args.yes };
    let lease = session.lease(&workspace.store, &judgement.checkpoint.workflow);
    let ended = command.run(session, workspace, judgement);
    lease.end();
    ended
}
