//! Phases: the steps of a pipeline, as a checkpoint records them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::Json;
use super::name::{InvalidName, check_name, name_from_text};
use super::record::record;
use super::time::Timestamp;

/// The most phases a workflow can have.
pub const MAX_PHASES: usize = 10_000;

/// The characters that no id has, because lists of phases are written `a,b,c`.
const FORBIDDEN: &[char] = &[','];

/// Names a phase: `2`, `0.5`, `3A`, `REQUIREMENTS`.
///
/// One to 64 visible characters without a comma.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PhaseId(String);

impl PhaseId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Makes an id of a sentence; none if nothing of it can be seen.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        name_from_text(text, FORBIDDEN).map(Self)
    }

    /// The ids `1` to `total`; of a number beyond all limits, only enough to see that.
    pub fn numbered(total: u32) -> impl Iterator<Item = Self> {
        (1..=total).take(MAX_PHASES + 1).map(|number| Self(number.to_string()))
    }
}

impl FromStr for PhaseId {
    type Err = InvalidName;

    fn from_str(given: &str) -> Result<Self, InvalidName> {
        given.to_owned().try_into()
    }
}

impl TryFrom<String> for PhaseId {
    type Error = InvalidName;

    fn try_from(given: String) -> Result<Self, InvalidName> {
        check_name("a phase", &given, FORBIDDEN)?;
        Ok(Self(given))
    }
}

impl From<PhaseId> for String {
    fn from(id: PhaseId) -> Self {
        id.0
    }
}

impl fmt::Display for PhaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Where a phase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun and not finished.
    InProgress,
    /// Finished.
    Complete,
    /// Tried and not achieved. It never counts as done.
    Failed,
    /// Left out on purpose. It counts as done.
    Skipped,
}

impl PhaseStatus {
    /// True if work can continue after this phase.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::Complete | Self::Skipped)
    }

    /// True if the phase is being worked on, or has to be tried again.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::InProgress | Self::Failed)
    }

    /// The word for it in files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

record! {
    /// One phase of a workflow.
    pub struct Phase {
        /// Its id, unique in the workflow.
        required id: PhaseId,
        /// Its name.
        optional name: Option<String>,
        /// Where it stands.
        required status: PhaseStatus,
        /// When the present or last attempt began, if that was recorded.
        optional started_at: Option<Timestamp>,
        /// When it was finished.
        optional completed_at: Option<Timestamp>,
        /// How often it was begun.
        optional attempts: u32,
        /// Orders the phases that are failed or in progress: of several, the one saved last has the highest number.
        optional recency: u32,
        /// The approval that it needs, and the one that it has.
        optional approval: Option<Approval>,
        /// The action of the phase, in words.
        optional action: Option<String>,
        /// The paths it promises to produce.
        optional outputs: Vec<Output>,
        /// How often a task of it may fail before it blocks.
        optional task_limit: Option<u32>,
        /// The members that its data has when it is complete.
        optional required_data: Vec<String>,
        /// The member of the data that says whether it has passed its gate.
        optional gate: Option<String>,
        /// Its results, free-form.
        optional data: Option<Json>,
        /// Why it failed.
        optional error: Option<String>,
    }
}

impl Phase {
    /// A phase that has not begun.
    #[must_use]
    pub fn pending(id: PhaseId) -> Self {
        Self {
            id,
            name: None,
            status: PhaseStatus::Pending,
            started_at: None,
            completed_at: None,
            attempts: 0,
            recency: 0,
            approval: None,
            action: None,
            outputs: Vec::new(),
            task_limit: None,
            required_data: Vec::new(),
            gate: None,
            data: None,
            error: None,
            extra: Default::default(),
        }
    }

    /// Moves to `status` at `now`. Saying the same again changes nothing, so a repeated save is recognised as one.
    pub fn enter(&mut self, status: PhaseStatus, now: Timestamp) {
        if status == self.status {
            return;
        }
        let begins = status == PhaseStatus::InProgress;
        let first_word_of_it = self.attempts == 0 && matches!(status, PhaseStatus::Complete | PhaseStatus::Failed);
        if begins || first_word_of_it {
            self.attempts = self.attempts.saturating_add(1);
        }
        if begins {
            self.started_at = Some(now);
        }
        self.completed_at = status.is_done().then_some(now);
        if !status.is_open() {
            self.recency = 0;
        }
        if status != PhaseStatus::Failed {
            self.error = None;
        }
        self.status = status;
    }

    /// True if the phase was ever begun, whatever became of it. A phase that is skipped was not begun.
    #[must_use]
    pub fn was_begun(&self) -> bool {
        self.attempts > 0 || !matches!(self.status, PhaseStatus::Pending | PhaseStatus::Skipped)
    }

    /// True if a person must agree to the result, and neither has nor made the selection that stands for it.
    #[must_use]
    pub fn lacks_approval(&self) -> bool {
        let Some(approval) = &self.approval else { return false };
        let is_selected = || approval.selection.as_ref().is_some_and(|member| self.has_data(member));
        approval.required && approval.approved_at.is_none() && !is_selected()
    }

    /// True if its data has options to select from, and a person has not done so.
    #[must_use]
    pub fn lacks_selection(&self) -> bool {
        let options = self.approval.as_ref().and_then(|approval| approval.options.as_ref());
        options.is_some_and(|member| self.has_data(member)) && self.lacks_approval()
    }

    /// Returns the members that its data lacks to be complete.
    #[must_use]
    pub fn missing_data(&self) -> Vec<&str> {
        if self.required_data.is_empty() {
            return Vec::new();
        }
        let data = self.data.as_ref().and_then(|data| data.to_value().ok()).unwrap_or_default();
        let is_missing = |member: &&String| data.get(member).is_none_or(Value::is_null);
        self.required_data.iter().filter(is_missing).map(String::as_str).collect()
    }

    /// True if a member of its data is there, and neither null nor empty.
    fn has_data(&self, member: &str) -> bool {
        let Some(Ok(data)) = self.data.as_ref().map(Json::to_value) else { return false };
        match data.get(member) {
            None | Some(Value::Null) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(_) => true,
        }
    }
}

record! {
    /// A person's agreement to the result of a phase.
    #[derive(Default)]
    pub struct Approval {
        /// True if the phase needs it.
        always required: bool,
        /// When it was given.
        optional approved_at: Option<Timestamp>,
        /// Who gave it.
        optional approved_by: Option<String>,
        /// Where the drafts are that a person chooses from, relative to the project. The outputs are made from the
        /// chosen one, so they stand for the choice; none if the outputs themselves are what is shown.
        optional evidence: Option<String>,
        /// The member of the data that has the options that a person selects from.
        optional options: Option<String>,
        /// The member of the data that has the selected option. If it is not null, the person has agreed.
        optional selection: Option<String>,
        /// The agent or account that recorded the approval on behalf of the person.
        optional recorded_by: Option<String>,
    }
}

record! {
    /// A path that a phase promises to produce.
    pub struct Output {
        /// The path, relative to the project.
        required path: String,
        /// Other paths, any of which will do.
        optional or: Vec<String>,
        /// A JSON Schema that its content must satisfy.
        optional schema: Option<Json>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u32) -> Timestamp {
        Timestamp::parse(&format!("2026-01-01T00:00:{second:02}Z")).unwrap()
    }

    #[test]
    fn phase_ids_are_any_short_visible_text_without_a_comma() {
        for id in ["0.5", "3A", "REQUIREMENTS", "06", "phase7_x", "design review", "\u{8a2d}\u{8a08}"] {
            assert_eq!(id.parse::<PhaseId>().unwrap().as_str(), id);
        }
        for id in ["", " ", "a,b", "a\nb", " a", "a ", "\u{1b}[0m", "a\u{202e}b", &"x".repeat(65)] {
            assert!(id.parse::<PhaseId>().is_err(), "{id:?}");
        }
    }

    #[test]
    fn attempts_count_beginnings() {
        let mut phase = Phase::pending("build".parse().unwrap());
        phase.enter(PhaseStatus::InProgress, at(1));
        phase.enter(PhaseStatus::InProgress, at(2));
        assert_eq!((phase.attempts, phase.started_at), (1, Some(at(1))));
        phase.enter(PhaseStatus::Failed, at(3));
        phase.enter(PhaseStatus::InProgress, at(4));
        phase.enter(PhaseStatus::Complete, at(5));
        assert_eq!((phase.attempts, phase.started_at, phase.completed_at), (2, Some(at(4)), Some(at(5))));
    }

    #[test]
    fn completing_a_phase_nobody_began_counts_one_attempt_and_invents_no_start() {
        let mut phase = Phase::pending("plan".parse().unwrap());
        phase.enter(PhaseStatus::Complete, at(1));
        phase.enter(PhaseStatus::Complete, at(9));
        assert_eq!((phase.attempts, phase.started_at, phase.completed_at), (1, None, Some(at(1))));
    }

    #[test]
    fn failing_a_finished_phase_makes_it_unfinished() {
        let mut phase = Phase::pending("plan".parse().unwrap());
        phase.enter(PhaseStatus::Complete, at(1));
        phase.enter(PhaseStatus::Failed, at(2));
        assert_eq!((phase.status.is_done(), phase.completed_at), (false, None));
    }
}
