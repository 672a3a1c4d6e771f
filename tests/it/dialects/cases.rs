//! A file of every shape, and what a person who reads it would answer.
//!
//! `FORMAT/CASE.json` (or `.yaml`, `.md`, `.jsonl`, `.checkpoint`) is a file of the dialect FORMAT, and
//! `FORMAT/CASE.companion.json` its second file, if there is one. `FORMAT/CASE.expected.json` has the answers that a person
//! would accept, and what the program says of it. `FORMAT/CASE.next.json`, if there is one, has what is written once its
//! next phase is done. Files in directories below belong to others.

use std::path::{Path, PathBuf};

use ckpt_formats::dialects::Dialect;
use ckpt_formats::import::{Companions, ForeignFile, ReadOptions, Source, SourceError};
use ckpt_model::finding::Code;
use ckpt_model::phase::PhaseStatus;
use ckpt_model::resume::{Facts, Limits, Resume, Verdict, evaluate};
use ckpt_model::{Checkpoint, Timestamp};
use serde_json::{Value, json};

use super::support::checkpoint_of;

/// The ends of the names of files that lie beside a case.
const BESIDE: [&str; 3] = [".expected.json", ".companion.json", ".next.json"];

/// A file, and what is expected of it.
pub(super) struct Case {
    pub(super) format: String,
    pub(super) file: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) companion: Option<Value>,
    expected: Value,
}

impl Case {
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.format, self.file.file_name().unwrap().to_str().unwrap())
    }

    pub(super) fn beside(&self, end: &str) -> PathBuf {
        self.file.with_extension(end)
    }

    /// The answers that a person would accept.
    pub(super) fn answers(&self) -> Vec<String> {
        let answers = self.expected["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
        answers.iter().map(|answer| answer.as_str().unwrap().to_owned()).collect()
    }

    /// Opens the file, with the second one that lies beside it.
    pub(super) fn open(&self) -> Result<ForeignFile, SourceError> {
        let mut companions = Companions::default();
        let source = Source::Named(self.file.clone());
        let opened = match &self.companion {
            None => ForeignFile::open(&source, &ReadOptions::default(), &mut companions),
            Some(_) => parse(&self.name(), &self.bytes, &ReadOptions::default(), self.companion.as_ref()),
        }?;
        // The generic reader has to be good on the relatives of formats that have a reader of their own.
        if self.format == "generic" && opened.reading.dialect != Dialect::Generic {
            return ForeignFile::open(&source, &generic(), &mut companions);
        }
        Ok(opened)
    }

    /// Judges the file as `resume --file` does.
    pub(super) fn judge(&self) -> Judged {
        judge_file(self.open())
    }
}

fn generic() -> ReadOptions {
    ReadOptions { dialect: Some(Dialect::Generic), ..ReadOptions::default() }
}

fn parse(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    companion: Option<&Value>,
) -> Result<ForeignFile, SourceError> {
    ForeignFile::parse(name, bytes, options, |_, _| companion.cloned())
}

/// Returns all cases, by format and name.
pub(super) fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dialects");
    let mut cases = Vec::new();
    for directory in sorted(&root).into_iter().filter(|path| path.is_dir()) {
        let format = directory.file_name().unwrap().to_str().unwrap().to_owned();
        for file in sorted(&directory) {
            let is_beside = BESIDE.iter().any(|end| file.to_str().unwrap().ends_with(end));
            if is_beside || !file.is_file() {
                continue;
            }
            let json = |end: &str| {
                let text = std::fs::read(file.with_extension(end)).ok()?;
                Some(serde_json::from_slice(&text).unwrap())
            };
            let (companion, expected) = (json("companion.json"), json("expected.json").unwrap_or_default());
            let bytes = std::fs::read(&file).unwrap();
            cases.push(Case { format: format.clone(), file, bytes, companion, expected });
        }
    }
    cases
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// What the program says of a file.
pub(super) struct Judged {
    /// `ready`, `confirm`, `blocked`, `complete`, `refused` or `damaged`.
    pub(super) verdict: &'static str,
    /// The phase to continue with, `complete`, `idle`, `unknown`, `refused` or `damaged`.
    pub(super) answer: String,
    /// Why it cannot tell.
    pub(super) why: String,
}

/// Judges the bytes of a file as `resume --file` does, without looking at the files that it names.
pub(super) fn judge(name: &str, bytes: &[u8]) -> Judged {
    let file = match parse(name, bytes, &ReadOptions::default(), None) {
        Ok(file) if name.starts_with("generic/") && file.reading.dialect != Dialect::Generic => {
            parse(name, bytes, &generic(), None)
        }
        parsed => parsed,
    };
    judge_file(file)
}

fn judge_file(file: Result<ForeignFile, SourceError>) -> Judged {
    let refused = |word: &'static str| Judged { verdict: word, answer: word.to_owned(), why: String::new() };
    match file {
        Ok(file) => {
            let resume = resume(&checkpoint_of(&file));
            Judged { verdict: resume.verdict.word(), answer: answer(&resume), why: String::new() }
        }
        Err(SourceError::Damaged(_)) => refused("damaged"),
        Err(SourceError::CannotTell(undecided)) => {
            Judged { verdict: "blocked", answer: "unknown".to_owned(), why: undecided.why }
        }
        Err(_) => refused("refused"),
    }
}

/// Judges a checkpoint at the time of its save: its age is left out.
fn resume(checkpoint: &Checkpoint) -> Resume {
    evaluate(checkpoint, &Facts::default(), &Limits::default(), checkpoint.saved_at)
}

fn answer(resume: &Resume) -> String {
    let is_idle = resume.findings.iter().any(|finding| finding.code == Code::Idle);
    match (&resume.phase, resume.verdict) {
        (Some(phase), _) => phase.to_string(),
        (None, Verdict::Complete) if is_idle => "idle".to_owned(),
        (None, Verdict::Complete) => "complete".to_owned(),
        (None, _) => "unknown".to_owned(),
    }
}

/// Returns everything that the program says of a case.
fn said(case: &Case) -> (String, Value) {
    let file = match case.open() {
        Ok(file) => file,
        Err(SourceError::Damaged(_)) => return ("damaged".to_owned(), json!({})),
        Err(SourceError::CannotTell(undecided)) => {
            return ("unknown".to_owned(), json!({"why": undecided.why, "lists": undecided.lists}));
        }
        Err(_) => return ("refused".to_owned(), json!({})),
    };
    let checkpoint = checkpoint_of(&file);
    let resume = resume(&checkpoint);
    let findings = resume.findings.iter().map(|found| format!("{} {}", found.severity.word(), found.code.word()));
    let mut said = json!({
        "dialect": file.reading.dialect,
        "workflow": checkpoint.workflow,
        "verdict": resume.verdict,
        "done": resume.done,
        "remaining": resume.remaining,
        "findings": findings.collect::<Vec<_>>(),
        "read": content(&checkpoint),
    });
    if !checkpoint.content.tasks.is_empty() {
        said["batches"] = json!(resume.tasks.batches);
    }
    (answer(&resume), said)
}

/// What was read, one line for each thing; without what is not there.
fn content(checkpoint: &Checkpoint) -> Value {
    let content = &checkpoint.content;
    let phases = content.phases.iter().filter(|phase| phase.status != PhaseStatus::Pending).map(|phase| {
        let time = |time: Option<Timestamp>| time.map_or_else(|| "?".to_owned(), |time| time.to_string());
        let approved = phase.approval.as_ref().and_then(|approval| approval.approved_at);
        let mut line = format!("{} {}", phase.id, phase.status.word());
        for (word, is_there, what) in [
            ("from", phase.started_at.is_some(), time(phase.started_at)),
            ("to", phase.completed_at.is_some(), time(phase.completed_at)),
            ("approved", approved.is_some(), time(approved)),
            ("tried", phase.attempts > 1, phase.attempts.to_string()),
            ("data", phase.data.is_some(), json!(phase.data).to_string()),
            ("error", phase.error.is_some(), json!(phase.error).to_string()),
        ] {
            if is_there {
                line.push_str(&format!(", {word} {what}"));
            }
        }
        line
    });
    let tasks = content.tasks.iter().map(|task| {
        let phase = task.phase.as_ref().map_or("-", |phase| phase.as_str());
        let after = task.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
        format!("{phase}/{} {} after [{after}] {}", task.id, task.status.word(), json!([task.output, task.error]))
    });
    let artifacts = content.artifacts.iter().map(|artifact| {
        let phase = artifact.phase.as_ref().map_or("-", |phase| phase.as_str());
        format!("{phase}/{} {}", artifact.name, artifact.path)
    });
    let replans = content.replans.iter().map(|replan| json!([replan.phase, replan.reason, replan.at]).to_string());
    let mut read = json!({
        "status": content.status,
        "title": content.title,
        "saved_at": checkpoint.saved_at,
        "note": checkpoint.note,
        "next": content.next,
        "labels": content.labels,
        "last_error": content.last_error,
        "branch": checkpoint.context.git.as_ref().and_then(|git| git.branch.clone()),
        "watched": checkpoint.context.watched.iter().map(|file| &file.path).collect::<Vec<_>>(),
        "phases": phases.collect::<Vec<_>>(),
        "tasks": tasks.collect::<Vec<_>>(),
        "artifacts": artifacts.collect::<Vec<_>>(),
        "replans": replans.collect::<Vec<_>>(),
    });
    read.as_object_mut().unwrap().retain(|_, value| !value.is_null() && *value != json!([]));
    read
}

/// True if the files that are expected are written instead of compared.
pub(super) fn updates() -> bool {
    std::env::var_os("UPDATE_FIXTURES").is_some()
}

#[test]
fn every_file_is_answered_as_a_person_would() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (answer, said) = said(&case);
        // The first answer of a new case is that of the program, until somebody has read it.
        let is_new = case.answers().is_empty() && updates();
        let answers = if is_new { vec![answer.clone()] } else { case.answers() };
        if !answers.contains(&answer) {
            wrong.push(format!("{}: {answer}, and not {}", case.name(), answers.join(" or ")));
        }
        let mut found = json!({"answers": answers});
        found.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        if found == case.expected {
            continue;
        }
        if updates() {
            std::fs::write(case.beside("expected.json"), format!("{found:#}\n")).unwrap();
        } else {
            wrong.push(format!("{}: expected {:#}\nis {found:#}", case.name(), case.expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_file_is_of_the_dialect_whose_directory_it_is_in() {
    for case in cases() {
        if let Ok(file) = case.open() {
            assert_eq!(file.reading.dialect.word(), case.format, "{}", case.name());
        }
    }
}

#[test]
fn every_dialect_has_files() {
    let formats: Vec<String> = cases().into_iter().map(|case| case.format).collect();
    for dialect in Dialect::ALL.iter().filter(|dialect| **dialect != Dialect::Ckpt) {
        assert!(formats.iter().any(|format| format == dialect.word()), "{dialect} has no file");
    }
}
