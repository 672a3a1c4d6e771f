//! Collection of the facts for [`evaluate`](ckpt_model::resume::evaluate()). It reads, and changes nothing.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::files::{FileAt, FileProblem, follow_in_project};
use crate::git::Checkout;
use crate::{Disk, Store};
use ckpt_model::checkpoint::{Artifact, Checkpoint, Content, WatchedFile};
use ckpt_model::digest::Digest;
use ckpt_model::external::{self, FactSeverities};
use ckpt_model::json::{Json, parse_strict};
use ckpt_model::next_phase::RunState;
use ckpt_model::phase::PhaseStatus;
use ckpt_model::resume::{Facts, FileCondition, GitFact, KeptContent, OutputFact, Selection, phase_state};
use ckpt_model::schema::{OutOfSteps, Steps, Validator};
use ckpt_model::size::Size;
use ckpt_model::status_word::parse_status_word;
use ckpt_model::task::{Task, TaskId, TaskStatus};
use ckpt_model::text_diff::{MAX_COMPARED_BYTES, unified};
use ckpt_model::time::Timestamp;

/// The size up to which the content of an output is checked.
const MAX_OUTPUT: u64 = 16 << 20;

/// How many lines are shown around one that differs.
const DIFF_CONTEXT: u32 = 1;
/// The most lines of the diff of a file that has changed.
const MAX_DIFF_LINES: usize = 12;

const TOO_LARGE: &str = "it is too large to be checked";

/// The place from which facts are collected.
#[derive(Debug, Clone)]
pub struct Observer<'a> {
    /// The directory that recorded paths are relative to.
    pub project: &'a Path,
    /// The git checkout around it.
    pub checkout: Option<&'a Checkout>,
    /// The session of the calling agent.
    pub session: Option<&'a str>,
    /// The largest file that is hashed.
    pub max_file: Size,
    /// The documents that external facts have now, by name.
    pub current_facts: &'a [(String, Value)],
    /// The severities of changes of external facts.
    pub fact_severities: FactSeverities,
    /// The kept contents of artifacts; none for a checkpoint that is not stored.
    pub kept: Option<&'a dyn KeptContents>,
}

/// The kept contents of artifacts. What cannot be read counts as not kept.
pub trait KeptContents: std::fmt::Debug {
    /// Returns true if a content is kept.
    fn has(&self, sha256: &Digest) -> bool;
    /// Returns a content of at most `limit` bytes.
    fn read(&self, sha256: &Digest, limit: u64) -> Option<Vec<u8>>;
}

impl<D: Disk + std::fmt::Debug> KeptContents for Store<D> {
    fn has(&self, sha256: &Digest) -> bool {
        self.has_object(sha256).unwrap_or_default()
    }

    fn read(&self, sha256: &Digest, limit: u64) -> Option<Vec<u8>> {
        self.read_object(sha256, limit).ok().flatten()
    }
}

/// Collects the facts about everything that the checkpoint refers to.
#[must_use]
pub fn gather(checkpoint: &Checkpoint, observer: &Observer<'_>) -> Facts {
    // One budget for all documents that the checkpoint names.
    let mut steps = Steps::default();
    let artifacts: Vec<FileCondition> =
        checkpoint.content.artifacts.iter().map(|file| artifact(file, observer)).collect();
    Facts {
        kept: kept(&checkpoint.content.artifacts, &artifacts, observer),
        artifacts,
        outputs: outputs(&checkpoint.content, observer.project, &mut steps),
        task_outputs: task_outputs(checkpoint, observer, &mut steps),
        lost_task_outputs: lost_task_outputs(checkpoint, observer),
        watched: checkpoint.context.watched.iter().map(|file| watched(file, observer)).collect(),
        touched: checkpoint.context.touched.iter().map(|file| watched(file, observer)).collect(),
        git: git(checkpoint, observer),
        external: external::compare(&checkpoint.content.facts, observer.current_facts, &observer.fact_severities),
        session: observer.session.map(str::to_owned),
        sessions: Vec::new(),
        sharing: Default::default(),
        selection: Selection::default(),
    }
}

fn artifact(artifact: &Artifact, observer: &Observer<'_>) -> FileCondition {
    let file = follow_in_project(observer.project, &artifact.path);
    match file.and_then(|file| file.hash(observer.max_file.0)) {
        Ok((size, digest)) if artifact.size == Some(size) && artifact.sha256 == Some(digest) => {
            FileCondition::Unchanged
        }
        Ok(_) | Err(FileProblem::TooLarge(_)) => FileCondition::Changed,
        // Only an import records a file outside the project; it is not read.
        Err(FileProblem::Outside) if artifact.sha256.is_none() => FileCondition::Unreadable,
        Err(FileProblem::Missing | FileProblem::Outside | FileProblem::NotAFile) => FileCondition::Missing,
        Err(FileProblem::Io(_) | FileProblem::NotUtf8) => FileCondition::Unreadable,
    }
}

/// Looks for the kept contents of the artifacts that are not what they were.
fn kept(artifacts: &[Artifact], conditions: &[FileCondition], observer: &Observer<'_>) -> HashMap<String, KeptContent> {
    let mut found = HashMap::new();
    let Some(contents) = observer.kept else { return found };
    for (artifact, condition) in artifacts.iter().zip(conditions) {
        let Some(object) = artifact.object() else { continue };
        if *condition == FileCondition::Unchanged || !contents.has(&object) {
            continue;
        }
        let diff = || {
            let before = contents.read(&object, MAX_COMPARED_BYTES)?;
            let after = follow_in_project(observer.project, &artifact.path).ok()?.read(MAX_COMPARED_BYTES);
            unified(&before, &after.ok()?, DIFF_CONTEXT, MAX_DIFF_LINES)
        };
        let diff = if *condition == FileCondition::Changed { diff() } else { None };
        found.insert(artifact.name.clone(), KeptContent { diff });
    }
    found
}

fn watched(file: &WatchedFile, observer: &Observer<'_>) -> FileCondition {
    let present = follow_in_project(observer.project, &file.path);
    let hash = present.and_then(|present| present.hash(observer.max_file.0));
    let is_missing = matches!(hash, Err(FileProblem::Missing));
    let digest = hash.ok().map(|(_, digest)| digest);
    if digest == file.sha256 {
        FileCondition::Unchanged
    } else if is_missing {
        FileCondition::Missing
    } else {
        FileCondition::Changed
    }
}

/// Returns the state of a run by its record and the outputs that are there now, as [`evaluate`](ckpt_model::resume::evaluate()) sees it.
pub(crate) fn observed_run<'c>(content: &'c Content, project: &Path) -> RunState<'c> {
    let outputs = outputs(content, project, &mut Steps::default());
    let facts = Facts { outputs, ..Facts::default() };
    RunState::new(content, |phase| phase_state(phase, &facts))
}

/// The outputs of every phase that has begun; the others have promised nothing yet.
fn outputs(content: &Content, project: &Path, steps: &mut Steps) -> HashMap<String, OutputFact> {
    let mut facts = HashMap::new();
    let begun = |status| !matches!(status, PhaseStatus::Pending | PhaseStatus::Skipped);
    for phase in content.phases.iter().filter(|phase| begun(phase.status)) {
        for output in &phase.outputs {
            let mut paths = [&output.path].into_iter().chain(&output.or);
            let fact = paths.find_map(|path| output_fact(path, output.schema.as_ref(), project, steps));
            facts.extend(fact.map(|(_, fact)| (output.path.clone(), fact)));
        }
        if let Some(drafts) = phase.approval.as_ref().and_then(|approval| approval.evidence.as_ref()) {
            facts.extend(output_fact(drafts, None, project, steps));
        }
    }
    facts
}

fn output_fact(path: &str, schema: Option<&Json>, project: &Path, steps: &mut Steps) -> Option<(String, OutputFact)> {
    let output = match follow_in_project(project, path.trim_end_matches('/')) {
        Ok(output) => output,
        Err(FileProblem::Missing) => return None,
        Err(problem) => return Some((path.to_owned(), OutputFact::Invalid(format!("it {problem}")))),
    };
    let fact = if !output.is_dir() {
        file_fact(&output, schema, steps)
    } else if output.has_entries() {
        OutputFact::Valid
    } else {
        // An empty directory counts as missing.
        return None;
    };
    Some((path.to_owned(), fact))
}

fn file_fact(file: &FileAt, schema: Option<&Json>, steps: &mut Steps) -> OutputFact {
    let is_json = file.name().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let bytes = match file.read(MAX_OUTPUT) {
        Ok(bytes) if bytes.is_empty() => return OutputFact::Invalid("it is empty".to_owned()),
        // A large file without a schema only has to exist.
        Err(FileProblem::TooLarge(_)) if schema.is_none() && !is_json => return OutputFact::Valid,
        Ok(bytes) => bytes,
        Err(problem) => return OutputFact::Invalid(format!("it {problem}")),
    };
    if schema.is_none() && !is_json {
        return OutputFact::Valid;
    }
    if steps.take(parse_steps(&bytes)).is_err() {
        return OutputFact::Invalid(TOO_LARGE.to_owned());
    }
    let document = match parse_strict(&bytes) {
        Ok(document) => document,
        Err(error) => return OutputFact::Invalid(format!("it is not valid JSON: {error}")),
    };
    let Some(schema) = schema else { return OutputFact::Valid };
    let schema = schema.to_value().map_err(|error| error.to_string());
    let validator = schema.and_then(|schema| Validator::compile(&schema, steps).map_err(|error| error.to_string()));
    let validator = match validator {
        Ok(validator) => validator,
        Err(error) => return OutputFact::Invalid(format!("its schema cannot be used: {error}")),
    };
    match validator.violations(&document, steps) {
        Ok(violations) => match violations.first() {
            None => OutputFact::Valid,
            Some(first) => OutputFact::Invalid(format!("it breaks its schema at {}: {}", first.pointer, first.message)),
        },
        Err(OutOfSteps) => OutputFact::Invalid(TOO_LARGE.to_owned()),
    }
}

/// Returns the steps of parsing JSON. What counts is the number of values, of which short ones take most memory.
fn parse_steps(bytes: &[u8]) -> u64 {
    let values = bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count() as u64;
    16 * values + bytes.len() as u64 / 8
}

fn task_outputs(
    checkpoint: &Checkpoint,
    observer: &Observer<'_>,
    steps: &mut Steps,
) -> HashMap<String, Option<TaskStatus>> {
    let running = checkpoint.content.tasks.iter().filter(|task| task.status == TaskStatus::Running);
    let mut fact = |path: &String| Some((path.clone(), output_status(observer.project, path, steps)?));
    running.filter_map(|task| task.output.as_ref()).filter_map(&mut fact).collect()
}

/// Returns the status that the output of a task reports, if it reports one; `None` if there is no output.
fn output_status(project: &Path, path: &str, steps: &mut Steps) -> Option<Option<TaskStatus>> {
    let output = follow_in_project(project, path).ok()?;
    // An empty file was created but not written: the task had not finished.
    let bytes = output.read(MAX_OUTPUT).ok().filter(|bytes| !bytes.is_empty())?;
    // A document that is too large to be parsed has no status, like one that is not JSON.
    let document = steps.take(parse_steps(&bytes)).ok().and_then(|()| parse_strict(&bytes).ok());
    let word = document.as_ref().and_then(|document| document.get("status")?.as_str());
    Some(word.and_then(parse_status_word).map(TaskStatus::from))
}

/// Gives each running task the status that its output reports. An output without a status counts as complete, because it
/// is written at the end of the work.
pub(crate) fn reconcile_tasks(tasks: &mut [Task], project: &Path, now: Timestamp) {
    let mut steps = Steps::default();
    for task in tasks.iter_mut().filter(|task| task.status == TaskStatus::Running) {
        let Some(path) = &task.output else { continue };
        if let Some(status) = output_status(project, path, &mut steps) {
            match status.unwrap_or(TaskStatus::Complete) {
                TaskStatus::Pending | TaskStatus::Running => {}
                ended => task.enter(ended, now),
            }
        }
    }
}

fn lost_task_outputs(checkpoint: &Checkpoint, observer: &Observer<'_>) -> Vec<TaskId> {
    let is_missing = |path: &String| {
        let output = follow_in_project(observer.project, path.trim_end_matches('/'));
        matches!(output, Err(FileProblem::Missing))
    };
    let complete = checkpoint.content.tasks.iter().filter(|task| task.status == TaskStatus::Complete);
    let lost = complete.filter(|task| task.output.as_ref().is_some_and(is_missing));
    lost.map(|task| task.id.clone()).collect()
}

fn git(checkpoint: &Checkpoint, observer: &Observer<'_>) -> Option<GitFact> {
    let checkout = observer.checkout?;
    let recorded = checkpoint.context.git.as_ref()?.branch.as_ref()?;
    let branch = checkout.facts().branch;
    let recorded_branch_exists =
        if branch.as_ref() == Some(recorded) { Some(true) } else { checkout.branch_exists(recorded) };
    Some(GitFact { branch, recorded_branch_exists })
}
