//! The figures of all runs, by pipeline and phase.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Spread};
use super::estimate::PipelineKey;
use super::weeks::{WeekStats, Weeks};
use crate::checkpoint::WorkflowStatus;
use crate::phase::PhaseId;
use crate::run_summary::{LastPhase, PhaseTime, RunFigures, RunSummary};
use crate::time::Timestamp;
use crate::workflow_id::WorkflowId;

/// The most pipelines that are told apart.
pub const MAX_PIPELINES: usize = 50;

/// The figures of all runs that were selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analytics {
    /// The runs saved last since this time were selected; all of them if none.
    pub since: Option<Timestamp>,
    /// All runs by outcome.
    pub runs: OutcomeCounts,
    /// The runs that are only counted here, because there are more than [`MAX_PIPELINES`] pipelines.
    pub runs_left_out: u64,
    /// How often another session resumed a run.
    pub resumes: u64,
    /// How often such a session finished a phase, a task or the workflow.
    pub successful_resumes: u64,
    /// The share of the resumes that succeeded.
    pub resume_success_percent: Option<u64>,
    /// The pipelines, the one with the most runs first.
    pub pipelines: Vec<PipelineAnalytics>,
    /// The finished runs by week, the newest last.
    pub weeks: Vec<WeekStats>,
}

/// How many runs have each outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of `WorkflowStatus`")]
pub struct OutcomeCounts {
    pub in_progress: u64,
    pub complete: u64,
    pub failed: u64,
    pub abandoned: u64,
}

impl OutcomeCounts {
    fn add(&mut self, status: WorkflowStatus) {
        *match status {
            WorkflowStatus::InProgress => &mut self.in_progress,
            WorkflowStatus::Complete => &mut self.complete,
            WorkflowStatus::Failed => &mut self.failed,
            WorkflowStatus::Abandoned => &mut self.abandoned,
        } += 1;
    }

    /// Returns the number of all runs.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.in_progress + self.complete + self.failed + self.abandoned
    }
}

/// The figures of the runs of one pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineAnalytics {
    /// The name; none for runs whose phases are taken as they come.
    pub pipeline: Option<String>,
    /// Its runs by outcome.
    pub runs: OutcomeCounts,
    /// The time of work of the complete runs whose times are known.
    pub seconds: Option<Spread>,
    /// Its phases, in the order of the pipeline.
    pub phases: Vec<PhaseAnalytics>,
    /// The phase that takes the largest share of the time; none with fewer than two phases that took time.
    pub bottleneck: Option<Bottleneck>,
}

/// The phase that takes the largest share of the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// The phase.
    pub phase: PhaseId,
    /// Its share of the time of all phases.
    pub share_percent: u64,
    /// The share of its own time that is waiting.
    pub waiting_percent: u64,
}

/// The figures of one phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseAnalytics {
    /// The phase.
    pub id: PhaseId,
    /// The runs that began it.
    pub runs: u64,
    /// The time of work where it is done and its times are known.
    pub seconds: Option<Spread>,
    /// The workflow in which it took longest.
    pub slowest_in: Option<WorkflowId>,
    /// The time of waiting of all runs together, as far as it was recorded.
    pub waiting_seconds: u64,
    /// Its share of the time of all phases, waiting included.
    pub share_percent: u64,
    /// The share of the runs in which it failed at least once.
    pub failed_percent: u64,
    /// The share of the runs in which it was begun more than once.
    pub retried_percent: u64,
    /// The share of the runs in which it was reopened.
    pub replanned_percent: u64,
}

/// The runs that are wanted.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only those that were saved last since this time.
    pub since: Option<Timestamp>,
    /// Only runs of this pipeline.
    pub pipeline: Option<String>,
}

impl RunFilter {
    /// Returns true if a run is wanted.
    #[must_use]
    pub fn selects(&self, run: &RunSummary) -> bool {
        self.since.is_none_or(|since| run.last.saved_at >= since)
            && (self.pipeline.is_none() || self.pipeline == run.last.pipeline)
    }
}

/// The sums that are made while runs are visited.
#[derive(Debug, Default)]
pub struct Totals {
    runs: OutcomeCounts,
    runs_left_out: u64,
    resumes: u64,
    successful_resumes: u64,
    pipelines: BTreeMap<PipelineKey, PipelineTotals>,
    weeks: Weeks,
}

#[derive(Debug, Default)]
struct PipelineTotals {
    runs: OutcomeCounts,
    seconds: Distribution,
    phases: IndexMap<PhaseId, PhaseTotals>,
}

#[derive(Debug, Default)]
struct PhaseTotals {
    runs: u64,
    seconds: Distribution,
    slowest: Option<(u64, WorkflowId)>,
    waiting: u64,
    failed: u64,
    retried: u64,
    replanned: u64,
}

impl Totals {
    /// Counts a run.
    pub fn add(&mut self, run: &RunFigures) {
        let RunFigures { workflow, summary, status } = run;
        self.runs.add(*status);
        self.resumes += u64::from(summary.resumes);
        self.successful_resumes += u64::from(summary.successful_resumes);
        let times = summary.times();
        let worked = worked(&summary.last.phases, &times);
        self.weeks.add(summary.last.saved_at, *status, worked);
        let key = PipelineKey::of(&summary.last);
        if self.pipelines.len() >= MAX_PIPELINES && !self.pipelines.contains_key(&key) {
            self.runs_left_out += 1;
            return;
        }
        let pipeline = self.pipelines.entry(key).or_default();
        pipeline.runs.add(*status);
        if let (WorkflowStatus::Complete, Some(worked)) = (status, worked) {
            pipeline.seconds.add(worked);
        }
        for (phase, time) in summary.last.phases.iter().zip(times) {
            let failures = summary.failures.get(&phase.id).copied().unwrap_or_default();
            pipeline.add_phase(workflow, phase, time, failures);
        }
    }

    /// Returns the figures of the runs that were counted.
    #[must_use]
    pub fn finish(self, since: Option<Timestamp>) -> Analytics {
        let mut pipelines: Vec<PipelineAnalytics> =
            self.pipelines.into_iter().map(|(key, totals)| totals.finish(key)).collect();
        pipelines.sort_by_key(|pipeline| std::cmp::Reverse(pipeline.runs.total()));
        Analytics {
            since,
            runs: self.runs,
            runs_left_out: self.runs_left_out,
            resumes: self.resumes,
            successful_resumes: self.successful_resumes,
            resume_success_percent: (self.successful_resumes * 100).checked_div(self.resumes),
            pipelines,
            weeks: self.weeks.finish(),
        }
    }
}

/// Returns the time of work of a run; none if the times of a phase that was begun are not known.
fn worked(phases: &[LastPhase], times: &[PhaseTime]) -> Option<u64> {
    let begun = || phases.iter().zip(times).filter(|(phase, _)| phase.attempts > 0);
    begun().next()?;
    begun().map(|(_, time)| time.worked).sum()
}

impl PipelineTotals {
    fn add_phase(&mut self, workflow: &WorkflowId, phase: &LastPhase, time: PhaseTime, failures: u32) {
        // Phases that are taken as they come have any number of names.
        if self.phases.len() >= crate::run_summary::MAX_PHASES && !self.phases.contains_key(&phase.id) {
            return;
        }
        let totals = self.phases.entry(phase.id.clone()).or_default();
        if phase.attempts == 0 && failures == 0 && phase.replans == 0 {
            return;
        }
        totals.runs += 1;
        totals.waiting = totals.waiting.saturating_add(time.waited);
        totals.failed += u64::from(failures > 0);
        totals.retried += u64::from(phase.attempts > 1);
        totals.replanned += u64::from(phase.replans > 0);
        if let Some(worked) = time.worked {
            totals.seconds.add(worked);
            // Of several the first by its id, whatever the order of the visits.
            let is_slower = |(slowest, other): &(u64, WorkflowId)| (worked, other) > (*slowest, workflow);
            if totals.slowest.as_ref().is_none_or(is_slower) {
                totals.slowest = Some((worked, workflow.clone()));
            }
        }
    }

    fn finish(self, key: PipelineKey) -> PipelineAnalytics {
        let time = |phase: &PhaseTotals| {
            let worked = phase.seconds.spread().map_or(0, |spread| spread.total);
            worked.saturating_add(phase.waiting)
        };
        let total = self.phases.values().map(time).fold(0, u64::saturating_add);
        let percent = |part: u64, whole: u64| part.saturating_mul(100).checked_div(whole).unwrap_or_default();
        let longest = self.phases.iter().map(|(id, phase)| (time(phase), id, phase)).max_by_key(|(time, ..)| *time);
        let took_time = self.phases.values().filter(|phase| time(phase) > 0).count();
        let slowest = if took_time > 1 { longest } else { None };
        let bottleneck = slowest.map(|(time, id, phase)| Bottleneck {
            phase: id.clone(),
            share_percent: percent(time, total),
            waiting_percent: percent(phase.waiting, time),
        });
        let phases = self.phases.iter().map(|(id, phase)| PhaseAnalytics {
            id: id.clone(),
            runs: phase.runs,
            seconds: phase.seconds.spread(),
            slowest_in: phase.slowest.as_ref().map(|(_, workflow)| workflow.clone()),
            waiting_seconds: phase.waiting,
            share_percent: percent(time(phase), total),
            failed_percent: percent(phase.failed, phase.runs),
            retried_percent: percent(phase.retried, phase.runs),
            replanned_percent: percent(phase.replanned, phase.runs),
        });
        PipelineAnalytics {
            pipeline: key.name,
            runs: self.runs,
            seconds: self.seconds.spread(),
            phases: phases.collect(),
            bottleneck,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A run of `feature` whose phases took so many minutes, each begun so often.
    fn run(workflow: &str, status: WorkflowStatus, phases: &[(&str, u32, u32)]) -> RunFigures {
        let at = |minute: u32| format!("2026-01-01T{:02}:{:02}:00Z", minute / 60, minute % 60);
        let mut clock = 0;
        let mut phase = |(id, minutes, attempts): &(&str, u32, u32)| {
            let begun = at(clock);
            clock += minutes;
            json!({"id": id, "status": "complete", "attempts": attempts, "started_at": begun,
                "completed_at": at(clock)})
        };
        let phases: Vec<_> = phases.iter().map(&mut phase).collect();
        let last = json!({"saved_at": at(clock), "status": "complete", "pipeline": "feature", "phases": phases});
        let summary = json!({"first_saved_at": at(0), "last": last, "failures": {"build": 1},
            "resumes": 2, "successful_resumes": 1});
        RunFigures { workflow: workflow.parse().unwrap(), summary: serde_json::from_value(summary).unwrap(), status }
    }

    fn analytics(runs: &[RunFigures]) -> Analytics {
        let mut totals = Totals::default();
        runs.iter().for_each(|run| totals.add(run));
        totals.finish(None)
    }

    #[test]
    fn phases_are_counted_and_the_bottleneck_is_the_longest() {
        let found = analytics(&[
            run("a", WorkflowStatus::Complete, &[("plan", 10, 1), ("build", 30, 2)]),
            run("b", WorkflowStatus::Complete, &[("plan", 20, 1), ("build", 100, 1)]),
            run("c", WorkflowStatus::Failed, &[("plan", 40, 1), ("build", 0, 0)]),
        ]);
        let [pipeline] = &found.pipelines[..] else { panic!("{found:?}") };
        assert_eq!((pipeline.runs.complete, pipeline.runs.failed), (2, 1));
        let [plan, build] = &pipeline.phases[..] else { panic!("{pipeline:?}") };
        assert_eq!((plan.runs, plan.seconds.unwrap().median, plan.seconds.unwrap().slowest), (3, 1200, 2400));
        assert_eq!(build.slowest_in, Some("b".parse().unwrap()));
        assert_eq!((build.failed_percent, build.retried_percent, plan.retried_percent), (100, 33, 0));
        assert_eq!((plan.share_percent, build.share_percent), (35, 65));
        assert_eq!(pipeline.bottleneck.as_ref().unwrap().phase.as_str(), "build");
        assert_eq!((found.resumes, found.resume_success_percent), (6, Some(50)));
        assert_eq!(pipeline.seconds.unwrap().count, 2, "only complete runs");
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        assert_eq!(analytics(&[]).resume_success_percent, None);
        let found = analytics(&[run("a", WorkflowStatus::Complete, &[("plan", 0, 1)])]);
        assert_eq!((found.pipelines[0].phases[0].share_percent, &found.pipelines[0].bottleneck), (0, &None));
    }

    #[test]
    fn further_pipelines_are_counted_and_left_out() {
        let many: Vec<RunFigures> = (0..MAX_PIPELINES + 7)
            .map(|n| {
                let mut run = run("a", WorkflowStatus::Complete, &[("plan", 1, 1)]);
                run.summary.last.pipeline = Some(format!("p{n}"));
                run
            })
            .collect();
        let found = analytics(&many);
        assert_eq!((found.pipelines.len(), found.runs_left_out, found.runs.complete), (50, 7, 57));
    }
}
