//! `ckpt report`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::content;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find;
use crate::cli::invoke::Program;
use crate::cli::pages::file::{Part, file};
use crate::cli::pages::layout::document;
use crate::cli::pages::links::{checkpoint_part, diff_part, workflow_part};
use crate::cli::pages::workflows::Query;
use crate::cli::pages::{Links, View};
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::views::report::ReportReport;
use crate::core::export::{FileContent, place};
use crate::core::store::Entry;
use crate::core::{Handle, Store, WorkflowId};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "report",
    alias: None,
    augment_args: ReportArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

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
    if args.output.as_ref().is_some_and(|output| output == Path::new("-")) && session.ui.is_json() {
        return Err(Failure::new(ErrorCode::Usage, "`-o -` and `--json` cannot be used together")
            .help("without `--json`, stdout is the page"));
    }
    let place_of_store = session.place()?;
    let store = session.store()?;
    let program = Program { env: session.env.clone(), store: place_of_store.located().root.clone() };
    let id = args.id.as_ref().map(|id| session.find_workflow(&store, id, COMMAND.name)).transpose()?;
    let title = id.as_ref().map_or_else(|| "Report".to_owned(), ToString::to_string);
    let selection = match id {
        Some(id) => Selection::of_workflow(&store, id)?,
        None => Selection::of_store(&program)?,
    };
    let view = View { now: session.now(), links: selection.links(), token: None };
    let mut progress = Progress::new(&session.ui);
    let mut parts = Vec::new();
    let total = selection.links.len();
    let mut warnings = Vec::new();
    for (name, page) in selection.pages() {
        progress.at(|| format!("Rendered {} of {total} pages", parts.len()));
        match page.render(&program, &view) {
            Ok(content) => parts.push(Part { name, content }),
            Err(failure) => warnings.push(format!("{name} is left out: {}", failure.message)),
        }
    }
    drop(progress);
    let shown = program.store.display().to_string();
    let html = document(&view, &title, &shown, &file(&parts));
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    if output == Path::new("-") {
        return session.ui.answer_bytes(html.as_bytes()).map(|()| Exit::Ok);
    }
    let path = place_of_store.cwd.join(&output);
    let (Some(root), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(Failure::new(ErrorCode::Usage, format!("{} is no file name", output.display())));
    };
    let report = ReportReport::new(path.display().to_string(), html.len(), parts.len(), warnings);
    place(root, name, &FileContent::Bytes(html.into_bytes()), args.force, store.mode()?)?;
    session.answer(&report)
}

/// The pages of a report.
struct Selection {
    has_lists: bool,
    workflows: Vec<WorkflowId>,
    /// The newest first.
    checkpoints: Vec<Handle>,
    links: BTreeSet<String>,
}

enum ReportPage<'a> {
    Workflows,
    Analytics,
    Workflow(&'a WorkflowId),
    Checkpoint(&'a Handle),
    Diff(&'a Handle, &'a Handle),
}

impl Selection {
    fn of_store(program: &Program) -> Result<Self, Failure> {
        let list = program.document(&["list", "--limit", &MAX_WORKFLOWS.to_string()])?;
        let rows = list["workflows"].as_array().cloned().unwrap_or_default();
        let ids = rows.iter().filter_map(|row| row["workflow"].as_str()?.parse().ok());
        Ok(Self {
            has_lists: true,
            workflows: ids.collect(),
            checkpoints: Vec::new(),
            links: BTreeSet::new(),
        }
        .linked())
    }

    fn of_workflow(store: &Store, id: WorkflowId) -> Result<Self, Failure> {
        let (rows, _) = store.scan_newest(&id, MAX_CHECKPOINTS)?;
        let is_checkpoint =
            |entry: &Result<Entry<_>, _>| matches!(entry, Ok(Entry::Checkpoint(_) | Entry::Tombstone));
        let rows = rows.into_iter().filter(|row| is_checkpoint(&row.entry));
        let checkpoints = rows.map(|row| row.handle).collect();
        Ok(Self { has_lists: false, workflows: vec![id], checkpoints, links: BTreeSet::new() }.linked())
    }

    /// Remembers which pages there are, so that nothing links to others.
    fn linked(mut self) -> Self {
        self.links = self.pages().into_iter().map(|(name, _)| name).collect();
        self
    }

    fn links(&self) -> Links {
        Links::File(self.links.clone())
    }

    /// Returns the pages with the names of their parts.
    fn pages(&self) -> Vec<(String, ReportPage<'_>)> {
        let mut pages = Vec::new();
        if self.has_lists {
            pages.push(("workflows".to_owned(), ReportPage::Workflows));
            pages.push(("analytics".to_owned(), ReportPage::Analytics));
        }
        for id in &self.workflows {
            pages.push((workflow_part(id.as_str()), ReportPage::Workflow(id)));
        }
        for handle in &self.checkpoints {
            pages.push((checkpoint_part(&handle.to_string()), ReportPage::Checkpoint(handle)));
        }
        for (to, from) in self.checkpoints.iter().zip(self.checkpoints.iter().skip(1)) {
            pages.push((diff_part(&from.to_string(), &to.to_string()), ReportPage::Diff(from, to)));
        }
        pages
    }
}

impl ReportPage<'_> {
    fn render(&self, program: &Program, view: &View) -> Result<maud::Markup, Failure> {
        match self {
            Self::Workflows => content::workflows(program, view, &Query::default()),
            Self::Analytics => content::analytics(program, view),
            Self::Workflow(id) => content::workflow(program, view, id),
            Self::Checkpoint(handle) => content::checkpoint(program, view, handle),
            Self::Diff(from, to) => content::diff(program, view, from, to),
        }
    }
}
