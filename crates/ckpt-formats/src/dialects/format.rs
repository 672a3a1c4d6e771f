//! The parts of a dialect: how its files are recognised, read, written and laid out.

use serde_json::Value;

use super::draft::Draft;
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::workflow_id::WorkflowId;

/// A file format of another system. All functions are pure.
pub(super) struct Format {
    /// The name in files and on the command line.
    pub(super) word: &'static str,
    /// The system and its file in a few words, for lists.
    pub(super) text: &'static str,
    /// The places in a project where the system keeps its files: files and directories; `*` is any directory.
    pub(super) places: &'static [&'static str],
    /// True if a document has the members by which the dialect can be told from all others.
    pub(super) recognises: fn(main: &Value) -> bool,
    /// Reads a document, and the second file if the dialect has one.
    pub(super) read: fn(main: &Value, companion: Option<&Value>, log: &mut ReadLog<'_>) -> Draft,
    /// Writes the members that a checkpoint determines; `None` if the dialect is only read. Lists of things to do are
    /// written into the imported file, whose items have more than a checkpoint does.
    pub(super) write: fn(checkpoint: &Checkpoint, imported: Option<&DialectFiles>) -> Option<DialectFiles>,
    /// How the written files lie in a project; `None` if the dialect is only read.
    pub(super) layout: Option<&'static Layout>,
    /// The second file of a checkpoint.
    pub(super) companion: Option<&'static Companion>,
    /// Returns the path in a document of the one file that it points at, which has the rest of its content.
    pub(super) follows: fn(main: &Value) -> Option<&str>,
    /// Members, in any object of the document, that are written from the checkpoint or not at all: those of an imported
    /// file do not come back.
    pub(super) own: &'static [&'static str],
    /// Members that an imported file keeps as they were.
    pub(super) kept: &'static [&'static str],
}

impl Format {
    /// The rest of a format that is only read: what it is called, where it is and how it is read is to be said.
    pub(super) const ONLY_READ: Self = Self {
        word: "",
        text: "",
        places: &[],
        recognises: |_| false,
        read: |_, _, _| Draft::default(),
        write: |_, _| None,
        layout: None,
        companion: None,
        follows: |_| None,
        own: &[],
        kept: &[],
    };
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
    /// The subject of one file.
    pub per: FilePer,
    /// True if the files are YAML instead of JSON.
    pub yaml: bool,
    /// The directory for what is over, below the one of the file.
    pub archive: Option<&'static str>,
    /// The directory for what has failed, below the one of the files.
    pub failed: Option<&'static str>,
    /// Returns the path of a checkpoint; `complete` is true for the last one of a completed workflow.
    pub path: fn(checkpoint: &Checkpoint, main: &Value, complete: bool) -> Option<String>,
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
    /// A layout of one JSON file per workflow.
    pub(super) const PLAIN: Self =
        Self { per: FilePer::Workflow, yaml: false, archive: None, failed: None, path: |_, _, _| None, derived: None };

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
