//! The remote of a store: its address, whether it may be used unasked, and an exchange with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::progress::Progress;
use super::session::{Session, Workspace};
use super::views::sync::{SharedWorkflow, SyncReport};
use crate::core::digest::Digest;
use crate::core::files::read_regular;
use crate::core::setup::make_private_directories;
use crate::core::store::{self, Disk as _, OsDisk};
use crate::core::sync::{self, Exchange, Names, Patient, Remote, check_layout, claim_layout};
use crate::core::{Store, WorkflowId};
use crate::transport::{self, RemoteUrl, Surroundings};
use crate::wire::PROGRAM;

/// How long a request may take that somebody waits for.
pub(crate) const WHEN_ASKED: Duration = Duration::from_secs(600);

/// Where the address of the remote was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Environment,
    UserSettings,
    StoreSettings,
}

impl Source {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Environment => "CKPT_REMOTE",
            Self::UserSettings => "user",
            Self::StoreSettings => "store",
        }
    }
}

/// The extent of an exchange.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    pub(crate) pull: bool,
    pub(crate) push: bool,
    pub(crate) dry_run: bool,
    pub(crate) allow_secrets: bool,
    /// How long one request may take; none if somebody waits for it.
    pub(crate) time_limit: Option<Duration>,
}

impl Session {
    /// Returns the address of the remote, and where it was found; none if there is no remote.
    pub(crate) fn find_remote(&self, workspace: &Workspace) -> Result<Option<(RemoteUrl, Source)>, Failure> {
        let named = self.env.var("CKPT_REMOTE").filter(|url| !url.is_empty());
        let own = workspace.config.is_own_remote();
        let source = if own { Source::UserSettings } else { Source::StoreSettings };
        match (named, workspace.config.remote_url()) {
            (Some(url), _) => Ok(Some((url.parse()?, Source::Environment))),
            (None, Some(url)) => Ok(Some((url.parse()?, source))),
            (None, None) => Ok(None),
        }
    }

    /// Returns the file that says that `remote add` named this remote for this store on this machine.
    pub(crate) fn trust_file(&self, workspace: &Workspace, url: &RemoteUrl) -> Option<PathBuf> {
        self.own_place("remotes", workspace, url)
    }

    /// Returns a path outside of the store for what this machine keeps about a store and its remote.
    fn own_place(&self, kind: &str, workspace: &Workspace, url: &RemoteUrl) -> Option<PathBuf> {
        let root = workspace.store.root();
        let root = crate::platform::canonicalize(&root).unwrap_or(root);
        let name = Digest::of(format!("{}\n{url}", root.display()).as_bytes()).to_hex();
        Some(self.env.state_home(&self.env.home()?).join("ckpt").join(kind).join(name))
    }

    /// Makes the directory for the copy of a git remote. It is not in the store, which may come from a stranger: git runs
    /// the hooks and the programs that a repository names.
    fn make_copy_dir(&self, workspace: &Workspace, url: &RemoteUrl) -> Result<PathBuf, sync::Failure> {
        let refused = |why: String| {
            sync::Failure::Refused(format!("{why}; set `XDG_STATE_HOME` to a directory that you own"))
        };
        let dir = self.own_place("git", workspace, url);
        let dir =
            dir.ok_or_else(|| refused("there is no home directory for the copy of the remote".to_owned()))?;
        make_private_directories(&dir)
            .map_err(|error| refused(format!("cannot make `{}`: {error}", dir.display())))?;
        Ok(dir)
    }

    /// Returns true if a remote may be contacted without being asked for: the settings of a store may be a stranger's.
    pub(crate) fn is_trusted(&self, workspace: &Workspace, url: &RemoteUrl, source: Source) -> bool {
        let is_marked =
            || self.trust_file(workspace, url).is_some_and(|file| read_regular(&file, 1 << 16).is_ok());
        source != Source::StoreSettings || is_marked()
    }

    /// Returns the address of the remote, which must be set up.
    pub(crate) fn remote_url(&self, workspace: &Workspace) -> Result<RemoteUrl, Failure> {
        let found = self.find_remote(workspace)?;
        found.map(|(url, _)| url).ok_or_else(|| {
            Failure::new(ErrorCode::NoRemote, "no remote is set up")
                .help(
                    "`ckpt remote add git:origin` shares the workflows through the git remote of the project",
                )
                .help("or `file:///srv/ckpt`, `s3://bucket/prefix`; for one command, set `CKPT_REMOTE`")
        })
    }

    /// Opens a remote. `unique` tells its temporary names from all others.
    pub(crate) fn open_remote(
        &self,
        workspace: &Workspace,
        url: &RemoteUrl,
        unique: &str,
        time_limit: Duration,
    ) -> Result<Box<dyn Remote>, Failure> {
        self.around_remote(workspace, url, unique, time_limit, |around| Ok(transport::open(url, around)?))
    }

    /// Tries a remote out, and says which layout it has if it is empty. Returns true if it was.
    pub(crate) fn probe_remote(&self, workspace: &Workspace, url: &RemoteUrl) -> Result<bool, Failure> {
        let unique = &self.stamp(&workspace.place, &workspace.config)?.save_id;
        self.around_remote(workspace, url, unique, WHEN_ASKED, |around| {
            transport::try_out(url, &around).map_err(|failure| match failure {
                sync::ProbeFailure::Failed { failure, .. } => failure.into(),
                sync::ProbeFailure::Unsuitable(why) => sync::Failure::Refused(why).into(),
            })
        })?;
        let mut remote = self.open_remote(workspace, url, unique, WHEN_ASKED)?;
        let pause = |duration| workspace.store.disk().pause(duration);
        Ok(claim_layout(&mut Patient::new(&mut *remote, &pause))?)
    }

    fn around_remote<T>(
        &self,
        workspace: &Workspace,
        url: &RemoteUrl,
        unique: &str,
        time_limit: Duration,
        then: impl FnOnce(Surroundings<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let beside = self.env.executable().map(|path| path.with_file_name(PROGRAM));
        let program = beside.filter(|path| path.is_file()).or_else(|| self.env.program(PROGRAM));
        then(Surroundings {
            project: workspace.store.project().to_owned(),
            make_copy_dir: &|| self.make_copy_dir(workspace, url),
            time_limit,
            program,
            allow_http: workspace.config.allow_http(),
            unique: unique.to_owned(),
        })
    }

    /// Pulls everything before a command that reads. A remote that is not reached is no failure: the reason is returned.
    pub(crate) fn pull_first(&self, workspace: &Workspace) -> Result<Option<String>, Failure> {
        match self.exchange(workspace, &[], Wanted { pull: true, ..Wanted::default() }) {
            Ok(_) => Ok(None),
            Err(failure) if failure.code == ErrorCode::RemoteUnreachable => Ok(Some(failure.message)),
            Err(failure) => Err(failure),
        }
    }

    /// Exchanges workflows with the remote, and answers with what was exchanged.
    pub(crate) fn answer_exchange(
        &self,
        workspace: &Workspace,
        workflows: &[WorkflowId],
        wanted: Wanted,
    ) -> Result<Exit, Failure> {
        let report = self.exchange(workspace, workflows, wanted)?;
        self.answer(&report)?;
        Ok(if report.is_complete() { Exit::Ok } else { Exit::Partial })
    }

    /// Exchanges workflows with the remote: those that are named, or all.
    pub(crate) fn exchange(
        &self,
        workspace: &Workspace,
        workflows: &[WorkflowId],
        wanted: Wanted,
    ) -> Result<SyncReport, Failure> {
        let url = self.remote_url(workspace)?;
        let store = &workspace.store;
        let stamp = self.stamp(&workspace.place, &workspace.config)?;
        let mut remote =
            self.open_remote(workspace, &url, &stamp.save_id, wanted.time_limit.unwrap_or(WHEN_ASKED))?;
        let pause = |duration| store.disk().pause(duration);
        let mut remote = Patient::new(&mut *remote, &pause);
        let identity = url.identity();
        let is_known = |workflow: &WorkflowId| store.ledger(workflow, identity).main > 0;
        // What was pushed to before is known to be a remote.
        if wanted.pull || workflows.is_empty() || !workflows.iter().all(is_known) {
            if wanted.push && !wanted.dry_run {
                claim_layout(&mut remote)?;
            } else {
                check_layout(&mut remote)?;
            }
        }
        if wanted.pull && !wanted.dry_run {
            store.create()?;
        }
        let mut exchange = Exchange::new(store, remote, identity, &stamp.save_id)
            .dry_run(wanted.dry_run)
            .allow_secrets(wanted.allow_secrets);
        let mut report = SyncReport::new(url.to_string(), !wanted.dry_run);
        let mut progress = Progress::new(&self.ui);

        let mut listed = if wanted.pull && workflows.is_empty() { Some(exchange.names(None)?) } else { None };
        let mut ids = workflows.to_vec();
        if ids.is_empty() && wanted.push {
            ids = store.workflow_ids()?;
        }
        ids.extend(listed.iter().flat_map(|listed| listed.keys().cloned()));
        ids.sort();
        ids.dedup();
        let total = ids.len();
        for (done, workflow) in ids.into_iter().enumerate() {
            progress.at(|| format!("Exchanged {done} of {total} workflows"));
            let mut shared = SharedWorkflow::new(&workflow);
            let exchanged =
                exchange_one(store, &mut exchange, &workflow, listed.as_mut(), wanted, &mut shared);
            if matches!(exchanged, Ok(false)) && !workflows.is_empty() {
                let failure =
                    Failure::from(store::Error::NoSuchWorkflow { id: workflow.clone(), similar: Vec::new() });
                if total == 1 {
                    return Err(failure);
                }
                shared.failed(failure);
            }
            if let Err(error) = exchanged {
                let failure = Failure::from(error);
                // Others would fail in the same way.
                if matches!(failure.code, ErrorCode::RemoteUnreachable | ErrorCode::RemoteRefused) {
                    return Err(failure);
                }
                shared.failed(failure);
            }
            shared.heads = store.other_heads(&workflow).unwrap_or_default();
            report.add(shared);
        }
        Ok(report)
    }
}

/// Pulls and pushes one workflow. The names of its objects are taken from `listed`, or asked for if something is pulled.
/// Returns false if it is neither here nor there, and nothing was done.
fn exchange_one(
    store: &Store,
    exchange: &mut Exchange<'_, OsDisk>,
    workflow: &WorkflowId,
    listed: Option<&mut BTreeMap<WorkflowId, Names>>,
    wanted: Wanted,
    shared: &mut SharedWorkflow,
) -> Result<bool, sync::Error> {
    let mut names = None;
    if wanted.pull {
        let found = match listed {
            Some(listed) => listed.remove(workflow),
            None => exchange.names(Some(workflow))?.remove(workflow),
        };
        names = Some(found.unwrap_or_default());
    }
    if names.as_ref().is_none_or(Names::is_empty) && store.head_number(workflow)?.is_none() {
        return Ok(false);
    }
    if let Some(names) = &names {
        shared.pulled(exchange.pull(workflow, names)?);
    }
    if wanted.push {
        shared.pushed(exchange.push(workflow, names.as_ref())?);
    }
    Ok(true)
}
