//! `ckpt import`

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::auto_cleanup::{clean_up_after_save, is_due, offer_policy};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::input::{STDIN, read_foreign_stdin};
use crate::cli::progress::Progress;
use crate::cli::question::confirm;
use crate::cli::session::Session;
use crate::cli::views::import::{ImportReport, found_line};
use ckpt_formats::dialects::Dialect;
use ckpt_formats::import::{
    Batch, Discovered, ForeignFile, ImportError, ImportOutcome, Importer, ReadOptions, Sorted, Source, discover,
    import_settings,
};
use ckpt_model::{Config, WorkflowId};
use ckpt_store::OsDisk;
use ckpt_store::Store;

pub(crate) const COMMAND: CommandSpec = command!(ImportArgs, "import", EXAMPLES, run);

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
/// in. Importing a file again changes nothing, and one that was changed since is another save. The files stay as they
/// are. Like a save, an import cleans up.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-` for stdin
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Import all files of known systems in the project
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    /// Read them as this dialect, whatever they look like: ckpt, generic, kamiflow, dotagent, claude-dir, claude-plan,
    /// crunch, boulder, task-master, ralph, feature-list, bmad-sprint, bmad-workflow, gsd, conductor, kiro or spec-kit
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
            return Err(Failure::new(ErrorCode::NothingToImport, message).help("name the file: `ckpt import PATH`"));
        }
        paths = found.iter().map(|found| project.join(&found.path)).collect();
        if !args.all && !take_all(session, &found) {
            let mut report = ImportReport::new(args.dry_run);
            report.found = found;
            session.answer(&report)?;
            return Ok(Exit::Ok);
        }
    }
    let mut progress = Progress::new(&session.output);
    let mut report = ImportReport::new(args.dry_run);
    let options = ReadOptions { dialect: args.as_dialect, list: args.list.clone(), allow_secrets: args.allow_secrets };
    let mut batch = Batch::new(options, args.into.clone());
    let mut seen = 0;
    for path in &paths {
        if path == Path::new(STDIN) {
            match read_foreign_stdin(session, "import -") {
                Ok(bytes) => batch.add(&Source::Stdin(bytes)),
                Err(failure) => report.fail(STDIN, failure),
            }
            continue;
        }
        batch.add_path(path, &mut |path| {
            seen += 1;
            progress.at(|| format!("Looking at file {seen}: {}", path.display()));
        });
    }
    let Sorted { workflows, settings, refused } = batch.sort().map_err(|several| {
        let into = args.into.as_ref().map(WorkflowId::as_str).unwrap_or_default();
        let message = format!("the files belong to {several} workflows, and `--into {into}` names one");
        Failure::new(ErrorCode::SeveralWorkflows, message).help("import them one by one, or without `--into`")
    })?;
    for refused in refused {
        report.refuse(refused);
    }
    if !workflows.is_empty() || !settings.is_empty() {
        let place = session.place()?;
        let store = Store::at(place.located())?;
        let config = session.config(&store)?;
        let stamp = session.stamp(&place, &Default::default())?;
        let importer = Importer {
            store: &store,
            project: &place.located().project,
            max_file: config.max_artifact(),
            stamp: &stamp,
        };
        if !workflows.is_empty() {
            report.creates(&place.location);
        }
        for (workflow, files) in workflows {
            import(&importer, &config, &workflow, &files, &mut report, &mut progress)?;
        }
        for path in settings {
            match import_settings(&store, &path, args.dry_run) {
                Ok(merged) => {
                    if !merged.added.is_empty() {
                        report.creates(&place.location);
                    }
                    report.add_settings(path.display().to_string(), &store.config_file(), merged);
                }
                Err(error @ ImportError::Source { .. }) => report.fail(&path.display().to_string(), error),
                Err(error) => return Err(error.into()),
            }
        }
    }
    drop(progress);
    if let Some(failure) = report.failure() {
        return Err(failure);
    }
    session.answer(&report)?;
    Ok(report.exit())
}

/// Imports the files of one workflow. As after a save, the workflow is cleaned up then, once for all files.
fn import(
    importer: &Importer<'_, OsDisk>,
    config: &Config,
    workflow: &WorkflowId,
    files: &[ForeignFile],
    report: &mut ImportReport,
    progress: &mut Progress<'_>,
) -> Result<(), Failure> {
    let dry_run = report.dry_run;
    let mut fatal = None;
    let mut cleanup_is_due = false;
    let mut offer = None;
    let is_archived = importer.import(workflow, files, dry_run, |file, outcome| match outcome {
        Ok(outcome) => {
            if let ImportOutcome::Appended(added) = &outcome {
                cleanup_is_due |= !dry_run && is_due(added, config);
                offer = offer_policy(config, file.reading.dialect.word());
            }
            report.add(file, &outcome);
            progress.at(|| format!("Imported file {}: {}", report.done(), file.name));
        }
        Err(ImportError::Store(error)) if report.is_empty() => fatal = Some(error),
        Err(error) => report.fail(&file.name, error),
    })?;
    if let Some(error) = fatal {
        return Err(error.into());
    }
    if is_archived {
        report.archived.insert(workflow.clone());
    } else if cleanup_is_due {
        match clean_up_after_save(importer.store, config, importer.stamp, workflow, None) {
            Ok(cleanup) => report.cleanups.extend(cleanup),
            Err(warning) => report.warnings.push(warning),
        }
    }
    offer.take_if(|line| report.cleanups.contains(line));
    report.cleanups.extend(offer);
    Ok(())
}

/// Lists what was found to a person at a terminal, and asks whether all of it is to be imported.
fn take_all(session: &Session, found: &[Discovered]) -> bool {
    if !session.output.is_conversation() {
        return false;
    }
    for found in found {
        session.output.say(&format!("{}\n", found_line(found)));
    }
    confirm(&session.output, "Import all of them?")
}
