//! The summary of a run, or of a part of one: everything that statistics need of its checkpoints.
//!
//! A bundle has the summary of its checkpoints in its manifest, so that statistics of a large archive decompress no
//! content. A run whose checkpoints are in several bundles, or partly live, is put together with [`RunSummary::then`].
//!
//! # What a record can tell
//!
//! - A phase *worked* from the beginning of its last attempt to its end, without the pauses in between. If nobody said
//!   when it began, it began when the phase before it ended.
//! - A *pause* is the time from the last save of one session to the first save of another.
//! - A phase *waited* in its pauses, for its approval, and from the end of the phase before it until it began, if its first
//!   attempt is its last.
//! - A run was *resumed* when a session that had not saved in it before saved in it after another one. The resume
//!   succeeded if that session finished a phase or a task, or the workflow. Saves without a session, by people, are neither.
//!
//! # Limitations
//!
//! At most [`MAX_PHASES`] phases and [`MAX_PAUSES`] pauses are kept. A session that goes on in the next bundle is not
//! recognised there, and a resume between two bundles is not counted.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::checkpoint::{Replan, Sealed, WorkflowStatus};
use super::phase::{PhaseId, PhaseStatus};
use super::task::TaskStatus;
use super::time::Timestamp;
use super::workflow_id::WorkflowId;

/// The most phases of a summary.
pub const MAX_PHASES: usize = 100;
/// The most pauses of a summary.
pub const MAX_PAUSES: usize = 50;
/// The most sessions of a run that are told apart.
const MAX_SESSIONS: usize = 1000;

/// One run of a workflow.
#[derive(Debug, Clone)]
pub struct RunFigures {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The summary of its checkpoints.
    pub summary: RunSummary,
    /// Its outcome, or that it is in progress.
    pub status: WorkflowStatus,
}

/// The summary of the checkpoints of one run, or of some that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The first save.
    pub first_saved_at: Timestamp,
    /// The run after the last save.
    pub last: LastState,
    /// How often each phase was saved as failed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<PhaseId, u32>,
    /// How often another session resumed the run.
    #[serde(default)]
    pub resumes: u32,
    /// How often such a session finished something.
    #[serde(default)]
    pub successful_resumes: u32,
    /// The times without a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<(Timestamp, Timestamp)>,
}

/// The part of a checkpoint that statistics need when it is the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastState {
    /// The time of the save.
    pub saved_at: Timestamp,
    /// The status of the workflow.
    pub status: WorkflowStatus,
    /// The pipeline; none if phases are taken as they come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// The phases, in declared order.
    #[serde(default)]
    pub phases: Vec<LastPhase>,
}

/// One phase of a [`LastState`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the same fields as in `Phase`")]
pub struct LastPhase {
    pub id: PhaseId,
    pub status: PhaseStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Timestamp>,
    #[serde(default)]
    pub attempts: u32,
    /// How often it was reopened.
    #[serde(default)]
    pub replans: u32,
}

/// The times of one phase, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PhaseTime {
    /// The time of work; none if it is not done, or the times were not recorded.
    pub worked: Option<u64>,
    /// The time of waiting, as far as it was recorded.
    pub waited: u64,
}

impl RunSummary {
    /// Returns the summary of this part and the part that follows it.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        for (phase, count) in later.failures {
            *self.failures.entry(phase).or_default() += count;
        }
        self.pauses.extend(later.pauses);
        self.pauses.truncate(MAX_PAUSES);
        Self {
            first_saved_at: self.first_saved_at,
            last: later.last,
            failures: self.failures,
            resumes: self.resumes.saturating_add(later.resumes),
            successful_resumes: self.successful_resumes.saturating_add(later.successful_resumes),
            pauses: self.pauses,
        }
    }

    /// Returns the times of each phase, in declared order.
    #[must_use]
    pub fn times(&self) -> Vec<PhaseTime> {
        let mut before: Option<Timestamp> = None;
        let time = |phase: &LastPhase| {
            let begun = phase.started_at.or(before);
            let ended = phase.completed_at;
            let paused = match (begun, ended) {
                (Some(begun), Some(ended)) => self.paused(begun, ended),
                _ => 0,
            };
            let took = ended.zip(begun).and_then(|(ended, begun)| seconds(begun, ended));
            // Before a later attempt there were earlier ones, not a wait.
            let first_begun = if phase.attempts <= 1 { phase.started_at } else { None };
            let idle = before.zip(first_begun).and_then(|(before, begun)| seconds(before, begun));
            let approval = ended.zip(phase.approved_at).and_then(|(ended, at)| seconds(ended, at));
            before = phase.approved_at.max(ended).or(before);
            PhaseTime {
                worked: took.map(|took| took.saturating_sub(paused)),
                waited: paused + idle.unwrap_or_default() + approval.unwrap_or_default(),
            }
        };
        self.last.phases.iter().map(time).collect()
    }

    fn paused(&self, begun: Timestamp, ended: Timestamp) -> u64 {
        let inside = |(from, to): &(Timestamp, Timestamp)| seconds((*from).max(begun), (*to).min(ended));
        self.pauses.iter().filter_map(inside).sum()
    }
}

/// Returns the seconds from one time to a later one.
fn seconds(from: Timestamp, to: Timestamp) -> Option<u64> {
    u64::try_from(to.seconds_since(from)).ok()
}

/// The fields of a stored checkpoint that a summary is made from.
#[derive(Debug, Clone, Deserialize)]
pub struct Moment {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The number.
    pub seq: u64,
    saved_at: Timestamp,
    status: WorkflowStatus,
    #[serde(default)]
    phase: Option<PhaseId>,
    #[serde(default)]
    pipeline: Option<String>,
    #[serde(default)]
    phases: Vec<PhaseMoment>,
    #[serde(default)]
    tasks: Vec<TaskMoment>,
    #[serde(default)]
    replans: Vec<Replan>,
    #[serde(default)]
    writer: WriterMoment,
    #[serde(default)]
    run: Option<u64>,
    /// Set if it is a seal.
    #[serde(default)]
    pub sealed: Option<Sealed>,
}

#[derive(Debug, Clone, Deserialize)]
struct PhaseMoment {
    id: PhaseId,
    status: PhaseStatus,
    #[serde(default)]
    started_at: Option<Timestamp>,
    #[serde(default)]
    completed_at: Option<Timestamp>,
    #[serde(default)]
    attempts: u32,
    #[serde(default)]
    approval: Option<ApprovalMoment>,
}

#[derive(Debug, Clone, Deserialize)]
struct ApprovalMoment {
    #[serde(default)]
    approved_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Deserialize)]
struct TaskMoment {
    status: TaskStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct WriterMoment {
    #[serde(default)]
    session: Option<String>,
}

/// One save as a summary counts it. It is small: archiving keeps one for each file.
#[derive(Debug, Clone)]
pub struct Step {
    saved_at: Timestamp,
    session: Option<String>,
    /// The phase that it is about, if that is failed.
    failed: Option<PhaseId>,
    /// The number of phases and tasks that are done; all of them in a complete workflow.
    done: usize,
}

impl Moment {
    /// Returns the number of the first checkpoint of its run.
    #[must_use]
    pub fn first_of_run(&self) -> u64 {
        self.run.unwrap_or(1)
    }

    /// Returns the time of the save.
    #[must_use]
    pub fn saved_at(&self) -> Timestamp {
        self.saved_at
    }

    /// Returns the status of the workflow.
    #[must_use]
    pub fn status(&self) -> WorkflowStatus {
        self.status
    }

    /// Returns the step that it is in its run.
    #[must_use]
    pub fn step(&self) -> Step {
        let is_failed =
            |id: &PhaseId| self.phases.iter().any(|phase| phase.id == *id && phase.status == PhaseStatus::Failed);
        let phases = self.phases.iter().filter(|phase| phase.status.is_done()).count();
        let tasks = self.tasks.iter().filter(|task| task.status.is_done()).count();
        let is_complete = self.status == WorkflowStatus::Complete;
        Step {
            saved_at: self.saved_at,
            session: self.writer.session.clone(),
            failed: self.phase.clone().filter(is_failed),
            done: if is_complete { usize::MAX } else { phases + tasks },
        }
    }

    /// Returns the state of its run after it.
    #[must_use]
    pub fn state(self) -> LastState {
        let replans = |id: &PhaseId| {
            let count = self.replans.iter().filter(|replan| replan.phase == *id).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let state = |phase: PhaseMoment| LastPhase {
            replans: replans(&phase.id),
            id: phase.id,
            status: phase.status,
            started_at: phase.started_at,
            completed_at: phase.completed_at,
            approved_at: phase.approval.and_then(|approval| approval.approved_at),
            attempts: phase.attempts,
        };
        LastState {
            saved_at: self.saved_at,
            status: self.status,
            pipeline: self.pipeline,
            phases: self.phases.into_iter().take(MAX_PHASES).map(state).collect(),
        }
    }
}

/// Counts the steps of a run, in their order.
#[derive(Debug, Default)]
pub struct StepCounter {
    first_saved_at: Option<Timestamp>,
    before: Option<Step>,
    failures: BTreeMap<PhaseId, u32>,
    sessions: HashSet<String>,
    /// The session that saved last, and the time of that save.
    session: Option<(String, Timestamp)>,
    /// The session that resumed the run last, and has not finished anything yet.
    resumed: Option<String>,
    resumes: u32,
    successful_resumes: u32,
    pauses: Vec<(Timestamp, Timestamp)>,
}

impl StepCounter {
    /// Counts the next step.
    pub fn add(&mut self, step: Step) {
        self.first_saved_at.get_or_insert(step.saved_at);
        let before = self.before.take();
        let was_failed = before.as_ref().and_then(|before| before.failed.as_ref());
        if let Some(phase) = step.failed.as_ref().filter(|phase| Some(*phase) != was_failed) {
            *self.failures.entry(phase.clone()).or_default() += 1;
        }
        if let Some(session) = &step.session {
            self.count_session(session, &step, before.as_ref());
        }
        self.before = Some(step);
    }

    fn count_session(&mut self, session: &str, step: &Step, before: Option<&Step>) {
        let is_new = self.sessions.len() < MAX_SESSIONS && self.sessions.insert(session.to_owned());
        if let Some((other, until)) = self.session.take()
            && other != session
            && is_new
        {
            self.resumes = self.resumes.saturating_add(1);
            self.resumed = Some(session.to_owned());
            if self.pauses.len() < MAX_PAUSES && until < step.saved_at {
                self.pauses.push((until, step.saved_at));
            }
        }
        self.session = Some((session.to_owned(), step.saved_at));
        let finishes = before.is_some_and(|before| step.done > before.done);
        if finishes && self.resumed.as_deref() == Some(session) {
            self.resumed = None;
            self.successful_resumes = self.successful_resumes.saturating_add(1);
        }
    }

    /// Returns the summary of the steps, the last of which led to this state; none without steps.
    #[must_use]
    pub fn summary(self, last: LastState) -> Option<RunSummary> {
        let mut failures = self.failures;
        while failures.len() > MAX_PHASES {
            failures.pop_last();
        }
        Some(RunSummary {
            first_saved_at: self.first_saved_at?,
            last,
            failures,
            resumes: self.resumes,
            successful_resumes: self.successful_resumes,
            pauses: self.pauses,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn moment(minute: u32, session: Option<&str>, phases: &serde_json::Value) -> Moment {
        let at = at(minute);
        serde_json::from_value(json!({
            "workflow": "w", "seq": 1, "saved_at": at, "status": "in_progress", "phase": "build",
            "phases": phases, "writer": {"session": session},
        }))
        .unwrap()
    }

    fn at(minute: u32) -> Timestamp {
        Timestamp::parse(&format!("2026-01-01T{:02}:{:02}:00Z", minute / 60, minute % 60)).unwrap()
    }

    fn summary(moments: Vec<Moment>) -> RunSummary {
        let mut counter = StepCounter::default();
        moments.iter().for_each(|moment| counter.add(moment.step()));
        counter.summary(moments.into_iter().next_back().unwrap().state()).unwrap()
    }

    fn build(status: &str) -> serde_json::Value {
        json!([{"id": "plan", "status": "complete"}, {"id": "build", "status": status}])
    }

    #[test]
    fn a_failure_is_counted_once_however_often_it_is_saved_again() {
        let statuses = ["in_progress", "failed", "failed", "in_progress", "failed", "complete"];
        let moments = (0u32..).zip(statuses).map(|(minute, status)| moment(minute, None, &build(status)));
        assert_eq!(summary(moments.collect()).failures[&"build".parse().unwrap()], 2);
    }

    #[test]
    fn a_resume_is_a_new_session_after_another_and_succeeds_if_it_finishes_something() {
        let save = |minute, session, status| moment(minute, session, &build(status));
        let run = summary(vec![
            save(0, Some("a"), "in_progress"),
            save(10, Some("b"), "in_progress"), // resumes, finishes nothing
            save(11, None, "in_progress"),      // a person
            save(12, Some("a"), "in_progress"), // an earlier session in parallel
            save(30, Some("c"), "in_progress"), // resumes
            save(40, Some("c"), "complete"),    // and finishes the phase
        ]);
        assert_eq!((run.resumes, run.successful_resumes), (2, 1));
        assert_eq!(run.pauses, [(at(0), at(10)), (at(12), at(30))]);
    }

    #[test]
    fn work_is_told_apart_from_waiting() {
        let phases = json!([
            {"id": "plan", "status": "complete", "started_at": at(0), "completed_at": at(10),
             "approval": {"required": true, "approved_at": at(25)}},
            {"id": "build", "status": "complete", "started_at": at(30), "completed_at": at(60)},
            {"id": "test", "status": "complete", "completed_at": at(65)},
            {"id": "ship", "status": "pending"},
        ]);
        let mut run = summary(vec![moment(65, None, &phases)]);
        run.pauses = vec![(at(40), at(52))];
        let minutes: Vec<_> =
            run.times().iter().map(|time| (time.worked.map(|worked| worked / 60), time.waited / 60)).collect();
        assert_eq!(minutes, [(Some(10), 15), (Some(18), 17), (Some(5), 0), (None, 0)]);
    }

    #[test]
    fn parts_of_a_run_are_put_together() {
        let whole: Vec<Moment> = (0u32..)
            .zip(["failed", "in_progress", "failed", "complete"])
            .map(|(n, s)| moment(n, None, &build(s)))
            .collect();
        let (early, late) = (whole[..2].to_vec(), whole[2..].to_vec());
        assert_eq!(summary(early).then(summary(late)), summary(whole));
    }

    #[test]
    fn a_summary_survives_its_file_and_stays_small() {
        let many: Vec<_> =
            (0..300).map(|n| json!({"id": format!("p{n}"), "status": "complete", "attempts": 2})).collect();
        let run = summary(vec![moment(1, None, &json!(many))]);
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(serde_json::from_str::<RunSummary>(&text).unwrap(), run);
        assert!(run.last.phases.len() == MAX_PHASES && text.len() < 10_000, "{}", text.len());
    }
}
