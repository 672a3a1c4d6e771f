//! How long the rest of a run may take.

use super::distribution::{Distribution, Spread};
use crate::checkpoint::CUSTOM_PIPELINE;
use crate::phase::PhaseId;
use crate::run_summary::{LastState, RunSummary};

/// How many finished runs an estimate needs.
pub const LEAST_SAMPLES: usize = 3;

/// The pipeline that runs are compared by. All pipelines given with `--phases` have the same name, so their phases are
/// part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PipelineKey {
    /// The name of the pipeline; none if phases are taken as they come.
    pub name: Option<String>,
    /// The phases of a pipeline that was given with a save.
    pub phases: Vec<PhaseId>,
}

impl PipelineKey {
    /// Returns the pipeline of a name with these phases.
    pub fn new<'a>(name: Option<&str>, phases: impl Iterator<Item = &'a PhaseId>) -> Self {
        let is_custom = name == Some(CUSTOM_PIPELINE);
        let phases = if is_custom { phases.cloned().collect() } else { Vec::new() };
        Self { name: name.map(str::to_owned), phases }
    }

    /// Returns the pipeline of a run.
    #[must_use]
    pub fn of(run: &LastState) -> Self {
        Self::new(run.pipeline.as_deref(), run.phases.iter().map(|phase| &phase.id))
    }
}

/// The middle half of what the remaining phases took in finished runs, in seconds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Estimate {
    /// A quarter took less.
    pub low_seconds: u64,
    /// A quarter took more.
    pub high_seconds: u64,
    /// How many finished runs it is made from.
    pub samples: usize,
}

/// Estimates the rest from finished runs of the same pipeline; `None` with fewer than [`LEAST_SAMPLES`].
#[must_use]
pub fn estimate(remaining: &[PhaseId], finished: &[RunSummary]) -> Option<Estimate> {
    let mut samples = Distribution::default();
    finished.iter().filter_map(|run| work_left(remaining, run)).for_each(|seconds| samples.add(seconds));
    let Spread { count, lower_quartile, upper_quartile, .. } = samples.spread()?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    (count >= LEAST_SAMPLES).then_some(Estimate {
        low_seconds: lower_quartile,
        high_seconds: upper_quartile,
        samples: count,
    })
}

/// Returns the time of work of these phases. Skipped phases took none; an unknown time spoils the sample.
fn work_left(remaining: &[PhaseId], run: &RunSummary) -> Option<u64> {
    let times = run.last.phases.iter().zip(run.times());
    let wanted = times.filter(|(phase, _)| remaining.contains(&phase.id));
    wanted.map(|(phase, time)| if phase.attempts == 0 { Some(0) } else { time.worked }).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A finished run whose phases `1`, `2` and so on took so many seconds.
    fn finished(seconds: &[u32]) -> RunSummary {
        let mut clock = 0;
        let mut phase = |(index, took): (usize, &u32)| {
            let at = |clock: u32| format!("2026-01-01T00:{:02}:{:02}Z", clock / 60, clock % 60);
            let begun = at(clock);
            clock += took;
            json!({"id": (index + 1).to_string(), "status": "complete", "attempts": 1,
                "started_at": begun, "completed_at": at(clock)})
        };
        let phases: Vec<_> = seconds.iter().enumerate().map(&mut phase).collect();
        let now = "2026-01-01T01:00:00Z";
        serde_json::from_value(json!({
            "first_saved_at": now, "last": {"saved_at": now, "status": "complete", "phases": phases},
        }))
        .unwrap()
    }

    #[test]
    fn estimates_need_three_samples_and_are_the_middle_half() {
        let remaining: Vec<PhaseId> = ["2", "3"].iter().map(|id| id.parse().unwrap()).collect();
        let history: Vec<_> = [10, 20, 30, 40, 50].iter().map(|n| finished(&[1, *n, *n])).collect();
        assert_eq!(estimate(&remaining, &history[..2]), None);
        assert_eq!(estimate(&remaining, &history), Some(Estimate { low_seconds: 40, high_seconds: 80, samples: 5 }));
    }

    #[test]
    fn an_unknown_time_spoils_a_sample_and_a_skipped_phase_took_none() {
        let remaining: Vec<PhaseId> = vec!["2".parse().unwrap()];
        let mut unknown = finished(&[1, 2]);
        unknown.last.phases[1].completed_at = None;
        assert_eq!(work_left(&remaining, &unknown), None);
        unknown.last.phases[1].attempts = 0;
        assert_eq!(work_left(&remaining, &unknown), Some(0));
    }
}
