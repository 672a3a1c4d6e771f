//! The files of checkpoints in a dialect, and their names.

use std::collections::HashSet;
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::error::ExportError;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::dialects::{Derived, Dialect, DialectFiles, Document, FilePer, Layout, to_yaml};
use crate::core::digest::Digest;
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::retention::TriggerLimits;
use crate::core::selector::Handle;
use crate::core::store::FileMemo;
use crate::core::trigger::Trigger;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// The path below the target directory, with `/` between the parts.
    pub path: String,
    /// The content.
    pub content: FileContent,
    /// The checkpoint that it is made from; the newest one if there are several.
    pub source: Handle,
    /// The facts about the checkpoint that a mirror keeps; none if the file is derived from others.
    pub memo: Option<FileMemo>,
}

/// A file that was written for an earlier checkpoint of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierFile {
    /// Its path.
    pub path: String,
    /// The facts about the checkpoint that are kept.
    pub memo: FileMemo,
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
    /// The parts of the checkpoints that are lost, in words.
    pub left_out: IndexSet<&'static str>,
}

/// Returns true if a dialect has a file for each checkpoint or each phase.
#[must_use]
pub fn has_history(dialect: Dialect) -> bool {
    dialect.layout().is_some_and(Layout::has_history)
}

/// Returns the files of these checkpoints of one run, the newest last.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn files(dialect: Dialect, run: &[Checkpoint], project: &Path) -> Result<Export, ExportError> {
    Ok(files_after(dialect, &[], run, project)?.0)
}

/// Returns the files that checkpoints of a run, the newest last, add to those of earlier ones, the newest last too; and the
/// paths of the earlier files that stay.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn files_after(
    dialect: Dialect,
    earlier: &[EarlierFile],
    run: &[Checkpoint],
    project: &Path,
) -> Result<(Export, Vec<String>), ExportError> {
    let mut export = Export::default();
    let Some(newest) = run.last() else { return Ok((export, Vec::new())) };
    let layout = dialect.layout().ok_or_else(|| ExportError::NotExpressible(newest.handle(), dialect))?;
    let shown = match layout.per {
        FilePer::Phase => newest_of_each_phase(run),
        FilePer::Checkpoint => run.iter().collect(),
        FilePer::Workflow => vec![newest],
    };
    // Two checkpoints may have the same name in the dialect; the later one counts.
    let mut named: IndexMap<String, (DialectFiles, Option<&Checkpoint>)> = IndexMap::new();
    for EarlierFile { path, memo } in staying(layout, earlier, newest, &shown) {
        let files = DialectFiles { main: Value::Null, companion: memo.entry.clone() };
        named.insert(path.clone(), (files, None));
    }
    for checkpoint in shown {
        let refused = || ExportError::NotExpressible(checkpoint.handle(), dialect);
        let written = dialect.write(checkpoint, project).ok_or_else(refused)?;
        export.left_out.extend(dialect.unseen(&written, checkpoint, project));
        let is_complete = checkpoint.seq == newest.seq && newest.content.status == WorkflowStatus::Complete;
        let path = (layout.path)(checkpoint, &written.main, is_complete).ok_or_else(refused)?;
        named.shift_remove(&path);
        named.insert(path, (written, Some(checkpoint)));
    }
    let encode = |value: &Value| {
        if layout.yaml { to_yaml(value).into_bytes() } else { format!("{value:#}\n").into_bytes() }
    };
    let all: Vec<(&str, &DialectFiles)> =
        named.iter().map(|(path, (files, _))| (path.as_str(), files)).collect();
    let derived = layout.derived.map(|derive| derive(&all)).unwrap_or_default();
    let second =
        dialect.companion().filter(|second| !second.is_index).and_then(|second| second.names.first());
    let mut kept = Vec::new();
    for (path, (DialectFiles { main, companion }, checkpoint)) in named {
        let Some(checkpoint) = checkpoint else {
            kept.push(path);
            continue;
        };
        let source = checkpoint.handle();
        let memo = FileMemo {
            phase: checkpoint.content.phase.clone(),
            trigger: (layout.per == FilePer::Checkpoint).then(|| checkpoint.trigger.clone()),
            packed: false,
            entry: if layout.derived.is_some() { companion.clone() } else { None },
        };
        let memo = layout.has_history().then_some(memo);
        if let (Some(name), Some(companion), Some((dir, _))) = (second, companion, path.rsplit_once('/')) {
            let (path, content) = (format!("{dir}/{name}"), FileContent::Bytes(encode(&companion)));
            export.files.push(ExportFile { path, content, source: source.clone(), memo: memo.clone() });
        }
        export.files.push(ExportFile { path, content: FileContent::Bytes(encode(&main)), source, memo });
    }
    export.files.extend(derived.into_iter().map(|derived| {
        let (path, content) = match derived {
            Derived::Document(path, value) => (path, FileContent::Bytes(encode(&value))),
            Derived::Link(path, to) => (path, FileContent::Link(to)),
        };
        ExportFile { path, content, source: newest.handle(), memo: None }
    }));
    Ok((export, kept))
}

/// Returns the earlier files that the system still has: of a phase, that of its newest checkpoint; of a checkpoint that is
/// not live any more, as long as the limit of its trigger admits it.
fn staying<'e>(
    layout: &Layout,
    earlier: &'e [EarlierFile],
    newest: &Checkpoint,
    shown: &[&Checkpoint],
) -> Vec<&'e EarlierFile> {
    let is_replaced =
        |phase: &PhaseId| shown.iter().any(|checkpoint| checkpoint.content.phase.as_ref() == Some(phase));
    let is_current = |file: &&EarlierFile| {
        file.memo.phase.as_ref().is_some_and(|phase| has_begun(newest, phase) && !is_replaced(phase))
    };
    match layout.per {
        FilePer::Workflow => Vec::new(),
        FilePer::Phase => earlier.iter().filter(is_current).collect(),
        FilePer::Checkpoint => {
            let before = earlier.iter().map(|file| (file.memo.trigger.as_ref(), file.memo.phase.as_ref()));
            let after = shown.iter().map(|new| (Some(&new.trigger), new.content.phase.as_ref()));
            let counted: Vec<_> =
                before.chain(after).map(|(t, p)| (t.unwrap_or(&Trigger::Manual), p)).collect();
            let admitted = TriggerLimits::standard().admit(&counted);
            let kept = earlier.iter().zip(admitted).filter(|(file, admitted)| *admitted || !file.memo.packed);
            kept.map(|(file, _)| file).collect()
        }
    }
}

/// Returns true if a phase is not to do any more.
fn has_begun(newest: &Checkpoint, id: &PhaseId) -> bool {
    newest.content.find_phase(id).is_some_and(|phase| phase.status != PhaseStatus::Pending)
}

/// Returns the newest checkpoint of each phase that has begun, without those that a rollback has undone.
fn newest_of_each_phase(run: &[Checkpoint]) -> Vec<&Checkpoint> {
    let Some(newest) = run.last() else { return Vec::new() };
    let mut shown = Vec::new();
    let mut seen = HashSet::new();
    let mut next = newest.seq;
    for checkpoint in run.iter().rev() {
        if checkpoint.seq > next {
            continue;
        }
        next = checkpoint.copy_of.as_ref().map_or(checkpoint.seq, |copied| copied.seq + 1) - 1;
        let phase = checkpoint.content.phase.as_ref();
        if checkpoint.seq == newest.seq || phase.is_some_and(|id| has_begun(newest, id) && !seen.contains(id))
        {
            seen.extend(phase);
            shown.push(checkpoint);
        }
    }
    shown.reverse();
    shown
}
