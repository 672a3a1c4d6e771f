//! Saving: a change, the conditions it is made under, and what became of it.

use super::change::{Change, ChangeError, MAX_TEXT_BYTES, MAX_TITLE_BYTES, Stamp, adds_nothing};
use super::checkpoint::{Checkpoint, SaveKey};
use super::config::Config;
use super::digest::Digest;
use super::name::check_name;
use super::schema;
use super::selector::Handle;
use super::store::{Decision, Disk, Error, Result, Store};
use super::workflow_id::WorkflowId;

/// How many keys of past saves a workflow remembers.
pub const REMEMBERED_KEYS: usize = 128;

/// A save that is asked for.
#[derive(Debug, Clone)]
pub struct Save<'a> {
    /// The workflow.
    pub workflow: &'a WorkflowId,
    /// What changes.
    pub change: &'a Change,
    /// Who saves, when.
    pub stamp: &'a Stamp,
    /// The settings in force.
    pub config: &'a Config,
    /// The number that must be the newest one; 0 if there must be none.
    pub expect: Option<u64>,
    /// Saying the same save again under the same key makes no second checkpoint.
    pub key: Option<&'a str>,
    /// Whether to add nothing when nothing would be new.
    pub if_changed: bool,
}

/// What became of it.
#[derive(Debug)]
pub struct Saved {
    /// The checkpoint that holds the change; none if there is none, or if it has been archived since.
    pub checkpoint: Option<Box<Checkpoint>>,
    /// Its handle.
    pub handle: Option<Handle>,
    /// Whether it was made now.
    pub created: bool,
}

impl Save<'_> {
    /// Saves.
    ///
    /// # Errors
    /// A condition does not hold, the change does not fit, or the store refuses. Nothing was saved then, except where
    /// the error says that it could not be confirmed.
    pub fn to<D: Disk>(&self, store: &Store<D>) -> Result<Saved> {
        self.check_texts()?;
        let request = self.key.map(|key| (key, self.change.fingerprint()));
        let appended = store.append(self.workflow, &self.stamp.save_id, |newest, content_seq| {
            self.decide(newest, content_seq, request)
        })?;
        Ok(match appended {
            Decision::Write(checkpoint) => {
                Saved { handle: Some(checkpoint.handle()), checkpoint: Some(checkpoint), created: true }
            }
            Decision::Keep(None) => Saved { checkpoint: None, handle: None, created: false },
            Decision::Keep(Some(seq)) => {
                let handle = Handle::new(self.workflow, seq);
                let checkpoint = store.load(&handle).ok().map(|stored| stored.checkpoint);
                Saved { checkpoint, handle: Some(handle), created: false }
            }
        })
    }

    fn decide(
        &self,
        newest: Option<Box<Checkpoint>>,
        content_seq: u64,
        request: Option<(&str, Digest)>,
    ) -> Result<Decision<Option<u64>>> {
        let newest_seq = newest.as_ref().map_or(0, |newest| newest.seq);
        // A repeated save is recognised before anything else: its condition was true when it was first made.
        if let (Some((key, request)), Some(newest)) = (request, &newest)
            && let Some(known) = newest.keys.iter().find(|known| known.key == key)
        {
            return if known.request == request {
                Ok(Decision::Keep(Some(known.seq)))
            } else {
                let handle = Handle::new(self.workflow, known.seq);
                Err(Error::KeyReused { key: key.to_owned(), handle })
            };
        }
        if let Some(expected) = self.expect.filter(|expected| *expected != newest_seq) {
            let newest = (newest_seq > 0).then(|| Handle::new(self.workflow, newest_seq));
            return Err(Error::Conflict { expected: Handle::new(self.workflow, expected), newest });
        }
        if !self.change.is_decision() && !self.config.wants(&self.change.trigger()) {
            return Ok(Decision::Keep((newest_seq > 0).then_some(content_seq)));
        }
        let before = self.if_changed.then(|| newest.clone()).flatten();
        let mut next = self.change.apply(self.workflow, newest, self.stamp)?;
        if !self.change.data.is_empty() {
            self.check_data(&next)?;
        }
        if before.is_some_and(|before| adds_nothing(before, &next)) {
            return Ok(Decision::Keep(Some(content_seq)));
        }
        if let Some((key, request)) = request {
            let surplus = (next.keys.len() + 1).saturating_sub(REMEMBERED_KEYS);
            next.keys.drain(..surplus);
            next.keys.push(SaveKey {
                key: key.to_owned(),
                seq: newest_seq + 1,
                request,
                extra: Default::default(),
            });
        }
        Ok(Decision::Write(next))
    }

    /// Checks the data of the phase against the schema that its pipeline declares, if it declares one.
    fn check_data(&self, next: &Checkpoint) -> Result<()> {
        let (Some(phase), Some(pipeline)) = (&next.content.phase, &next.content.pipeline) else {
            return Ok(());
        };
        let Some(data) = next.content.find_phase(phase).and_then(|phase| phase.data.as_ref()) else {
            return Ok(());
        };
        let Some(schema) = self.config.data_schema(pipeline, phase) else { return Ok(()) };
        let violations = match data.to_value() {
            Ok(data) => schema::validate(&schema, &data),
            Err(error) => Err(error.to_string()),
        };
        let one = |message| vec![schema::Violation { pointer: String::new(), message }];
        let violations = violations.unwrap_or_else(one);
        if violations.is_empty() {
            return Ok(());
        }
        Err(Error::InvalidData { phase: phase.to_string(), pipeline: pipeline.clone(), violations })
    }

    fn check_texts(&self) -> Result<()> {
        let change = self.change;
        let texts = [
            ("title", &change.title, MAX_TITLE_BYTES),
            ("note", &change.note, MAX_TEXT_BYTES),
            ("error", &change.error, MAX_TEXT_BYTES),
            ("next action", &change.next_action, MAX_TEXT_BYTES),
        ];
        for (what, text, limit) in texts {
            if text.as_ref().is_some_and(|text| text.len() > limit) {
                return Err(ChangeError::TooLong { what, limit }.into());
            }
        }
        for label in &change.labels {
            check_name("a label", label, &[',']).map_err(ChangeError::Name)?;
        }
        if let Some(key) = self.key {
            check_name("a key", key, &[]).map_err(ChangeError::Name)?;
        }
        if change.artifacts.iter().any(|artifact| artifact.name.len() > MAX_TITLE_BYTES) {
            return Err(ChangeError::TooLong { what: "name of an artifact", limit: MAX_TITLE_BYTES }.into());
        }
        Ok(())
    }
}
