//! Reading and writing in any dialect.
//!
//! A checkpoint that was imported keeps the files it came from in its state, under the name of the dialect. Members of
//! these that the dialect does not know are written again; everything else is written from the checkpoint.

use std::path::Path;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::document::Document;
use super::format::Format;
use super::generic;
use super::plausibility;
use super::read_log::ReadLog;
use super::reading::{DialectFiles, Reading};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::json::Json;
use ckpt_model::phase::Phase;

impl Dialect {
    /// Detects the dialect of a document from its members.
    #[must_use]
    pub fn detect(main: &Value) -> Self {
        let mut all = Self::ALL.iter().copied();
        all.find(|dialect| (dialect.format().recognises)(main)).unwrap_or(Self::Generic)
    }

    /// Reads a document, and the companion file if the dialect has one.
    #[must_use]
    pub fn read(self, document: &Document, companion: Option<&Value>) -> Reading {
        let mut log = ReadLog::new(document);
        let main = &document.value;
        let mut draft = (self.format().read)(main, companion, &mut log);
        draft.mentions_work |= self != Self::Generic && (self.format().recognises)(main);
        plausibility::check(main, &draft, &mut log);
        let ReadLog { origins, findings, .. } = log;
        Reading { dialect: self, draft, origins, findings }
    }

    /// Reads the list at a JSON pointer of a document in [`Dialect::Generic`].
    #[must_use]
    pub fn read_list(document: &Document, list: &str) -> Reading {
        let mut log = ReadLog::new(document);
        let draft = generic::read(&document.value, Some(list), &mut log);
        plausibility::check(&document.value, &draft, &mut log);
        let ReadLog { origins, findings, .. } = log;
        Reading { dialect: Self::Generic, draft, origins, findings }
    }

    /// Writes a checkpoint; `None` if the dialect cannot be written.
    #[must_use]
    pub fn write(self, checkpoint: &Checkpoint) -> Option<DialectFiles> {
        let imported = self.imported_files(checkpoint);
        let mut files = (self.format().write)(checkpoint, imported.as_ref())?;
        if let Some(imported) = imported {
            add_unknown(&mut files.main, imported.main, self.format());
        }
        Some(files)
    }

    /// Returns the parts of a checkpoint that its system does not see in these files, in words.
    #[must_use]
    pub fn unseen(self, files: &DialectFiles, checkpoint: &Checkpoint, project: &Path) -> Vec<&'static str> {
        let document = Document::of(files.main.clone());
        let log = &mut ReadLog::new(&document);
        let draft = (self.format().read)(&files.main, files.companion.as_ref(), log);
        let seen = draft.assemble(checkpoint.clone(), project);
        let amounts = |checkpoint: &Checkpoint| {
            let content = &checkpoint.content;
            let approved = |phase: &&Phase| phase.approval.as_ref().is_some_and(|it| it.approved_at.is_some());
            let action = content.next.as_ref().and_then(|next| next.action.as_ref());
            [
                ("the phases", content.phases.len()),
                ("the title", usize::from(content.title.is_some())),
                ("what to do next", usize::from(action.is_some())),
                ("the note", usize::from(checkpoint.note.is_some())),
                ("the tasks", content.tasks.len()),
                ("the artifacts", content.artifacts.len()),
                ("the external facts", content.facts.len()),
                ("the replans", content.replans.len()),
                ("the approvals", content.phases.iter().filter(approved).count()),
                ("the last error", usize::from(content.last_error.is_some())),
                ("the labels", content.labels.len()),
                ("the watched files", checkpoint.context.watched.len()),
                ("the state", self.other_state(checkpoint)),
            ]
        };
        let pairs = amounts(checkpoint).into_iter().zip(amounts(&seen));
        pairs.filter(|((_, all), (_, seen))| seen < all).map(|((part, _), _)| part).collect()
    }

    /// Returns the files that the checkpoint was imported from.
    fn imported_files(self, checkpoint: &Checkpoint) -> Option<DialectFiles> {
        let mut state = checkpoint.content.state.to_value().ok()?;
        let state = state.as_object_mut()?;
        let main = state.shift_remove(self.word())?;
        let companion = self.companion().and_then(|companion| state.shift_remove(companion.key));
        Some(DialectFiles { main, companion })
    }

    /// Counts the members of the state that are not files of this dialect.
    fn other_state(self, checkpoint: &Checkpoint) -> usize {
        let companion = self.companion().map(|companion| companion.key);
        match checkpoint.content.state.to_value().unwrap_or_default() {
            Value::Object(members) => {
                let mut names = members.keys().map(String::as_str).map(Some);
                names.by_ref().filter(|name| *name != Some(self.word()) && *name != companion).count()
            }
            other => usize::from(!other.is_null()),
        }
    }

    /// Returns the state of an imported checkpoint: the files themselves.
    #[must_use]
    pub fn imported_state(self, files: DialectFiles) -> Json {
        let mut state = Map::new();
        state.insert(self.word().to_owned(), files.main);
        if let (Some(second), Some(companion)) = (self.companion(), files.companion) {
            state.insert(second.key.to_owned(), companion);
        }
        Json::Given(Value::Object(state))
    }
}

/// Adds the members of an imported document that were not written, and are not the format's own.
fn add_unknown(written: &mut Value, imported: Value, format: &Format) {
    let (Value::Object(written), Value::Object(imported)) = (written, imported) else { return };
    for (key, value) in imported {
        if format.own.contains(&key.as_str()) {
            continue;
        }
        match written.get_mut(&key) {
            None => drop(written.insert(key, value)),
            Some(there) if format.kept.contains(&key.as_str()) && !value.is_null() => *there = value,
            Some(there) => add_unknown(there, value, format),
        }
    }
}
