//! The answer of `ckpt status`.

use std::ops::Range;

use serde::Serialize;

use super::parts::{phase_state, progress};
use crate::cli::answer::Report;
use crate::cli::escape;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::cli::table::{Cell, Column, lines};
use crate::cli::text_page::TextPage;
use crate::cli::words::{left_out, verb};
use ckpt_model::finding::{Code, Finding};
use ckpt_model::next_phase::{PhaseState, RunProgress};
use ckpt_model::phase::{Phase, PhaseStatus};
use ckpt_model::progress::{durations, elapsed};
use ckpt_model::resume::{Resume, Verdict};
use ckpt_model::run_summary::RunSummary;
use ckpt_model::span::humane;
use ckpt_model::stats::{Estimate, LEAST_SAMPLES, estimate};
use ckpt_model::task::{Task, TaskStatus};
use ckpt_model::{Handle, PhaseId, TaskId, Timestamp, WorkflowId, WorkflowStatus};

/// The columns of the first line that the workflow and its title get.
const HEAD_WIDTH: usize = 55;

/// Titles and names are not cut to less than this.
const LEAST_WIDTH: usize = 8;

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
    pub(crate) phases: Vec<PhaseProgress>,
    pub(crate) elapsed_seconds: Option<u64>,
    pub(crate) estimate: Option<Estimate>,
    /// The number of finished runs of the same pipeline.
    samples: usize,
    /// The reason of an archived workflow.
    pub(crate) archived_as: Option<String>,
    /// The last error that has not been put right.
    last_error: Option<String>,
    /// The reason why a phase was reopened that is not done again yet.
    reopened: Option<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PhaseProgress {
    id: PhaseId,
    name: Option<String>,
    status: PhaseStatus,
    pub(crate) inferred: bool,
    skipped_by_inference: bool,
    awaiting_approval: bool,
    #[serde(skip)]
    state: PhaseState,
    pub(crate) current: bool,
    pub(crate) duration_seconds: Option<u64>,
    pub(crate) tasks: Vec<TaskProgress>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TaskProgress {
    id: TaskId,
    status: TaskStatus,
    waiting: bool,
}

impl PhaseProgress {
    fn cells(&self, page: &TextPage) -> Vec<Cell> {
        let (word, style) = phase_state(self.state, self.status);
        let mark = if self.current { '>' } else { ' ' };
        let mut details = Vec::new();
        details.extend(self.duration_seconds.map(humane));
        if !self.tasks.is_empty() {
            details.push(format!("{} of {} tasks", self.done_tasks(), self.tasks.len()));
        }
        vec![
            Cell::new(format!("{mark} {}", page.escape(self.id.as_str()))),
            Cell::new(page.escape(self.name.as_deref().unwrap_or_default())),
            Cell::styled(format!("{word:<11}"), style),
            Cell::new(details.join(", ")),
        ]
    }

    /// Returns the number of tasks that are done.
    pub(crate) fn done_tasks(&self) -> usize {
        self.tasks.iter().filter(|task| task.status.is_done()).count()
    }
}

impl StatusReport {
    pub(crate) fn new(judgement: &Judgement, finished: &[RunSummary], now: Timestamp) -> Self {
        let Judgement { checkpoint, resume, facts } = judgement;
        let archived_as = facts.selection.archived.clone();
        // Work that is over lasted until its last save.
        let goes_on = checkpoint.content.status == WorkflowStatus::InProgress && archived_as.is_none();
        let now = if goes_on { now } else { checkpoint.saved_at };
        let known = durations(checkpoint);
        let line = |(phase, duration): (&Phase, Option<u64>)| {
            let current = resume.phase.as_ref() == Some(&phase.id);
            let tasks = checkpoint.content.tasks.iter().filter(|task| task.phase.as_ref() == Some(&phase.id));
            let waits =
                |task: &Task| resume.tasks.waiting.contains(&task.id) || resume.tasks.blocked.contains(&task.id);
            // A phase in progress has lasted until now.
            let running = match phase.started_at {
                Some(start) if phase.status == PhaseStatus::InProgress => u64::try_from(now.seconds_since(start)).ok(),
                _ => None,
            };
            PhaseProgress {
                id: phase.id.clone(),
                name: phase.name.clone(),
                status: phase.status,
                inferred: resume.inferred.contains(&phase.id),
                skipped_by_inference: resume.skipped_by_inference.contains(&phase.id),
                awaiting_approval: resume.awaiting_approval.contains(&phase.id),
                state: state(resume, phase),
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
            total: checkpoint
                .content
                .is_declared()
                .then(|| checkpoint.content.phases.len() - resume.skipped_by_inference.len()),
            phases: checkpoint.content.phases.iter().zip(known).map(line).collect(),
            elapsed_seconds: elapsed(checkpoint, now),
            estimate: if resume.remaining.is_empty() { None } else { estimate(&resume.remaining, finished) },
            samples: finished.len(),
            archived_as,
            last_error: checkpoint.content.last_error.as_ref().map(|error| error.message.clone()),
            reopened: reopened(resume),
            warnings: sharing(resume),
        }
    }

    pub(crate) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }

    /// Returns the context of an error: why a phase was reopened, and what went wrong.
    fn error_lines(&self, page: &TextPage) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.reopened.clone());
        lines.extend(self.last_error.as_ref().map(|error| format!("the last error was: {error}")));
        let width = page.width.unwrap_or(usize::MAX);
        lines.iter().map(|line| escape::truncate(&escape::inline(line), width).into_owned()).collect()
    }

    /// Returns the times. A short line leaves out why there is no estimate.
    fn last_line(&self, short: bool) -> String {
        let elapsed = self.elapsed_seconds.map(|seconds| format!("elapsed {}", humane(seconds)));
        let elapsed = elapsed.unwrap_or_else(|| "no times recorded".to_owned());
        match (&self.estimate, self.verdict) {
            (_, Verdict::Complete) => elapsed,
            (None, _) if short => elapsed,
            (Some(Estimate { low_seconds, high_seconds, samples }), _) => {
                format!("{elapsed}, {} left (from {samples} finished workflows)", range(*low_seconds, *high_seconds))
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

/// The state of a phase, as `resume` judged it.
fn state(resume: &Resume, phase: &Phase) -> PhaseState {
    let id = &phase.id;
    if resume.inferred.contains(id) {
        PhaseState::DoneByEvidence
    } else if resume.skipped_by_inference.contains(id) {
        PhaseState::SkippedByInference
    } else if resume.awaiting_approval.contains(id) {
        PhaseState::AwaitingApproval
    } else {
        PhaseState::recorded(phase)
    }
}

/// The sentences about where else the workflow was continued, and how it compares with the remote.
fn sharing(resume: &Resume) -> Vec<String> {
    let is_about = |finding: &&Finding| {
        matches!(finding.code, Code::Forked | Code::Behind | Code::Unpushed | Code::RemoteUnreachable)
    };
    let said = resume.findings.iter().filter(is_about).map(|finding| match finding.help.last() {
        Some(help) => format!("{}; `{help}`", finding.message),
        None => finding.message.clone(),
    });
    said.collect()
}

/// The sentence about the phase that was reopened last, if it is not done again.
fn reopened(resume: &Resume) -> Option<String> {
    let finding = resume.findings.iter().find(|finding| finding.code == Code::Reopened)?;
    Some(finding.message.clone())
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

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
    }

    fn essential(&self) -> String {
        match self.total {
            Some(total) => format!("{}/{total}\n", self.done.len()),
            None => format!("{}\n", self.done.len()),
        }
    }

    fn answer(&self, page: &mut TextPage) {
        let mut lines = self.phase_lines(page);
        let current = self.phases.iter().position(|phase| phase.current);
        if let Some(index) = current
            && let Some(tasks) = self.task_line(page, &self.phases[index])
        {
            lines.insert(index + 1, tasks);
        }
        let errors = self.error_lines(page);
        page.line(self.title_line(page));
        match page.height {
            // On a screen that is too small, the title and the current phase stay, then the last line.
            Some(height) if height < lines.len() + errors.len() + 2 => {
                let has_last = height > 2;
                let shown = window(lines.len(), current, height.saturating_sub(1 + usize::from(has_last)));
                lines[shown].iter().for_each(|line| page.line(line));
                if has_last {
                    page.line(self.last_line(true));
                }
            }
            _ => {
                lines.iter().chain(&errors).for_each(|line| page.line(line));
                page.wrapped("", &self.last_line(false));
            }
        }
    }
}

/// Returns at most `room` of `count` lines around the current one.
fn window(count: usize, current: Option<usize>, room: usize) -> Range<usize> {
    let room = room.min(count);
    let current = current.unwrap_or(0);
    let start = current.saturating_sub(room / 2).min(count - room);
    start..start + room
}

impl StatusReport {
    /// `042 OAuth login     1 of 3, 33%`. The title is cut where the rest would not fit, and stands alone where it would be
    /// too short.
    fn title_line(&self, page: &TextPage) -> String {
        let mut progress = match self.total.filter(|total| *total > 0) {
            Some(total) => format!("{} of {total}, {}%", self.done.len(), self.done.len() * 100 / total),
            None => progress(RunProgress { done: self.done.len(), total: None, skipped: 0 }),
        };
        let is_all_done = self.total.is_some_and(|total| total > 0 && self.done.len() == total);
        if !matches!(self.status, WorkflowStatus::InProgress) && !is_all_done {
            progress.push_str(&format!(", {}", self.status.word()));
        }
        if self.archived_as.is_some() {
            progress.push_str(", archived");
        }
        let head = format!("{}{}", self.workflow, page.suffix(self.title.as_deref()));
        let width = page.width.unwrap_or(usize::MAX);
        let room = width.saturating_sub(escape::width(&progress) + 2);
        if room < LEAST_WIDTH {
            return page.paint(Style::Bold, &escape::truncate(&head, width));
        }
        let head = escape::truncate(&head, room);
        let gap = HEAD_WIDTH.min(room.saturating_add(2)).saturating_sub(escape::width(&head)).max(2);
        format!("{}{}{progress}", page.paint(Style::Bold, &head), " ".repeat(gap))
    }

    /// Returns a line for each phase.
    fn phase_lines(&self, page: &TextPage) -> Vec<String> {
        let columns = [
            Column::new("").shrinks_to(12),
            Column::new("").shrinks_to(LEAST_WIDTH).optional(1),
            Column::new("").shrinks_to(11),
            Column::new("").shrinks_to(LEAST_WIDTH).optional(2),
        ];
        let rows: Vec<_> = self.phases.iter().map(|phase| phase.cells(page)).collect();
        lines(page, &columns, &rows)
    }

    fn task_line(&self, page: &TextPage, phase: &PhaseProgress) -> Option<String> {
        if phase.tasks.is_empty() {
            return None;
        }
        let mut words: Vec<_> = phase.tasks.iter().take(MOST_TASKS).map(task_words).collect();
        words.extend(left_out(phase.tasks.len(), MOST_TASKS).map(|more| format!("and {more} more")));
        let line = format!("      {}", words.join("   "));
        Some(escape::truncate(&line, page.width.unwrap_or(usize::MAX)).into_owned())
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
    use super::{range, window};

    #[test]
    fn the_current_phase_is_always_in_the_window() {
        assert_eq!(window(9, Some(4), 4), 2..6);
        assert_eq!(window(9, Some(0), 4), 0..4);
        assert_eq!(window(9, Some(8), 4), 5..9);
        assert_eq!(window(9, None, 4), 0..4);
        assert_eq!(window(2, Some(1), 4), 0..2);
        for current in 0..9 {
            for room in 1..12 {
                assert!(window(9, Some(current), room).contains(&current), "{current} in {room}");
            }
        }
    }

    #[test]
    fn ranges_are_said_in_one_unit() {
        assert_eq!(range(480, 700), "about 8 to 12 minutes");
        assert_eq!(range(30, 50), "about 30 to 50 seconds");
        assert_eq!(range(3600, 3600), "about 60 minutes");
        assert_eq!(range(0, 200_000), "about 0 to 3 days");
    }
}
