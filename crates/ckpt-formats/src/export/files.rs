//! The files of checkpoints in a dialect, and their names.

use std::collections::HashSet;
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::error::ExportError;
use crate::dialects::{Derived, Dialect, DialectFiles, FilePer, to_yaml};
use ckpt_model::checkpoint::{Checkpoint, WorkflowStatus};
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_store::place::{FileContent, NewFile};

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// The files.
    pub files: Vec<NewFile>,
    /// The parts of the checkpoints that are lost, in words.
    pub left_out: IndexSet<&'static str>,
}

/// Returns the files of these checkpoints of one run, the newest last. Paths in `project` are relative to it.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn files(dialect: Dialect, run: &[Checkpoint], project: &Path) -> Result<Export, ExportError> {
    let mut export = Export::default();
    let Some(newest) = run.last() else { return Ok(export) };
    let layout = dialect.layout().ok_or_else(|| ExportError::NotExpressible(newest.handle(), dialect))?;
    let shown = match layout.per {
        FilePer::Phase => newest_of_each_phase(run, newest),
        FilePer::Checkpoint => run.iter().collect(),
        FilePer::Workflow => vec![newest],
    };
    // Two checkpoints may have the same name in the dialect; the later one counts.
    let mut named: IndexMap<String, DialectFiles> = IndexMap::new();
    for checkpoint in shown {
        let refused = || ExportError::NotExpressible(checkpoint.handle(), dialect);
        let written = dialect.write(checkpoint).ok_or_else(refused)?;
        export.left_out.extend(dialect.unseen(&written, checkpoint, project));
        let is_complete = checkpoint.seq == newest.seq && newest.content.status == WorkflowStatus::Complete;
        let path = (layout.path)(checkpoint, &written.main, is_complete).ok_or_else(refused)?;
        named.shift_remove(&path);
        named.insert(path, written);
    }
    let encode = |value: &Value| {
        let text = if layout.yaml { to_yaml(value) } else { format!("{value:#}\n") };
        FileContent::Bytes(text.into_bytes())
    };
    let all: Vec<(&str, &DialectFiles)> = named.iter().map(|(path, files)| (path.as_str(), files)).collect();
    let derived = layout.derived.map(|derive| derive(&all)).unwrap_or_default();
    let second = dialect.companion().filter(|second| !second.is_index);
    let second = second.and_then(|second| second.names.first());
    for (path, DialectFiles { main, companion }) in named {
        if let (Some(name), Some(companion), Some((dir, _))) = (second, companion, path.rsplit_once('/')) {
            export.files.push(NewFile { path: format!("{dir}/{name}"), content: encode(&companion) });
        }
        export.files.push(NewFile { path, content: encode(&main) });
    }
    export.files.extend(derived.into_iter().map(|derived| match derived {
        Derived::Document(path, value) => NewFile { path, content: encode(&value) },
        Derived::Link(path, to) => NewFile { path, content: FileContent::Link(to) },
    }));
    Ok(export)
}

/// Returns the newest checkpoint of each phase that has begun, without those that a rollback has undone.
fn newest_of_each_phase<'r>(run: &'r [Checkpoint], newest: &Checkpoint) -> Vec<&'r Checkpoint> {
    let has_begun =
        |id: &PhaseId| newest.content.find_phase(id).is_some_and(|phase| phase.status != PhaseStatus::Pending);
    let mut shown = Vec::new();
    let mut seen = HashSet::new();
    let mut next = newest.seq;
    for checkpoint in run.iter().rev() {
        if checkpoint.seq > next {
            continue;
        }
        next = checkpoint.copy_of.as_ref().map_or(checkpoint.seq, |copied| copied.seq + 1) - 1;
        let phase = checkpoint.content.phase.as_ref();
        if checkpoint.seq == newest.seq || phase.is_some_and(|id| has_begun(id) && !seen.contains(id)) {
            seen.extend(phase);
            shown.push(checkpoint);
        }
    }
    shown.reverse();
    shown
}
