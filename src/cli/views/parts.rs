//! Parts that several views share.

use serde::Serialize;

use crate::cli::page::Page;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::core::checkpoint::{Content, GitContext, Writer};
use crate::core::finding::{Finding, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::resume::FileCondition;

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

/// `4 of 7 done`, or `4 done` if the number of phases is unknown.
pub(super) fn progress(done: usize, total: Option<usize>) -> String {
    match total {
        Some(total) => format!("{done} of {total} done"),
        None => format!("{done} done"),
    }
}

/// Returns the number of phases, if they are declared.
pub(super) fn declared_phases(content: &Content) -> Option<usize> {
    content.is_declared().then_some(content.phases.len())
}

/// `main at 0123456789`
pub(super) fn branch_and_commit(git: &GitContext) -> String {
    let commit = git.commit.as_deref().map(|commit| commit.chars().take(10).collect());
    [git.branch.clone(), commit].into_iter().flatten().collect::<Vec<String>>().join(" at ")
}

/// ` by kim`, or nothing if the writer is unknown.
pub(super) fn by(page: &Page, writer: &Writer) -> String {
    let name = writer.agent.as_ref().or(writer.user.as_ref());
    name.map(|name| format!(" by {}", page.escape(name))).unwrap_or_default()
}

/// Renders a finding: its severity as a word, its message, and its help.
pub(super) fn render_finding(page: &mut Page, finding: &Finding) {
    let (word, style) = match finding.severity {
        Severity::Info => ("note", Style::Dim),
        Severity::Advice => ("warning", Style::Warning),
        Severity::Confirm => ("confirm", Style::Warning),
        Severity::Blocker => ("blocker", Style::Bad),
    };
    let label = page.paint(style, &format!("{word:<10}"));
    page.line(format!("  {label} {}", page.escape(&finding.message)));
    for help in &finding.help {
        page.line(format!("{:15}{}", "", page.escape(help)));
    }
}

/// A recorded file, and its condition now.
#[derive(Debug, Serialize)]
pub(super) struct ArtifactCondition {
    pub(super) name: String,
    pub(super) path: String,
    /// The phase that recorded it.
    pub(super) phase: Option<PhaseId>,
    pub(super) condition: FileCondition,
}

/// Returns the condition of each artifact of the judged checkpoint.
pub(super) fn artifact_conditions(judgement: &Judgement) -> Vec<ArtifactCondition> {
    let artifacts = judgement.checkpoint.content.artifacts.iter().zip(&judgement.facts.artifacts);
    artifacts
        .map(|(artifact, condition)| ArtifactCondition {
            name: artifact.name.clone(),
            path: artifact.path.clone(),
            phase: artifact.phase.clone(),
            condition: *condition,
        })
        .collect()
}
