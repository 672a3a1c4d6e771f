//! The context of one run: environment, streams, flags and clock, and how to open the store with them.

use std::path::PathBuf;

use serde_json::Value;

use super::answer::Report;
use super::args::GlobalArgs;
use super::caller::{agent, agent_or_ci};
use super::clock::Clock;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::output::Output;
use ckpt_formats::dialects::Draft;
use ckpt_model::change::Stamp;
use ckpt_model::checkpoint::{Artifact, Checkpoint, Writer};
use ckpt_model::redact::redact_text;
use ckpt_model::resume::{Facts, FileCondition, Resume, evaluate};
use ckpt_model::session_note::SessionNote;
use ckpt_model::text::shell_word;
use ckpt_model::{Config, Timestamp};
use ckpt_store::Error;
use ckpt_store::Store;
use ckpt_store::git::Checkout;
use ckpt_store::observe::{Observer, Selected, gather, sharing};
use ckpt_store::save;
use ckpt_store::settings_file;
use ckpt_store::{HeadMemory, Located, Location, Searcher, locate};

/// The context that every command gets.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) env: Environment,
    pub(crate) output: Output,
    pub(crate) global: GlobalArgs,
    pub(crate) clock: Clock,
    /// The head that was saved last, in a server; a command saves once.
    pub(crate) heads: Option<HeadMemory>,
}

/// A store, its settings, and where it is.
pub(crate) struct Workspace {
    pub(crate) place: Place,
    pub(crate) store: Store,
    pub(crate) config: Config,
    /// The reason why the remote could not be asked, if it was to be asked first.
    pub(crate) remote_problem: Option<String>,
}

impl Workspace {
    /// True if the store exists.
    pub(crate) fn exists(&self) -> bool {
        matches!(self.place.location, Location::Found(_))
    }
}

/// A checkpoint, the facts observed around it, and the verdict.
pub(crate) struct Judgement {
    pub(crate) checkpoint: Box<Checkpoint>,
    pub(crate) facts: Facts,
    pub(crate) resume: Resume,
}

impl Judgement {
    /// Returns the artifacts of the checkpoint, each with its condition now.
    pub(crate) fn artifacts(&self) -> impl Iterator<Item = (&Artifact, FileCondition)> {
        self.checkpoint.content.artifacts.iter().zip(self.facts.artifacts.iter().copied())
    }
}

/// The location of the store, whether it exists or not, and the git checkout around it.
pub(crate) struct Place {
    pub(crate) location: Location,
    pub(crate) checkout: Option<Checkout>,
    pub(crate) cwd: PathBuf,
    /// True if `--store` or `CKPT_STORE` names the store.
    pub(crate) explicit: bool,
}

impl Place {
    pub(crate) fn located(&self) -> &Located {
        match &self.location {
            Location::Found(located) | Location::Absent(located) => located,
        }
    }
}

impl Session {
    /// Returns a session that prints nothing, for a look at the store before a command runs.
    pub(crate) fn silent(env: Environment, store: Option<PathBuf>) -> Self {
        let global = GlobalArgs { store, quiet: true, ..GlobalArgs::default() };
        let output = Output::new(&global, &env);
        Self { env, output, global, clock: Clock::default(), heads: None }
    }

    pub(crate) fn cwd(&self) -> Result<PathBuf, Failure> {
        self.env.cwd.clone().map_err(|error| {
            Failure::new(ErrorCode::NoWorkingDirectory, format!("the working directory cannot be used: {error}"))
                .help("change to a directory that exists")
        })
    }

    /// Locates the store; it need not exist.
    pub(crate) fn place(&self) -> Result<Place, Failure> {
        let named = self.global.store.clone().or_else(|| self.env.var_os("CKPT_STORE").map(PathBuf::from));
        let cwd = match self.cwd() {
            // It was removed. The store does not depend on it, and relative paths are not found.
            Err(_) if named.as_ref().is_some_and(|named| named.is_absolute()) => PathBuf::from("."),
            cwd => cwd?,
        };
        let ceilings = self.env.ceilings();
        let checkout = Checkout::discover_below(&cwd, &ceilings);
        let trusted = self.env.trusted_accounts();
        let home = self.env.home();
        let searcher = Searcher {
            cwd: &cwd,
            named: named.as_deref(),
            trusted: &trusted,
            home: home.as_deref(),
            ceilings: &ceilings,
        };
        let location = locate(&searcher, checkout.as_ref())?;
        if let Location::Found(located) = &location
            && named.is_none()
            && !located.is_in_sight(&cwd, checkout.as_ref())
        {
            self.output.name_store(&located.root);
        }
        Ok(Place { location, checkout, cwd, explicit: named.is_some() })
    }

    /// Opens the store, which must exist.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        self.open(&self.place()?)
    }

    /// Opens the store, which must exist, with its settings.
    pub(crate) fn workspace(&self) -> Result<Workspace, Failure> {
        let place = self.place()?;
        let store = self.open(&place)?;
        let config = self.config(&store)?;
        Ok(Workspace { place, store, config, remote_problem: None })
    }

    /// Opens the store with its settings, or an empty one in the place where it would be created.
    pub(crate) fn workspace_or_empty(&self) -> Result<Workspace, Failure> {
        let place = self.place()?;
        let store = self.store_at(place.located())?;
        let config = self.config(&store)?;
        Ok(Workspace { place, store, config, remote_problem: None })
    }

    fn open(&self, place: &Place) -> Result<Store, Failure> {
        match &place.location {
            Location::Found(located) => self.store_at(located),
            Location::Absent(located) if place.explicit => {
                Err(Error::NoSuchStore { path: located.root.clone() }.into())
            }
            Location::Absent(_) => Err(Error::NoStore { searched: place.cwd.clone() }.into()),
        }
    }

    /// Returns the store at a location, whether it exists or not.
    pub(crate) fn store_at(&self, located: &Located) -> Result<Store, Failure> {
        let store = Store::at(located)?;
        Ok(match &self.heads {
            Some(heads) => store.remembering(heads.clone()),
            None => store,
        })
    }

    /// Loads the settings: those of the store over those of the user.
    pub(crate) fn config(&self, store: &Store) -> Result<Config, Failure> {
        let stored = settings_file::load(&store.config_file())?.unwrap_or_default();
        match self.env.user_config() {
            Some(path) => Ok(stored.over(settings_file::load_user(&path)?.unwrap_or_default())),
            None => Ok(stored),
        }
    }

    /// Returns a warning if the settings cannot be used, for a command that does without them.
    pub(crate) fn config_warning(&self, store: &Store) -> Option<String> {
        let failure = self.config(store).err()?;
        Some(format!("the settings cannot be used: {}", failure.message))
    }

    /// Makes the stamp of a checkpoint that is saved now.
    pub(crate) fn stamp(&self, place: &Place, config: &Config) -> Result<Stamp, Failure> {
        let agent = agent_or_ci(&self.env);
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| {
            Failure::new(ErrorCode::NoRandomness, format!("the system gives no random bytes: {error}"))
        })?;
        let writer = Writer {
            agent: agent.as_ref().map(|agent| agent.name.to_owned()),
            session: agent.and_then(|agent| agent.session).map(without_secrets),
            host: self.env.host().map(without_secrets),
            user: self.env.user().map(without_secrets),
            ckpt: env!("CARGO_PKG_VERSION").to_owned(),
            extra: Default::default(),
        };
        let project = &place.located().project;
        Ok(save::stamp(self.now(), random, writer, project, place.checkout.as_ref(), config))
    }

    /// Returns the name of the calling agent or, without one, of the account.
    pub(crate) fn writer_name(&self) -> Option<String> {
        let agent = agent_or_ci(&self.env).map(|agent| agent.name.to_owned());
        agent.or_else(|| self.env.user()).map(without_secrets)
    }

    /// Gathers the facts around a stored checkpoint and evaluates them.
    pub(crate) fn judge(&self, workspace: &Workspace, selected: Selected) -> Judgement {
        self.judge_with_facts(workspace, selected, &[])
    }

    /// Like [`judge`](Self::judge), with the documents that external facts have now.
    pub(crate) fn judge_with_facts(
        &self,
        workspace: &Workspace,
        selected: Selected,
        current_facts: &[(String, Value)],
    ) -> Judgement {
        let Workspace { place, store, config, .. } = workspace;
        let observed = self.facts(place, config, Some(store), &selected.checkpoint, current_facts);
        let mut facts = Facts { selection: selected.selection, ..observed };
        let is_about = |note: &SessionNote| note.workflow.as_ref() == Some(&selected.checkpoint.workflow);
        let own = self.own_key();
        let notes = workspace.store.session_notes().into_iter().filter(|(key, _)| *key != own);
        facts.sessions = notes.map(|(_, note)| note).filter(is_about).collect();
        facts.sharing = sharing(&workspace.store, &selected.checkpoint);
        facts.sharing.unreachable.clone_from(&workspace.remote_problem);
        self.judgement(config, selected.checkpoint, facts)
    }

    /// Gathers the facts around a checkpoint that is not stored and evaluates them.
    pub(crate) fn judge_unsaved(
        &self,
        place: &Place,
        config: &Config,
        checkpoint: Box<Checkpoint>,
        draft: &Draft,
    ) -> Judgement {
        let mut facts = self.facts(place, config, None, &checkpoint, &[]);
        // What the file has no digest of was hashed just now, so it cannot differ.
        for (condition, artifact) in facts.artifacts.iter_mut().zip(&draft.content.artifacts) {
            if *condition == FileCondition::Unchanged && artifact.sha256.is_none() {
                *condition = FileCondition::NotCompared;
            }
        }
        self.judgement(config, checkpoint, facts)
    }

    fn facts(
        &self,
        place: &Place,
        config: &Config,
        store: Option<&Store>,
        checkpoint: &Checkpoint,
        current_facts: &[(String, Value)],
    ) -> Facts {
        let session = agent_or_ci(&self.env).and_then(|agent| agent.session);
        let observer = Observer {
            project: &place.located().project,
            checkout: place.checkout.as_ref(),
            session: session.as_deref(),
            max_file: config.max_artifact(),
            current_facts,
            fact_severities: config.fact_severities(checkpoint.content.pipeline.as_deref()),
            kept: store.map(|store| store as _),
        };
        gather(checkpoint, &observer)
    }

    fn judgement(&self, config: &Config, checkpoint: Box<Checkpoint>, facts: Facts) -> Judgement {
        let limits = config.limits_for(checkpoint.content.pipeline.as_deref());
        let resume = evaluate(&checkpoint, &facts, &limits, self.now());
        Judgement { checkpoint, facts, resume }
    }

    /// Returns the words that name the store in an offered command; none if the command finds it by itself.
    pub(crate) fn store_words(&self) -> Vec<String> {
        match &self.global.store {
            Some(store) => vec!["--store".to_owned(), store.display().to_string()],
            None => Vec::new(),
        }
    }

    /// Returns the words that name the store as the end of an offered line.
    pub(crate) fn store_flag(&self) -> String {
        self.store_words().iter().map(|word| format!(" {}", shell_word(word))).collect()
    }

    /// True if questions can be asked: a person is at the terminal, and nothing forbids it.
    pub(crate) fn is_interactive(&self) -> bool {
        self.output.is_conversation()
            && !self.output.is_quiet()
            && !self.global.no_input
            && !self.env.is_set("CKPT_NO_INPUT")
            && !self.env.is_set("CI")
            && agent(&self.env).is_none()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the same session with the time read again, for a command that runs for a while.
    pub(crate) fn with_current_time(&self) -> Result<Self, Failure> {
        let clock = Clock::new(&self.env)?;
        // The clock is read at the first use, which may be much later.
        clock.now();
        Ok(Self { clock, ..self.clone() })
    }

    /// Returns the same session in another directory.
    pub(crate) fn in_directory(&self, cwd: PathBuf) -> Self {
        let mut session = self.clone();
        session.env.cwd = Ok(cwd);
        session
    }

    /// Writes the report and returns success.
    pub(crate) fn answer<R: Report>(&self, report: &R) -> Result<Exit, Failure> {
        self.output.answer(report, &self.clock)?;
        Ok(Exit::Ok)
    }
}

fn without_secrets(text: String) -> String {
    redact_text(&text).unwrap_or(text)
}
