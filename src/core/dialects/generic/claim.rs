//! What a document says about the work as a whole.

use serde_json::Value;

use super::evidence::Evidence;
use super::scope::{Scopes, is_idle_word, text};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::dialects::reading::Notes;
use crate::core::finding::{Code, Severity};
use crate::core::status_word::StatusWord;

/// What the document says about the whole.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) status: WorkflowStatus,
    /// Whether it says that nothing has been done yet.
    pub(super) not_begun: bool,
}

/// What the document says about the whole, if it says it in a word that is understood.
pub(super) fn claim(scopes: &Scopes<'_>, notes: &mut Notes<'_>) -> Option<Claim> {
    const WORDS: [&str; 6] =
        ["status", "workflow_status", "overall_status", "run_status", "task_status", "state"];
    const FLAGS: [(&str, WorkflowStatus); 7] = [
        ("completed", WorkflowStatus::Complete),
        ("complete", WorkflowStatus::Complete),
        ("is_complete", WorkflowStatus::Complete),
        ("is_completed", WorkflowStatus::Complete),
        ("finished", WorkflowStatus::Complete),
        ("done", WorkflowStatus::Complete),
        ("failed", WorkflowStatus::Failed),
    ];
    // The status of a checkout is not that of the work.
    let about_work =
        || scopes.0.iter().filter(|scope| !matches!(scope.name.as_str(), "git" | "git_state" | "vcs"));
    let word = about_work().find_map(|scope| {
        WORDS.iter().find_map(|name| scope.get(name).filter(|found| found.value.is_string()))
    });
    let flag = || {
        FLAGS.iter().find_map(|(name, status)| {
            let found = about_work().find_map(|scope| scope.get(name));
            found.filter(|found| *found.value == Value::Bool(true)).map(|found| (found, *status))
        })
    };
    let (found, status, not_begun) = match word {
        Some(found) => {
            let word = text(found.value)?;
            let meaning = StatusWord::understand(&word);
            let status = match meaning {
                Some(StatusWord::Complete) => WorkflowStatus::Complete,
                Some(StatusWord::Failed) => WorkflowStatus::Failed,
                Some(StatusWord::Skipped) => WorkflowStatus::Abandoned,
                Some(StatusWord::InProgress | StatusWord::Pending) => WorkflowStatus::InProgress,
                None => match word.to_lowercase().as_str() {
                    "abandoned" | "cancelled" | "canceled" | "aborted" => WorkflowStatus::Abandoned,
                    "paused" | "suspended" | "interrupted" | "open" | "ongoing" | "resumable" => {
                        WorkflowStatus::InProgress
                    }
                    _ if is_idle_word(&word) => return None,
                    _ => {
                        let message =
                            format!("the status \"{word}\" is not known; nothing is concluded from it");
                        notes.doubt_at(Severity::Advice, Code::StatusUnknown, &found.pointer, &message);
                        return None;
                    }
                },
            };
            (found, status, meaning == Some(StatusWord::Pending))
        }
        None => flag().map(|(found, status)| (found, status, false))?,
    };
    notes.found("status", status.word(), &found.pointer);
    Some(Claim { status, not_begun })
}

/// Takes the time of completion into account: it says that all is done, unless something is left.
pub(super) fn settle_claim(
    claim: Option<WorkflowStatus>,
    scopes: &Scopes<'_>,
    evidence: &Evidence,
    notes: &mut Notes<'_>,
) -> Option<WorkflowStatus> {
    let top = scopes.0.first();
    let Some(finished) = top.and_then(|top| top.get("completed_at").or_else(|| top.get("finished_at")))
    else {
        return claim;
    };
    let left = evidence.records.iter().find(|record| record.status.is_some_and(|status| !status.is_done()));
    match (claim, left.and_then(|record| record.id.as_ref())) {
        (claim, Some(id)) => {
            let message =
                format!("this says that the work is finished, but {id} is not done; the phases count");
            notes.doubt_at(Severity::Advice, Code::StatusDisagrees, &finished.pointer, &message);
            claim
        }
        (None, None) => {
            notes.found("status", "complete", &finished.pointer);
            Some(WorkflowStatus::Complete)
        }
        (claim, None) => claim,
    }
}
