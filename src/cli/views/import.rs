//! The answer of `ckpt import`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::failed::FailedItem;
use super::parts::render_finding;
use crate::cli::answer::Report;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::escape;
use crate::cli::exit::Exit;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use crate::cli::words::{count, left_out};
use ckpt_formats::dialects::{Dialect, Origin};
use ckpt_formats::foreign_settings::MergedSettings;
use ckpt_formats::import::{Discovered, ForeignFile, ImportOutcome, Refusal, Refused};
use ckpt_model::finding::{Finding, Severity};
use ckpt_model::{Handle, WorkflowId, WorkflowStatus};
use ckpt_store::Location;

/// How many lines of one kind a person sees; JSON has all of them.
const MOST_LINES: usize = 20;

/// How many files a failure names.
const MOST_NAMED: usize = 5;

#[derive(Debug, Default, Serialize)]
pub(crate) struct ImportReport {
    pub(crate) dry_run: bool,
    /// The files of known systems, if none was named.
    pub(crate) found: Vec<Discovered>,
    imported: Vec<ImportedFile>,
    unchanged: Vec<ImportedFile>,
    passed_over: Vec<PassedOver>,
    failures: Vec<FailedItem>,
    findings: Vec<SourceFinding>,
    redactions: Vec<Redaction>,
    settings: Vec<ImportedSettings>,
    /// The workflows that were archived, because their newest file lies where its system keeps what is over.
    pub(crate) archived: BTreeSet<WorkflowId>,
    pub(crate) warnings: Vec<String>,
    /// A line about the cleanup of each workflow.
    #[serde(skip)]
    pub(crate) cleanups: Vec<String>,
    #[serde(skip)]
    store_made: Option<PathBuf>,
    /// The status of the checkpoint that was added last.
    #[serde(skip)]
    last_status: Option<WorkflowStatus>,
}

/// A file, and the checkpoint it became.
#[derive(Debug, Serialize)]
struct ImportedFile {
    source: String,
    dialect: Dialect,
    workflow: WorkflowId,
    handle: Handle,
    /// The facts recognised in the file, each with its origin; only in a dry run.
    facts: Vec<Origin>,
}

/// A file in a directory that was not taken for a checkpoint.
#[derive(Debug, Serialize)]
pub(crate) struct PassedOver {
    pub(crate) source: String,
    pub(crate) code: &'static str,
    /// The rest of a sentence that begins with the file.
    pub(crate) reason: String,
}

impl PassedOver {
    pub(crate) fn link(source: String) -> Self {
        Self { source, code: "link", reason: "is a link; named itself, it is followed".to_owned() }
    }
}

/// A settings file of another system, and what became of its settings.
#[derive(Debug, Serialize)]
struct ImportedSettings {
    source: String,
    /// The settings file of the store.
    config: String,
    added: Vec<String>,
    /// The settings that the store has set itself.
    kept: Vec<String>,
    /// The settings that have to be added by hand.
    by_hand: Vec<String>,
    /// The settings without an equivalent, each with the reason.
    left_out: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SourceFinding {
    source: String,
    #[serde(flatten)]
    finding: Finding,
}

#[derive(Debug, Serialize)]
struct Redaction {
    source: String,
    pointer: String,
}

impl ImportReport {
    pub(crate) fn new(dry_run: bool) -> Self {
        Self { dry_run, ..Self::default() }
    }

    /// Notes that the import creates the store, if it does.
    pub(crate) fn creates(&mut self, location: &Location) {
        if let (Location::Absent(located), false) = (location, self.dry_run) {
            self.store_made = Some(located.root.clone());
        }
    }

    pub(crate) fn add(&mut self, foreign: &ForeignFile, outcome: &ImportOutcome) {
        let handle = outcome.handle();
        let ForeignFile { name: source, reading, .. } = foreign;
        let mut file = ImportedFile {
            source: source.clone(),
            dialect: reading.dialect,
            workflow: handle.workflow.clone(),
            handle,
            facts: Vec::new(),
        };
        if matches!(outcome, ImportOutcome::Unchanged(_)) {
            self.unchanged.push(file);
            return;
        }
        if let ImportOutcome::Appended(added) = outcome {
            self.last_status = Some(added.content.status);
        }
        if self.dry_run {
            file.facts.clone_from(&reading.origins);
        }
        self.imported.push(file);
        for finding in &reading.findings {
            self.findings.push(SourceFinding { source: source.clone(), finding: finding.clone() });
        }
        for pointer in &foreign.redactions {
            self.redactions.push(Redaction { source: source.clone(), pointer: pointer.clone() });
        }
    }

    pub(crate) fn add_settings(&mut self, source: String, config: &Path, merged: MergedSettings) {
        let MergedSettings { added, kept, by_hand, left_out, .. } = merged;
        let config = config.display().to_string();
        self.settings.push(ImportedSettings { source, config, added, kept, by_hand, left_out });
    }

    /// Adds a file that is not imported.
    pub(crate) fn refuse(&mut self, Refused { name, why }: Refused) {
        match why {
            Refusal::Link => self.passed_over.push(PassedOver::link(name)),
            Refusal::PassedOver(error) => {
                let reason = error.to_string();
                let code = Failure::from(error.of(&name)).code.word();
                self.passed_over.push(PassedOver { source: name, code, reason });
            }
            Refusal::Failed(error) => self.fail(&name, error.of(&name)),
        }
    }

    pub(crate) fn fail(&mut self, source: &str, failure: impl Into<Failure>) {
        self.failures.push(FailedItem::new(source, failure));
    }

    /// Returns how many files were imported, now or before.
    pub(crate) fn done(&self) -> usize {
        self.imported.len() + self.unchanged.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.done() == 0 && self.settings.is_empty()
    }

    /// Returns the exit code: that of the failures if nothing was imported and they all have the same.
    pub(crate) fn exit(&self) -> Exit {
        let mut exits = self.failures.iter().map(|failed| failed.failure.exit());
        match exits.next() {
            None => Exit::Ok,
            Some(first) if self.is_empty() && exits.all(|exit| exit == first) => first,
            Some(_) => Exit::Partial,
        }
    }

    /// Returns a failure in place of the report, if nothing was imported for a single reason. A directory without a
    /// checkpoint in it is such a reason: most likely it is the wrong one.
    pub(crate) fn failure(&self) -> Option<Failure> {
        match self.failures.as_slice() {
            [] if self.is_empty() => Some(self.nothing()),
            [only] if self.is_empty() && self.passed_over.is_empty() => Some(only.failure.clone()),
            _ => None,
        }
    }

    fn nothing(&self) -> Failure {
        let seen = match self.passed_over.len() {
            0 => "no file there is called like one (.json, .yaml, .yml, .checkpoint, .state)".to_owned(),
            some => format!("{} passed over", count(some, "file")),
        };
        let mut message = format!("there is no checkpoint to import: {seen}");
        for PassedOver { source, reason, .. } in self.passed_over.iter().take(MOST_NAMED) {
            message.push_str(&format!("\n`{source}` {reason}"));
        }
        if let Some(more) = left_out(self.passed_over.len(), MOST_NAMED) {
            message.push_str(&format!("\n... and {more} more; `--json` lists all"));
        }
        Failure::new(ErrorCode::NothingToImport, message)
            .help("name the file itself, or the directory that it is in")
            .context("passed_over", json!(self.passed_over))
    }
}

impl Report for ImportReport {
    const FORMAT: &'static str = "ckpt.import.v1";

    fn essential(&self) -> String {
        self.imported.iter().map(|line| format!("{}\n", line.handle)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        for found in &self.found {
            page.line(found_line(found));
        }
        let would = if self.dry_run { "would become " } else { "" };
        let most = if page.verbose || page.width.is_none() { usize::MAX } else { MOST_LINES };
        for file in self.imported.iter().take(most) {
            let handle = page.paint(Style::Bold, &file.handle.to_string());
            page.line(format!("{would}{handle}  {}  {}", file.dialect, page.escape(&file.source)));
            for Origin { fact, value, from } in &file.facts {
                let (value, from) = (page.escape(value), page.escape(from));
                page.line(format!("  {}: {value}  ({from})", page.escape(fact)));
            }
        }
        if let Some(more) = left_out(self.imported.len(), most) {
            page.line(format!("... and {more} more; -v shows all"));
        }
    }

    fn failures(&self, page: &mut TextPage) {
        for FailedItem { failure, .. } in self.failures.iter().take(MOST_LINES) {
            page.labelled(Style::Bad, "failed:", &failure.message);
            page.help(&failure.help);
        }
        if let Some(more) = left_out(self.failures.len(), MOST_LINES) {
            page.line(format!("... and {more} more failed; --json lists all"));
        }
        page.warnings(self.warnings.get(..MOST_LINES).unwrap_or(&self.warnings));
        if let Some(more) = left_out(self.warnings.len(), MOST_LINES) {
            page.line(format!("... and {more} more warnings; --json lists all"));
        }
    }

    fn remarks(&self, page: &mut TextPage) {
        if let Some(root) = &self.store_made {
            page.line(format!("Created the store {}", page.escape(&root.display().to_string())));
        }
        let shown = self.findings.iter().filter(|finding| finding.finding.severity > Severity::Info);
        for SourceFinding { source, finding } in shown.take(MOST_LINES) {
            let message = format!("{source}: {}", finding.message);
            render_finding(page, &Finding { message, ..finding.clone() });
        }
        for Redaction { source, pointer } in self.redactions.iter().take(MOST_LINES) {
            page.line(format!("Redacted {} in {}", page.escape(pointer), page.escape(source)));
        }
        if page.verbose {
            for PassedOver { source, reason, .. } in &self.passed_over {
                page.line(format!("passed over: {} {}", page.escape(source), page.escape(reason)));
            }
        }
        for settings in &self.settings {
            settings.render(page, self.dry_run);
        }
        if !self.found.is_empty() {
            page.line("Nothing is imported yet. All of them: ckpt import --all");
        } else if self.settings.is_empty() || self.done() > 0 {
            page.line(self.summary(page.verbose));
        }
        let verb = if self.dry_run { "Would archive" } else { "Archived" };
        for workflow in self.archived.iter().take(MOST_LINES) {
            page.line(format!("{verb} {workflow}: its file lies where its system keeps what is over"));
        }
        for cleanup in self.cleanups.iter().take(MOST_LINES) {
            page.line(cleanup);
        }
        if let Some(more) = left_out(self.cleanups.len(), MOST_LINES) {
            page.line(format!("... and checkpoints of {more} more workflows"));
        }
    }

    fn already_done(&self) -> Option<String> {
        let made = !self.dry_run && !self.imported.is_empty();
        made.then(|| count(self.imported.len(), "file") + " imported")
    }
}

/// `.taskmaster/tasks/tasks.json  task-master  Task Master, tasks with subtasks and dependencies`
pub(crate) fn found_line(found: &Discovered) -> String {
    let count = if found.files == 1 { String::new() } else { format!(" ({})", count(found.files, "file")) };
    format!("{}{count}  {}  {}", escape::inline(&found.path), found.dialect, found.dialect.about())
}

impl ImportedSettings {
    fn render(&self, page: &mut TextPage, dry_run: bool) {
        let (source, config) = (page.escape(&self.source), page.escape(&self.config));
        let verb = if dry_run { "Would add" } else { "Added" };
        if self.added.is_empty() {
            page.line(format!("Nothing of {source} is new to {config}"));
        }
        for (what, settings) in [
            (format!("{verb} to {config}:"), &self.added),
            ("Already set, left as it is:".to_owned(), &self.kept),
            (format!("To be added to {config} by hand:"), &self.by_hand),
            (format!("Not taken over from {source}:"), &self.left_out),
        ] {
            if !settings.is_empty() {
                page.line(what);
            }
            for setting in settings {
                page.line(format!("  {}", page.escape(setting)));
            }
        }
    }
}

impl ImportReport {
    /// `Imported 4 files into 042, 1 unchanged. Resume with: ckpt resume 042`
    fn summary(&self, verbose: bool) -> String {
        let verb = if self.dry_run { "Would import" } else { "Imported" };
        let workflows: BTreeSet<_> = self.imported.iter().map(|file| &file.workflow).collect();
        let into = match (workflows.first(), workflows.len()) {
            (None, _) => String::new(),
            (Some(only), 1) => format!(" into {only}"),
            (_, several) => format!(" into {}", count(several, "workflow")),
        };
        let mut text = format!("{verb} {}{into}", count(self.imported.len(), "file"));
        if !self.unchanged.is_empty() {
            text.push_str(&format!(", {} unchanged", self.unchanged.len()));
        }
        if !self.passed_over.is_empty() {
            let named = if verbose { "" } else { " (-v says which)" };
            text.push_str(&format!(", {} passed over{named}", self.passed_over.len()));
        }
        if !self.failures.is_empty() {
            text.push_str(&format!(", {} failed", self.failures.len()));
        }
        text.push('.');
        if let (Some(id), 1, false) = (workflows.first(), workflows.len(), self.dry_run)
            && !self.archived.contains(*id)
        {
            match self.last_status {
                Some(status) if status != WorkflowStatus::InProgress => {
                    text.push_str(&format!(" The workflow is {}.", status.word()));
                }
                _ => text.push_str(&format!(" Resume with: ckpt resume {id}")),
            }
        }
        text
    }
}
