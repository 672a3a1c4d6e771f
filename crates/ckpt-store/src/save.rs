//! Saving a change to a workflow.

use std::path::Path;

use super::artifact::{self, ArtifactError};
use super::capture::{Capture, Captured};
use super::git::Checkout;
use super::observe::{observed_run, reconcile_tasks};
use crate as store;
use crate::{Decision, Disk, Error, ObjectContent, Store};
use ckpt_model::change::{Change, ChangeError, MAX_TEXT_BYTES, MAX_TITLE_BYTES, Stamp, check_fact, refuse_secret};
use ckpt_model::checkpoint::{Checkpoint, Content, GitContext, Next, SaveKey, WorkflowStatus, Writer};
use ckpt_model::config::Config;
use ckpt_model::digest::Digest;
use ckpt_model::name::check_name;
use ckpt_model::phase::PhaseStatus;
use ckpt_model::schema::{self, Steps};
use ckpt_model::selector::Handle;
use ckpt_model::time::Timestamp;
use ckpt_model::trigger::Trigger;
use ckpt_model::workflow_id::WorkflowId;

/// The number of keys that a checkpoint lists. Older ones are searched for in the history.
pub const LISTED_KEYS: usize = 64;

/// The parts of a request to save that are checked before a [`Save`] is made.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The workflow.
    pub workflow: &'a WorkflowId,
    /// The key of the save.
    pub key: Option<&'a str>,
    /// The directory that the paths of artifacts are relative to.
    pub base: &'a Path,
    /// Keep secrets instead of replacing them.
    pub allow_secrets: bool,
    /// Keep the contents of artifacts, whatever the settings say.
    pub capture: bool,
}

/// The results of preparing a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The JSON pointers of the replaced secrets.
    pub redactions: Vec<String>,
    /// The contents of artifacts to keep.
    pub captured: Captured,
}

impl Request<'_> {
    /// Takes the steps that every save begins with: replaces secrets in the change, refuses secrets in names, hashes the
    /// artifacts, and reads those whose content is kept. Nothing is written.
    ///
    /// # Errors
    /// A name looks like a secret, or an artifact cannot be recorded.
    pub fn prepare<D: Disk, E>(&self, store: &Store<D>, change: &mut Change, config: &Config) -> Result<Prepared, E>
    where
        E: From<ChangeError> + From<ArtifactError> + From<Error>,
    {
        let mut redactions = Vec::new();
        if !self.allow_secrets {
            redactions = change.redact()?;
            refuse_secret("the id of the workflow", self.workflow.as_str())?;
            refuse_secret("the key", self.key.unwrap_or_default())?;
        }
        let mut capture = (self.capture || config.capture())
            .then(|| Capture::new(store, config.capture_limits(), self.allow_secrets));
        artifact::record::<D, E>(
            store.project(),
            self.base,
            &mut change.artifacts,
            config.max_artifact(),
            capture.as_mut(),
        )?;
        if let Some(content) = &mut change.replace {
            store.check_captured(&mut content.artifacts)?;
        }
        if !self.allow_secrets {
            // An artifact is recorded under the path that its links lead to, which was not checked yet.
            change.refuse_secret_names()?;
        }
        Ok(Prepared { redactions, captured: capture.map(Capture::finish).unwrap_or_default() })
    }
}

/// A change to a workflow, and the conditions under which it is saved.
#[derive(Debug, Clone)]
#[must_use = "nothing is saved before `to` is called"]
pub struct Save<'a> {
    workflow: &'a WorkflowId,
    change: &'a Change,
    stamp: &'a Stamp,
    config: &'a Config,
    expect: Option<u64>,
    key: Option<&'a str>,
    if_changed: bool,
    fresh: bool,
    contents: &'a [ObjectContent],
}

/// The outcome of a save.
#[derive(Debug)]
pub enum Outcome {
    /// This checkpoint was written, and survives a power loss.
    Written(Box<Checkpoint>),
    /// This checkpoint was written as well, and continues a workflow that was archived.
    Reopened(Box<Checkpoint>),
    /// Nothing was written: the same save was made before under the same key, with this number.
    Repeated(u64),
    /// Nothing was written: the checkpoint of this number has the same content.
    Unchanged(u64),
    /// Nothing was written: the trigger is switched off in the settings.
    TriggerOff {
        /// The trigger.
        trigger: Trigger,
        /// The number of the newest checkpoint.
        newest: Option<u64>,
    },
}

impl Outcome {
    /// The number that was written or, if none was, of the checkpoint that stands for the save.
    #[must_use]
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Written(checkpoint) | Self::Reopened(checkpoint) => Some(checkpoint.seq),
            Self::Repeated(seq) | Self::Unchanged(seq) => Some(*seq),
            Self::TriggerOff { newest, .. } => *newest,
        }
    }

    /// The checkpoint that was written, if one was.
    #[must_use]
    pub fn written(&self) -> Option<&Checkpoint> {
        match self {
            Self::Written(checkpoint) | Self::Reopened(checkpoint) => Some(checkpoint),
            Self::Repeated(_) | Self::Unchanged(_) | Self::TriggerOff { .. } => None,
        }
    }
}

impl<'a> Save<'a> {
    /// Prepares an unconditional save.
    pub fn new(workflow: &'a WorkflowId, change: &'a Change, stamp: &'a Stamp, config: &'a Config) -> Self {
        Self {
            workflow,
            change,
            stamp,
            config,
            expect: None,
            key: None,
            if_changed: false,
            fresh: false,
            contents: &[],
        }
    }

    /// Refuses the save unless this is the newest number; 0 if there must be no checkpoint yet.
    pub fn expect(mut self, newest: impl Into<Option<u64>>) -> Self {
        self.expect = newest.into();
        self
    }

    /// Names the save, so that the same save under the same key writes no second checkpoint.
    pub fn key(mut self, key: impl Into<Option<&'a str>>) -> Self {
        self.key = key.into();
        self
    }

    /// Writes nothing if the content stays the same.
    pub fn if_changed(mut self, if_changed: bool) -> Self {
        self.if_changed = if_changed;
        self
    }

    /// Starts over: archives what the workflow has, and makes this the first save of another run.
    pub fn fresh(mut self, fresh: bool) -> Self {
        self.fresh = fresh;
        self
    }

    /// Keeps the contents that the artifacts of the change refer to.
    pub fn contents(mut self, contents: &'a [ObjectContent]) -> Self {
        self.contents = contents;
        self
    }

    /// Saves to a store.
    ///
    /// # Errors
    /// A condition does not hold, the change does not fit the workflow, or the store fails. Nothing was saved then,
    /// except after [`Error::Unconfirmed`].
    pub fn to<D: Disk>(self, store: &Store<D>) -> store::Result<Outcome> {
        self.check_texts()?;
        let request = self.key.map(|key| (key, self.change.fingerprint()));
        if self.fresh && store.head_number(self.workflow)?.is_some() {
            return self.restart(store, request);
        }
        let mut reopens = false;
        let decide = |newest: Option<Box<Checkpoint>>, content_seq| {
            reopens = newest.as_ref().is_some_and(|newest| newest.seq != content_seq);
            self.decide(store, newest, content_seq, request)
        };
        let decision = store.append_with(self.workflow, &self.stamp.save_id, self.contents, decide)?;
        Ok(match decision {
            Decision::Write(checkpoint) if reopens => Outcome::Reopened(checkpoint),
            Decision::Write(checkpoint) => Outcome::Written(checkpoint),
            Decision::Keep(outcome) => outcome,
        })
    }

    /// Returns the outcome that [`to`](Self::to) would have, without writing.
    ///
    /// # Errors
    /// As [`to`](Self::to), except those of writing.
    pub fn preview<D: Disk>(self, store: &Store<D>) -> store::Result<Outcome> {
        self.check_texts()?;
        let request = self.key.map(|key| (key, self.change.fingerprint()));
        let (newest, content_seq) = match store.continued(self.workflow)? {
            Some((newest, content_seq)) => (Some(newest), content_seq),
            None => (None, 0),
        };
        Ok(match self.decide(store, newest, content_seq, request)? {
            Decision::Write(checkpoint) => Outcome::Written(checkpoint),
            Decision::Keep(outcome) => outcome,
        })
    }

    fn restart<D: Disk>(&self, store: &Store<D>, request: Option<(&str, Digest)>) -> store::Result<Outcome> {
        if self.key.is_some() || self.expect.is_some() {
            let newest = store.continued(self.workflow)?.map(|(newest, _)| newest);
            if let Some(repeated) = self.check_conditions(store, newest.as_deref(), request)? {
                return Ok(repeated);
            }
        }
        let begin = |fresh| self.checkpoint(Some(fresh), request, store.project());
        store.restart_with(self.workflow, self.stamp, self.contents, begin).map(Outcome::Written)
    }

    /// Decides on the checkpoint that follows `newest`. `content_seq` is the number that `newest` was saved with, which
    /// differs from its own above a seal.
    fn decide<D: Disk>(
        &self,
        store: &Store<D>,
        newest: Option<Box<Checkpoint>>,
        content_seq: u64,
        request: Option<(&str, Digest)>,
    ) -> store::Result<Decision<Outcome>> {
        if let Some(repeated) = self.check_conditions(store, newest.as_deref(), request)? {
            return Ok(Decision::Keep(repeated));
        }
        let trigger = self.change.trigger();
        if !self.change.is_decision() && !self.config.wants(&trigger) {
            let newest = newest.map(|_| content_seq);
            return Ok(Decision::Keep(Outcome::TriggerOff { trigger, newest }));
        }
        let before = if self.if_changed { newest.clone() } else { None };
        let next = self.checkpoint(newest, request, store.project())?;
        if before.is_some_and(|before| adds_nothing(before, &next)) {
            return Ok(Decision::Keep(Outcome::Unchanged(content_seq)));
        }
        Ok(Decision::Write(next))
    }

    /// Checks the key and the expectation. Returns the outcome if the save was made before under the same key.
    fn check_conditions<D: Disk>(
        &self,
        store: &Store<D>,
        newest: Option<&Checkpoint>,
        request: Option<(&str, Digest)>,
    ) -> store::Result<Option<Outcome>> {
        let newest_seq = newest.map_or(0, |newest| newest.seq);
        // The key is checked before the expectation, which held when the save was first made.
        if let (Some((key, request)), Some(newest)) = (request, newest)
            && let Some(used) = find_key(store, newest, key)?
        {
            if used.request == request {
                return Ok(Some(Outcome::Repeated(used.seq)));
            }
            let handle = Handle::new(self.workflow, used.seq);
            return Err(Error::KeyReused { key: key.to_owned(), handle });
        }
        if let Some(expected) = self.expect
            && expected != newest_seq
        {
            let newest = (newest_seq > 0).then(|| Handle::new(self.workflow, newest_seq));
            return Err(Error::Conflict { expected: Handle::new(self.workflow, expected), newest });
        }
        Ok(None)
    }

    /// Returns the checkpoint that follows `newest`, with the key of the save.
    fn checkpoint(
        &self,
        newest: Option<Box<Checkpoint>>,
        request: Option<(&str, Digest)>,
        project: &Path,
    ) -> store::Result<Box<Checkpoint>> {
        let newest = newest.map(|newest| self.reconciled(newest, project));
        let mut next = self.change.apply(self.workflow, newest, self.stamp)?;
        if !self.change.labels.is_empty() {
            self.replace_exclusive_labels(&mut next.content);
        }
        self.check_data(&next)?;
        self.follow_outputs(&mut next.content, project);
        self.watch(&mut next, project);
        if let Some((key, request)) = request {
            let surplus = (next.keys.len() + 1).saturating_sub(LISTED_KEYS);
            next.keys.drain(..surplus);
            next.keys.push(SaveKey { key: key.to_owned(), seq: next.seq, request, extra: Default::default() });
        }
        Ok(next)
    }

    /// Takes away the labels that a new one replaces: of those with a prefix such as `state:`, a workflow has only one, if
    /// its pipeline declares so.
    fn replace_exclusive_labels(&self, content: &mut Content) {
        let Some(pipeline) = &content.pipeline else { return };
        for prefix in self.config.exclusive_labels(pipeline) {
            if let Some(newest) = self.change.labels.iter().rfind(|label| label.starts_with(&prefix)) {
                content.labels.retain(|label| label == newest || !label.starts_with(&prefix));
            }
        }
    }

    /// Records what `resume` sees: a running task whose output is there has ended, unless the session that began it goes on.
    fn reconciled(&self, mut newest: Box<Checkpoint>, project: &Path) -> Box<Checkpoint> {
        let session = &newest.writer.session;
        let goes_on = session.is_some() && *session == self.stamp.writer.session;
        if !goes_on && self.change.back_to.is_none() {
            reconcile_tasks(&mut newest.content.tasks, project, self.stamp.now);
        }
        newest
    }

    /// Records the next phase that `resume` names: an output that is there may stand for a phase, and one that is missing may
    /// hold it back. An action that the save names stays with the phase that it was named for.
    fn follow_outputs(&self, content: &mut Content, project: &Path) {
        let has_outputs = content.phases.iter().any(|phase| !phase.outputs.is_empty());
        if !has_outputs || self.change.next_action.is_some() || content.status != WorkflowStatus::InProgress {
            return;
        }
        let next = observed_run(content, project).next();
        let phase = |next: &Option<Next>| next.as_ref().and_then(|next| next.phase.clone());
        if phase(&next) != phase(&content.next) {
            content.next = next;
        }
    }

    /// Looks at the files that the pipeline declares as watched, beside those of the settings. Those that a project does not
    /// have are not recorded: nobody asked for them there.
    fn watch(&self, next: &mut Checkpoint, project: &Path) {
        let Some(pipeline) = &next.content.pipeline else { return };
        let mut paths = self.config.watched_by(pipeline);
        paths.retain(|path| !self.stamp.watched.iter().any(|file| file.path == *path));
        let watched = &mut next.context.watched;
        watched.retain(|file| !paths.contains(&file.path));
        let present = artifact::watch(project, &paths, self.config.max_artifact());
        watched.extend(present.into_iter().filter(|file| file.sha256.is_some()));
    }

    /// Checks the data of the phase: against the schema that the pipeline declares for it, and whether it has what a
    /// complete phase must have.
    fn check_data(&self, next: &Checkpoint) -> store::Result<()> {
        let (Some(id), Some(pipeline)) = (&next.content.phase, &next.content.pipeline) else {
            return Ok(());
        };
        let Some(phase) = next.content.find_phase(id) else { return Ok(()) };
        let mut violations = Vec::new();
        if !self.change.data.is_empty()
            && let Some(data) = &phase.data
            && let Some(schema) = self.config.data_schema(pipeline, id)
        {
            let checked = match data.to_value() {
                Ok(data) => schema::validate(&schema, &data, &mut Steps::default()).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            violations = checked.unwrap_or_else(|message| vec![schema::Violation { pointer: String::new(), message }]);
        }
        let is_reported = self.change.phase.is_some() || !self.change.data.is_empty();
        if is_reported && phase.status == PhaseStatus::Complete {
            violations.extend(phase.missing_data().into_iter().map(|member| schema::Violation {
                pointer: format!("/{member}"),
                message: "is missing, and a complete phase has it".to_owned(),
            }));
        }
        if violations.is_empty() {
            return Ok(());
        }
        Err(Error::InvalidData { phase: id.to_string(), pipeline: pipeline.clone(), violations })
    }

    fn check_texts(&self) -> store::Result<()> {
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
            if has_nul(text.as_ref()) {
                return Err(ChangeError::Nul { what }.into());
            }
        }
        if let Some(content) = &change.replace {
            if content.next.as_ref().is_some_and(|next| has_nul(next.action.as_ref())) {
                return Err(ChangeError::Nul { what: "next action" }.into());
            }
            if content.phases.iter().any(|phase| has_nul(phase.action.as_ref())) {
                return Err(ChangeError::Nul { what: "action of a phase" }.into());
            }
        }
        for label in &change.labels {
            check_name("a label", label, &[',']).map_err(ChangeError::Name)?;
        }
        for fact in &change.facts {
            check_fact(fact)?;
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

fn has_nul(text: Option<&String>) -> bool {
    text.is_some_and(|text| text.contains('\0'))
}

/// Finds the save under a key: among those that the newest checkpoint lists, or else in the history.
fn find_key<D: Disk>(store: &Store<D>, newest: &Checkpoint, key: &str) -> store::Result<Option<SaveKey>> {
    match newest.keys.iter().find(|used| used.key == key) {
        Some(used) => Ok(Some(used.clone())),
        None => store.find_key(newest, key),
    }
}

/// Returns true if `new` adds nothing to `old`. The writer, time, trigger and commit of a save do not count; a note, a
/// pin or a touched file does.
fn adds_nothing(mut old: Box<Checkpoint>, new: &Checkpoint) -> bool {
    // An error that is reported again is nothing new, although the time of the report differs.
    if let (Some(old), Some(new)) = (&mut old.content.last_error, &new.content.last_error) {
        old.at = new.at;
    }
    let same_note = new.note.is_none() || new.note == old.note;
    let same_files = old.context.touched == new.context.touched;
    same_note && same_files && old.pinned >= new.pinned && old.content == new.content
}

/// Makes the stamp of a save from what only the program can know. `random` tells this save from all others.
#[must_use]
pub fn stamp(
    now: Timestamp,
    random: [u8; 16],
    writer: Writer,
    project: &Path,
    checkout: Option<&Checkout>,
    config: &Config,
) -> Stamp {
    let git = checkout.map(|checkout| {
        let facts = checkout.facts();
        GitContext { branch: facts.branch, commit: facts.commit, extra: Default::default() }
    });
    Stamp {
        now,
        save_id: format!("{:032x}", u128::from_be_bytes(random)),
        writer,
        git,
        watched: artifact::watch(project, config.watched(), config.max_artifact()),
    }
}
