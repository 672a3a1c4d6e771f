//! The dispatch to every dialect: detecting, reading and writing.
//!
//! A checkpoint that was imported keeps the files it came from in its state, under the name of the dialect. Writing
//! updates these files: only what differs from the checkpoint at its import is rewritten. So an import without changes
//! is exported as the same JSON value, whatever it contains. A changed document is read again before it is returned, to
//! make sure that it gives the same checkpoint; what it still cannot express is [embedded] in it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::checkpoint_part::CheckpointPart;
use super::dialect::Dialect;
use super::document::{Document, Notation};
use super::merge::three_way;
use super::read_log::ReadLog;
use super::reading::{DialectFiles, Reading};
use super::{ckpt, claude_dir, claude_plan, crunch, dotagent, embedded, generic, kamiflow, native_state};
use crate::core::checkpoint::Checkpoint;
use crate::core::json::{Json, overlay};
use crate::core::time::Timestamp;

impl Dialect {
    /// Detects the dialect of a document from its members.
    #[must_use]
    pub fn detect(main: &Value) -> Self {
        let recognises = |dialect: &Self| match dialect {
            Self::Ckpt => ckpt::recognises(main),
            Self::Kamiflow => kamiflow::recognises(main),
            Self::Dotagent => dotagent::recognises(main),
            Self::Crunch => crunch::recognises(main),
            Self::ClaudeDir => claude_dir::recognises(main),
            Self::ClaudePlan => claude_plan::recognises(main),
            Self::Generic => true,
        };
        Self::ALL.into_iter().find(recognises).unwrap_or(Self::Generic)
    }

    /// Reads a document, and the companion file if the dialect has one.
    #[must_use]
    pub fn read(self, document: &Document, companion: Option<&Value>) -> Reading {
        let mut log = ReadLog::new(document);
        let main = &document.value;
        let mut draft = match self {
            Self::Ckpt => ckpt::read(main, &mut log),
            Self::Kamiflow => kamiflow::read(main, &mut log),
            Self::Dotagent => dotagent::read(main, companion, &mut log),
            Self::Crunch => crunch::read(main, companion, &mut log),
            Self::ClaudeDir => claude_dir::read(main, &mut log),
            Self::ClaudePlan => claude_plan::read(main, &mut log),
            Self::Generic => generic::read(main, &mut log),
        };
        embedded::read(self, main, &mut draft, &mut log);
        let ReadLog { origins, findings, .. } = log;
        Reading { dialect: self, draft, origins, findings }
    }

    /// Writes a checkpoint; `None` if the dialect cannot be written. Absolute paths in imported files are resolved
    /// against `project`.
    #[must_use]
    pub fn write(self, checkpoint: &Checkpoint, project: &Path) -> Option<DialectFiles> {
        let Some(mut original) = self.imported_files(checkpoint) else {
            let files = self.render(checkpoint, None)?;
            return Some(self.embed_missing(files, checkpoint, project));
        };
        let template = original.main.clone();
        let now = self.render(checkpoint, Some(&template))?;
        let (_, at_import) = self.read_back(&original, checkpoint, project);
        let before = self.render(&at_import, Some(&template))?;
        if before == now && embedded::is_same(self, &at_import, checkpoint) {
            return Some(original);
        }
        embedded::remove(self, &mut original.main);
        let companion = match (original.companion, &before.companion, &now.companion) {
            (original, before, now) if before == now => original,
            (Some(original), Some(before), Some(now)) => Some(three_way(original, before, now)),
            (_, _, now) => now.clone(),
        };
        let mut merged = DialectFiles { main: three_way(original.main, &before.main, &now.main), companion };
        // Members that depend on each other may not fit any more: a pointer was rewritten, but the list it points into
        // was not, because it was wrong before. Then every member that the dialect has is rewritten.
        let reread = |files: &DialectFiles| {
            let (recorded_at, checkpoint) = self.read_back(files, checkpoint, project);
            Some((recorded_at, self.render(&checkpoint, Some(&template))?))
        };
        if reread(&merged)? != reread(&now)? {
            overlay(&mut merged.main, now.main);
            if let (Some(merged), Some(now)) = (&mut merged.companion, now.companion) {
                overlay(merged, now);
            }
        }
        Some(self.embed_missing(merged, checkpoint, project))
    }

    /// Returns the parts of a checkpoint that written files do not preserve, embedded data included. The git checkout
    /// is not among them: the system that continues with the files works on its own checkout.
    #[must_use]
    pub fn left_out(
        self,
        files: &DialectFiles,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> Vec<CheckpointPart> {
        let (_, read_back) = self.read_back(files, checkpoint, project);
        let mut parts = CheckpointPart::ALL.to_vec();
        parts.retain(|part| *part != CheckpointPart::Git && !part.is_preserved(checkpoint, &read_back, self));
        parts
    }

    /// Embeds in the main file what the members of the dialect do not express.
    fn embed_missing(self, mut files: DialectFiles, checkpoint: &Checkpoint, project: &Path) -> DialectFiles {
        if self == Self::Ckpt {
            return files;
        }
        let (recorded_at, read_back) = self.read_back(&files, checkpoint, project);
        if let Some(missing) = embedded::collect(self, checkpoint, &read_back, recorded_at) {
            embedded::insert(self, &mut files.main, missing);
        }
        files
    }

    /// Returns the files that the checkpoint was imported from.
    fn imported_files(self, checkpoint: &Checkpoint) -> Option<DialectFiles> {
        if self == Self::Ckpt {
            return None;
        }
        let mut state = checkpoint.content.state.to_value().ok()?;
        let state = state.as_object_mut()?;
        let main = state.shift_remove(self.word())?;
        let companion = self.companion_key().and_then(|key| state.shift_remove(key));
        Some(DialectFiles { main, companion })
    }

    /// Returns the checkpoint that an import of these files in the place of `checkpoint` would be, and the time that
    /// is recorded in them.
    pub(super) fn read_back(
        self,
        files: &DialectFiles,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> (Option<Timestamp>, Checkpoint) {
        let document =
            Document { notation: Notation::Json, value: files.main.clone(), lines: BTreeMap::new() };
        let mut draft = self.read(&document, files.companion.as_ref()).draft;
        draft.content.state = self.imported_state(files.clone(), &draft.content.state);
        (draft.recorded_at, draft.assemble(checkpoint.clone(), project))
    }

    /// Renders the checkpoint. `template` is the main file of the import: its spellings are used, and its duplicate
    /// members are written too.
    fn render(self, checkpoint: &Checkpoint, template: Option<&Value>) -> Option<DialectFiles> {
        let single = |main: Value| DialectFiles { main, companion: None };
        let mut files = match self {
            Self::Ckpt => single(ckpt::write(checkpoint)?),
            Self::Kamiflow => single(kamiflow::write(checkpoint)),
            Self::Dotagent => dotagent::write(checkpoint),
            Self::Crunch => crunch::write(checkpoint, template),
            Self::ClaudeDir => single(claude_dir::write(checkpoint, template)),
            Self::ClaudePlan => single(claude_plan::write(checkpoint, template)),
            Self::Generic => return None,
        };
        native_state::write(self, checkpoint, &mut files.main);
        Some(files)
    }

    /// Returns the state of an imported checkpoint: the state that was embedded in the files, and the files themselves.
    #[must_use]
    pub fn imported_state(self, files: DialectFiles, embedded: &Json) -> Json {
        let mut state = match embedded.to_value() {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        state.insert(self.word().to_owned(), files.main);
        if let (Some(key), Some(companion)) = (self.companion_key(), files.companion) {
            state.insert(key.to_owned(), companion);
        }
        Json::Given(Value::Object(state))
    }

    /// Returns the key of the companion file in the state of an imported checkpoint.
    pub(super) fn companion_key(self) -> Option<&'static str> {
        match self {
            Self::Dotagent => Some("dotagent-execution"),
            Self::Crunch => Some("crunch-index"),
            _ => None,
        }
    }
}
