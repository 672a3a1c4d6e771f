//! What a foreign file says, in our words, and where it says it.

use serde_json::Value;

use super::dialect::Dialect;
use super::source::Document;
use super::times::Time;
use crate::core::checkpoint::{Content, GitContext, WorkflowStatus};
use crate::core::finding::{Code, Finding, Severity};
use crate::core::json::below;
use crate::core::phase::MAX_PHASES;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::status_word::StatusWord;
use crate::core::time::Timestamp;
use crate::core::trigger::Trigger;

/// The papers that make up one foreign checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Papers {
    /// The checkpoint itself.
    pub main: Value,
    /// What some systems keep in a second file: the tasks of dotagent, the entry of crunch's index.
    pub beside: Option<Value>,
}

/// A foreign checkpoint in our words.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Whose it is.
    pub dialect: Dialect,
    /// What it says.
    pub draft: Draft,
    /// Where each fact came from.
    pub origins: Vec<Origin>,
    /// What does not fit together, or could not be understood.
    pub findings: Vec<Finding>,
}

/// The content of a checkpoint, before it has a workflow, a number and hashed files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    /// What the file calls its workflow.
    pub workflow: Option<String>,
    /// When the file says it was saved.
    pub recorded_at: Option<Timestamp>,
    /// Why the checkpoint was taken; a phase transition if the file does not say.
    pub trigger: Option<Trigger>,
    /// The content: paths as they are written, a pipeline only if the list of phases is known to be whole.
    pub content: Content,
    /// The files it depends on, as they are named.
    pub watched: Vec<Watch>,
    /// The git checkout it was saved on.
    pub git: Option<GitContext>,
    /// The last error, if the file does not say when it happened; it counts if there is no other.
    pub undated_error: Option<String>,
    /// A remark about the checkpoint.
    pub note: Option<String>,
    /// Set if the file says that there is nothing to be done at all.
    pub idle: bool,
}

/// A file that a foreign checkpoint depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Where it is, as written.
    pub path: String,
    /// When it was last changed, if that was recorded.
    pub modified_at: Option<Timestamp>,
}

/// Where a fact came from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// What was recognised: `phase`, `status`, `phases/build/status`.
    pub fact: String,
    /// What it was taken to mean.
    pub value: String,
    /// A JSON pointer, or a line.
    pub from: String,
}

/// Takes notes while a document is read: what was found where, and what is doubtful.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    document: &'a Document,
    pub(super) origins: Vec<Origin>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Notes<'a> {
    pub(super) fn on(document: &'a Document) -> Self {
        Self { document, origins: Vec::new(), findings: Vec::new() }
    }

    /// Notes where a fact came from.
    #[expect(clippy::needless_pass_by_value, reason = "callers have texts, ids and times, owned or not")]
    pub(super) fn found(&mut self, fact: impl Into<String>, value: impl ToString, pointer: &str) {
        let from = self.document.place(pointer);
        self.origins.push(Origin { fact: fact.into(), value: value.to_string(), from });
    }

    /// Notes that something is doubtful.
    pub(super) fn doubt(&mut self, severity: Severity, code: Code, message: impl Into<String>) {
        self.findings.push(Finding::new(severity, code, message));
    }

    /// Notes that something at a place is doubtful.
    pub(super) fn doubt_at(&mut self, severity: Severity, code: Code, pointer: &str, message: &str) {
        let place = self.document.place(pointer);
        self.doubt(severity, code, format!("{place}: {message}"));
    }

    /// Understands a status word at a place, and notes it.
    pub(super) fn status(&mut self, fact: &str, value: &Value, pointer: &str) -> Option<PhaseStatus> {
        let status = self.understand_status(value, pointer)?;
        self.found(fact, spelled(status, value), pointer);
        Some(status)
    }

    /// Understands a status word at a place; one that is not understood is a finding, and nothing is made of it.
    pub(super) fn understand_status(&mut self, value: &Value, pointer: &str) -> Option<PhaseStatus> {
        let word = match value {
            Value::String(word) if !word.trim().is_empty() => word,
            Value::Bool(done) => {
                return Some(if *done { PhaseStatus::Complete } else { PhaseStatus::Pending });
            }
            _ => return None,
        };
        let status = StatusWord::understand(word).map(PhaseStatus::from);
        if status.is_none() {
            let message = format!("the status \"{word}\" is not known; nothing is concluded from it");
            self.doubt_at(Severity::Advice, Code::StatusUnknown, pointer, &message);
        }
        status
    }

    /// Understands the status of a whole workflow at a place; an unknown word is a finding, as for a phase.
    pub(super) fn workflow_status(&mut self, value: &Value, pointer: &str) -> Option<WorkflowStatus> {
        let word = value.as_str()?;
        if ["abandoned", "aborted", "cancelled", "canceled"].contains(&word.trim().to_lowercase().as_str()) {
            self.found("status", WorkflowStatus::Abandoned.word(), pointer);
            return Some(WorkflowStatus::Abandoned);
        }
        Some(match self.status("status", value, pointer)? {
            PhaseStatus::Complete => WorkflowStatus::Complete,
            PhaseStatus::Failed => WorkflowStatus::Failed,
            PhaseStatus::Skipped => WorkflowStatus::Abandoned,
            PhaseStatus::InProgress | PhaseStatus::Pending => WorkflowStatus::InProgress,
        })
    }

    /// Understands a time at a place, and notes it.
    pub(super) fn time(&mut self, fact: &str, value: &Value, pointer: &str) -> Option<Timestamp> {
        let time = self.understand_time(value, pointer)?;
        self.found(fact, time, pointer);
        Some(time)
    }

    /// Understands a time at a place; what had to be supposed, or could not be read, is a finding.
    pub(super) fn understand_time(&mut self, value: &Value, pointer: &str) -> Option<Timestamp> {
        let time = Time::understand(value);
        match time {
            Time::Assumed(_, assumption) => {
                let message = format!("the time {}", assumption.words());
                self.doubt_at(Severity::Info, Code::TimeAssumed, pointer, &message);
            }
            Time::Unreadable => {
                let message = "this is no time that can be read; it is ignored";
                self.doubt_at(Severity::Advice, Code::TimeUnreadable, pointer, message);
            }
            Time::At(_) | Time::Absent => {}
        }
        time.timestamp()
    }

    /// Notes that a list names more phases than can be followed.
    pub(super) fn count_phases(&mut self, count: usize, pointer: &str) {
        if count > MAX_PHASES {
            let message = format!("there are {count} phases; the first {MAX_PHASES} are taken");
            self.doubt_at(Severity::Confirm, Code::PhaseUnreadable, pointer, &message);
        }
    }

    /// Understands the id of a phase at a place: a text or a number of any kind.
    pub(super) fn phase(&mut self, value: &Value, pointer: &str) -> Option<PhaseId> {
        match phase_id(value) {
            Some(id) => Some(id),
            None if value.is_null() => None,
            None => {
                let message = "this cannot be the name of a phase; it is kept, but not followed";
                self.doubt_at(Severity::Advice, Code::PhaseUnreadable, pointer, message);
                None
            }
        }
    }
}

/// A status, with the word that stood for it beside it.
pub(super) fn spelled(status: PhaseStatus, value: &Value) -> String {
    match value.as_str().filter(|word| *word != status.word()) {
        Some(word) => format!("{} (\"{word}\")", status.word()),
        None => status.word().to_owned(),
    }
}

/// The id of a phase, as a text or a number. A text that is too long or has a comma is made to fit.
pub(super) fn phase_id(value: &Value) -> Option<PhaseId> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.trim().parse().ok().or_else(|| {
            let fitting: String = text.trim().replace(',', ";").chars().take(64).collect();
            fitting.trim().parse().ok()
        }),
        _ => None,
    }
}

/// A phase of that id and status.
pub(super) fn phase_at(id: PhaseId, status: PhaseStatus) -> Phase {
    let attempts = u32::from(status != PhaseStatus::Pending && status != PhaseStatus::Skipped);
    Phase { status, attempts, ..Phase::pending(id) }
}

/// Joins the parts of a JSON pointer.
pub(super) fn pointer(parts: &[&str]) -> String {
    parts.iter().fold(String::new(), |pointer, part| below(&pointer, part))
}

impl Reading {
    /// Whether anything in it is about work in phases. A status alone is not: many files have one.
    #[must_use]
    pub fn is_about_work(&self) -> bool {
        let Draft { content, idle, workflow, recorded_at, .. } = &self.draft;
        let Content { phases, tasks, next, phase, .. } = content;
        let has_status = self.origins.iter().any(|origin| origin.fact == "status");
        !phases.is_empty()
            || !tasks.is_empty()
            || next.is_some()
            || phase.is_some()
            || *idle
            || (has_status && (workflow.is_some() || recorded_at.is_some()))
    }
}
