//! Reading and writing in any dialect.
//!
//! A checkpoint that was imported keeps the files it came from in its state, under the name of the dialect. Writing
//! updates these files: only what differs from the checkpoint at its import is rewritten. So an import without changes
//! is exported as the same JSON value, whatever it contains. What a file cannot say is [carried] in it.

use std::path::Path;

use serde_json::{Map, Value};

use super::carried::{self, Carried};
use super::ckpt;
use super::dialect::Dialect;
use super::document::Document;
use super::draft::Draft;
use super::generic;
use super::merge::three_way;
use super::native_state;
use super::plausibility;
use super::read_log::ReadLog;
use super::reading::{DialectFiles, Reading};
use crate::core::checkpoint::{Checkpoint, Content};
use crate::core::finding::{Code, Severity};
use crate::core::json::{Json, overlay};
use crate::core::phase::Phase;

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
        let carried = carried::find(self, main, companion);
        if matches!(carried, Carried::Changed) {
            let message = "the file was changed after ckpt had written it; what it says itself was read, and what \
                its system has no place for is left out";
            log.finding_at(Severity::Advice, Code::Imported, "/ckpt", message);
        }
        let draft = match carried {
            Carried::Intact(checkpoint) => ckpt::draft(*checkpoint, "/ckpt/checkpoint", &mut log),
            Carried::Absent | Carried::Changed => {
                let mut draft = (self.format().read)(main, companion, &mut log);
                draft.mentions_work |= self != Self::Generic && (self.format().recognises)(main);
                plausibility::check(main, &draft, &mut log);
                draft
            }
        };
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

    /// Writes a checkpoint; `None` if the dialect cannot be written. Absolute paths in imported files are resolved
    /// against `project`.
    #[must_use]
    pub fn write(self, checkpoint: &Checkpoint, project: &Path) -> Option<DialectFiles> {
        let imported = self.imported_files(checkpoint);
        let now = self.render(checkpoint, imported.as_ref())?;
        let mut files = match imported {
            None => now,
            Some(original) => match self.update(original, now, checkpoint, project)? {
                Updated::Unchanged(original) => return Some(original),
                Updated::Changed(files) => files,
            },
        };
        carried::embed(self, &mut files, checkpoint);
        Some(files)
    }

    /// Updates imported files to what is rendered `now`.
    fn update(
        self,
        mut original: DialectFiles,
        now: DialectFiles,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> Option<Updated> {
        let at_import = self.assemble(
            self.read(&document(&original), original.companion.as_ref()).draft,
            &original,
            checkpoint,
            project,
        );
        let before = self.render(&at_import, Some(&original))?;
        if before == now && self.is_same(&at_import, checkpoint) {
            return Some(Updated::Unchanged(original));
        }
        carried::remove(self, &mut original.main);
        let companion = match (original.companion.clone(), &before.companion, &now.companion) {
            (original, before, now) if before == now => original,
            (Some(original), Some(before), Some(now)) => Some(three_way(&original, before, now)),
            (_, _, now) => now.clone(),
        };
        let mut merged = DialectFiles { main: three_way(&original.main, &before.main, &now.main), companion };
        // Members that depend on each other may not fit any more: a pointer was rewritten, but the list it points into
        // was not, because it was wrong before. Then every member that the dialect has is rewritten.
        let reread = |files: &DialectFiles| {
            let draft = self.read_own(files);
            let recorded_at = draft.recorded_at;
            let checkpoint = self.assemble(draft, files, checkpoint, project);
            Some((recorded_at, self.render(&checkpoint, Some(&original))?))
        };
        if reread(&merged)? != reread(&now)? {
            overlay(&mut merged.main, now.main);
            if let (Some(merged), Some(now)) = (&mut merged.companion, now.companion) {
                overlay(merged, now);
            }
        }
        Some(Updated::Changed(merged))
    }

    /// Returns what is lost of a checkpoint in these files, in words: what the system has no place for, unless the
    /// checkpoint is carried whole.
    #[must_use]
    pub fn unseen(self, files: &DialectFiles, checkpoint: &Checkpoint, project: &Path) -> Vec<&'static str> {
        if carried::is_there(self, &files.main) {
            return Vec::new();
        }
        let seen = self.read_back(files, checkpoint, project);
        let (native, _) = self.format().native_members;
        let state = |checkpoint: &Checkpoint| match carried::state_without_files(self, checkpoint) {
            Value::Object(members) => members.keys().filter(|key| !native.contains(&key.as_str())).count(),
            other => usize::from(!other.is_null()),
        };
        let amounts = |checkpoint: &Checkpoint| {
            let content = &checkpoint.content;
            let approved =
                |phase: &&Phase| phase.approval.as_ref().is_some_and(|it| it.approved_at.is_some());
            [
                ("the phases", content.phases.len()),
                ("the title", usize::from(content.title.is_some())),
                (
                    "what to do next",
                    usize::from(content.next.as_ref().is_some_and(|next| next.action.is_some())),
                ),
                ("the note", usize::from(checkpoint.note.is_some())),
                ("the tasks", content.tasks.len()),
                ("the artifacts", content.artifacts.len()),
                ("the external facts", content.facts.len()),
                ("the replans", content.replans.len()),
                ("the approvals", content.phases.iter().filter(approved).count()),
                ("the last error", usize::from(content.last_error.is_some())),
                ("the labels", content.labels.len()),
                ("the watched files", checkpoint.context.watched.len()),
                ("the state", state(checkpoint)),
            ]
        };
        let pairs = amounts(checkpoint).into_iter().zip(amounts(&seen));
        pairs.filter(|((_, all), (_, seen))| seen < all).map(|((part, _), _)| part).collect()
    }

    /// Returns the files that the checkpoint was imported from.
    fn imported_files(self, checkpoint: &Checkpoint) -> Option<DialectFiles> {
        if self == Self::Ckpt {
            return None;
        }
        let mut state = checkpoint.content.state.to_value().ok()?;
        let state = state.as_object_mut()?;
        let main = state.shift_remove(self.word())?;
        let companion = self.companion().and_then(|companion| state.shift_remove(companion.key));
        Some(DialectFiles { main, companion })
    }

    /// Returns the checkpoint that its system sees in these files, in the place of `checkpoint`.
    pub(super) fn read_back(
        self,
        files: &DialectFiles,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> Checkpoint {
        self.assemble(self.read_own(files), files, checkpoint, project)
    }

    /// Reads the members of the dialect, and not what the files carry.
    fn read_own(self, files: &DialectFiles) -> Draft {
        let document = document(files);
        (self.format().read)(&files.main, files.companion.as_ref(), &mut ReadLog::new(&document))
    }

    fn assemble(
        self,
        mut draft: Draft,
        files: &DialectFiles,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> Checkpoint {
        draft.content.state = self.imported_state(files.clone(), &draft.content.state);
        draft.assemble(checkpoint.clone(), project)
    }

    /// Renders the checkpoint, in the spelling of the imported files.
    fn render(self, checkpoint: &Checkpoint, imported: Option<&DialectFiles>) -> Option<DialectFiles> {
        let mut files = (self.format().write)(checkpoint, imported)?;
        native_state::write(self.format().native_members, checkpoint, &mut files.main);
        Some(files)
    }

    /// True if nothing was changed since the import. What an import adds does not count: the digests of files, and what
    /// the files of earlier phases say.
    fn is_same(self, at_import: &Checkpoint, checkpoint: &Checkpoint) -> bool {
        let comparable = |checkpoint: &Checkpoint| {
            let mut content = Content {
                state: Json::Given(carried::state_without_files(self, checkpoint)),
                ..checkpoint.content.clone()
            };
            for artifact in &mut content.artifacts {
                (artifact.size, artifact.sha256) = (None, None);
            }
            content
        };
        let (before, mut now) = (comparable(at_import), comparable(checkpoint));
        for (phase, earlier) in now.phases.iter_mut().zip(&before.phases) {
            let is_implied = earlier.data.is_none() && earlier.completed_at.is_none();
            if is_implied
                && phase.id == earlier.id
                && phase.status == earlier.status
                && phase.status.is_done()
            {
                phase.clone_from(earlier);
            }
        }
        let watched = |checkpoint: &Checkpoint| {
            checkpoint.context.watched.iter().map(|file| file.path.clone()).collect::<Vec<_>>()
        };
        before == now && at_import.note == checkpoint.note && watched(at_import) == watched(checkpoint)
    }

    /// Returns the state of an imported checkpoint: the state that the files carry, and the files themselves.
    #[must_use]
    pub fn imported_state(self, files: DialectFiles, carried: &Json) -> Json {
        let mut state = match carried.to_value() {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        state.insert(self.word().to_owned(), files.main);
        if let (Some(second), Some(companion)) = (self.companion(), files.companion) {
            state.insert(second.key.to_owned(), companion);
        }
        Json::Given(Value::Object(state))
    }
}

/// Imported files, brought up to date.
enum Updated {
    Unchanged(DialectFiles),
    Changed(DialectFiles),
}

fn document(files: &DialectFiles) -> Document {
    Document::of(files.main.clone())
}
