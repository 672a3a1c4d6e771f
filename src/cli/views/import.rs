//! The answer of `ckpt import`.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::resume::render_finding;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::session::Place;
use crate::cli::style::Style;
use crate::cli::words::count;
use crate::core::adopt::{Adopted, Opened};
use crate::core::dialects::{Dialect, Origin};
use crate::core::finding::{Code, Finding, Severity};
use crate::core::store::Location;
use crate::core::{Handle, WorkflowId};

/// More lines than this are of no use to a person; a program gets all of them.
const MOST_LINES: usize = 20;

/// A failure names no more files than this.
const MOST_NAMED: usize = 5;

#[derive(Debug, Serialize)]
pub(crate) struct ImportReport {
    dry_run: bool,
    imported: Vec<Line>,
    unchanged: Vec<Line>,
    /// The files in `passed_over`.
    skipped: Vec<String>,
    passed_over: Vec<PassedOver>,
    failures: Vec<FailedSource>,
    findings: Vec<SourceFinding>,
    redactions: Vec<Redacted>,
    warnings: Vec<String>,
    #[serde(skip)]
    store_made: Option<PathBuf>,
    #[serde(skip)]
    failed: Vec<Failure>,
}

/// A file, and the checkpoint it is now.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    source: String,
    dialect: Dialect,
    workflow: WorkflowId,
    handle: Handle,
    /// What was recognised, and where.
    facts: Vec<Origin>,
    #[serde(skip)]
    new: bool,
    #[serde(skip)]
    findings: Vec<Finding>,
    #[serde(skip)]
    redactions: Vec<String>,
}

/// A file in a directory that was not taken for a checkpoint.
#[derive(Debug, Serialize)]
pub(crate) struct PassedOver {
    pub(crate) source: String,
    pub(crate) code: &'static str,
    /// Why, as the rest of a sentence about it.
    pub(crate) reason: String,
}

impl PassedOver {
    /// A file that a person may have meant, but that merely lies there.
    pub(crate) fn dated(source: String) -> Self {
        let reason = "says when it was saved, but names no phases, no status and nothing to do next; \
            named itself, it is imported";
        Self { source, code: "not_a_checkpoint", reason: reason.to_owned() }
    }

    pub(crate) fn link(source: String) -> Self {
        Self { source, code: "link", reason: "is a link; named itself, it is followed".to_owned() }
    }
}

#[derive(Debug, Serialize)]
struct FailedSource {
    source: String,
    code: ErrorCode,
    message: String,
    help: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SourceFinding {
    source: String,
    code: Code,
    severity: Severity,
    message: String,
}

#[derive(Debug, Serialize)]
struct Redacted {
    source: String,
    pointer: String,
}

impl Line {
    pub(crate) fn new(opened: &Opened, adopted: &Adopted) -> Self {
        let (handle, new) = match adopted {
            Adopted::Appended(handle) => (handle, true),
            Adopted::Unchanged(handle) => (handle, false),
        };
        Self {
            source: opened.source.clone(),
            dialect: opened.reading.dialect,
            workflow: handle.workflow.clone(),
            handle: handle.clone(),
            facts: opened.reading.origins.clone(),
            new,
            findings: opened.reading.findings.clone(),
            redactions: opened.redactions.clone(),
        }
    }
}

impl ImportReport {
    pub(crate) fn new(dry_run: bool) -> Self {
        Self {
            dry_run,
            imported: Vec::new(),
            unchanged: Vec::new(),
            skipped: Vec::new(),
            passed_over: Vec::new(),
            failures: Vec::new(),
            findings: Vec::new(),
            redactions: Vec::new(),
            warnings: Vec::new(),
            store_made: None,
            failed: Vec::new(),
        }
    }

    pub(crate) fn creates(&mut self, place: &Place, dry_run: bool) {
        if let (Location::Absent(located), false) = (&place.location, dry_run) {
            self.store_made = Some(located.root.clone());
        }
    }

    pub(crate) fn add(&mut self, mut line: Line) {
        if !line.new {
            line.facts.clear();
            self.unchanged.push(line);
            return;
        }
        let source = &line.source;
        self.findings.extend(line.findings.drain(..).map(|finding| SourceFinding {
            source: source.clone(),
            code: finding.code,
            severity: finding.severity,
            message: finding.message,
        }));
        let redacted = line.redactions.drain(..).map(|pointer| Redacted { source: source.clone(), pointer });
        self.redactions.extend(redacted);
        // Where each fact came from is what a dry run is for.
        if !self.dry_run {
            line.facts.clear();
        }
        self.imported.push(line);
    }

    pub(crate) fn pass_over(&mut self, file: PassedOver) {
        self.skipped.push(file.source.clone());
        self.passed_over.push(file);
    }

    pub(crate) fn fail(&mut self, source: &str, failure: &Failure) {
        self.failed.push(failure.clone());
        self.failures.push(FailedSource {
            source: source.to_owned(),
            code: failure.code,
            message: failure.message.clone(),
            help: failure.help.clone(),
        });
    }

    /// Takes back what was said about files that turned out to be the second one of a checkpoint.
    pub(crate) fn forget(&mut self, companions: &HashSet<PathBuf>) {
        let stays = |source: &str| !companions.contains(Path::new(source));
        self.skipped.retain(|source| stays(source));
        self.passed_over.retain(|file| stays(&file.source));
    }

    /// How many files have been dealt with.
    pub(crate) fn done(&self) -> usize {
        self.imported.len() + self.unchanged.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.done() == 0
    }

    /// What the shell sees: a single reason if nothing could be done for that reason.
    pub(crate) fn exit(&self) -> Exit {
        match self.failed.as_slice() {
            [] => Exit::Ok,
            [first, rest @ ..]
                if self.is_empty() && rest.iter().all(|other| other.exit() == first.exit()) =>
            {
                first.exit()
            }
            _ => Exit::Partial,
        }
    }

    /// Why nothing was done, if there is a single reason for it: then that is not an answer, but a failure. Whoever names
    /// a directory without a checkpoint in it has named the wrong one.
    pub(crate) fn failure(&self) -> Option<Failure> {
        match self.failed.as_slice() {
            [] if self.is_empty() => Some(self.nothing()),
            [only] if self.is_empty() && self.passed_over.is_empty() => Some(only.clone()),
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
        if let Some(more) = self.passed_over.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            message.push_str(&format!("\n... and {more} more; `--json` lists all"));
        }
        Failure::new(ErrorCode::NothingToImport, message)
            .help("name the file itself, or the directory that it is in")
            .context("passed_over", json!(self.passed_over))
    }

    fn workflows(&self) -> BTreeSet<&WorkflowId> {
        self.imported.iter().map(|line| &line.workflow).collect()
    }
}

impl Report for ImportReport {
    const FORMAT: &'static str = "ckpt.import.v1";

    fn essential(&self) -> String {
        self.imported.iter().map(|line| format!("{}\n", line.handle)).collect()
    }

    fn answer(&self, page: &mut Page) {
        let would = if self.dry_run { "would become " } else { "" };
        let most = if page.verbose || page.width.is_none() { usize::MAX } else { MOST_LINES };
        for line in self.imported.iter().take(most) {
            let handle = page.paint(Style::Bold, &line.handle.to_string());
            page.line(format!("{would}{handle}  {}  {}", line.dialect, page.foreign(&line.source)));
            for Origin { fact, value, from } in line.facts.iter().filter(|_| self.dry_run) {
                let (value, from) = (page.foreign(value), page.foreign(from));
                page.line(format!("  {}: {value}  ({from})", page.foreign(fact)));
            }
        }
        if let Some(more) = self.imported.len().checked_sub(most).filter(|more| *more > 0) {
            page.line(format!("... and {more} more; -v shows all"));
        }
    }

    fn failures(&self, page: &mut Page) {
        for FailedSource { message, help, .. } in self.failures.iter().take(MOST_LINES) {
            let label = page.paint(Style::Bad, "failed:");
            page.line(format!("{label} {}", page.foreign(message)));
            for line in help {
                page.line(format!("  help: {}", page.foreign(line)));
            }
        }
        if let Some(more) = self.failures.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
            page.line(format!("... and {more} more failed; --json lists all"));
        }
    }

    fn remarks(&self, page: &mut Page) {
        if let Some(root) = &self.store_made {
            page.line(format!("Created the store {}", page.foreign(&root.display().to_string())));
        }
        for finding in
            self.findings.iter().filter(|finding| finding.severity > Severity::Info).take(MOST_LINES)
        {
            let message = format!("{}: {}", finding.source, finding.message);
            render_finding(page, &Finding::new(finding.severity, finding.code, message));
        }
        for Redacted { source, pointer } in self.redactions.iter().take(MOST_LINES) {
            page.line(format!("Redacted {} in {}", page.foreign(pointer), page.foreign(source)));
        }
        let verbose = page.verbose;
        for PassedOver { source, reason, .. } in self.passed_over.iter().filter(|_| verbose) {
            page.line(format!("passed over: {} {}", page.foreign(source), page.foreign(reason)));
        }
        page.line(self.summary(verbose));
    }

    fn already_done(&self) -> Option<String> {
        let made = !self.dry_run && !self.imported.is_empty();
        made.then(|| count(self.imported.len(), "file") + " imported")
    }
}

impl ImportReport {
    /// `Imported 4 files into 042, 1 unchanged. Resume with: ckpt resume 042`
    fn summary(&self, verbose: bool) -> String {
        let verb = if self.dry_run { "Would import" } else { "Imported" };
        let workflows = self.workflows();
        let into = match workflows.len() {
            0 => String::new(),
            1 => workflows.iter().map(|id| format!(" into {id}")).collect(),
            many => format!(" into {}", count(many, "workflow")),
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
        match workflows.first().filter(|_| !self.dry_run && workflows.len() == 1) {
            Some(id) => format!("{text} Resume with: ckpt resume {id}"),
            None => text,
        }
    }
}
