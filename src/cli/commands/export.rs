//! `ckpt export`

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::session::Session;
use crate::cli::values::export_dialect;
use crate::cli::views::export::{ExportReport, left_out_warnings};
use crate::cli::views::text::TextReport;
use ckpt_formats::dialects::Dialect;
use ckpt_formats::export::{Export, checkpoints, files};
use ckpt_model::Selector;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::selector::Which;
use ckpt_store::Store;
use ckpt_store::place::{FileContent, NewFile, write};

pub(crate) const COMMAND: CommandSpec = command!(ExportArgs, "export", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt export 042 --as kamiflow
  ckpt export 042 --as crunch -o /tmp/handover/
  ckpt export 042/7 --as claude-plan -o -
  ckpt export 042/7 --as ckpt -o 042-7.json";

/// Write checkpoints as the files of another system
///
/// The files get the names under which that system looks for them, below the project. They are written from the
/// checkpoint, with the members of an imported file that ckpt does not know; what the system has no place for is named in a
/// warning. Existing files with another content are never edited: the export refuses them, or `--force` replaces them.
/// Where a system keeps a file per step, `ID` writes every step of the last run and `ID/N` that one step.
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
            let content = single(args.dialect, &files)?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            files = vec![NewFile { path: name, content: FileContent::Bytes(content) }];
            path.parent().map(Path::to_owned).unwrap_or_default()
        }
        ExportTarget::Stdout => {
            let text = String::from_utf8_lossy(&single(args.dialect, &files)?).into_owned();
            let warnings = left_out_warnings(args.dialect, &left_out);
            return session.answer(&TextReport::new(text).with_warnings(warnings));
        }
    };
    let handle = checkpoints.last().map(Checkpoint::handle);
    let mut report = ExportReport::new(args.dialect, handle, &left_out);
    let placed = write(&root, &files, args.force, store.mode()?)?;
    for (file, placed) in files.iter().zip(placed) {
        report.add(&root, file, placed);
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

/// Returns the content of the only file of a checkpoint, without what a system keeps beside it.
fn single(dialect: Dialect, files: &[NewFile]) -> Result<Vec<u8>, Failure> {
    let beside = dialect.companion().map(|second| second.names).unwrap_or_default();
    let main = |file: &NewFile| match &file.content {
        FileContent::Bytes(bytes) if !beside.contains(&file.path.rsplit('/').next()?) => Some(bytes.clone()),
        _ => None,
    };
    let mut main = files.iter().filter_map(main);
    match (main.next(), main.next()) {
        (Some(only), None) => Ok(only),
        _ => {
            let message = format!("{} files would be written, and one place was named", files.len());
            Err(Failure::new(ErrorCode::SeveralFiles, message)
                .help("name a directory with a `/` at its end, or export one checkpoint"))
        }
    }
}

/// Loads the checkpoints to write, the newest last: the one that is named, or those that the system would have.
fn select(store: &Store, selector: &Selector, dialect: Dialect) -> Result<Vec<Checkpoint>, Failure> {
    if selector.which != Which::Newest {
        return Ok(vec![*store.load_content(store.resolve(selector)?)?]);
    }
    Ok(checkpoints(store, dialect, &store.resolve_workflow(&selector.workflow)?)?)
}

/// Returns the files of checkpoints of this program, byte for byte.
fn native_files(store: &Store, checkpoints: &[Checkpoint]) -> Result<Export, Failure> {
    let mut export = Export::default();
    for checkpoint in checkpoints {
        let path = format!("{}-{}.ckpt.json", checkpoint.workflow, checkpoint.seq);
        let content = FileContent::Bytes(store.load(&checkpoint.handle())?.bytes);
        export.files.push(NewFile { path, content });
    }
    Ok(export)
}
