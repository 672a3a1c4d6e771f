//! The answer of `ckpt resume`.

use std::path::Path;

use serde::Serialize;

use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::session::Judgement;
use crate::cli::style::Style;
use crate::cli::words::{count, first_few};
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::{Dialect, Origin, Reading};
use crate::core::finding::{Finding, Severity};
use crate::core::resume::tasks::Tasks;
use crate::core::resume::{Condition, Evidence, Verdict};
use crate::core::span::ago;
use crate::core::{Handle, PhaseId, Timestamp, WorkflowId};

/// More phases than this are of no use on one line.
const MOST_NAMES: usize = 20;

/// How much is shown to a person; a program always gets all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Usual,
    Explained,
}

#[derive(Debug, Serialize)]
pub(crate) struct ResumeReport {
    workflow: WorkflowId,
    /// None if a file was judged.
    handle: Option<Handle>,
    /// The file that was judged.
    file: Option<String>,
    /// The dialect it is written in.
    dialect: Option<Dialect>,
    /// What was recognised in it, and where.
    recognised: Vec<Origin>,
    title: Option<String>,
    verdict: Verdict,
    phase: Option<PhaseId>,
    action: Option<String>,
    done: Vec<PhaseId>,
    remaining: Vec<PhaseId>,
    inferred: Vec<PhaseId>,
    tasks: Tasks,
    findings: Vec<Finding>,
    age_seconds: i64,
    saved_at: Timestamp,
    artifacts: Vec<ArtifactLine>,
    evidence: Vec<Evidence>,
    warnings: Vec<String>,
    #[serde(skip)]
    accepted: bool,
    #[serde(skip)]
    extent: Extent,
    #[serde(skip)]
    checkpoint: Box<Checkpoint>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ArtifactLine {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) condition: Condition,
}

pub(crate) fn artifact_lines(judgement: &Judgement) -> Vec<ArtifactLine> {
    let pairs = judgement.checkpoint.content.artifacts.iter().zip(&judgement.facts.artifacts);
    let line = |(artifact, condition): (&crate::core::checkpoint::Artifact, &Condition)| ArtifactLine {
        name: artifact.name.clone(),
        path: artifact.path.clone(),
        condition: *condition,
    };
    pairs.map(line).collect()
}

impl ResumeReport {
    pub(crate) fn new(judgement: &Judgement, extent: Extent) -> Self {
        let Judgement { checkpoint, resume, .. } = judgement;
        Self {
            workflow: checkpoint.workflow.clone(),
            handle: Some(checkpoint.handle()),
            file: None,
            dialect: None,
            recognised: Vec::new(),
            title: checkpoint.content.title.clone(),
            verdict: resume.verdict,
            phase: resume.phase.clone(),
            action: resume.action.clone(),
            done: resume.done.clone(),
            remaining: resume.remaining.clone(),
            inferred: resume.inferred.clone(),
            tasks: resume.tasks.clone(),
            findings: resume.findings.clone(),
            age_seconds: resume.age_seconds,
            saved_at: checkpoint.saved_at,
            artifacts: artifact_lines(judgement),
            evidence: resume.evidence.clone(),
            warnings: Vec::new(),
            extent,
            accepted: false,
            checkpoint: checkpoint.clone(),
        }
    }

    /// Says whether somebody has accepted what needs a confirmation.
    pub(crate) fn accepted(self, accepted: bool) -> Self {
        Self { accepted, ..self }
    }

    /// Says that this is about a file, and what was recognised in it.
    pub(crate) fn of_file(self, file: &Path, reading: &Reading) -> Self {
        // What helps a stored workflow does not help a file.
        let findings = self.findings.iter().map(|finding| Finding { help: Vec::new(), ..finding.clone() });
        Self {
            handle: None,
            findings: findings.collect(),
            file: Some(file.display().to_string()),
            dialect: Some(reading.dialect),
            recognised: reading.origins.clone(),
            ..self
        }
    }

    /// Where the answer comes from.
    fn source(&self, page: &Page, when: &str, by: &str) -> String {
        match (&self.handle, &self.file) {
            (None, Some(file)) => {
                let dialect = self.dialect.map(|dialect| format!(" ({dialect})")).unwrap_or_default();
                format!("{}{dialect}, saved {when}", page.foreign(file))
            }
            (handle, _) => {
                let handle = handle.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{handle}, saved {when}{by}")
            }
        }
    }

    /// `3A Artifact Generation`
    fn full_name(&self, page: &Page, id: &PhaseId) -> String {
        let name = self.checkpoint.content.find_phase(id).and_then(|phase| phase.name.as_ref());
        let marked = if self.inferred.contains(id) { " (by evidence)" } else { "" };
        match name {
            Some(name) => format!("{} {}{marked}", page.foreign(id.as_str()), page.foreign(name)),
            None => format!("{}{marked}", page.foreign(id.as_str())),
        }
    }

    fn headline(&self, page: &Page) -> String {
        let title =
            self.title.as_deref().map(|title| format!(" {}", page.foreign(title))).unwrap_or_default();
        let total = self.checkpoint.content.phases.len();
        let words = match &self.phase {
            _ if self.verdict == Verdict::Complete => "complete, nothing to resume".to_owned(),
            Some(id) if self.checkpoint.content.is_declared() => {
                let place = self
                    .checkpoint
                    .content
                    .phases
                    .iter()
                    .position(|phase| phase.id == *id)
                    .unwrap_or_default()
                    + 1;
                format!("resume at {} ({place} of {total})", self.full_name(page, id))
            }
            Some(id) => format!("resume at {}", self.full_name(page, id)),
            None if self.action.is_some() => "resume with the recorded next action".to_owned(),
            None => "cannot tell where to resume".to_owned(),
        };
        format!("{}{title}: {words}", page.paint(Style::Bold, self.workflow.as_str()))
    }

    fn artifacts_line(&self) -> Option<String> {
        let kinds = [Condition::Unchanged, Condition::Changed, Condition::Missing, Condition::Unreadable];
        let counted = kinds.into_iter().filter_map(|kind| {
            let number = self.artifacts.iter().filter(|line| line.condition == kind).count();
            (number > 0).then(|| format!("{number} {}", kind.word()))
        });
        Some(counted.collect::<Vec<_>>().join(", ")).filter(|line| !line.is_empty())
    }

    fn tasks_line(&self) -> Option<String> {
        let Tasks { ready, retry, blocked, exhausted, waiting, done, .. } = &self.tasks;
        let kinds = [
            ("done", done),
            ("ready", ready),
            ("to retry", retry),
            ("waiting", waiting),
            ("blocked", blocked),
            ("exhausted", exhausted),
        ];
        let counted = kinds.into_iter().filter(|(_, ids)| !ids.is_empty());
        let words = counted.map(|(word, ids)| match word {
            "ready" | "to retry" | "exhausted" if ids.len() <= 5 => {
                let names: Vec<_> = ids.iter().map(ToString::to_string).collect();
                format!("{word}: {}", names.join(", "))
            }
            _ => format!("{} {word}", ids.len()),
        });
        Some(words.collect::<Vec<_>>().join("; ")).filter(|line| !line.is_empty())
    }
}

impl Report for ResumeReport {
    const FORMAT: &'static str = "ckpt.resume.v1";

    fn essential(&self) -> String {
        let phase = self.phase.as_ref().map(|id| format!("{id}\n"));
        phase.unwrap_or_default()
    }

    fn answer(&self, page: &mut Page) {
        let headline = self.headline(page);
        page.line(headline);
        page.line("");
        let names =
            |ids: &[PhaseId]| ids.iter().map(|id| self.full_name(page, id)).collect::<Vec<_>>().join(", ");
        let by = self.checkpoint.writer.agent.as_ref().or(self.checkpoint.writer.user.as_ref());
        // Whoever imported a file has not saved it.
        let by = match &self.checkpoint.imported {
            Some(imported) => format!(", imported from {}", page.foreign(&imported.source)),
            None => by.map(|by| format!(" by {}", page.foreign(by))).unwrap_or_default(),
        };
        let undated = self.checkpoint.imported.as_ref().is_some_and(|imported| imported.at == self.saved_at);
        let when = match (page.width, u64::try_from(self.age_seconds)) {
            _ if undated => "at an unknown time".to_owned(),
            (Some(_), Ok(age)) => ago(age),
            _ => format!("at {}", self.saved_at),
        };
        let mut fields = vec![("from", self.source(page, &when, &by))];
        if !self.done.is_empty() {
            fields.push(("done", names(&self.done)));
        }
        if let Some(action) = &self.action {
            fields.push(("next", page.foreign(action)));
        }
        let then: Vec<String> = self
            .remaining
            .iter()
            .filter(|id| self.phase.as_ref() != Some(id))
            .map(PhaseId::to_string)
            .collect();
        if !then.is_empty() {
            fields.push(("then", page.foreign(&first_few(&then, MOST_NAMES))));
        }
        fields.extend(self.tasks_line().map(|line| ("tasks", page.foreign(&line))));
        fields.extend(self.artifacts_line().map(|line| ("artifacts", line)));
        for (name, value) in fields {
            page.line(format!("  {name:<10} {value}"));
        }
        self.findings.iter().for_each(|finding| render_finding(page, finding));
        if self.extent == Extent::Explained {
            page.line("");
            page.line("Evidence");
            for Evidence { phase, done, why } in &self.evidence {
                let mark = if *done { "done" } else { "open" };
                page.line(format!("  {mark}  {}: {why}", page.foreign(phase.as_str())));
            }
            for Origin { fact, value, from } in &self.recognised {
                let (value, from) = (page.foreign(value), page.foreign(from));
                page.line(format!("  read  {}: {value} ({from})", page.foreign(fact)));
            }
            for ArtifactLine { path, condition, .. } in &self.artifacts {
                page.line(format!("  file  {}: {}", page.foreign(path), condition.word()));
            }
        }
        page.line("");
        let style = match self.verdict {
            Verdict::Ready | Verdict::Complete => Style::Good,
            Verdict::Confirm => Style::Warning,
            Verdict::Blocked => Style::Bad,
        };
        let verdict = page.paint(style, self.verdict.word());
        page.line(format!("Verdict: {verdict}"));
    }

    fn remarks(&self, page: &mut Page) {
        let workflow = match &self.file {
            Some(file) => format!("--file {}", page.foreign(file)),
            None => self.workflow.to_string(),
        };
        match self.verdict {
            Verdict::Confirm if self.accepted => page.line("Accepted by --yes."),
            Verdict::Confirm => page.line(format!("To go on all the same: ckpt resume {workflow} --yes")),
            Verdict::Blocked => {
                let blockers =
                    self.findings.iter().filter(|finding| finding.severity == Severity::Blocker).count();
                page.line(format!("{} in the way; nothing overrides that.", count(blockers, "blocker")));
            }
            Verdict::Ready | Verdict::Complete => {}
        }
        if let Some(file) = &self.file {
            page.line(format!("To go on with it here: ckpt import {}", page.foreign(file)));
        }
    }
}

/// A finding: its weight in a word, its sentence, and what to type.
pub(crate) fn render_finding(page: &mut Page, finding: &Finding) {
    let (word, style) = match finding.severity {
        Severity::Info => ("note", Style::Dim),
        Severity::Advice => ("warning", Style::Warning),
        Severity::Confirm => ("confirm", Style::Warning),
        Severity::Blocker => ("blocker", Style::Bad),
    };
    let label = page.paint(style, &format!("{word:<10}"));
    page.line(format!("  {label} {}", page.foreign(&finding.message)));
    for help in &finding.help {
        page.line(format!("  {:<10}   {}", "", page.foreign(help)));
    }
}
