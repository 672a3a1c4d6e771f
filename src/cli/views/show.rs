//! The answer of `ckpt show`.

use serde::Serialize;
use serde_json::Value;

use super::parts::{branch_and_commit, by, json_text, phase_state, progress};
use crate::cli::answer::Report;
use crate::cli::escape;
use crate::cli::style::Style;
use crate::cli::table::{Cell, Column, render};
use crate::cli::text_page::TextPage;
use ckpt_model::checkpoint::{Artifact, Checkpoint, CheckpointRef, Imported, Sealed};
use ckpt_model::next_phase::{PhaseState, RunState};
use ckpt_model::phase::{Approval, Phase, PhaseId};
use ckpt_model::schema::Violation;
use ckpt_model::size::Size;
use ckpt_model::span::humane;
use ckpt_model::task::Task;
use ckpt_model::version::Version;
use ckpt_model::{ArchiveReason, Handle};

#[derive(Debug, Serialize)]
pub(crate) struct ShowReport {
    pub(crate) handle: Handle,
    /// The document, or the requested part of it.
    pub(crate) checkpoint: Value,
    valid: bool,
    pub(crate) violations: Vec<Violation>,
    #[serde(flatten)]
    pub(crate) file: CheckpointFile,
    pointer: Option<String>,
    /// The reason of the archived workflow; `None` if it is live, or if an older checkpoint was requested.
    archived_as: Option<ArchiveReason>,
    pub(crate) warnings: Vec<String>,
    /// `None` if the format is newer than this program.
    #[serde(skip)]
    pub(crate) parsed: Option<Box<Checkpoint>>,
}

/// The file that a checkpoint was read from: its own, or a bundle.
#[derive(Debug, Serialize)]
pub(crate) struct CheckpointFile {
    pub(crate) path: String,
    pub(crate) in_bundle: bool,
}

impl ShowReport {
    pub(crate) fn new(
        handle: Handle,
        parsed: Result<Box<Checkpoint>, Version>,
        checkpoint: Value,
        pointer: Option<String>,
        violations: Vec<Violation>,
        file: CheckpointFile,
    ) -> Self {
        let mut warnings = Vec::new();
        if let Err(version) = &parsed {
            warnings
                .push(format!("{handle} has format {version}, which is newer than this program; it is shown as it is"));
        }
        Self {
            handle,
            checkpoint,
            valid: violations.is_empty(),
            violations,
            file,
            pointer,
            archived_as: None,
            warnings,
            parsed: parsed.ok(),
        }
    }

    /// Adds the seal of an archived workflow.
    pub(crate) fn archived(mut self, sealed: Option<Sealed>) -> Self {
        self.archived_as = sealed.map(|sealed| sealed.reason);
        self
    }

    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }
}

impl Report for ShowReport {
    const FORMAT: &'static str = "ckpt.show.v1";

    fn essential(&self) -> String {
        match &self.pointer {
            Some(_) => plain_text(&self.checkpoint),
            None => format!("{}\n", self.handle),
        }
    }

    fn answer(&self, page: &mut TextPage) {
        match (&self.pointer, &self.parsed) {
            (None, Some(checkpoint)) => self.render(page, checkpoint),
            _ => page.raw(&json_text(&self.checkpoint)),
        }
    }

    fn remarks(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
    }
}

/// Returns a value for scripts: a string without quotes, anything else as JSON.
fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        value => json_text(value),
    }
}

impl ShowReport {
    fn render(&self, page: &mut TextPage, checkpoint: &Checkpoint) {
        let Checkpoint { content, .. } = checkpoint;
        let handle = page.paint(Style::Bold, &checkpoint.handle().to_string());
        let title = page.suffix(content.title.as_deref());
        let status = content.status.word().replace('_', " ");
        let run = RunState::recorded(content);
        let progress = progress(run.progress());
        page.line(format!("{handle}{title}: {status}, {progress}"));
        page.line("");
        self.fields(page, checkpoint);
        phases(page, &run);
        tasks(page, &content.tasks);
        artifacts(page, &content.artifacts);
        facts(page, checkpoint);
        if !content.state.is_empty_object() {
            page.line("");
            page.line(format!("State: ckpt show {} --state", checkpoint.handle()));
        }
    }

    fn fields(&self, page: &mut TextPage, checkpoint: &Checkpoint) {
        let Checkpoint { content, workflow, trigger, imported, .. } = checkpoint;
        let (saved, by) = (page.time(checkpoint.saved_at), by(page, &checkpoint.writer));
        let archived = self.archived_as.as_ref().map(|reason| match &checkpoint.sealed {
            Some(Sealed { last, .. }) => {
                let last = Handle::new(workflow, *last);
                format!("as {reason}; this only closes it, its content is in {last}")
            }
            None => format!("as {reason}"),
        });
        let imported =
            imported.as_ref().map(|Imported { source, dialect, at, .. }| format!("{at} from {source} ({dialect})"));
        let copied = checkpoint.copy_of.as_ref().map(|copied| Handle::new(workflow, copied.seq).to_string());
        let named =
            |other: &CheckpointRef| Handle::new(other.workflow.as_ref().unwrap_or(workflow), other.seq).to_string();
        let next = content.next.as_ref().map(|next| {
            let words = [next.phase.as_ref().map(PhaseId::as_str), next.action.as_deref()];
            words.into_iter().flatten().collect::<Vec<_>>().join(": ")
        });
        page.fields([
            ("saved", format!("{saved}{by}, {}", trigger.word())),
            ("archived", archived.unwrap_or_default()),
            ("imported", imported.unwrap_or_default()),
            ("copy of", copied.unwrap_or_default()),
            ("merged", checkpoint.merged.as_ref().map(named).unwrap_or_default()),
            ("origin", checkpoint.origin.as_ref().map(named).unwrap_or_default()),
            ("phase", content.phase.as_ref().map(PhaseId::to_string).unwrap_or_default()),
            ("next", next.unwrap_or_default()),
            ("pipeline", content.pipeline.clone().unwrap_or_default()),
            ("labels", content.labels.join(", ")),
            ("git", checkpoint.context.git.as_ref().map(branch_and_commit).unwrap_or_default()),
            ("pinned", if checkpoint.pinned { "yes".to_owned() } else { String::new() }),
        ]);
        for (index, line) in checkpoint.note.iter().flat_map(|note| escape::block(note)).enumerate() {
            let name = if index == 0 { "note" } else { "" };
            page.line(format!("  {name:<10} {line}"));
        }
        let reopened = content
            .replans
            .last()
            .filter(|replan| !RunState::recorded(content).state(&replan.phase).is_none_or(PhaseState::is_done));
        let reopened = reopened.map(|replan| {
            let reason = replan.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("phase {}{reason}", replan.phase)
        });
        page.fields([
            ("reopened", reopened.unwrap_or_default()),
            ("error", content.last_error.as_ref().map(|error| error.message.clone()).unwrap_or_default()),
            (if self.file.in_bundle { "bundle" } else { "file" }, self.file.path.clone()),
        ]);
    }
}

fn phases(page: &mut TextPage, run: &RunState<'_>) {
    if run.phases.is_empty() {
        return;
    }
    page.line("");
    page.line("Phases");
    let cells = |(phase, state): &(&Phase, PhaseState)| {
        let (word, style) = phase_state(*state, phase.status);
        let id = Cell::new(format!("  {}", page.escape(phase.id.as_str())));
        vec![id, Cell::styled(format!("{word:<11}"), style), Cell::new(details(page, phase))]
    };
    let rows: Vec<_> = run.phases.iter().map(cells).collect();
    render(page, &["", "", ""].map(Column::new), &rows);
}

fn details(page: &TextPage, phase: &Phase) -> String {
    let mut words = Vec::new();
    words.extend(phase.name.as_deref().map(|name| page.escape(name)));
    if let (Some(start), Some(end)) = (phase.started_at, phase.completed_at)
        && let Ok(seconds) = u64::try_from(end.seconds_since(start))
    {
        words.push(humane(seconds));
    }
    if phase.attempts > 1 {
        words.push(format!("attempt {}", phase.attempts));
    }
    words.extend(phase.error.as_deref().map(|error| page.escape(error)));
    if let Some(Approval { approved_at: Some(_), approved_by, .. }) = &phase.approval {
        let by = approved_by.as_deref().map(|name| format!(" by {}", page.escape(name)));
        words.push(format!("approved{}", by.unwrap_or_default()));
    }
    if phase.data.is_some() {
        words.push("has data".to_owned());
    }
    words.join(", ")
}

fn tasks(page: &mut TextPage, tasks: &[Task]) {
    if tasks.is_empty() {
        return;
    }
    page.line("");
    page.line("Tasks");
    for task in tasks {
        let mut words = vec![task.id.to_string(), task.status.word().to_owned()];
        words.extend(task.phase.as_ref().map(|phase| format!("in {phase}")));
        if !task.depends_on.is_empty() {
            let names: Vec<_> = task.depends_on.iter().map(ToString::to_string).collect();
            words.push(format!("after {}", names.join(", ")));
        }
        words.extend(task.output.as_ref().map(|output| format!("writes {output}")));
        words.extend(task.error.clone());
        page.line(format!("  {}", page.escape(&words.join("  "))));
    }
}

fn artifacts(page: &mut TextPage, artifacts: &[Artifact]) {
    if artifacts.is_empty() {
        return;
    }
    page.line("");
    page.line("Artifacts");
    for Artifact { name, path, size, phase, .. } in artifacts {
        let size = size.map_or_else(|| "missing".to_owned(), |size| Size(size).to_string());
        let name = if name == path { String::new() } else { format!("{name}: ") };
        let of = phase.as_ref().map(|id| format!("  in {}", page.escape(id.as_str())));
        page.line(format!("  {}  {size}{}", page.escape(&format!("{name}{path}")), of.unwrap_or_default()));
    }
}

fn facts(page: &mut TextPage, checkpoint: &Checkpoint) {
    let facts = &checkpoint.content.facts;
    if facts.is_empty() {
        return;
    }
    page.line("");
    page.line("External facts");
    for (index, fact) in facts.iter().enumerate() {
        let (name, handle) = (page.escape(&fact.name), checkpoint.handle());
        page.line(format!("  {name}: ckpt show {handle} --pointer /facts/{index}/document"));
    }
}
