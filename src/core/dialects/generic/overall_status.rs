//! The status of the work as a whole.

use serde_json::Value;

use super::sections::{Member, Section, Sections, is_idle_word};
use super::stated_progress::StatedProgress;
use crate::core::checkpoint::WorkflowStatus;
use crate::core::dialects::members::text_or_number;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseStatus;
use crate::core::status_word::parse_status_word;

const STATUS_KEYS: [&str; 6] =
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

/// The status that a document has for the whole work.
#[derive(Clone, Copy)]
pub(super) struct OverallStatus {
    pub(super) status: WorkflowStatus,
    /// True if nothing has been done yet.
    pub(super) not_started: bool,
}

/// Reads the status of the whole work: a known word, or a flag.
pub(super) fn read_overall_status(sections: &Sections<'_>, log: &mut ReadLog<'_>) -> Option<OverallStatus> {
    let (member, overall) = match find_word(sections) {
        Some(member) => (member, parse_word(member, log)?),
        None => {
            let (member, status) = find_flag(sections)?;
            (member, OverallStatus { status, not_started: false })
        }
    };
    log.origin("status", overall.status.word(), &member.pointer);
    Some(overall)
}

/// Returns the sections about the work. The status of a git checkout is not that of the work.
fn work_sections<'s, 'a>(sections: &'s Sections<'a>) -> impl Iterator<Item = &'s Section<'a>> {
    sections.0.iter().filter(|section| !matches!(section.name.as_str(), "git" | "git_state" | "vcs"))
}

fn find_word<'s, 'a>(sections: &'s Sections<'a>) -> Option<&'s Member<'a>> {
    work_sections(sections).find_map(|section| {
        STATUS_KEYS.iter().find_map(|key| section.get(key).filter(|member| member.value.is_string()))
    })
}

fn find_flag<'s, 'a>(sections: &'s Sections<'a>) -> Option<(&'s Member<'a>, WorkflowStatus)> {
    FLAGS.iter().find_map(|(key, status)| {
        let member = work_sections(sections).find_map(|section| section.get(key))?;
        if *member.value == Value::Bool(true) { Some((member, *status)) } else { None }
    })
}

fn parse_word(member: &Member<'_>, log: &mut ReadLog<'_>) -> Option<OverallStatus> {
    let word = text_or_number(member.value)?;
    let meaning = parse_status_word(&word);
    let status = match meaning {
        Some(PhaseStatus::Complete) => WorkflowStatus::Complete,
        Some(PhaseStatus::Failed) => WorkflowStatus::Failed,
        Some(PhaseStatus::Skipped) => WorkflowStatus::Abandoned,
        Some(PhaseStatus::InProgress | PhaseStatus::Pending) => WorkflowStatus::InProgress,
        None => match word.to_lowercase().as_str() {
            "abandoned" | "cancelled" | "canceled" | "aborted" => WorkflowStatus::Abandoned,
            "paused" | "suspended" | "interrupted" | "open" | "ongoing" | "resumable" => {
                WorkflowStatus::InProgress
            }
            _ => {
                if !is_idle_word(&word) {
                    log.unknown_status(&word, &member.pointer);
                }
                return None;
            }
        },
    };
    Some(OverallStatus { status, not_started: meaning == Some(PhaseStatus::Pending) })
}

/// Returns the overall status with regard to a time of completion: it means complete, unless a phase is not done.
pub(super) fn with_completion_time(
    overall: Option<WorkflowStatus>,
    sections: &Sections<'_>,
    stated: &StatedProgress,
    log: &mut ReadLog<'_>,
) -> Option<WorkflowStatus> {
    let top = sections.0.first();
    let finished = top.and_then(|top| top.get("completed_at").or_else(|| top.get("finished_at")));
    let Some(finished) = finished else { return overall };
    let open = stated.records.iter().find(|record| record.status.is_some_and(|status| !status.is_done()));
    if let Some(id) = open.and_then(|record| record.id.as_ref()) {
        let message = format!("this says that the work is finished, but {id} is not done; the phases count");
        log.finding_at(Severity::Advice, Code::StatusDisagrees, &finished.pointer, &message);
        return overall;
    }
    if overall.is_none() {
        log.origin("status", "complete", &finished.pointer);
        return Some(WorkflowStatus::Complete);
    }
    overall
}
