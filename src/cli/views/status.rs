//! The answer of `ckpt status`.

use serde::Serialize;

use super::parts::{declared_phases, phase_status, progress};
use crate::cli::escape;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::cli::words::{left_out, verb};
use crate::core::checkpoint::Checkpoint;
use crate::core::phase::{Phase, PhaseStatus};
use crate::core::progress::{Estimate, LEAST_SAMPLES, durations, elapsed, estimate};
use crate::core::resume::Verdict;
use crate::core::span::humane;
use crate::core::task::{Task, TaskStatus};
use crate::core::{Handle, PhaseId, TaskId, Timestamp, WorkflowId, WorkflowStatus};

/// The columns of the first line that the workflow and its title get.
const HEAD_WIDTH: usize = 55;

/// How many tasks of the current phase are named.
const MOST_TASKS: usize = 12;

#[derive(Debug, Serialize)]
pub(crate) struct StatusReport {
    workflow: WorkflowId,
    handle: Handle,
    title: Option<String>,
    status: WorkflowStatus,
    verdict: Verdict,
    phase: Option<PhaseId>,
    done: Vec<PhaseId>,
    total: Option<usize>,
    phases: Vec<PhaseProgress>,
    elapsed_seconds: Option<u64>,
    estimate: Option<Estimate>,
    /// The number of finished workflows of the same pipeline.
    samples: usize,
    /// The reason of an archived workflow.
    archived_as: Option<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PhaseProgress {
    id: PhaseId,
    name: Option<String>,
    status: PhaseStatus,
    inferred: bool,
    skipped_by_inference: bool,
    current: bool,
    duration_seconds: Option<u64>,
    tasks: Vec<TaskProgress>,
}

#[derive(Debug, Serialize)]
struct TaskProgress {
    id: TaskId,
    status: TaskStatus,
    waiting: bool,
}

impl StatusReport {
    pub(crate) fn new(judgement: &Judgement, finished: &[Checkpoint], now: Timestamp) -> Self {
        let Judgement { checkpoint, resume, facts } = judgement;
        let archived_as = facts.selection.archived.clone();
        // Work that is over lasted until its last save.
        let goes_on = checkpoint.content.status == WorkflowStatus::InProgress && archived_as.is_none();
        let now = if goes_on { now } else { checkpoint.saved_at };
        let known = durations(checkpoint);
        let line = |(phase, duration): (&Phase, Option<u64>)| {
            let current = resume.phase.as_ref() == Some(&phase.id);
            let tasks = checkpoint.content.tasks.iter().filter(|task| task.phase.as_ref() == Some(&phase.id));
            let waits = |task: &Task| {
                resume.tasks.waiting.contains(&task.id) || resume.tasks.blocked.contains(&task.id)
            };
            // A phase in progress has lasted until now.
            let running = match phase.started_at {
                Some(start) if phase.status == PhaseStatus::InProgress => {
                    u64::try_from(now.seconds_since(start)).ok()
                }
                _ => None,
            };
            PhaseProgress {
                id: phase.id.clone(),
                name: phase.name.clone(),
                status: phase.status,
                inferred: resume.inferred.contains(&phase.id),
                skipped_by_inference: resume.skipped_by_inference.contains(&phase.id),
                current,
                duration_seconds: duration.or(running),
                tasks: tasks
                    .map(|task| TaskProgress {
                        id: task.id.clone(),
                        status: task.status,
                        waiting: current && waits(task),
                    })
                    .collect(),
            }
        };
        Self {
            workflow: checkpoint.workflow.clone(),
            handle: checkpoint.handle(),
            title: checkpoint.content.title.clone(),
            status: checkpoint.content.status,
            verdict: resume.verdict,
            phase: resume.phase.clone(),
            done: resume.done.clone(),
            total: declared_phases(&checkpoint.content).map(|all| all - resume.skipped_by_inference.len()),
            phases: checkpoint.content.phases.iter().zip(known).map(line).collect(),
            elapsed_seconds: elapsed(checkpoint, now),
            estimate: if resume.remaining.is_empty() { None } else { estimate(&resume.remaining, finished) },
            samples: finished.len(),
            archived_as,
            warnings: Vec::new(),
        }
    }

    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }

    fn last_line(&self) -> String {
        let elapsed = self.elapsed_seconds.map(|seconds| format!("elapsed {}", humane(seconds)));
        let elapsed = elapsed.unwrap_or_else(|| "no times recorded".to_owned());
        match (&self.estimate, self.verdict) {
            (_, Verdict::Complete) => elapsed,
            (Some(Estimate { low_seconds, high_seconds, samples }), _) => {
                format!(
                    "{elapsed}, {} left (from {samples} finished workflows)",
                    range(*low_seconds, *high_seconds)
                )
            }
            (None, _) => {
                let there = verb(self.samples, "there is", "there are");
                format!(
                    "{elapsed}, no estimate: it needs {LEAST_SAMPLES} finished workflows of this pipeline, {there} {}",
                    self.samples
                )
            }
        }
    }
}

/// `about 8 to 12 minutes`
fn range(low: u64, high: u64) -> String {
    let (unit, word) = match high {
        0..120 => (1, "seconds"),
        120..7200 => (60, "minutes"),
        7200..172_800 => (3600, "hours"),
        _ => (86_400, "days"),
    };
    let (low, high) = (low / unit, high.div_ceil(unit));
    if low == high { format!("about {high} {word}") } else { format!("about {low} to {high} {word}") }
}

impl Report for StatusReport {
    const FORMAT: &'static str = "ckpt.status.v1";

    fn failures(&self, page: &mut Page) {
        page.warnings(&self.warnings);
    }

    fn essential(&self) -> String {
        match self.total {
            Some(total) => format!("{}/{total}\n", self.done.len()),
            None => format!("{}\n", self.done.len()),
        }
    }

    fn answer(&self, page: &mut Page) {
        let mut progress = match self.total.filter(|total| *total > 0) {
            Some(total) => format!("{} of {total}, {}%", self.done.len(), self.done.len() * 100 / total),
            None => progress(self.done.len(), None),
        };
        if matches!(self.status, WorkflowStatus::Failed | WorkflowStatus::Abandoned) {
            progress.push_str(&format!(", {}", self.status.word()));
        }
        if self.archived_as.is_some() {
            progress.push_str(", archived");
        }
        let head = format!("{}{}", self.workflow, page.suffix(self.title.as_deref()));
        let gap = " ".repeat(HEAD_WIDTH.saturating_sub(escape::width(&head)).max(2));
        page.line(format!("{}{gap}{progress}", page.paint(Style::Bold, &head)));
        let width = |text: fn(&PhaseProgress) -> &str| {
            self.phases.iter().map(|phase| escape::width(&escape::inline(text(phase)))).max().unwrap_or(0)
        };
        let id_width = width(|phase| phase.id.as_str());
        let name_width = width(|phase| phase.name.as_deref().unwrap_or_default());
        for phase in &self.phases {
            phase_line(page, phase, id_width, name_width);
        }
        page.line(self.last_line());
    }
}

fn phase_line(page: &mut Page, phase: &PhaseProgress, id_width: usize, name_width: usize) {
    let (word, style) = if phase.inferred {
        ("done by evidence", Style::Good)
    } else if phase.skipped_by_inference {
        phase_status(PhaseStatus::Skipped)
    } else {
        phase_status(phase.status)
    };
    let mark = if phase.current { ">" } else { " " };
    let id = escape::pad(&page.escape(phase.id.as_str()), id_width);
    let name = escape::pad(&page.escape(phase.name.as_deref().unwrap_or_default()), name_width);
    let name = if name_width > 0 { format!("  {name}") } else { name };
    let mut details = Vec::new();
    details.extend(phase.duration_seconds.map(humane));
    if !phase.tasks.is_empty() {
        let done = phase.tasks.iter().filter(|task| task.status.is_done()).count();
        details.push(format!("{done} of {} tasks", phase.tasks.len()));
    }
    let status = page.paint(style, &format!("{word:<11}"));
    let text = format!("{mark} {id}{name}  {status}  {}", details.join(", "));
    page.line(text.trim_end());
    if phase.current && !phase.tasks.is_empty() {
        let mut words: Vec<_> = phase.tasks.iter().take(MOST_TASKS).map(task_words).collect();
        words.extend(left_out(phase.tasks.len(), MOST_TASKS).map(|more| format!("and {more} more")));
        page.line(format!("      {}", words.join("   ")));
    }
}

/// `parser  to do`
fn task_words(task: &TaskProgress) -> String {
    let word = match task.status {
        TaskStatus::Complete => "done",
        TaskStatus::Pending if task.waiting => "waiting",
        TaskStatus::Pending => "to do",
        other => other.word(),
    };
    format!("{}  {word}", escape::inline(task.id.as_str()))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_said_in_one_unit() {
        assert_eq!(range(480, 700), "about 8 to 12 minutes");
        assert_eq!(range(30, 50), "about 30 to 50 seconds");
        assert_eq!(range(3600, 3600), "about 60 minutes");
        assert_eq!(range(0, 200_000), "about 0 to 3 days");
    }
}
