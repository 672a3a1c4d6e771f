//! The files of a dialect and their names.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use super::error::ExportError;
use super::index;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::dialects::{CheckpointPart, Dialect, DialectFiles, to_yaml};
use crate::core::store::Stored;
use crate::core::workflow_id::WorkflowId;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// The path below the target directory, with `/` between the parts.
    pub path: String,
    /// The content.
    pub content: FileContent,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// The bytes of a file.
    Bytes(Vec<u8>),
    /// A symbolic link to another file of the directory.
    Link(String),
    /// The bytes of a file that several checkpoints share: it is always replaced.
    Shared(Vec<u8>),
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// The files.
    pub files: Vec<ExportFile>,
    /// The parts of the checkpoints that the dialect has no place for.
    pub left_out: BTreeSet<CheckpointPart>,
}

/// Returns true if a dialect keeps a file for each checkpoint, so that the whole history is exported.
#[must_use]
pub fn is_history(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Kamiflow | Dialect::Crunch)
}

/// Returns the files of these checkpoints of one workflow, the newest last. `index` returns the current content of a
/// shared file.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn files(
    dialect: Dialect,
    checkpoints: &[Stored],
    project: &Path,
    index: impl Fn(&str) -> Option<Value>,
) -> Result<Export, ExportError> {
    let mut files: Vec<ExportFile> = Vec::new();
    let mut left_out = BTreeSet::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut add = |path: String, content: FileContent| match places.get(&path) {
        // Two checkpoints of one phase have the same path; the later one replaces the earlier.
        Some(place) => files[*place].content = content,
        None => {
            places.insert(path.clone(), files.len());
            files.push(ExportFile { path, content });
        }
    };
    let mut entries = Vec::new();
    let mut last = None;
    for Stored { checkpoint, bytes, .. } in checkpoints {
        if dialect == Dialect::Ckpt {
            let name = format!("{}-{}.ckpt.json", checkpoint.workflow, checkpoint.seq);
            add(name, FileContent::Bytes(bytes.clone()));
            continue;
        }
        let refused = || ExportError::NotExpressible(checkpoint.handle(), dialect);
        let written = dialect.write(checkpoint, project).ok_or_else(refused)?;
        left_out.extend(dialect.left_out(&written, checkpoint, project));
        let DialectFiles { main, companion } = written;
        let path = name(dialect, checkpoint, &main).ok_or_else(refused)?;
        match (dialect, companion) {
            (Dialect::Dotagent, Some(tasks)) => {
                add("memory/state/execution.json".to_owned(), FileContent::Bytes(json(&tasks)));
            }
            (Dialect::Crunch, entry) => {
                entries.extend(entry);
                last = Some((path.clone(), main.get("issue_number").cloned().unwrap_or_default()));
            }
            _ => {}
        }
        let text = if dialect == Dialect::Crunch { to_yaml(&main).into_bytes() } else { json(&main) };
        add(path, FileContent::Bytes(text));
    }
    if let Some(((dir, name), issue)) =
        last.as_ref().and_then(|(path, issue)| Some((path.rsplit_once('/')?, issue)))
    {
        let path = format!("{dir}/index.yaml");
        let index = index::update(index(&path), issue, entries);
        add(path, FileContent::Shared(to_yaml(&index).into_bytes()));
        add(format!("{dir}/latest"), FileContent::Link(name.to_owned()));
    }
    Ok(Export { files, left_out })
}

/// Returns the path of a checkpoint in its dialect.
fn name(dialect: Dialect, checkpoint: &Checkpoint, main: &Value) -> Option<String> {
    let workflow = &checkpoint.workflow;
    Some(match dialect {
        Dialect::Kamiflow => {
            let phase = match (checkpoint.content.status, main.get("phase")?.as_str()) {
                (WorkflowStatus::Complete, _) => "complete".to_owned(),
                (_, Some(phase)) => format!("phase{}", safe(&phase.to_lowercase())?),
                (_, None) => format!("phase{}", main.get("phase")?.as_number()?),
            };
            format!(".kamiflow/checkpoints/{workflow}-checkpoint-{phase}.json")
        }
        Dialect::Dotagent => "memory/state/phase.json".to_owned(),
        Dialect::ClaudeDir => {
            let failed = if checkpoint.content.status == WorkflowStatus::Failed { "failed/" } else { "" };
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
