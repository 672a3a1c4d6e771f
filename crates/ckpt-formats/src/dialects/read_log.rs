//! The log that every reader keeps: the origin of each value, and findings.

use serde_json::Value;

use super::document::{Document, Notation};
use super::phase_list;
use super::reading::Origin;
use super::times::ParsedTime;
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::finding::{Code, Finding, Severity};
use ckpt_model::json::RepeatedKey;
use ckpt_model::phase::{MAX_PHASES, PhaseId, PhaseStatus};
use ckpt_model::status_word::parse_status_word;
use ckpt_model::time::Timestamp;

/// Collects origins and findings while a document is read.
///
/// Its parsing methods return `None` for a value that is absent or cannot be interpreted, and log a finding in the second
/// case.
#[derive(Debug)]
pub(super) struct ReadLog<'a> {
    document: &'a Document,
    pub(super) origins: Vec<Origin>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> ReadLog<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        let mut log = Self { document, origins: Vec::new(), findings: Vec::new() };
        for RepeatedKey { key, first_line, line } in &document.repeated {
            let message =
                format!("the key {key:?} is there twice, on line {first_line} and line {line}; the last one counts");
            log.finding(Severity::Confirm, Code::RecordsDisagree, message);
        }
        log
    }

    /// Returns the notation of the document.
    pub(super) fn notation(&self) -> Notation {
        self.document.notation
    }

    /// True if the document may have been cut off.
    pub(super) fn is_cut(&self) -> bool {
        self.document.is_cut
    }

    /// Logs the origin of a value.
    #[expect(clippy::needless_pass_by_value, reason = "callers have texts, ids and times, owned or not")]
    pub(super) fn origin(&mut self, fact: impl Into<String>, value: impl ToString, pointer: &str) {
        let from = self.document.place_of(pointer);
        self.origins.push(Origin { fact: fact.into(), value: value.to_string(), from });
    }

    /// Logs a finding about the document as a whole.
    pub(super) fn finding(&mut self, severity: Severity, code: Code, message: impl Into<String>) {
        self.findings.push(Finding::new(severity, code, message));
    }

    /// Logs a finding about the value at a JSON pointer.
    pub(super) fn finding_at(&mut self, severity: Severity, code: Code, pointer: &str, message: &str) {
        let place = self.document.place_of(pointer);
        self.finding(severity, code, format!("{place}: {message}"));
    }

    /// Parses the status of a phase and logs its origin.
    pub(super) fn status(&mut self, fact: &str, value: &Value, pointer: &str) -> Option<PhaseStatus> {
        let status = self.parse_status(value, pointer)?;
        self.origin(fact, with_original_word(status, value), pointer);
        Some(status)
    }

    fn parse_status(&mut self, value: &Value, pointer: &str) -> Option<PhaseStatus> {
        let word = match value {
            Value::String(word) if !word.trim().is_empty() => word,
            Value::Bool(true) => return Some(PhaseStatus::Complete),
            Value::Bool(false) => return Some(PhaseStatus::Pending),
            _ => return None,
        };
        let status = parse_status_word(word);
        if status.is_none() {
            self.unknown_status(Severity::Confirm, word, pointer);
        }
        status
    }

    /// Logs that a status word is not known.
    pub(super) fn unknown_status(&mut self, severity: Severity, word: &str, pointer: &str) {
        let message = format!("the status \"{word}\" is not known; nothing is concluded from it");
        self.finding_at(severity, Code::StatusUnknown, pointer, &message);
    }

    /// Parses the status of a workflow and logs its origin.
    pub(super) fn workflow_status(&mut self, value: &Value, pointer: &str) -> Option<WorkflowStatus> {
        let word = value.as_str()?;
        if ["abandoned", "aborted", "cancelled", "canceled"].contains(&word.trim().to_lowercase().as_str()) {
            self.origin("status", WorkflowStatus::Abandoned.word(), pointer);
            return Some(WorkflowStatus::Abandoned);
        }
        Some(match self.status("status", value, pointer)? {
            PhaseStatus::Complete => WorkflowStatus::Complete,
            PhaseStatus::Failed => WorkflowStatus::Failed,
            PhaseStatus::Skipped => WorkflowStatus::Abandoned,
            PhaseStatus::InProgress | PhaseStatus::Pending => WorkflowStatus::InProgress,
        })
    }

    /// Parses a time and logs its origin.
    pub(super) fn time(&mut self, fact: &str, value: &Value, pointer: &str) -> Option<Timestamp> {
        let time = self.parse_time(value, pointer)?;
        self.origin(fact, time, pointer);
        Some(time)
    }

    /// Parses a time without logging its origin. An assumed time zone or time of day is a finding.
    pub(super) fn parse_time(&mut self, value: &Value, pointer: &str) -> Option<Timestamp> {
        let time = ParsedTime::parse(value);
        match time {
            ParsedTime::Assumed(_, assumption) => {
                let message = format!("the time {}", assumption.words());
                self.finding_at(Severity::Info, Code::TimeAssumed, pointer, &message);
            }
            ParsedTime::Unreadable => {
                let message = "this is no time that can be read; it is ignored";
                self.finding_at(Severity::Advice, Code::TimeUnreadable, pointer, message);
            }
            ParsedTime::At(_) | ParsedTime::Absent => {}
        }
        time.timestamp()
    }

    /// Parses the id of a phase: a text or any number.
    pub(super) fn phase_id(&mut self, value: &Value, pointer: &str) -> Option<PhaseId> {
        let id = phase_list::phase_id(value);
        if id.is_none() && !value.is_null() {
            self.unreadable_phase(pointer);
        }
        id
    }

    /// Logs that a value cannot be a phase id.
    pub(super) fn unreadable_phase(&mut self, pointer: &str) {
        let message = "this cannot be the name of a phase; it is kept, but not followed";
        self.finding_at(Severity::Advice, Code::PhaseUnreadable, pointer, message);
    }

    /// Logs a finding if a list has more phases than a checkpoint may have.
    pub(super) fn check_phase_count(&mut self, count: usize, pointer: &str) {
        if count > MAX_PHASES {
            let message = format!("there are {count} phases; the first {MAX_PHASES} are taken");
            self.finding_at(Severity::Confirm, Code::PhaseUnreadable, pointer, &message);
        }
    }
}

/// Returns the word for a status, followed by the original word if that differs: `complete ("done")`.
pub(super) fn with_original_word(status: PhaseStatus, value: &Value) -> String {
    match value.as_str() {
        Some(word) if word != status.word() => format!("{} (\"{word}\")", status.word()),
        _ => status.word().to_owned(),
    }
}
