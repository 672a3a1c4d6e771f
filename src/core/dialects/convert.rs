//! The one place that knows every dialect: recognising, reading and writing.
//!
//! A checkpoint that was imported keeps the document it came from in its state, under the name of the dialect. Writing
//! brings that document up to date: only what differs from the checkpoint it once was is rewritten. So a document that
//! was imported and not changed is exported as the same JSON value, whatever it contains. What was changed is read once
//! more before it is given out, so that it says what the checkpoint says.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::merge::three_way;
use super::reading::{Notes, Papers, Reading};
use super::source::{Document, Notation};
use super::{claude_dir, claude_plan, crunch, dotagent, generic, kamiflow, own};
use crate::core::checkpoint::Checkpoint;
use crate::core::json::{Json, overlay};
use crate::core::time::Timestamp;

impl Dialect {
    /// Recognises whose document this is by what is in it.
    #[must_use]
    pub fn detect(main: &Value) -> Self {
        let recognised = |dialect: &Self| match dialect {
            Self::Ckpt => own::recognises(main),
            Self::Kamiflow => kamiflow::recognises(main),
            Self::Dotagent => dotagent::recognises(main),
            Self::Crunch => crunch::recognises(main),
            Self::ClaudeDir => claude_dir::recognises(main),
            Self::ClaudePlan => claude_plan::recognises(main),
            Self::Generic => true,
        };
        Self::ALL.into_iter().find(recognised).unwrap_or(Self::Generic)
    }

    /// Says in our words what a foreign checkpoint says.
    #[must_use]
    pub fn read(self, document: &Document, beside: Option<&Value>) -> Reading {
        let mut notes = Notes::on(document);
        let main = &document.value;
        let draft = match self {
            Self::Ckpt => own::read(main, &mut notes),
            Self::Kamiflow => kamiflow::read(main, &mut notes),
            Self::Dotagent => dotagent::read(main, beside, &mut notes),
            Self::Crunch => crunch::read(main, beside, &mut notes),
            Self::ClaudeDir => claude_dir::read(main, &mut notes),
            Self::ClaudePlan => claude_plan::read(main, &mut notes),
            Self::Generic => generic::read(main, &mut notes),
        };
        let Notes { origins, findings, .. } = notes;
        Reading { dialect: self, draft, origins, findings }
    }

    /// Writes a checkpoint as this dialect does; none for one that cannot be written. Paths in a document that was
    /// imported are those of `project`.
    #[must_use]
    pub fn write(self, checkpoint: &Checkpoint, project: &Path) -> Option<Papers> {
        let Some(original) = self.kept(checkpoint) else { return self.render(checkpoint, None) };
        let shape = original.main.clone();
        let now = self.render(checkpoint, Some(&shape))?;
        let retold = |papers: &Papers| self.retell(papers, &shape, checkpoint, project);
        let (_, before) = retold(&original)?;
        if before == now {
            return Some(original);
        }
        let beside = match (original.beside, &before.beside, &now.beside) {
            (original, before, now) if before == now => original,
            (Some(original), Some(before), Some(now)) => Some(three_way(original, before, now)),
            (_, _, now) => now.clone(),
        };
        let mut merged = Papers { main: three_way(original.main, &before.main, &now.main), beside };
        // Members that only make sense together may have moved apart: a pointer was rewritten, but the list it goes
        // with was not, because it was wrong before. Then everything that is known is written anew.
        if retold(&merged)? != retold(&now)? {
            overlay(&mut merged.main, now.main);
            if let (Some(merged), Some(now)) = (&mut merged.beside, now.beside) {
                overlay(merged, now);
            }
        }
        Some(merged)
    }

    /// The papers that the checkpoint was imported from.
    fn kept(self, checkpoint: &Checkpoint) -> Option<Papers> {
        if self == Self::Ckpt {
            return None;
        }
        let mut state = checkpoint.state.to_value().ok()?;
        let mut stored = |key: &str| state.as_object_mut().and_then(|state| state.shift_remove(key));
        Some(Papers { main: stored(self.word())?, beside: self.beside_key().and_then(stored) })
    }

    /// How papers would be written that were imported in place of the checkpoint, and not changed; and their time.
    fn retell(
        self,
        papers: &Papers,
        shape: &Value,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> Option<(Option<Timestamp>, Papers)> {
        let document =
            Document { notation: Notation::Json, value: papers.main.clone(), lines: BTreeMap::new() };
        let draft = self.read(&document, papers.beside.as_ref()).draft;
        let state = Json::Given(self.keep(papers.clone()));
        let then = draft.assemble(Checkpoint { state, ..checkpoint.clone() }, project);
        let rendered = self.render(&then, Some(shape))?;
        Some((draft.recorded_at, rendered))
    }

    /// Renders what the checkpoint says. For one that was imported, `original` shows how its document spells things
    /// and which of them it says twice.
    fn render(self, checkpoint: &Checkpoint, original: Option<&Value>) -> Option<Papers> {
        let alone = |main: Value| Papers { main, beside: None };
        Some(match self {
            Self::Ckpt => alone(own::write(checkpoint)?),
            Self::Kamiflow => alone(kamiflow::write(checkpoint)),
            Self::Dotagent => dotagent::write(checkpoint),
            Self::Crunch => crunch::write(checkpoint, original),
            Self::ClaudeDir => alone(claude_dir::write(checkpoint, original)),
            Self::ClaudePlan => alone(claude_plan::write(checkpoint)),
            Self::Generic => return None,
        })
    }

    /// The state of a checkpoint that was made from these papers: the papers themselves.
    #[must_use]
    pub fn keep(self, papers: Papers) -> Value {
        let mut state = Map::from_iter([(self.word().to_owned(), papers.main)]);
        if let (Some(key), Some(beside)) = (self.beside_key(), papers.beside) {
            state.insert(key.to_owned(), beside);
        }
        Value::Object(state)
    }

    fn beside_key(self) -> Option<&'static str> {
        match self {
            Self::Dotagent => Some("dotagent-execution"),
            Self::Crunch => Some("crunch-index"),
            _ => None,
        }
    }
}
