//! The one place that knows every dialect: recognising, reading and writing.
//!
//! A checkpoint that was imported keeps the document it came from in its state, under the name of the dialect. Writing
//! brings that document up to date: only what differs from the checkpoint it once was is rewritten. So a document that
//! was imported and not changed is exported as the same JSON value, whatever it contains. What was changed is read once
//! more before it is given out, so that it says what the checkpoint says; and what it still does not say is
//! [carried](super::carried) along.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::merge::three_way;
use super::reading::{Notes, Papers, Reading};
use super::source::{Document, Notation};
use super::topic::Topic;
use super::{carried, claude_dir, claude_plan, crunch, dotagent, generic, kamiflow, own};
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
        let mut draft = match self {
            Self::Ckpt => own::read(main, &mut notes),
            Self::Kamiflow => kamiflow::read(main, &mut notes),
            Self::Dotagent => dotagent::read(main, beside, &mut notes),
            Self::Crunch => crunch::read(main, beside, &mut notes),
            Self::ClaudeDir => claude_dir::read(main, &mut notes),
            Self::ClaudePlan => claude_plan::read(main, &mut notes),
            Self::Generic => generic::read(main, &mut notes),
        };
        carried::take_up(self, main, &mut draft, &mut notes);
        let Notes { origins, findings, .. } = notes;
        Reading { dialect: self, draft, origins, findings }
    }

    /// Writes a checkpoint as this dialect does; none for one that cannot be written. Paths in a document that was
    /// imported are those of `project`.
    #[must_use]
    pub fn write(self, checkpoint: &Checkpoint, project: &Path) -> Option<Papers> {
        let Some(mut original) = self.kept(checkpoint) else {
            let papers = self.render(checkpoint, None)?;
            return Some(self.carry(papers, checkpoint, project));
        };
        let shape = original.main.clone();
        let now = self.render(checkpoint, Some(&shape))?;
        let (_, then) = self.told(&original, checkpoint, project);
        let before = self.render(&then, Some(&shape))?;
        if before == now && carried::same(self, &then, checkpoint) {
            return Some(original);
        }
        carried::take_out(self, &mut original.main);
        let retold = |papers: &Papers| {
            let (recorded_at, then) = self.told(papers, checkpoint, project);
            Some((recorded_at, self.render(&then, Some(&shape))?))
        };
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
        Some(self.carry(merged, checkpoint, project))
    }

    /// What a checkpoint says and these papers do not, even if all that can be carried in them is. The git checkout does
    /// not count: whoever goes on with them has one of their own.
    #[must_use]
    pub fn left_out(self, papers: &Papers, checkpoint: &Checkpoint, project: &Path) -> Vec<Topic> {
        let (_, said) = self.told(papers, checkpoint, project);
        let told = |topic: &Topic| *topic == Topic::Git || topic.is_said(&said, checkpoint, self);
        Topic::ALL.into_iter().filter(|topic| !told(topic)).collect()
    }

    /// Adds to papers what they do not say themselves.
    fn carry(self, mut papers: Papers, checkpoint: &Checkpoint, project: &Path) -> Papers {
        if self == Self::Ckpt {
            return papers;
        }
        let (recorded_at, said) = self.told(&papers, checkpoint, project);
        if let Some(rest) = carried::collect(self, checkpoint, &said, recorded_at) {
            carried::put_in(self, &mut papers.main, rest);
        }
        papers
    }

    /// The papers that the checkpoint was imported from.
    fn kept(self, checkpoint: &Checkpoint) -> Option<Papers> {
        if self == Self::Ckpt {
            return None;
        }
        let mut state = checkpoint.content.state.to_value().ok()?;
        let mut stored = |key: &str| state.as_object_mut().and_then(|state| state.shift_remove(key));
        Some(Papers { main: stored(self.word())?, beside: self.beside_key().and_then(stored) })
    }

    /// The checkpoint that these papers would be, imported in place of this one; and the time they say.
    fn told(
        self,
        papers: &Papers,
        checkpoint: &Checkpoint,
        project: &Path,
    ) -> (Option<Timestamp>, Checkpoint) {
        let document =
            Document { notation: Notation::Json, value: papers.main.clone(), lines: BTreeMap::new() };
        let mut draft = self.read(&document, papers.beside.as_ref()).draft;
        draft.content.state = self.keep(papers.clone(), &draft.content.state);
        (draft.recorded_at, draft.assemble(checkpoint.clone(), project))
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
            Self::ClaudePlan => alone(claude_plan::write(checkpoint, original)),
            Self::Generic => return None,
        })
    }

    /// The state of a checkpoint that was made from these papers: the papers themselves, and the state they carry.
    #[must_use]
    pub fn keep(self, papers: Papers, carried: &Json) -> Json {
        let mut state = match carried.to_value() {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        state.insert(self.word().to_owned(), papers.main);
        if let (Some(key), Some(beside)) = (self.beside_key(), papers.beside) {
            state.insert(key.to_owned(), beside);
        }
        Json::Given(Value::Object(state))
    }

    /// Where the second of the papers is kept.
    pub(super) fn beside_key(self) -> Option<&'static str> {
        match self {
            Self::Dotagent => Some("dotagent-execution"),
            Self::Crunch => Some("crunch-index"),
            _ => None,
        }
    }
}
