//! The files of checkpoints in a dialect, and their names.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::error::ExportError;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::dialects::{CheckpointPart, Dialect, DialectFiles, Document, to_yaml};
use crate::core::digest::Digest;
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// The path below the target directory, with `/` between the parts.
    pub path: String,
    /// The content.
    pub content: FileContent,
    /// The checkpoint that it is made from; the newest one if there are several.
    pub source: Handle,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// The bytes of a file.
    Bytes(Vec<u8>),
    /// A symbolic link to another file of the directory.
    Link(String),
}

impl FileContent {
    /// Returns the digest. That of a link is never that of a file.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Bytes(bytes) => Digest::of(bytes),
            Self::Link(to) => Digest::of(format!("link\0{to}").as_bytes()),
        }
    }

    /// Returns true if both are equal, or the same document in another layout.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let document = |bytes: &[u8]| Document::parse(bytes).ok().map(|document| document.value);
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(other)) if one != other => {
                document(one).is_some_and(|one| Some(one) == document(other))
            }
            _ => self == other,
        }
    }
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// The files.
    pub files: Vec<ExportFile>,
    /// The parts of the checkpoints that the dialect has no place for.
    pub left_out: BTreeSet<CheckpointPart>,
}

/// Returns true if a dialect has a file for each checkpoint or each phase.
#[must_use]
pub fn has_history(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Kamiflow | Dialect::Crunch)
}

/// Returns the files of these checkpoints of one run, the newest last.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn files(dialect: Dialect, run: &[Checkpoint], project: &Path) -> Result<Export, ExportError> {
    let mut export = Export::default();
    let Some(newest) = run.last() else { return Ok(export) };
    let shown = match dialect {
        Dialect::Kamiflow => newest_of_each_phase(run),
        Dialect::Crunch => run.iter().collect(),
        _ => vec![newest],
    };
    // Two checkpoints may have the same name in the dialect; the later one counts.
    let mut named: IndexMap<String, (DialectFiles, Handle)> = IndexMap::new();
    for checkpoint in shown {
        let refused = || ExportError::NotExpressible(checkpoint.handle(), dialect);
        let written = dialect.write(checkpoint, project).ok_or_else(refused)?;
        export.left_out.extend(dialect.left_out(&written, checkpoint, project));
        let is_complete = checkpoint.seq == newest.seq && newest.content.status == WorkflowStatus::Complete;
        let path = path(dialect, checkpoint, &written.main, is_complete).ok_or_else(refused)?;
        named.shift_remove(&path);
        named.insert(path, (written, checkpoint.handle()));
    }
    let index = if dialect == Dialect::Crunch { index(&named, newest) } else { None };
    for (path, (DialectFiles { main, companion }, source)) in named {
        let mut add = |path: String, bytes: Vec<u8>| {
            let content = FileContent::Bytes(bytes);
            export.files.push(ExportFile { path, content, source: source.clone() });
        };
        match (dialect, companion) {
            (Dialect::Crunch, _) => add(path, to_yaml(&main).into_bytes()),
            (Dialect::Dotagent, Some(tasks)) => {
                add(path, json(&main));
                add("memory/state/execution.json".to_owned(), json(&tasks));
            }
            _ => add(path, json(&main)),
        }
    }
    export.files.extend(index.into_iter().flatten());
    Ok(export)
}

/// Returns the newest checkpoint of each phase that has begun, without those that a rollback has undone.
fn newest_of_each_phase(run: &[Checkpoint]) -> Vec<&Checkpoint> {
    let Some(newest) = run.last() else { return Vec::new() };
    let is_begun = |id: &PhaseId| {
        newest.content.find_phase(id).is_some_and(|phase| phase.status != PhaseStatus::Pending)
    };
    let mut shown = Vec::new();
    let mut seen = HashSet::new();
    let mut next = newest.seq;
    for checkpoint in run.iter().rev() {
        if checkpoint.seq > next {
            continue;
        }
        next = checkpoint.copy_of.as_ref().map_or(checkpoint.seq, |copied| copied.seq + 1) - 1;
        let phase = checkpoint.content.phase.as_ref();
        if checkpoint.seq == newest.seq || phase.is_some_and(|id| is_begun(id) && !seen.contains(id)) {
            seen.extend(phase);
            shown.push(checkpoint);
        }
    }
    shown.reverse();
    shown
}

/// Returns the path of a checkpoint in its dialect.
fn path(dialect: Dialect, checkpoint: &Checkpoint, main: &Value, is_complete: bool) -> Option<String> {
    let workflow = &checkpoint.workflow;
    Some(match dialect {
        Dialect::Kamiflow => {
            let phase = match main.get("phase")? {
                _ if is_complete => "complete".to_owned(),
                Value::String(phase) => format!("phase{}", safe(&phase.to_lowercase())?),
                phase => format!("phase{}", phase.as_number()?),
            };
            format!(".kamiflow/checkpoints/{workflow}-checkpoint-{phase}.json")
        }
        Dialect::Dotagent => "memory/state/phase.json".to_owned(),
        Dialect::ClaudeDir => {
            let given_up =
                matches!(checkpoint.content.status, WorkflowStatus::Failed | WorkflowStatus::Abandoned);
            let failed = if given_up { "failed/" } else { "" };
            format!(".claude/checkpoints/{failed}{}.json", safe(main.get("checkpoint_id")?.as_str()?)?)
        }
        Dialect::ClaudePlan => format!(".claude/data/checkpoints/{workflow}.json"),
        Dialect::Crunch => {
            let id = safe(main.get("checkpoint_id")?.as_str()?)?;
            format!(".claude/crunch/{workflow}/checkpoints/{id}.yaml")
        }
        Dialect::Ckpt | Dialect::Generic => return None,
    })
}

/// Returns the index that crunch keeps beside its checkpoints, and the link to the newest of them.
fn index(named: &IndexMap<String, (DialectFiles, Handle)>, newest: &Checkpoint) -> Option<[ExportFile; 2]> {
    let (path, (DialectFiles { main, .. }, _)) = named.last()?;
    let (dir, name) = path.rsplit_once('/')?;
    let entries: Vec<&Value> = named.values().filter_map(|(files, _)| files.companion.as_ref()).collect();
    let index = json!({
        "issue_number": main.get("issue_number"),
        "checkpoints": entries,
        "latest": main.get("checkpoint_id"),
        "total_checkpoints": entries.len(),
    });
    let file = |name: &str, content: FileContent| ExportFile {
        path: format!("{dir}/{name}"),
        content,
        source: newest.handle(),
    };
    let index = FileContent::Bytes(to_yaml(&index).into_bytes());
    Some([file("index.yaml", index), file("latest", FileContent::Link(name.to_owned()))])
}

/// Returns a text from a document in a form that is safe in a file name.
fn safe(text: &str) -> Option<String> {
    match text.parse::<WorkflowId>() {
        Ok(id) => Some(id.to_string()),
        Err(invalid) => invalid.suggestion,
    }
}

fn json(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}
