//! `ckpt import`

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::auto_cleanup::{clean_up_after_save, is_due};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::input::{STDIN, read_foreign_stdin};
use crate::cli::mirror::update_mirrors;
use crate::cli::progress::Progress;
use crate::cli::question::confirm;
use crate::cli::session::Session;
use crate::cli::views::import::{ImportReport, PassedOver, found_line};
use crate::core::dialects::{Dialect, Document, MAX_SOURCE_BYTES};
use crate::core::digest::Digest;
use crate::core::files::{FileProblem, read_regular};
use crate::core::foreign_settings::{self, ForeignSettings};
use crate::core::import::{
    Candidate, Companions, Discovered, ForeignFile, Found, ImportError, ImportOutcome, Importer, ReadOptions,
    Source, SourceError, collect, discover, order,
};
use crate::core::reason::ArchiveReason;
use crate::core::settings_file::ConfigError;
use crate::core::store::{ImportedFiles, OsDisk};
use crate::core::{Checkpoint, Config, Store, WorkflowId};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "import",
    alias: None,
    augment_args: ImportArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt import
  ckpt import .kamiflow/checkpoints
  ckpt import memory/state/phase.json --into checkout-flow
  ckpt import state.json --dry-run
  some-tool --dump | ckpt import - --into nightly

Exit codes: 0 all are here, 3 some failed, 4 nothing found, 6 damaged or no checkpoint, 8 the workflow has another history";

/// Import the checkpoint files of other systems
///
/// The dialect is recognised by the content: kamiflow, dotagent, claude-dir, claude-plan, crunch, Task Master, Ralph, BMAD,
/// GSD, Sisyphus, Kiro and others, or any other JSON, YAML, Markdown or KEY=VALUE file about work in phases. Without a path,
/// the files of known systems in the project are listed. Several files of one workflow become a sequence in the order they were saved
/// in. Importing a file again changes nothing. The files stay as they are. Like a save, an import brings the mirror up to
/// date and cleans up.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-` for stdin
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Import all files of known systems in the project
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    /// Read them as this dialect, whatever they look like: kamiflow, dotagent, claude-dir, claude-plan, crunch, boulder,
    /// task-master, ralph, feature-list, bmad-sprint, bmad-workflow, gsd, conductor, kiro, spec-flow, prevc, auto-claude,
    /// spec-kit, ckpt or generic
    #[arg(long, value_name = "NAME")]
    as_dialect: Option<Dialect>,
    /// Take the list at this JSON pointer as the work, in a file that does not say what it is: `/backlog/items`
    #[arg(long, value_name = "POINTER", conflicts_with_all = ["all", "as_dialect"])]
    list: Option<String>,
    /// Import into this workflow instead of the one that the files name
    #[arg(long, value_name = "ID")]
    into: Option<WorkflowId>,
    /// Show what would be made, and where each fact comes from; write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Store what looks like a secret as it is
    #[arg(long)]
    allow_secrets: bool,
}

fn run(args: &ImportArgs, session: &Session) -> Result<Exit, Failure> {
    let mut paths = args.paths.clone();
    if paths.is_empty() {
        let place = session.place()?;
        let project = &place.located().project;
        let found = discover(project);
        if found.is_empty() {
            let message = format!("no file of a known system was found in `{}`", project.display());
            return Err(
                Failure::new(ErrorCode::NothingToImport, message).help("name the file: `ckpt import PATH`")
            );
        }
        paths = found.iter().map(|found| project.join(&found.path)).collect();
        if !args.all && !take_all(session, &found) {
            let mut report = ImportReport::new(args.dry_run);
            report.found = found;
            session.answer(&report)?;
            return Ok(Exit::Ok);
        }
    }
    let mut import = Import {
        options: ReadOptions {
            dialect: args.as_dialect,
            list: args.list.clone(),
            allow_secrets: args.allow_secrets,
        },
        companions: Companions::default(),
        into: args.into.clone(),
        dry_run: args.dry_run,
        progress: Progress::new(&session.ui),
        workflows: BTreeSet::new(),
        settings: Vec::new(),
        report: ImportReport::new(args.dry_run),
    };
    let candidates = import.gather(&paths, session);
    import.check_into()?;
    let (workflows, rejected) = order(candidates);
    for (file, error) in rejected {
        import.fail(&file.name, error);
    }
    if !workflows.is_empty() {
        let place = session.place()?;
        import.report.creates(&place.location);
        let store = Store::at(place.located())?;
        let config = session.config(&store)?;
        let stamp = session.stamp(&place, &Default::default())?;
        let importer = Importer {
            store: &store,
            project: &place.located().project,
            max_file: config.max_artifact(),
            stamp: &stamp,
        };
        for (workflow, files) in workflows {
            if import.workflow(&importer, &config, &workflow, files)? {
                import.report.warnings.extend(update_mirrors(&store, &config, &place.cwd, &workflow));
            }
        }
    }
    for path in std::mem::take(&mut import.settings) {
        import.settings(&path, session)?;
    }
    let Import { report, progress, .. } = import;
    drop(progress);
    if let Some(failure) = report.failure() {
        return Err(failure);
    }
    session.answer(&report)?;
    Ok(report.exit())
}

/// Lists what was found to a person at a terminal, and asks whether all of it is to be imported.
fn take_all(session: &Session, found: &[Discovered]) -> bool {
    if !session.ui.is_conversation() {
        return false;
    }
    for found in found {
        session.ui.say(&format!("{}\n", found_line(found)));
    }
    confirm(&session.ui, "Import all of them?")
}

/// One run of the command.
struct Import<'a> {
    options: ReadOptions,
    companions: Companions,
    into: Option<WorkflowId>,
    dry_run: bool,
    progress: Progress<'a>,
    /// The workflows that the files name.
    workflows: BTreeSet<WorkflowId>,
    /// The settings files among the files.
    settings: Vec<PathBuf>,
    report: ImportReport,
}

impl Import<'_> {
    /// Reads every file once, to learn its workflow and its place in it. The content is read again when its turn comes.
    fn gather(&mut self, paths: &[PathBuf], session: &Session) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let mut companions = HashSet::new();
        let mut seen = 0;
        for path in paths {
            if path == Path::new(STDIN) {
                match read_foreign_stdin(session, "import -") {
                    Ok(bytes) => {
                        candidates.extend(self.candidate(Source::Stdin(bytes), &mut companions));
                    }
                    Err(failure) => self.report.fail(STDIN, failure),
                }
                continue;
            }
            for (path, found) in collect(path) {
                seen += 1;
                self.progress.at(|| format!("Looking at file {seen}: {}", path.display()));
                match found {
                    Found::File(_) if path.file_name() == Some(foreign_settings::FILE_NAME.as_ref()) => {
                        self.settings.push(path);
                    }
                    Found::File(source) => candidates.extend(self.candidate(source, &mut companions)),
                    Found::Link => self.report.pass_over(PassedOver::link(path.display().to_string())),
                    Found::Unreadable(error) => self.fail(&path.display().to_string(), error),
                }
            }
        }
        // A companion is part of its checkpoint, and not a checkpoint on its own.
        candidates.retain(|file| !file.source.path().is_some_and(|path| companions.contains(path)));
        self.report.forget(&companions);
        candidates
    }

    /// Takes over the settings of another system. What the store has set stays.
    fn settings(&mut self, path: &Path, session: &Session) -> Result<(), Failure> {
        let name = path.display().to_string();
        let document = read_regular(path, MAX_SOURCE_BYTES)
            .map_err(SourceError::from)
            .and_then(|bytes| Document::parse(&bytes).map_err(|_| SourceError::NotACheckpoint));
        let settings = match document.map(|document| ForeignSettings::read(&document.value)) {
            Ok(Some(settings)) => settings,
            Ok(None) => {
                self.fail(&name, SourceError::NotACheckpoint);
                return Ok(());
            }
            Err(error) => {
                self.fail(&name, error);
                return Ok(());
            }
        };
        let place = session.place()?;
        let store = Store::at(place.located())?;
        let config = store.config_file();
        let text = match read_regular(&config, MAX_SOURCE_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(FileProblem::Missing) => String::new(),
            Err(problem) => return Err(ConfigError::File { path: config, problem }.into()),
        };
        let invalid = |message| ConfigError::Invalid { path: config.clone(), message };
        let merged = settings.merge(&text).map_err(invalid)?;
        if !merged.added.is_empty() && !self.dry_run {
            self.report.creates(&place.location);
            store.create()?;
            store.replace_config(&merged.text)?;
        }
        self.report.add_settings(name, &config, merged, settings.left_out);
        Ok(())
    }

    /// Reads one file. One that is not to be imported is added to the report.
    fn candidate(&mut self, source: Source, companions: &mut HashSet<PathBuf>) -> Option<Candidate> {
        let name = source.name();
        let named = !matches!(source, Source::Listed { .. });
        let file = match ForeignFile::open(&source, &self.options, &mut self.companions) {
            Ok(file) => file,
            Err(error) => return self.skip(name, named, error),
        };
        companions.extend(file.companion.clone());
        if file.reading.draft.idle {
            return self.skip(name, named, SourceError::Idle);
        }
        let own = file.workflow();
        self.workflows.extend(own.as_ref().ok().cloned());
        let workflow = match self.into.clone().map_or(own, Ok) {
            Ok(workflow) => workflow,
            Err(error) => return self.skip(name, named, error),
        };
        Some(Candidate {
            source,
            name,
            sha256: file.sha256,
            dialect: file.reading.dialect,
            workflow,
            recorded_at: file.reading.draft.recorded_at,
        })
    }

    /// Reports a file that is not imported. In a directory, other files are expected beside checkpoints.
    fn skip(&mut self, name: String, named: bool, error: SourceError) -> Option<Candidate> {
        let expected = matches!(
            error,
            SourceError::NotACheckpoint
                | SourceError::CannotTell(_)
                | SourceError::Sqlite
                | SourceError::Idle
                | SourceError::File(FileProblem::NotAFile | FileProblem::TooLarge(_))
        );
        if expected && !named {
            let reason = error.to_string();
            let code = Failure::from(error.of(&name)).code.word();
            self.report.pass_over(PassedOver { source: name, code, reason });
        } else {
            self.fail(&name, error);
        }
        None
    }

    /// Fails if `--into` would merge several workflows.
    fn check_into(&self) -> Result<(), Failure> {
        let (Some(into), 2..) = (&self.into, self.workflows.len()) else { return Ok(()) };
        let message =
            format!("the files belong to {} workflows, and `--into {into}` names one", self.workflows.len());
        Err(Failure::new(ErrorCode::SeveralWorkflows, message)
            .help("import them one by one, or without `--into`"))
    }

    /// Imports the files of one workflow. As after a save, the workflow is cleaned up then, once for all files. Returns true
    /// if checkpoints were added.
    fn workflow(
        &mut self,
        importer: &Importer<'_, OsDisk>,
        config: &Config,
        workflow: &WorkflowId,
        files: Vec<Candidate>,
    ) -> Result<bool, Failure> {
        let store = importer.store;
        let mut imported = ImportedFiles::default();
        let continued = if self.dry_run { store.continued(workflow)? } else { None };
        let mut newest = continued.map(|(checkpoint, _)| checkpoint);
        let mut appends = false;
        let mut archive_as = None;
        let mut cleanup_is_due = false;
        for Candidate { source, name, sha256, .. } in files {
            let done = self.report.done();
            self.progress.at(|| format!("Importing file {}: {name}", done + 1));
            let Some(file) = self.open_again(&source, &name, sha256) else { continue };
            let outcome = if self.dry_run {
                importer.preview(&file, workflow, &mut imported, &mut newest)
            } else {
                importer.append(&file, workflow, &mut imported)
            };
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(ImportError::Source { error, .. }) => {
                    self.fail(&name, error);
                    continue;
                }
                // An error of the store would repeat for every other file of the workflow.
                Err(error) if self.report.is_empty() => return Err(error.into()),
                Err(error) => {
                    self.report.fail(&name, error);
                    break;
                }
            };
            self.report.add(&file, &outcome);
            let Some(added) = self.added(outcome, &name, workflow) else { continue };
            let reason = added.content.status.archive_reason().unwrap_or(ArchiveReason::Restarted);
            archive_as = file.is_archived().then_some(reason);
            if !self.dry_run {
                appends = true;
                cleanup_is_due |= is_due(&added, config);
            }
        }
        if let Some(reason) = archive_as {
            if !self.dry_run {
                store.archive(workflow, &reason, importer.stamp, &mut |_| {})?;
            }
            self.report.archived.insert(workflow.clone());
        } else if cleanup_is_due {
            match clean_up_after_save(store, config, importer.stamp, workflow) {
                Ok(cleanup) => self.report.cleanups.extend(cleanup),
                Err(warning) => self.report.warnings.push(warning),
            }
        }
        Ok(appends)
    }

    /// Opens a file that was looked at before. If it is another one by now, nothing is known about its workflow.
    fn open_again(&mut self, source: &Source, name: &str, sha256: Digest) -> Option<ForeignFile> {
        match ForeignFile::open(source, &self.options, &mut self.companions) {
            Ok(file) if file.sha256 == sha256 => return Some(file),
            Ok(_) => self.fail(name, SourceError::Changed),
            Err(error) => self.fail(name, error),
        }
        None
    }

    /// Returns the checkpoint that an import has added, if any, with warnings about values that it replaced.
    fn added(
        &mut self,
        outcome: ImportOutcome,
        name: &str,
        workflow: &WorkflowId,
    ) -> Option<Box<Checkpoint>> {
        match outcome {
            ImportOutcome::Appended(added) => Some(added),
            ImportOutcome::Merged(added, conflicts) => {
                let warning = |place: &String| {
                    format!(
                        "{place} of `{name}` has changed in `{workflow}` too; the value of the file is taken"
                    )
                };
                self.report.warnings.extend(conflicts.iter().map(warning));
                Some(added)
            }
            ImportOutcome::Unchanged(_) => None,
        }
    }

    fn fail(&mut self, name: &str, error: SourceError) {
        self.report.fail(name, error.of(name));
    }
}
