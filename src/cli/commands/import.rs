//! `ckpt import`

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use clap::Args;

use super::foreign::{STDIN, read_stdin};
use super::reader::{File, Reader, name};
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::views::import::{ImportReport, PassedOver};
use crate::core::adopt::{
    Adopted, Adoption, Found, ImportError, Known, Opened, Queue, Queued, Shelf, SourceProblem, Terms, collect,
};
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::Dialect;
use crate::core::resume::Selected;
use crate::core::store::Error;
use crate::core::store::OsDisk;
use crate::core::{Store, WorkflowId};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "import",
    alias: None,
    augment_args: ImportArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt import .kamiflow/checkpoints
  ckpt import memory/state/phase.json --into checkout-flow
  ckpt import state.json --dry-run
  some-tool --dump | ckpt import - --into nightly

Exit codes: 0 all are here, 3 some failed, 4 nothing found, 6 damaged or no checkpoint, 8 the workflow has another history";

/// Adopt the checkpoint files of other systems
///
/// What a file is, is seen from its content: kamiflow, dotagent, claude-dir, claude-plan, crunch, or any other JSON, YAML
/// or KEY=VALUE file about work in phases. Several files of one workflow become a sequence in the order they were saved
/// in. Importing a file again changes nothing. The files stay as they are.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-` for stdin
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Read them as this dialect, whatever they look like
    #[arg(long, value_name = "NAME")]
    as_dialect: Option<Dialect>,
    /// Call the workflow this instead of what the files call it
    #[arg(long, value_name = "ID")]
    into: Option<String>,
    /// Show what would be made, and where each fact comes from; write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Store what looks like a secret as it is
    #[arg(long)]
    allow_secrets: bool,
}

fn run(args: &ImportArgs, session: &Session) -> Result<Exit, Failure> {
    let into = args.into.as_deref().map(str::parse::<WorkflowId>).transpose()?;
    let mut import = Import {
        reader: Reader {
            terms: Terms { dialect: args.as_dialect, allow_secrets: args.allow_secrets },
            shelf: Shelf::default(),
            stdin: None,
        },
        into,
        dry_run: args.dry_run,
        progress: Progress::new(&session.ui),
        called: BTreeSet::new(),
        report: ImportReport::new(args.dry_run),
    };
    let files = import.gather(&args.paths);
    import.one_workflow()?;
    let queue = Queue::new(files);
    for (file, problem) in queue.refused {
        import.failed(&file.source, problem);
    }
    if !queue.workflows.is_empty() {
        let place = session.place()?;
        import.report.creates(&place.location);
        let store = Store::at(place.located())?;
        let config = session.config(&store)?;
        let stamp = session.stamp(&place, &Default::default())?;
        let adoption = Adoption {
            store: &store,
            project: &place.located().project,
            max_file: config.max_artifact(),
            stamp: &stamp,
        };
        for (workflow, files) in queue.workflows {
            import.workflow(&adoption, &workflow, files)?;
        }
    }
    let Import { report, progress, .. } = import;
    drop(progress);
    if let Some(failure) = report.failure() {
        return Err(failure);
    }
    session.answer(&report)?;
    Ok(report.exit())
}

/// One run of the command.
struct Import<'a> {
    reader: Reader,
    into: Option<WorkflowId>,
    dry_run: bool,
    progress: Progress<'a>,
    /// What the files call their workflows.
    called: BTreeSet<WorkflowId>,
    report: ImportReport,
}

impl Import<'_> {
    /// Reads every file once, to learn what it is and where it belongs. What it says is not kept: there may be many.
    fn gather(&mut self, paths: &[PathBuf]) -> Vec<Queued<File>> {
        let mut files = Vec::new();
        let mut companions = HashSet::new();
        let mut seen = 0;
        for path in paths {
            if path == Path::new(STDIN) {
                match read_stdin("import -") {
                    Ok(bytes) => {
                        self.reader.stdin = Some(bytes);
                        self.consider(None, &mut files, &mut companions);
                    }
                    Err(failure) => self.report.fail(STDIN, failure),
                }
                continue;
            }
            for (path, found) in collect(path) {
                seen += 1;
                self.progress.at(|| format!("Looking at file {seen}: {}", path.display()));
                match found {
                    Found::File(file) => self.consider(Some(file), &mut files, &mut companions),
                    Found::Link => self.report.pass_over(PassedOver::link(path.display().to_string())),
                    Found::Unreachable(problem) => self.failed(&path.display().to_string(), problem),
                }
            }
        }
        // A second file of a checkpoint is part of that, and nothing on its own.
        files.retain(|file| !file.file.as_ref().is_some_and(|file| companions.contains(&file.path)));
        self.report.forget(&companions);
        files
    }

    fn consider(&mut self, file: File, files: &mut Vec<Queued<File>>, companions: &mut HashSet<PathBuf>) {
        let source = name(&file);
        let named = file.as_ref().is_none_or(|file| file.named);
        let mut dated = false;
        let opened = self.reader.open(&file, companions).and_then(|opened| {
            dated = opened.is_checkpoint(true);
            if !opened.is_checkpoint(named) {
                return Err(SourceProblem::NotACheckpoint);
            }
            if opened.reading.draft.idle {
                return Err(SourceProblem::Idle);
            }
            let own = opened.workflow();
            self.called.extend(own.as_ref().ok().cloned());
            let workflow = self.into.clone().map_or(own, Ok)?;
            Ok((opened, workflow))
        });
        match opened {
            Ok((opened, workflow)) => files.push(Queued {
                file,
                source,
                sha256: opened.sha256,
                dialect: opened.reading.dialect,
                workflow,
                recorded_at: opened.reading.draft.recorded_at,
            }),
            // Whatever else lies in a directory is not what was meant.
            Err(SourceProblem::NotACheckpoint) if !named && dated => {
                self.report.pass_over(PassedOver::dated(source));
            }
            Err(problem @ (SourceProblem::NotACheckpoint | SourceProblem::Idle)) if !named => {
                let reason = problem.to_string();
                let code = Failure::from(problem.of(&source)).code.word();
                self.report.pass_over(PassedOver { source, code, reason });
            }
            Err(problem) => self.failed(&source, problem),
        }
    }

    /// A name for all of them is a name for one workflow.
    fn one_workflow(&self) -> Result<(), Failure> {
        let (Some(into), 2..) = (&self.into, self.called.len()) else { return Ok(()) };
        let message =
            format!("the files belong to {} workflows, and `--into {into}` names one", self.called.len());
        Err(Failure::new(ErrorCode::SeveralWorkflows, message)
            .help("import them one by one, or without `--into`"))
    }

    fn workflow(
        &mut self,
        adoption: &Adoption<'_, OsDisk>,
        workflow: &WorkflowId,
        files: Vec<Queued<File>>,
    ) -> Result<(), Failure> {
        let mut known = adoption.known(workflow)?;
        let mut newest = if self.dry_run { newest(adoption.store, workflow)? } else { None };
        for file in files {
            let done = self.report.done();
            self.progress.at(|| format!("Importing file {}: {}", done + 1, file.source));
            let opened = match self.reader.open(&file.file, &mut HashSet::new()) {
                Ok(opened) if opened.sha256 == file.sha256 => opened,
                Ok(_) => {
                    self.failed(&file.source, SourceProblem::Changed);
                    continue;
                }
                Err(problem) => {
                    self.failed(&file.source, problem);
                    continue;
                }
            };
            match self.adopt(adoption, workflow, &opened, &mut known, &mut newest) {
                Ok(adopted) => self.report.add(&opened, &adopted),
                Err(ImportError::Source { problem, .. }) => self.failed(&file.source, problem),
                // Whatever is wrong with the store is wrong with it for the next file too.
                Err(error) if self.report.is_empty() => return Err(error.into()),
                Err(error) => {
                    self.report.fail(&file.source, error);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn adopt(
        &self,
        adoption: &Adoption<'_, OsDisk>,
        workflow: &WorkflowId,
        opened: &Opened,
        known: &mut Known,
        newest: &mut Option<Box<Checkpoint>>,
    ) -> Result<Adopted, ImportError> {
        if self.dry_run {
            adoption.foresee(opened, workflow, known, newest)
        } else {
            adoption.append(opened, workflow, known)
        }
    }

    fn failed(&mut self, source: &str, problem: SourceProblem) {
        self.report.fail(source, problem.of(source));
    }
}

/// What a dry run continues: the newest checkpoint, if there is one.
fn newest(store: &Store, workflow: &WorkflowId) -> Result<Option<Box<Checkpoint>>, Failure> {
    match Selected::newest(store, workflow) {
        Ok(selected) => Ok(Some(selected.checkpoint)),
        Err(Error::NoSuchWorkflow { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
