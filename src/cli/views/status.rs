//! The answer of `ckpt status`.

use serde::Serialize;

use crate::cli::escape;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::core::checkpoint::Checkpoint;
use crate::core::phase::{Phase, PhaseStatus};
use crate::core::progress::{Estimate, LEAST_SAMPLES, durations, elapsed, estimate};
use crate::core::resume::Verdict;
use crate::core::span::humane;
use crate::core::task::{Task, TaskStatus};
use crate::core::{Handle, PhaseId, TaskId, Timestamp, WorkflowId, WorkflowStatus};

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
    phases: Vec<PhaseLine>,
    elapsed_seconds: Option<u64>,
    estimate: Option<Estimate>,
    /// How many finished workflows of the same pipeline there are.
    samples: usize,
    /// Why the workflow was archived, if it was.
    archived_as: Option<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PhaseLine {
    id: PhaseId,
    name: Option<String>,
    status: PhaseStatus,
    inferred: bool,
    current: bool,
    duration_seconds: Option<u64>,
    tasks: Vec<TaskLine>,
}

#[derive(Debug, Serialize)]
struct TaskLine {
    id: TaskId,
    status: TaskStatus,
    waiting: bool,
}

impl StatusReport {
    pub(crate) fn new(judgement: &Judgement, finished: &[Checkpoint], now: Timestamp) -> Self {
        let Judgement { checkpoint, resume, facts } = judgement;
        let archived_as = facts.selection.archived.clone();
        // Work that was given up or put away lasted until it was last heard of.
        let goes_on = checkpoint.content.status == WorkflowStatus::InProgress && archived_as.is_none();
        let now = if goes_on { now } else { checkpoint.saved_at };
        let known = durations(checkpoint);
        let line = |(phase, duration): (&Phase, Option<u64>)| {
            let current = resume.phase.as_ref() == Some(&phase.id);
            let tasks = checkpoint.content.tasks.iter().filter(|task| task.phase.as_ref() == Some(&phase.id));
            let waits = |task: &Task| {
                resume.tasks.waiting.contains(&task.id) || resume.tasks.blocked.contains(&task.id)
            };
            // A phase that is being worked on has lasted until now.
            let running = phase.started_at.filter(|_| phase.status == PhaseStatus::InProgress);
            let running = running.and_then(|start| u64::try_from(now.seconds_since(start)).ok());
            PhaseLine {
                id: phase.id.clone(),
                name: phase.name.clone(),
                status: phase.status,
                inferred: resume.inferred.contains(&phase.id),
                current,
                duration_seconds: duration.or(running),
                tasks: tasks
                    .map(|task| TaskLine {
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
            total: checkpoint.content.is_declared().then_some(checkpoint.content.phases.len()),
            phases: checkpoint.content.phases.iter().zip(known).map(line).collect(),
            elapsed_seconds: elapsed(checkpoint, now),
            estimate: estimate(&resume.remaining, finished).filter(|_| !resume.remaining.is_empty()),
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
                let there = if self.samples == 1 { "there is" } else { "there are" };
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
        let title =
            self.title.as_deref().map(|title| format!(" {}", page.foreign(title))).unwrap_or_default();
        let progress = match self.total.filter(|total| *total > 0) {
            Some(total) => format!("{} of {total}, {}%", self.done.len(), self.done.len() * 100 / total),
            None => format!("{} done", self.done.len()),
        };
        let given_up = match self.status {
            WorkflowStatus::InProgress | WorkflowStatus::Complete => None,
            WorkflowStatus::Failed | WorkflowStatus::Abandoned => Some(self.status.word()),
        };
        let archived = self.archived_as.as_ref().map(|_| "archived");
        let progress = [Some(progress.as_str()), given_up, archived]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ");
        let head = format!("{}{title}", self.workflow);
        let gap = " ".repeat(55_usize.saturating_sub(escape::width(&head)).max(2));
        page.line(format!("{}{gap}{progress}", page.paint(Style::Bold, &head)));
        let id_width =
            self.phases.iter().map(|line| escape::width(&page.foreign(line.id.as_str()))).max().unwrap_or(0);
        let names = self.phases.iter().filter_map(|line| line.name.as_ref());
        let name_width = names.map(|name| escape::width(&page.foreign(name))).max().unwrap_or(0);
        for line in &self.phases {
            phase_line(page, line, id_width, name_width);
        }
        let last = self.last_line();
        page.line(last);
    }
}

fn phase_line(page: &mut Page, line: &PhaseLine, id_width: usize, name_width: usize) {
    let pad = |text: String, width: usize| {
        let gap = " ".repeat(width.saturating_sub(escape::width(&text)));
        text + &gap
    };
    let (word, style) = match line.status {
        _ if line.inferred => ("done by evidence", Style::Good),
        PhaseStatus::Complete => ("done", Style::Good),
        PhaseStatus::Skipped => ("skipped", Style::Dim),
        PhaseStatus::InProgress => ("in progress", Style::Warning),
        PhaseStatus::Failed => ("failed", Style::Bad),
        PhaseStatus::Pending => ("to do", Style::Plain),
    };
    let mark = if line.current { ">" } else { " " };
    let id = pad(page.foreign(line.id.as_str()), id_width);
    let name = pad(line.name.as_deref().map(|name| page.foreign(name)).unwrap_or_default(), name_width);
    let name = if name_width > 0 { format!("  {name}") } else { String::new() };
    let done = line.tasks.iter().filter(|task| task.status.is_done()).count();
    let mut details = Vec::new();
    details.extend(line.duration_seconds.map(humane));
    if !line.tasks.is_empty() {
        details.push(format!("{done} of {} tasks", line.tasks.len()));
    }
    let status = page.paint(style, &format!("{word:<11}"));
    let text = format!("{mark} {id}{name}  {status}  {}", details.join(", "));
    page.line(text.trim_end());
    if line.current && !line.tasks.is_empty() {
        let task = |task: &TaskLine| {
            let word = match task.status {
                TaskStatus::Complete => "done",
                TaskStatus::Pending if task.waiting => "waiting",
                TaskStatus::Pending => "to do",
                other => other.word(),
            };
            format!("{}  {word}", page.foreign(task.id.as_str()))
        };
        const MOST: usize = 12;
        let mut words: Vec<_> = line.tasks.iter().take(MOST).map(task).collect();
        if line.tasks.len() > MOST {
            words.push(format!("and {} more", line.tasks.len() - MOST));
        }
        page.line(format!("      {}", words.join("   ")));
    }
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
