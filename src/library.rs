//! The library: save to a store and resume from it, without the command line.
//!
//! Time and randomness are read here, so that the core takes both as parameters.

use std::path::PathBuf;

use serde_json::Value;

use ckpt_model::change::{Change, ChangeError, Edit};
use ckpt_model::checkpoint::{Artifact, Checkpoint, Writer};
use ckpt_model::config::Config;
use ckpt_model::name::InvalidName;
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::pipeline::{Pipeline, PipelineError};
use ckpt_model::resume::{Facts, Resume, evaluate};
use ckpt_model::selector::{Selector, SelectorError};
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::{InvalidId, WorkflowId};
use ckpt_store as store;
use ckpt_store::artifact::ArtifactError;
use ckpt_store::git::Checkout;
use ckpt_store::observe::{Observer, Selected, gather};
use ckpt_store::save::{Outcome, Prepared, Request, Save, stamp};
use ckpt_store::settings_file::{self, ConfigError};
use ckpt_store::{Located, WorkflowRow};

/// A store of checkpoints, its settings, and the git checkout around it.
#[derive(Debug)]
pub struct Store {
    store: store::Store,
    config: Config,
    checkout: Option<Checkout>,
    writer: Writer,
}

/// A failed operation of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The declared phases cannot be used.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A file cannot be recorded.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The id of the workflow cannot be used.
    #[error(transparent)]
    WorkflowId(#[from] InvalidId),
    /// The selector cannot be used.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// The id of a phase cannot be used.
    #[error(transparent)]
    Phase(#[from] InvalidName),
    /// The change cannot be saved.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The operating system has no random bytes.
    #[error("the system gives no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

impl Store {
    /// Opens the store in the directory `root`, usually `PROJECT/.ckpt`, and reads its settings. The first save creates
    /// it if it does not exist.
    ///
    /// # Errors
    /// The path or the settings cannot be used.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let root = root.into();
        let project = match root.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let checkout = Checkout::discover(&project);
        let store = store::Store::at(&Located { root, project })?;
        let config = settings_file::load(&store.config_file())?.unwrap_or_default();
        Ok(Self { store, config, checkout, writer: Writer::default() })
    }

    /// Records this writer in the checkpoints that are saved.
    #[must_use]
    pub fn with_writer(self, writer: Writer) -> Self {
        Self { writer, ..self }
    }

    /// Prepares a save to a workflow; [`SaveBuilder::write`] carries it out.
    pub fn save(&self, workflow: &str) -> SaveBuilder<'_> {
        SaveBuilder {
            store: self,
            workflow: workflow.to_owned(),
            phase: None,
            phases: Vec::new(),
            change: Change::default(),
            expect: None,
            key: None,
            if_changed: false,
            allow_secrets: false,
            capture: false,
        }
    }

    /// Judges where to continue, and whether it is safe. `selector` is a workflow such as `042`, whose newest checkpoint
    /// is judged, or a checkpoint such as `042/7`.
    ///
    /// # Errors
    /// No usable checkpoint is selected, or the store cannot be read.
    pub fn resume(&self, selector: &str) -> Result<Resume, Error> {
        let Selected { checkpoint, selection } = Selected::resolve(&self.store, &selector.parse()?)?;
        let pipeline = checkpoint.content.pipeline.as_deref();
        let observer = Observer {
            project: self.store.project(),
            checkout: self.checkout.as_ref(),
            session: self.writer.session.as_deref(),
            max_file: self.config.max_artifact(),
            current_facts: &[],
            fact_severities: self.config.fact_severities(pipeline),
            kept: Some(&self.store),
        };
        let facts = Facts { selection, ..gather(&checkpoint, &observer) };
        Ok(evaluate(&checkpoint, &facts, &self.config.limits_for(pipeline), now()))
    }

    /// Loads one checkpoint, live or archived.
    ///
    /// # Errors
    /// No usable checkpoint is selected, or the store cannot be read.
    pub fn load(&self, selector: &str) -> Result<Box<Checkpoint>, Error> {
        let selector: Selector = selector.parse()?;
        let handle = self.store.resolve(&selector)?;
        Ok(self.store.load(&handle)?.checkpoint)
    }

    /// Lists the workflows, one row each.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self) -> Result<Vec<WorkflowRow>, Error> {
        Ok(self.store.scan()?)
    }
}

/// A save that is being prepared.
#[derive(Debug)]
#[must_use = "nothing is saved before `write` is called"]
pub struct SaveBuilder<'s> {
    store: &'s Store,
    workflow: String,
    phase: Option<String>,
    phases: Vec<String>,
    change: Change,
    expect: Option<u64>,
    key: Option<String>,
    if_changed: bool,
    allow_secrets: bool,
    capture: bool,
}

impl SaveBuilder<'_> {
    /// Names the phase that this save is about; it is complete unless [`status`](Self::status) says otherwise.
    pub fn phase(mut self, id: &str) -> Self {
        self.phase = Some(id.to_owned());
        self
    }

    /// Sets the status of the phase.
    pub fn status(mut self, status: PhaseStatus) -> Self {
        self.change.status = Some(status);
        self
    }

    /// Declares the phases of the workflow, in order.
    pub fn phases<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        self.phases = ids.into_iter().map(str::to_owned).collect();
        self
    }

    /// Sets the title of the workflow.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.change.title = Some(title.into());
        self
    }

    /// Says what to do next.
    pub fn next(mut self, action: impl Into<String>) -> Self {
        self.change.next_action = Some(action.into());
        self
    }

    /// Adds a remark about this save.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.change.note = Some(note.into());
        self
    }

    /// Merges into the state of the workflow (RFC 7396: `null` removes).
    pub fn state(mut self, patch: Value) -> Self {
        self.change.state.push(Edit::Merge(patch));
        self
    }

    /// Merges into the data of the phase (RFC 7396: `null` removes).
    pub fn data(mut self, patch: Value) -> Self {
        self.change.data.push(Edit::Merge(patch));
        self
    }

    /// Records a file of the project under a name, by size and SHA-256. A relative path starts at the project.
    pub fn artifact(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        self.change.artifacts.push(Artifact::new(name, path));
        self
    }

    /// Edits anything else that a save can change.
    pub fn change(mut self, edit: impl FnOnce(&mut Change)) -> Self {
        edit(&mut self.change);
        self
    }

    /// Refuses the save unless this is the newest number; 0 if there must be no checkpoint yet.
    pub fn expect(mut self, newest: u64) -> Self {
        self.expect = Some(newest);
        self
    }

    /// Names the save, so that the same save under the same key writes no second checkpoint.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Writes nothing if the content stays the same.
    pub fn if_changed(mut self) -> Self {
        self.if_changed = true;
        self
    }

    /// Stores secrets as they are instead of replacing them.
    pub fn allow_secrets(mut self) -> Self {
        self.allow_secrets = true;
        self
    }

    /// Keeps the contents of the recorded files, so that they can be brought back.
    pub fn capture(mut self) -> Self {
        self.capture = true;
        self
    }

    /// Carries out the save. A checkpoint that was written survives a power loss.
    ///
    /// # Errors
    /// A name, a file or a condition is refused, or the store fails. Nothing was saved then, except where the store could
    /// not confirm it.
    pub fn write(self) -> Result<Outcome, Error> {
        let Store { store, config, checkout, writer } = self.store;
        let workflow: WorkflowId = self.workflow.parse()?;
        let mut change = self.change;
        if let Some(phase) = &self.phase {
            change.phase = Some(phase.parse()?);
        }
        if !self.phases.is_empty() {
            let ids: Result<Vec<PhaseId>, _> = self.phases.iter().map(|id| id.parse()).collect();
            change.pipeline = Some(Pipeline::custom(ids?)?);
        }
        let project = store.project();
        let request = Request {
            workflow: &workflow,
            key: self.key.as_deref(),
            base: project,
            allow_secrets: self.allow_secrets,
            capture: self.capture,
        };
        let Prepared { captured, .. } = request.prepare::<_, Error>(store, &mut change, config)?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(Error::NoRandomness)?;
        let stamp = stamp(now(), random, writer.clone(), project, checkout.as_ref(), config);
        let save = Save::new(&workflow, &change, &stamp, config)
            .expect(self.expect)
            .key(self.key.as_deref())
            .if_changed(self.if_changed)
            .contents(&captured.contents);
        let outcome = save.to(store)?;
        if outcome.written().is_some() {
            store.write_seen(&captured.seen, &stamp.save_id);
        }
        Ok(outcome)
    }
}

#[expect(clippy::disallowed_methods, reason = "the library reads the clock here, the command line in `cli::clock`")]
fn now() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}
