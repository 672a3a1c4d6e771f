//! `ckpt report`

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::unfinished::Selection;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::content;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find;
use crate::cli::pages::file::{Part, file};
use crate::cli::pages::layout::document;
use crate::cli::pages::links::{checkpoint_part, diff_part, workflow_part};
use crate::cli::pages::workflows::Query;
use crate::cli::pages::{Links, View};
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::views::report::ReportReport;
use ckpt_model::{Handle, WorkflowId};
use ckpt_store::Entry;
use ckpt_store::Store;
use ckpt_store::place::{FileContent, place};

pub(crate) const COMMAND: CommandSpec = command!(ReportArgs, "report", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt report
  ckpt report 042 -o 042.html
  ckpt report -o - | gzip > report.html.gz";

const DEFAULT_FILE: &str = "ckpt-report.html";
/// The most workflows of a report of the store; the list has all of them.
const MAX_WORKFLOWS: usize = 100;
/// The most checkpoints of a report of one workflow.
const MAX_CHECKPOINTS: usize = 50;

/// Write the pages of the store, or of one workflow, into one HTML file
///
/// The file needs nothing else: no network, no other file. It has the list, the newest 100 workflows and the analytics;
/// with an id, that workflow, its newest 50 checkpoints and what each of them changed.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Only this workflow
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    id: Option<find::Query>,
    /// The file to write, or with `-` stdout; `ckpt-report.html` if not given
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace a file that has another content
    #[arg(long)]
    force: bool,
}

fn run(args: &ReportArgs, session: &Session) -> Result<Exit, Failure> {
    if args.output.as_ref().is_some_and(|output| output == Path::new("-")) && session.output.is_json() {
        return Err(Failure::new(ErrorCode::Usage, "`-o -` and `--json` cannot be used together")
            .help("without `--json`, stdout is the page"));
    }
    let place_of_store = session.place()?;
    let store = session.store()?;
    let id = args.id.as_ref().map(|id| session.find_workflow(&store, id, COMMAND.name)).transpose()?;
    let title = id.as_ref().map_or_else(|| "Report".to_owned(), ToString::to_string);
    let pages = match id {
        Some(id) => of_workflow(&store, id)?,
        None => of_store(session, &store)?,
    };
    // Nothing links to a page that is not in the file.
    let links = Links::File(pages.iter().map(ReportPage::name).collect());
    let view = View { now: session.now(), links, token: None };
    let mut progress = Progress::new(&session.output);
    let mut parts = Vec::new();
    let mut warnings = Vec::new();
    for page in &pages {
        progress.at(|| format!("Rendered {} of {} pages", parts.len(), pages.len()));
        match page.render(session, &view) {
            Ok(content) => parts.push(Part { name: page.name(), content }),
            Err(failure) => warnings.push(format!("{} is left out: {}", page.name(), failure.message)),
        }
    }
    drop(progress);
    let shown = place_of_store.located().root.display().to_string();
    let html = document(&view, &title, &shown, &file(&parts));
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    if output == Path::new("-") {
        return session.output.answer_bytes(html.as_bytes()).map(|()| Exit::Ok);
    }
    let path = place_of_store.cwd.join(&output);
    let (Some(root), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(Failure::new(ErrorCode::Usage, format!("{} is no file name", output.display())));
    };
    let report = ReportReport::new(path.display().to_string(), html.len(), parts.len(), warnings);
    place(root, name, &FileContent::Bytes(html.into_bytes()), args.force, store.mode()?)?;
    session.answer(&report)
}

/// One page of a report.
enum ReportPage {
    Workflows,
    Analytics,
    Workflow(WorkflowId),
    Checkpoint(Handle),
    Diff(Handle, Handle),
}

/// Returns the pages of a report of the store.
fn of_store(session: &Session, store: &Store) -> Result<Vec<ReportPage>, Failure> {
    let newest = Selection::scan(session, store, MAX_WORKFLOWS, |workflow| !workflow.archived)?;
    let lists = [ReportPage::Workflows, ReportPage::Analytics];
    Ok(lists.into_iter().chain(newest.ids().into_iter().map(ReportPage::Workflow)).collect())
}

/// Returns the pages of a report of one workflow: itself, its newest checkpoints, and what each of them changed.
fn of_workflow(store: &Store, id: WorkflowId) -> Result<Vec<ReportPage>, Failure> {
    let mut rows = store.scan_newest(&id, MAX_CHECKPOINTS)?;
    rows.retain(|row| matches!(row.entry, Ok(Entry::Checkpoint(_) | Entry::Tombstone)));
    let handles: Vec<Handle> = rows.into_iter().map(|row| row.handle).collect();
    let mut pages = vec![ReportPage::Workflow(id)];
    pages.extend(handles.iter().cloned().map(ReportPage::Checkpoint));
    let pairs = handles.iter().zip(handles.iter().skip(1));
    pages.extend(pairs.map(|(to, from)| ReportPage::Diff(from.clone(), to.clone())));
    Ok(pages)
}

impl ReportPage {
    /// Returns the name of its part of the file.
    fn name(&self) -> String {
        match self {
            Self::Workflows => "workflows".to_owned(),
            Self::Analytics => "analytics".to_owned(),
            Self::Workflow(id) => workflow_part(id.as_str()),
            Self::Checkpoint(handle) => checkpoint_part(&handle.to_string()),
            Self::Diff(from, to) => diff_part(&from.to_string(), &to.to_string()),
        }
    }

    fn render(&self, session: &Session, view: &View) -> Result<maud::Markup, Failure> {
        match self {
            Self::Workflows => content::workflows(session, view, &Query::default()),
            Self::Analytics => content::analytics(session, view),
            Self::Workflow(id) => content::workflow(session, view, id),
            Self::Checkpoint(handle) => content::checkpoint(session, view, handle),
            Self::Diff(from, to) => content::diff(session, view, from, to),
        }
    }
}
