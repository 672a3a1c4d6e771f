//! The answer of `ckpt resume`.

use std::path::Path;

use serde::Serialize;

use super::parts::{ArtifactCondition, artifact_conditions, by, json_text, render_finding, render_restored};
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::cli::words::{count, first_few};
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::{Dialect, Origin, Reading};
use crate::core::finding::{Code, Severity};
use crate::core::json::Json;
use crate::core::messages::Messages;
use crate::core::restore_artifacts::ArtifactStep;
use crate::core::resume::tasks::RecoveredTasks;
use crate::core::resume::{FileCondition, PhaseEvidence, Resume, Verdict};
use crate::core::span::ago;
use crate::core::{Handle, PhaseId, Timestamp, WorkflowId};

/// How many phases one line names.
const MOST_PHASES: usize = 20;

/// How many tasks of one kind are named; more are counted.
const MOST_TASKS: usize = 5;

/// How many messages of one kind are named; more are counted.
const MOST_MESSAGES: usize = 5;

#[derive(Debug, Serialize)]
pub(crate) struct ResumeReport {
    workflow: WorkflowId,
    /// `None` if a file was judged.
    handle: Option<Handle>,
    /// The judged file of another system.
    file: Option<String>,
    dialect: Option<Dialect>,
    /// The facts recognised in the file, each with its origin.
    recognised: Vec<Origin>,
    title: Option<String>,
    #[serde(flatten)]
    resume: Resume,
    saved_at: Timestamp,
    artifacts: Vec<ArtifactCondition>,
    messages: Messages,
    /// The artifacts that were brought back or left, if that was asked.
    restored_artifacts: Vec<ArtifactStep>,
    warnings: Vec<String>,
    #[serde(skip)]
    accepted: bool,
    #[serde(skip)]
    explained: bool,
    #[serde(skip)]
    has_contents: bool,
    #[serde(skip)]
    checkpoint: Box<Checkpoint>,
}

impl ResumeReport {
    pub(crate) fn new(judgement: &Judgement) -> Self {
        let Judgement { checkpoint, resume, .. } = judgement;
        Self {
            workflow: checkpoint.workflow.clone(),
            handle: Some(checkpoint.handle()),
            file: None,
            dialect: None,
            recognised: Vec::new(),
            title: checkpoint.content.title.clone(),
            resume: resume.clone(),
            saved_at: checkpoint.saved_at,
            artifacts: artifact_conditions(judgement),
            messages: Messages::of_state(&checkpoint.content.state),
            restored_artifacts: Vec::new(),
            warnings: Vec::new(),
            accepted: false,
            explained: false,
            has_contents: false,
            checkpoint: checkpoint.clone(),
        }
    }

    /// Notes whether the user accepts what needs a confirmation.
    pub(crate) fn accepted(self, accepted: bool) -> Self {
        Self { accepted, ..self }
    }

    /// Shows people the evidence too; JSON always has it.
    pub(crate) fn explained(self, explained: bool) -> Self {
        Self { explained, ..self }
    }

    /// Reports what was done about the artifacts.
    pub(crate) fn with_restored(self, restored_artifacts: Vec<ArtifactStep>) -> Self {
        Self { restored_artifacts, ..self }
    }

    /// Shows people the data of the phases and the state too.
    pub(crate) fn with_contents(self) -> Self {
        Self { has_contents: true, ..self }
    }

    /// Reports on a file of another system.
    pub(crate) fn of_file(mut self, file: &Path, reading: &Reading) -> Self {
        self.handle = None;
        self.file = Some(file.display().to_string());
        self.dialect = Some(reading.dialect);
        self.recognised.clone_from(&reading.origins);
        // The help names commands for stored workflows.
        for finding in &mut self.resume.findings {
            finding.help.clear();
        }
        self
    }

    /// `042/4, saved 2 hours ago by kim`
    fn source(&self, page: &Page) -> String {
        let imported = self.checkpoint.imported.as_ref();
        let when = match (page.width, u64::try_from(self.resume.age_seconds)) {
            _ if imported.is_some_and(|imported| imported.at == self.saved_at) => {
                "at an unknown time".to_owned()
            }
            (Some(_), Ok(age)) => ago(age),
            _ => format!("at {}", self.saved_at),
        };
        let Some(handle) = &self.handle else {
            let file = page.escape(self.file.as_deref().unwrap_or_default());
            let dialect = self.dialect.map(|dialect| format!(" ({dialect})")).unwrap_or_default();
            return format!("{file}{dialect}, saved {when}");
        };
        // The writer of an imported checkpoint did not do the work.
        let by = match imported {
            Some(imported) => format!(", imported from {}", page.escape(&imported.source)),
            None => by(page, &self.checkpoint.writer),
        };
        format!("{handle}, saved {when}{by}")
    }

    /// `3A Artifact Generation`
    fn full_name(&self, page: &Page, id: &PhaseId) -> String {
        let name = self.checkpoint.content.find_phase(id).and_then(|phase| phase.name.as_deref());
        let mark = if self.resume.inferred.contains(id) { " (by evidence)" } else { "" };
        format!("{}{}{mark}", page.escape(id.as_str()), page.suffix(name))
    }

    fn headline(&self, page: &Page) -> String {
        let content = &self.checkpoint.content;
        let words = match &self.resume.phase {
            _ if self.resume.verdict == Verdict::Complete => "complete, nothing to resume".to_owned(),
            Some(id) => {
                let skipped = self.resume.skipped_by_inference.len();
                let number = content.phases.iter().position(|phase| phase.id == *id).unwrap_or_default() + 1;
                // The phases before it belong to the run, or it could not be the one to resume at.
                let of =
                    format!(" ({} of {})", number.saturating_sub(skipped), content.phases.len() - skipped);
                let of = if content.is_declared() { of } else { String::new() };
                format!("resume at {}{of}", self.full_name(page, id))
            }
            None if self.has_finding(Code::TasksOpen) => "all phases are done, tasks are left".to_owned(),
            None if self.resume.action.is_some() => "resume with the recorded next action".to_owned(),
            None => "cannot tell where to resume".to_owned(),
        };
        let workflow = page.paint(Style::Bold, self.workflow.as_str());
        format!("{workflow}{}: {words}", page.suffix(self.title.as_deref()))
    }

    fn has_finding(&self, code: Code) -> bool {
        self.resume.findings.iter().any(|finding| finding.code == code)
    }

    /// `2 unchanged, 1 missing`
    fn artifacts_line(&self) -> String {
        let conditions = [
            FileCondition::Unchanged,
            FileCondition::Changed,
            FileCondition::Missing,
            FileCondition::Unreadable,
            FileCondition::NotCompared,
        ];
        let mut words = Vec::new();
        for condition in conditions {
            let number = self.artifacts.iter().filter(|artifact| artifact.condition == condition).count();
            if number > 0 {
                words.push(format!("{number} {}", condition.word()));
            }
        }
        words.join(", ")
    }

    /// `2 pending: MSG-1, MSG-2; 1 awaiting response: MSG-3`
    fn messages_line(&self) -> String {
        let Messages { pending, awaiting_response } = &self.messages;
        let mut words = Vec::new();
        for (word, ids) in [("pending", pending), ("awaiting response", awaiting_response)] {
            if !ids.is_empty() {
                words.push(format!("{} {word}: {}", ids.len(), first_few(ids, MOST_MESSAGES)));
            }
        }
        words.join("; ")
    }

    /// `3 done; ready: parser, lexer; 1 waiting`
    fn tasks_line(&self) -> String {
        let RecoveredTasks { ready, retry, blocked, exhausted, waiting, done, .. } = &self.resume.tasks;
        let groups = [
            ("done", done, false),
            ("ready", ready, true),
            ("to retry", retry, true),
            ("waiting", waiting, false),
            ("blocked", blocked, false),
            ("exhausted", exhausted, true),
        ];
        let mut words = Vec::new();
        for (word, ids, named) in groups {
            if named && (1..=MOST_TASKS).contains(&ids.len()) {
                let names: Vec<_> = ids.iter().map(ToString::to_string).collect();
                words.push(format!("{word}: {}", names.join(", ")));
            } else if !ids.is_empty() {
                words.push(format!("{} {word}", ids.len()));
            }
        }
        words.join("; ")
    }
}

impl Report for ResumeReport {
    const FORMAT: &'static str = "ckpt.resume.v1";

    fn essential(&self) -> String {
        self.resume.phase.as_ref().map(|id| format!("{id}\n")).unwrap_or_default()
    }

    fn answer(&self, page: &mut Page) {
        let Resume { verdict, phase, done, remaining, skipped_by_inference, findings, .. } = &self.resume;
        render_restored(page, &self.restored_artifacts, true);
        page.line(self.headline(page));
        page.line("");
        let done: Vec<_> = done.iter().map(|id| self.full_name(page, id)).collect();
        let then = remaining.iter().filter(|id| phase.as_ref() != Some(id));
        let then: Vec<_> = then.map(ToString::to_string).collect();
        let skipped: Vec<_> = skipped_by_inference.iter().map(|id| self.full_name(page, id)).collect();
        page.fields([
            ("from", self.source(page)),
            ("skipped", first_few(&skipped, MOST_PHASES)),
            ("done", done.join(", ")),
            ("next", self.resume.action.clone().unwrap_or_default()),
            ("then", first_few(&then, MOST_PHASES)),
            ("tasks", self.tasks_line()),
            ("artifacts", self.artifacts_line()),
            ("messages", self.messages_line()),
        ]);
        for finding in findings {
            render_finding(page, finding);
        }
        if self.explained {
            self.evidence(page);
        }
        if self.has_contents {
            self.contents(page);
        }
        page.line("");
        let style = match verdict {
            Verdict::Ready | Verdict::Complete => Style::Good,
            Verdict::Confirm => Style::Warning,
            Verdict::Blocked => Style::Bad,
        };
        page.line(format!("Verdict: {}", page.paint(style, verdict.word())));
    }

    fn remarks(&self, page: &mut Page) {
        let file = self.file.as_deref().map(|file| page.escape(file));
        let workflow =
            file.as_ref().map_or_else(|| self.workflow.to_string(), |file| format!("--file {file}"));
        match self.resume.verdict {
            Verdict::Confirm if self.accepted => page.line("Accepted by --yes."),
            Verdict::Confirm => page.line(format!("To go on all the same: ckpt resume {workflow} --yes")),
            Verdict::Blocked => {
                let findings = self.resume.findings.iter();
                let blockers = findings.filter(|finding| finding.severity == Severity::Blocker).count();
                page.line(format!("{} in the way; nothing overrides that.", count(blockers, "blocker")));
            }
            Verdict::Ready | Verdict::Complete => {}
        }
        if let Some(file) = file {
            page.line(format!("To go on with it here: ckpt import {file}"));
        }
    }
}

impl ResumeReport {
    fn contents(&self, page: &mut Page) {
        let content = &self.checkpoint.content;
        let data = content.phases.iter().filter_map(|phase| {
            Some((format!("Data of {}", self.full_name(page, &phase.id)), phase.data.as_ref()?))
        });
        let mut parts: Vec<(String, &Json)> = data.collect();
        parts.push(("State".to_owned(), &content.state));
        for (title, json) in parts {
            // What is nested too deeply to be shown is still in the file.
            let Ok(value) = json.to_value() else { continue };
            if json.is_empty_object() {
                continue;
            }
            page.line("");
            page.line(title);
            for line in json_text(&value).lines() {
                page.line(format!("  {line}"));
            }
        }
    }

    fn evidence(&self, page: &mut Page) {
        page.line("");
        page.line("Evidence");
        for PhaseEvidence { phase, done, why } in &self.resume.evidence {
            let is_skipped = self.resume.skipped_by_inference.contains(phase);
            let mark = if *done {
                "done"
            } else if is_skipped {
                "skip"
            } else {
                "open"
            };
            page.line(format!("  {mark}  {}: {why}", page.escape(phase.as_str())));
        }
        for Origin { fact, value, from } in &self.recognised {
            page.line(format!("  read  {}", page.escape(&format!("{fact}: {value} ({from})"))));
        }
        for ArtifactCondition { path, condition, .. } in &self.artifacts {
            page.line(format!("  file  {}: {}", page.escape(path), condition.word()));
        }
    }
}
