//! The answer of `ckpt resume`.

use std::path::Path;

use serde::{Serialize, Serializer};

use super::parts::{ArtifactCondition, artifact_conditions, by, json_text, render_finding, render_restored};
use crate::cli::answer::Report;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use crate::cli::words::{count, first_few};
use ckpt_formats::dialects::{Dialect, Origin, Reading};
use ckpt_model::finding::{Code, Finding, Severity};
use ckpt_model::json::Json;
use ckpt_model::messages::Messages;
use ckpt_model::phase::Phase;
use ckpt_model::resume::tasks::RecoveredTasks;
use ckpt_model::resume::{FileCondition, PhaseEvidence, Resume, Verdict};
use ckpt_model::span::ago;
use ckpt_model::text::shell_word;
use ckpt_model::{Handle, PhaseId, Timestamp, WorkflowId};
use ckpt_store::restore_artifacts::ArtifactStep;

/// How many phases one line names.
const MOST_PHASES: usize = 20;

/// How many tasks of one kind are named; more are counted.
const MOST_TASKS: usize = 5;

/// How many messages of one kind are named; more are counted.
const MOST_MESSAGES: usize = 5;

/// What a person wants to see beside the judgement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResumeHints {
    /// The user accepts what needs a confirmation.
    pub(crate) accepted: bool,
    /// The evidence; JSON always has it.
    pub(crate) explained: bool,
    /// The data of the phases and the state.
    pub(crate) contents: bool,
}

/// The judgement of a checkpoint, or of a file of another system.
pub(crate) struct ResumeReport<'a> {
    pub(crate) judgement: &'a Judgement,
    /// The judged file of another system.
    pub(crate) file: Option<(&'a Path, &'a Reading)>,
    /// The artifacts that were brought back or left, if that was asked.
    pub(crate) restored: &'a [ArtifactStep],
    pub(crate) hints: ResumeHints,
}

#[derive(Serialize)]
struct ResumeDocument<'a> {
    workflow: &'a WorkflowId,
    /// `None` if a file was judged.
    handle: Option<Handle>,
    file: Option<String>,
    dialect: Option<Dialect>,
    /// The facts recognised in the file, each with its origin.
    recognised: &'a [Origin],
    title: &'a Option<String>,
    #[serde(flatten)]
    resume: &'a Resume,
    /// `None` if a file does not say it.
    saved_at: Option<Timestamp>,
    artifacts: Vec<ArtifactCondition<'a>>,
    messages: Messages,
    restored_artifacts: &'a [ArtifactStep],
    warnings: [String; 0],
}

impl Serialize for ResumeReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Judgement { checkpoint, resume, .. } = self.judgement;
        let document = ResumeDocument {
            workflow: &checkpoint.workflow,
            handle: self.file.is_none().then(|| checkpoint.handle()),
            file: self.file.map(|(path, _)| path.display().to_string()),
            dialect: self.file.map(|(_, reading)| reading.dialect),
            recognised: self.recognised(),
            title: &checkpoint.content.title,
            resume,
            saved_at: checkpoint.known_time(),
            artifacts: artifact_conditions(self.judgement),
            messages: Messages::of_state(&checkpoint.content.state),
            restored_artifacts: self.restored,
            warnings: [],
        };
        document.serialize(serializer)
    }
}

impl<'a> ResumeReport<'a> {
    pub(crate) fn new(judgement: &'a Judgement) -> Self {
        Self { judgement, file: None, restored: &[], hints: ResumeHints::default() }
    }

    fn recognised(&self) -> &'a [Origin] {
        self.file.map(|(_, reading)| reading.origins.as_slice()).unwrap_or_default()
    }

    /// `042/4, saved 2 hours ago by kim`
    fn source(&self, page: &TextPage) -> String {
        let Judgement { checkpoint, resume, .. } = self.judgement;
        let imported = checkpoint.imported.as_ref();
        let when = match (page.width, resume.age_seconds.map(u64::try_from)) {
            (_, None) => "at an unknown time".to_owned(),
            (Some(_), Some(Ok(age))) => ago(age),
            _ => format!("at {}", checkpoint.saved_at),
        };
        if let Some((path, reading)) = self.file {
            let path = page.escape(&path.display().to_string());
            return format!("{path} ({}), saved {when}", reading.dialect);
        }
        // The writer of an imported checkpoint did not do the work.
        let by = match imported {
            Some(imported) => format!(", imported from {}", page.escape(&imported.source)),
            None => by(page, &checkpoint.writer),
        };
        format!("{}, saved {when}{by}", checkpoint.handle())
    }

    /// `3A Artifact Generation`
    fn full_name(&self, page: &TextPage, id: &PhaseId) -> String {
        let phase = self.judgement.checkpoint.content.find_phase(id);
        let name = phase.and_then(|phase| phase.name.as_deref());
        let selected = phase.and_then(Phase::selected).map(|option| format!(" ({option})"));
        let mark = if self.judgement.resume.inferred.contains(id) { " (by evidence)" } else { "" };
        let selected = page.escape(&selected.unwrap_or_default());
        format!("{}{}{selected}{mark}", page.escape(id.as_str()), page.suffix(name))
    }

    fn headline(&self, page: &TextPage) -> String {
        let content = &self.judgement.checkpoint.content;
        let words = match &self.judgement.resume.phase {
            _ if self.judgement.resume.verdict == Verdict::Complete => "complete, nothing to resume".to_owned(),
            Some(id) => {
                let skipped = self.judgement.resume.skipped_by_inference.len();
                let number = content.phases.iter().position(|phase| phase.id == *id).unwrap_or_default() + 1;
                // The phases before it belong to the run, or it could not be the one to resume at.
                let of = format!(" ({} of {})", number.saturating_sub(skipped), content.phases.len() - skipped);
                let of = if content.is_declared() { of } else { String::new() };
                format!("resume at {}{of}", self.full_name(page, id))
            }
            None if self.has_finding(Code::TasksOpen) => "all phases are done, tasks are left".to_owned(),
            None if self.judgement.resume.action.is_some() => "resume with the recorded next action".to_owned(),
            None => "cannot tell where to resume".to_owned(),
        };
        let workflow = page.paint(Style::Bold, self.judgement.checkpoint.workflow.as_str());
        format!("{workflow}{}: {words}", page.suffix(content.title.as_deref()))
    }

    fn has_finding(&self, code: Code) -> bool {
        self.judgement.resume.findings.iter().any(|finding| finding.code == code)
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
            let number = self.judgement.artifacts().filter(|(_, found)| *found == condition).count();
            if number > 0 {
                words.push(format!("{number} {}", condition.word()));
            }
        }
        words.join(", ")
    }

    /// `2 pending: MSG-1, MSG-2; 1 awaiting response: MSG-3`
    fn messages_line(&self) -> String {
        let Messages { pending, awaiting_response, conflicts } =
            Messages::of_state(&self.judgement.checkpoint.content.state);
        let mut words = Vec::new();
        let lists = [("pending", pending), ("awaiting response", awaiting_response), ("in conflict", conflicts)];
        for (word, ids) in lists {
            if !ids.is_empty() {
                words.push(format!("{} {word}: {}", ids.len(), first_few(&ids, MOST_MESSAGES)));
            }
        }
        words.join("; ")
    }

    /// `3 done; ready: parser, lexer; 1 waiting`
    fn tasks_line(&self) -> String {
        let RecoveredTasks { ready, retry, blocked, exhausted, waiting, done, .. } = &self.judgement.resume.tasks;
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

impl Report for ResumeReport<'_> {
    const FORMAT: &'static str = "ckpt.resume.v1";

    fn essential(&self) -> String {
        self.judgement.resume.phase.as_ref().map(|id| format!("{id}\n")).unwrap_or_default()
    }

    fn answer(&self, page: &mut TextPage) {
        let Resume { verdict, phase, done, remaining, skipped_by_inference, findings, .. } = &self.judgement.resume;
        render_restored(page, self.restored, true);
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
            ("next", self.judgement.resume.action.clone().unwrap_or_default()),
            ("then", first_few(&then, MOST_PHASES)),
            ("tasks", self.tasks_line()),
            ("artifacts", self.artifacts_line()),
            ("messages", self.messages_line()),
        ]);
        let is_note = |finding: &Finding, code| finding.severity == Severity::Info && finding.code == code;
        for (index, finding) in findings.iter().enumerate() {
            // Notes of one kind are one line.
            let same = findings.iter().filter(|other| is_note(other, finding.code)).count();
            if !is_note(finding, finding.code) || same == 1 {
                render_finding(page, finding);
            } else if !findings[..index].iter().any(|other| is_note(other, finding.code)) {
                let message = format!("{} (and {} more of this kind)", finding.message, same - 1);
                render_finding(page, &Finding { message, ..finding.clone() });
            }
        }
        if self.hints.explained {
            self.evidence(page);
        }
        if self.hints.contents {
            self.contents(page);
        }
        page.line("");
        let style = match verdict {
            Verdict::Ready | Verdict::Complete => Style::Good,
            Verdict::Confirm => Style::Warning,
            Verdict::Blocked => Style::Bad,
        };
        let retry = match phase {
            Some(id) if *verdict == Verdict::Ready && self.has_finding(Code::PhaseFailed) => {
                format!(": retry {}", page.escape(id.as_str()))
            }
            _ => String::new(),
        };
        page.line(format!("Verdict: {}{}", page.paint(style, verdict.word()), retry));
    }

    fn remarks(&self, page: &mut TextPage) {
        let file = self.file.map(|(path, _)| page.escape(&shell_word(path.display())));
        let workflow = file
            .as_ref()
            .map_or_else(|| self.judgement.checkpoint.workflow.to_string(), |file| format!("--file {file}"));
        match self.judgement.resume.verdict {
            Verdict::Confirm if self.hints.accepted => page.line("Accepted by --yes."),
            Verdict::Confirm => page.line(format!("To continue anyway: ckpt resume {workflow} --yes")),
            Verdict::Blocked => {
                let findings = self.judgement.resume.findings.iter();
                let blockers = findings.filter(|finding| finding.severity == Severity::Blocker).count();
                page.line(format!("{} in the way; `--yes` does not override that.", count(blockers, "blocker")));
            }
            Verdict::Ready | Verdict::Complete => {}
        }
        if let Some(file) = file {
            page.line(format!("To continue it here: ckpt import {file}"));
        }
    }
}

impl ResumeReport<'_> {
    fn contents(&self, page: &mut TextPage) {
        let content = &self.judgement.checkpoint.content;
        let data = content
            .phases
            .iter()
            .filter_map(|phase| Some((format!("Data of {}", self.full_name(page, &phase.id)), phase.data.as_ref()?)));
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

    fn evidence(&self, page: &mut TextPage) {
        page.line("");
        page.line("Evidence");
        for PhaseEvidence { phase, done, why } in &self.judgement.resume.evidence {
            let is_skipped = self.judgement.resume.skipped_by_inference.contains(phase);
            let mark = if *done {
                "done"
            } else if is_skipped {
                "skip"
            } else {
                "open"
            };
            page.line(format!("  {mark}  {}: {why}", page.escape(phase.as_str())));
        }
        for Origin { fact, value, from } in self.recognised() {
            page.line(format!("  read  {}", page.escape(&format!("{fact}: {value} ({from})"))));
        }
        for (artifact, condition) in self.judgement.artifacts() {
            page.line(format!("  file  {}: {}", page.escape(&artifact.path), condition.word()));
        }
    }
}
