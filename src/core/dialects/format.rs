//! The trait that every dialect implements: how its files are recognised, read, written and laid out.

use serde_json::Value;

use super::draft::Draft;
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::workflow_id::WorkflowId;

/// A file format of another system. All methods are pure.
pub(super) trait Format: Sync {
    /// Returns its name and where its files are.
    fn about(&self) -> About;

    /// True if a document has the members by which the dialect can be told from all others.
    fn recognises(&self, main: &Value) -> bool;

    /// Reads a document, and the second file if the dialect has one.
    fn read(&self, main: &Value, companion: Option<&Value>, log: &mut ReadLog<'_>) -> Draft;

    /// Writes the members that a checkpoint determines, in the spelling of the imported files; `None` if the dialect is
    /// only read.
    fn write(&self, _checkpoint: &Checkpoint, _imported: Option<&DialectFiles>) -> Option<DialectFiles> {
        None
    }

    /// Returns the path in a document of the one file that it points at, which has the rest of its content.
    fn follows<'v>(&self, _main: &'v Value) -> Option<&'v str> {
        None
    }

    /// Returns the second file of a checkpoint.
    fn companion(&self) -> Option<&'static Companion> {
        None
    }

    /// Returns how the written files lie in a project; `None` if the dialect is only read.
    fn layout(&self) -> Option<&'static Layout> {
        None
    }

    /// Returns members of the state that the document has under the same name, and the object that has them.
    fn native_members(&self) -> (&'static [&'static str], &'static str) {
        (&[], "")
    }

    /// True if the whole checkpoint may be carried in a member `ckpt` of the document.
    fn carries(&self) -> bool {
        self.layout().is_some()
    }
}

/// The name of a dialect, and where its files are.
pub(super) struct About {
    /// The name in files and on the command line.
    pub(super) word: &'static str,
    /// The system and its file in a few words, for lists.
    pub(super) text: &'static str,
    /// The places in a project where the system keeps its files: files and directories; `*` is any directory.
    pub(super) places: &'static [&'static str],
}

/// The second file that some systems keep beside a checkpoint.
#[derive(Debug)]
pub struct Companion {
    /// Its key in the state of an imported checkpoint.
    pub key: &'static str,
    /// Its names; the first one is written.
    pub names: &'static [&'static str],
    /// True if it is an index of many checkpoints, of which an entry belongs to each.
    pub is_index: bool,
}

/// The subject of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePer {
    /// A workflow.
    Workflow,
    /// A phase that has begun.
    Phase,
    /// A checkpoint.
    Checkpoint,
}

/// How the files of a system lie in a project.
#[derive(Debug)]
pub struct Layout {
    /// The directory that holds all of them; empty for the project itself.
    pub directory: &'static str,
    /// The subject of one file.
    pub per: FilePer,
    /// True if the files are YAML instead of JSON.
    pub yaml: bool,
    /// True if a copy can be kept for the system.
    pub mirrored: bool,
    /// The one place for the state of all workflows, if the system has no other.
    pub slot: Option<&'static str>,
    /// The directory for what is over, below the one of the file.
    pub archive: Option<&'static str>,
    /// The directory for what has failed, below the one of the files.
    pub failed: Option<&'static str>,
    /// Returns the path of a checkpoint; `complete` is true for the last one of a completed workflow.
    pub path: fn(checkpoint: &Checkpoint, main: &Value, complete: bool) -> Option<String>,
    /// True if the system has files of a workflow, which may be archived.
    pub is_shown: fn(newest: &Checkpoint, archived: bool) -> bool,
    /// Returns what the system derives from its files: an index, or a link to the newest.
    pub derived: Option<Derive>,
}

/// Derives files from the paths and the contents of others.
pub type Derive = fn(files: &[(&str, &DialectFiles)]) -> Vec<Derived>;

/// A file that a system derives from the others.
#[derive(Debug)]
pub enum Derived {
    /// A document at a path.
    Document(String, Value),
    /// A link at a path, to another file of its directory.
    Link(String, String),
}

impl Layout {
    /// A layout of one JSON file per workflow, of which no copy is kept.
    pub(super) const PLAIN: Self = Self {
        directory: "",
        per: FilePer::Workflow,
        yaml: false,
        mirrored: false,
        slot: None,
        archive: None,
        failed: None,
        path: |_, _, _| None,
        is_shown: |_, archived| !archived,
        derived: None,
    };

    /// Returns true if there is a file for each checkpoint or each phase.
    #[must_use]
    pub fn has_history(&self) -> bool {
        self.per != FilePer::Workflow
    }
}

/// Returns a text from a document in a form that is safe in a file name.
pub(super) fn file_name(text: &str) -> Option<String> {
    match text.parse::<WorkflowId>() {
        Ok(id) => Some(id.to_string()),
        Err(invalid) => invalid.suggestion,
    }
}

/// True if nobody goes on with a workflow.
pub(super) fn is_given_up(checkpoint: &Checkpoint) -> bool {
    matches!(checkpoint.content.status, WorkflowStatus::Failed | WorkflowStatus::Abandoned)
}
