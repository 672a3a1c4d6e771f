//! Parts that several views share.

use serde::Serialize;
use serde_json::Value;

use crate::cli::escape;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use ckpt_model::checkpoint::{Artifact, GitContext, Writer};
use ckpt_model::finding::{Finding, Severity};
use ckpt_model::next_phase::{PhaseState, RunProgress};
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::resume::FileCondition;
use ckpt_model::text::shell_word;
use ckpt_store::restore_artifacts::{ArtifactAction, ArtifactStep};

/// Returns the word and the style for the status of a phase.
pub(super) fn phase_status(status: PhaseStatus) -> (&'static str, Style) {
    match status {
        PhaseStatus::Pending => ("to do", Style::Plain),
        PhaseStatus::InProgress => ("in progress", Style::Warning),
        PhaseStatus::Complete => ("done", Style::Good),
        PhaseStatus::Failed => ("failed", Style::Bad),
        PhaseStatus::Skipped => ("skipped", Style::Dim),
    }
}

/// Returns the word and the style for the state of a phase in its run.
pub(super) fn phase_state(state: PhaseState, status: PhaseStatus) -> (&'static str, Style) {
    match state {
        PhaseState::DoneByEvidence => ("done by evidence", Style::Good),
        PhaseState::AwaitingApproval => ("to approve", Style::Warning),
        PhaseState::SkippedByInference => phase_status(PhaseStatus::Skipped),
        PhaseState::Failed => phase_status(PhaseStatus::Failed),
        PhaseState::DoneByRecord | PhaseState::InProgress | PhaseState::Pending => phase_status(status),
    }
}

/// `4 of 7 done`, or `4 done` if the number of phases is unknown.
pub(super) fn progress(RunProgress { done, total, .. }: RunProgress) -> String {
    match total {
        Some(total) => format!("{done} of {total} done"),
        None => format!("{done} done"),
    }
}

/// Returns pretty JSON that is safe to show. JSON escapes control characters itself; invisible ones become JSON escapes
/// too, so the value stays the same.
pub(super) fn json_text(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    escape::document(&text).into_owned()
}

/// A command as a line that can be typed.
pub(super) fn command_line(words: &[String]) -> String {
    words.iter().map(shell_word).collect::<Vec<_>>().join(" ")
}

/// `main at 0123456789`
pub(super) fn branch_and_commit(git: &GitContext) -> String {
    let commit = git.commit.as_deref().map(|commit| commit.chars().take(10).collect());
    [git.branch.clone(), commit].into_iter().flatten().collect::<Vec<String>>().join(" at ")
}

/// ` by kim`, or nothing if the writer is unknown.
pub(super) fn by(page: &TextPage, writer: &Writer) -> String {
    let name = writer.agent.as_ref().or(writer.user.as_ref());
    name.map(|name| format!(" by {}", page.escape(name))).unwrap_or_default()
}

/// Renders a finding: its severity as a word, its message, and its help.
pub(super) fn render_finding(page: &mut TextPage, finding: &Finding) {
    let (word, style) = match finding.severity {
        Severity::Info => ("note", Style::Dim),
        Severity::Advice => ("warning", Style::Warning),
        Severity::Confirm => ("confirm", Style::Warning),
        Severity::Blocker => ("blocker", Style::Bad),
    };
    let label = page.paint(style, &format!("{word:<10}"));
    page.line(format!("  {label} {}", page.escape(&finding.message)));
    for line in &finding.diff {
        page.line(format!("{:13}{}", "", diff_line(page, line)));
    }
    for help in &finding.help {
        page.line(format!("{:15}{}", "", page.escape(help)));
    }
}

/// A line of a unified diff.
pub(super) fn diff_line(page: &TextPage, line: &str) -> String {
    let text = page.escape(line);
    match line.chars().next() {
        Some('+') => page.paint(Style::Good, &text),
        Some('-') => page.paint(Style::Bad, &text),
        _ => text,
    }
}

/// Writes what was done, or would be done, about the artifacts of a checkpoint. Unchanged ones are not listed.
pub(super) fn render_restored(page: &mut TextPage, steps: &[ArtifactStep], applied: bool) {
    for step in steps {
        let path = page.escape(&step.path);
        let done = |done: &str, planned: &str| if applied { done.to_owned() } else { planned.to_owned() };
        let line = match step.action {
            ArtifactAction::Unchanged => continue,
            ArtifactAction::Restore => format!("{} {path}", done("Brought back", "Would bring back")),
            ArtifactAction::Replace => {
                let copy = step.copy.as_ref().map(|copy| format!("; what was there is {}", page.escape(copy)));
                format!("{} {path}{}", done("Brought back", "Would replace"), copy.unwrap_or_default())
            }
            ArtifactAction::LeaveChanged => {
                format!("Left {path}, which has changed; `--force` replaces it and keeps a copy")
            }
            ArtifactAction::NotKept => format!("Left {path}, whose content was not kept"),
            ArtifactAction::Refuse => {
                format!("Left {path}: something else has its place, or nothing may be written there")
            }
        };
        page.line(line);
    }
}

/// A recorded file, and its condition now.
#[derive(Debug, Serialize)]
pub(super) struct ArtifactCondition<'a> {
    pub(super) name: &'a str,
    pub(super) path: &'a str,
    /// The phase that recorded it.
    pub(super) phase: Option<&'a PhaseId>,
    pub(super) condition: FileCondition,
}

/// Returns the condition of each artifact of the judged checkpoint.
pub(super) fn artifact_conditions(judgement: &Judgement) -> Vec<ArtifactCondition<'_>> {
    judgement
        .artifacts()
        .map(|(Artifact { name, path, phase, .. }, condition)| ArtifactCondition {
            name,
            path,
            phase: phase.as_ref(),
            condition,
        })
        .collect()
}
