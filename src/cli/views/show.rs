//! The answer of `ckpt show`.

use serde::Serialize;
use serde_json::Value;

use crate::cli::escape;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::core::checkpoint::{Checkpoint, Imported, Sealed};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::schema::Violation;
use crate::core::size::Size;
use crate::core::span::humane;
use crate::core::text::is_hazardous;
use crate::core::version::Version;
use crate::core::{ArchiveReason, Handle, WorkflowStatus};

#[derive(Debug, Serialize)]
pub(crate) struct ShowReport {
    handle: Handle,
    /// The document, or the part that was asked for.
    checkpoint: Value,
    valid: bool,
    violations: Vec<Violation>,
    #[serde(flatten)]
    source: Source,
    pointer: Option<String>,
    /// Why the workflow was archived; none if it is not, or if an older checkpoint was asked for.
    archived_as: Option<ArchiveReason>,
    warnings: Vec<String>,
    #[serde(skip)]
    understood: Option<Box<Checkpoint>>,
}

/// Where a checkpoint was read from.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    /// Its file, or the bundle it is in.
    pub(crate) path: String,
    /// Whether it is in a bundle.
    pub(crate) in_bundle: bool,
}

impl ShowReport {
    pub(crate) fn new(
        handle: Handle,
        understood: Result<Box<Checkpoint>, Version>,
        value: Value,
        pointer: Option<String>,
        violations: Vec<Violation>,
        source: Source,
    ) -> Self {
        let newer = |version: &Version| {
            format!("{handle} has format {version}, which is newer than this program; it is shown as it is")
        };
        let warnings = understood.as_ref().err().map(newer).into_iter().collect();
        let valid = violations.is_empty();
        Self {
            checkpoint: value,
            valid,
            violations,
            source,
            pointer,
            archived_as: None,
            warnings,
            understood: understood.ok(),
            handle,
        }
    }

    /// Says that a seal closes the workflow.
    pub(crate) fn archived(mut self, sealed: Option<Sealed>) -> Self {
        self.archived_as = sealed.map(|sealed| sealed.reason);
        self
    }
}

impl Report for ShowReport {
    const FORMAT: &'static str = "ckpt.show.v1";

    fn essential(&self) -> String {
        match &self.pointer {
            Some(_) => value_text(&self.checkpoint),
            None => format!("{}\n", self.handle),
        }
    }

    fn answer(&self, page: &mut Page) {
        match (&self.pointer, &self.understood) {
            (None, Some(understood)) => checkpoint(page, understood, self),
            // A value that was asked for is for a program or a pipe: as JSON, with what could harm a terminal escaped.
            _ => page.raw(&value_text(&self.checkpoint)),
        }
    }

    fn remarks(&self, page: &mut Page) {
        page.warnings(&self.warnings);
    }
}

/// Pretty JSON. JSON escapes control characters already; the invisible rest is written as JSON escapes too, so the
/// text stays the same value.
fn value_text(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    let harmless = |c: char| c == '\n' || !is_hazardous(c);
    if text.chars().all(harmless) {
        return text;
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if harmless(c) {
            safe.push(c);
        } else {
            safe.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    safe
}

fn checkpoint(page: &mut Page, checkpoint: &Checkpoint, report: &ShowReport) {
    let (source, archived) = (&report.source, &report.archived_as);
    let handle = page.paint(Style::Bold, &checkpoint.handle().to_string());
    let title = checkpoint
        .content
        .title
        .as_deref()
        .map(|title| format!(" {}", page.foreign(title)))
        .unwrap_or_default();
    let done = checkpoint.content.done().count();
    let progress = if checkpoint.content.is_declared() {
        format!("{done} of {} done", checkpoint.content.phases.len())
    } else {
        format!("{done} done")
    };
    let status = match checkpoint.content.status {
        WorkflowStatus::InProgress => "in progress",
        other => other.word(),
    };
    page.line(format!("{handle}{title}: {status}, {progress}"));
    page.line("");
    let saved = page.time(checkpoint.saved_at);
    let mut field = |name: &str, value: String| page.line(format!("  {name:<10} {value}"));
    let shown = |text: &str| escape::inline(text).into_owned();

    let by = checkpoint.writer.agent.as_ref().or(checkpoint.writer.user.as_ref());
    let by = by.map(|by| format!(" by {}", shown(by))).unwrap_or_default();
    field("saved", format!("{saved}{by}, {}", shown(checkpoint.trigger.word())));
    if let Some(reason) = archived {
        let held = checkpoint.sealed.as_ref().map(|sealed| {
            let last = Handle::new(&checkpoint.workflow, sealed.last);
            format!("; this only closes it, its content is in {last}")
        });
        field("archived", format!("as {}{}", shown(&reason.to_string()), held.unwrap_or_default()));
    }
    if let Some(imported) = &checkpoint.imported {
        let Imported { source, dialect, at, .. } = imported;
        field("imported", format!("{at} from {} ({})", shown(source), shown(dialect)));
    }
    if let Some(copied) = &checkpoint.copy_of {
        field("copy of", Handle::new(&checkpoint.workflow, copied.seq).to_string());
    }
    if let Some(phase) = &checkpoint.content.phase {
        field("phase", shown(phase.as_str()));
    }
    if let Some(next) = &checkpoint.content.next {
        let words = [next.phase.as_ref().map(PhaseId::as_str), next.action.as_deref()];
        field("next", shown(&words.into_iter().flatten().collect::<Vec<_>>().join(": ")));
    }
    if let Some(pipeline) = &checkpoint.content.pipeline {
        field("pipeline", shown(pipeline));
    }
    if !checkpoint.content.labels.is_empty() {
        field("labels", shown(&checkpoint.content.labels.join(", ")));
    }
    if let Some(git) = &checkpoint.context.git {
        let commit = git.commit.as_deref().map(|commit| commit.chars().take(10).collect::<String>());
        let words = [git.branch.clone(), commit];
        field("git", shown(&words.into_iter().flatten().collect::<Vec<_>>().join(" at ")));
    }
    if checkpoint.pinned {
        field("pinned", "yes".to_owned());
    }
    for (index, line) in checkpoint.note.iter().flat_map(|note| escape::block(note)).enumerate() {
        field(if index == 0 { "note" } else { "" }, line.into_owned());
    }
    if let Some(error) = &checkpoint.content.last_error {
        field("error", shown(&error.message));
    }
    field(if source.in_bundle { "bundle" } else { "file" }, shown(&source.path));

    phases(page, checkpoint);
    tasks(page, checkpoint);
    artifacts(page, checkpoint);
    if !checkpoint.content.state.is_empty_object() {
        page.line("");
        page.line(format!("State: ckpt show {} --state", checkpoint.handle()));
    }
}

fn phases(page: &mut Page, checkpoint: &Checkpoint) {
    if checkpoint.content.phases.is_empty() {
        return;
    }
    page.line("");
    page.line("Phases");
    let width = checkpoint
        .content
        .phases
        .iter()
        .map(|phase| escape::width(&page.foreign(phase.id.as_str())))
        .max()
        .unwrap_or(0);
    for phase in &checkpoint.content.phases {
        let (word, style) = word(phase.status);
        let id = page.foreign(phase.id.as_str());
        let gap = " ".repeat(width.saturating_sub(escape::width(&id)));
        let status = page.paint(style, &format!("{word:<11}"));
        let line = format!("  {id}{gap}  {status}  {}", details(page, phase));
        page.line(line.trim_end());
    }
}

fn word(status: PhaseStatus) -> (&'static str, Style) {
    match status {
        PhaseStatus::Pending => ("to do", Style::Plain),
        PhaseStatus::InProgress => ("in progress", Style::Warning),
        PhaseStatus::Complete => ("done", Style::Good),
        PhaseStatus::Failed => ("failed", Style::Bad),
        PhaseStatus::Skipped => ("skipped", Style::Dim),
    }
}

fn details(page: &Page, phase: &Phase) -> String {
    let mut words = Vec::new();
    if let Some(name) = &phase.name {
        words.push(page.foreign(name));
    }
    if let (Some(start), Some(end)) = (phase.started_at, phase.completed_at)
        && let Ok(seconds) = u64::try_from(end.seconds_since(start))
    {
        words.push(humane(seconds));
    }
    if phase.attempts > 1 {
        words.push(format!("attempt {}", phase.attempts));
    }
    if let Some(error) = &phase.error {
        words.push(page.foreign(error));
    }
    if phase.data.is_some() {
        words.push("has data".to_owned());
    }
    words.join(", ")
}

fn tasks(page: &mut Page, checkpoint: &Checkpoint) {
    if checkpoint.content.tasks.is_empty() {
        return;
    }
    page.line("");
    page.line("Tasks");
    for task in &checkpoint.content.tasks {
        let mut line = format!("  {}  {}", page.foreign(task.id.as_str()), task.status.word());
        if let Some(phase) = &task.phase {
            line.push_str(&format!("  in {}", page.foreign(phase.as_str())));
        }
        if !task.depends_on.is_empty() {
            let names: Vec<_> = task.depends_on.iter().map(|id| page.foreign(id.as_str())).collect();
            line.push_str(&format!("  after {}", names.join(", ")));
        }
        if let Some(output) = &task.output {
            line.push_str(&format!("  writes {}", page.foreign(output)));
        }
        if let Some(error) = &task.error {
            line.push_str(&format!("  {}", page.foreign(error)));
        }
        page.line(line);
    }
}

fn artifacts(page: &mut Page, checkpoint: &Checkpoint) {
    if checkpoint.content.artifacts.is_empty() {
        return;
    }
    page.line("");
    page.line("Artifacts");
    for artifact in &checkpoint.content.artifacts {
        let size = artifact.size.map_or_else(|| "missing".to_owned(), |size| Size(size).to_string());
        let name = if artifact.name == artifact.path {
            String::new()
        } else {
            format!("{}: ", page.foreign(&artifact.name))
        };
        page.line(format!("  {name}{}  {size}", page.foreign(&artifact.path)));
    }
}
