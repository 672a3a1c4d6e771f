//! `ckpt export`

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::mirror::update_mirror;
use crate::cli::session::Session;
use crate::cli::values::export_dialect;
use crate::cli::views::export::{ExportReport, left_out_warnings};
use crate::cli::views::text::TextReport;
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::Dialect;
use crate::core::export::{
    Export, ExportFile, FileContent, current_run, files, has_history, whole_run, write,
};
use crate::core::mirror::{Since, mirrored};
use crate::core::selector::Which;
use crate::core::{Handle, Selector, Store, WorkflowId};

pub(crate) const COMMAND: CommandSpec = command!(ExportArgs, "export", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt export 042 --as kamiflow
  ckpt export 042 --as crunch -o /tmp/handover/
  ckpt export 042/7 --as claude-plan -o -
  ckpt export 042/7 --as ckpt -o 042-7.json";

/// Write checkpoints as the files of another system
///
/// The files get the names under which that system looks for them, below the project. What was imported and has not
/// moved since is written as it was; what the system has no place for is named in a warning. Where a system keeps a file
/// per step, `ID` writes every step that it would have and `ID/N` that one step.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The workflow, or one checkpoint of it
    #[arg(value_name = "SELECTOR", add = complete::selector())]
    selector: Query,
    /// The system: kamiflow, dotagent, claude-dir, claude-plan, crunch, task-master, ralph, feature-list or ckpt
    #[arg(long = "as", value_name = "DIALECT", value_parser = export_dialect, add = ArgValueCandidates::new(complete::export_dialects))]
    dialect: Dialect,
    /// Write below this directory, to this file, or with `-` to stdout
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace files that have another content
    #[arg(long)]
    force: bool,
}

fn run(args: &ExportArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let resolve = |selector: &Selector| {
        store.resolve_workflow(&selector.workflow)?;
        Ok(selector.clone())
    };
    let selector = session.find(store, &args.selector, &format!("export --as {}", args.dialect), resolve)?;
    let checkpoints = select(store, &selector, args.dialect)?;
    let handle = checkpoints.last().map(Checkpoint::handle);
    let project = &workspace.place.located().project;
    let output = ExportTarget::new(args.output.as_deref(), project, &workspace.place.cwd);
    let Export { mut files, mut left_out } = if args.dialect == Dialect::Ckpt {
        native_files(store, &checkpoints)?
    } else {
        files(args.dialect, &checkpoints, project)?
    };
    let alone = !matches!(output, ExportTarget::Below(_));
    if alone && args.dialect.companion().is_some_and(|second| !second.is_index) && has_tasks(&checkpoints) {
        left_out.insert("the tasks");
    }
    let root = match &output {
        ExportTarget::Below(root) => root.clone(),
        ExportTarget::File(path) => {
            let file = single(args.dialect, &files)?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            files = vec![ExportFile { path: name, ..file }];
            path.parent().map(Path::to_owned).unwrap_or_default()
        }
        ExportTarget::Stdout => {
            let text = match single(args.dialect, &files)?.content {
                FileContent::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                FileContent::Link(to) => to,
            };
            let warnings = left_out_warnings(args.dialect, &left_out);
            return session.answer(&TextReport::new(text).with_warnings(warnings));
        }
    };
    let mut report = ExportReport::new(args.dialect, handle.clone(), &left_out);
    let store_mode = store.mode()?;
    for file in files {
        let placed = write(&root, &file, args.force, store_mode)?;
        report.add(&root, &file, placed);
    }
    if let Some(Handle { workflow, .. }) = &handle
        && root == *project
        && mirrored(store, workflow).contains(&args.dialect)
    {
        report.warnings.extend(update_mirror(
            store,
            args.dialect,
            &workspace.place.cwd,
            workflow,
            Since::Beginning,
        ));
    }
    session.answer(&report)
}

/// Where the files are written.
enum ExportTarget {
    /// Under their own names, below this directory.
    Below(PathBuf),
    /// A single file, under this name.
    File(PathBuf),
    Stdout,
}

impl ExportTarget {
    fn new(output: Option<&Path>, project: &Path, cwd: &Path) -> Self {
        let Some(output) = output else { return Self::Below(project.to_owned()) };
        let path = cwd.join(output);
        let names_a_directory = output.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir();
        if output == Path::new("-") {
            Self::Stdout
        } else if names_a_directory {
            Self::Below(path)
        } else {
            Self::File(path)
        }
    }
}

/// True if there are tasks, which a system may keep in a second file.
fn has_tasks(checkpoints: &[Checkpoint]) -> bool {
    checkpoints.iter().any(|checkpoint| !checkpoint.content.tasks.is_empty())
}

/// Returns the only file of a checkpoint, without what a system keeps beside it.
fn single(dialect: Dialect, files: &[ExportFile]) -> Result<ExportFile, Failure> {
    let beside = dialect.companion().map(|second| second.names).unwrap_or_default();
    let is_main = |file: &&ExportFile| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        matches!(file.content, FileContent::Bytes(_)) && !beside.contains(&name)
    };
    let mut main = files.iter().filter(is_main);
    match (main.next(), main.next()) {
        (Some(only), None) => Ok(only.clone()),
        _ => {
            let message = format!("{} files would be written, and one place was named", files.len());
            Err(Failure::new(ErrorCode::SeveralFiles, message)
                .help("name a directory with a `/` at its end, or export one checkpoint"))
        }
    }
}

/// Loads the checkpoints to write, the newest last: one, or those that the system would have. Of an archived workflow
/// that is its last run.
fn select(store: &Store, selector: &Selector, dialect: Dialect) -> Result<Vec<Checkpoint>, Failure> {
    if selector.which != Which::Newest {
        let handle = store.resolve(selector)?;
        return Ok(vec![*store.load_content(handle)?]);
    }
    let workflow: WorkflowId = store.resolve_workflow(&selector.workflow)?;
    let run = current_run(store, dialect, &workflow)?;
    if run.archived && has_history(dialect) { Ok(whole_run(store, &workflow)?) } else { Ok(run.checkpoints) }
}

/// Returns the files of checkpoints of this program, byte for byte.
fn native_files(store: &Store, checkpoints: &[Checkpoint]) -> Result<Export, Failure> {
    let mut export = Export::default();
    for checkpoint in checkpoints {
        let source = checkpoint.handle();
        let path = format!("{}-{}.ckpt.json", source.workflow, source.seq);
        let content = FileContent::Bytes(store.load(&source)?.bytes);
        export.files.push(ExportFile { path, content, source, memo: None });
    }
    Ok(export)
}
