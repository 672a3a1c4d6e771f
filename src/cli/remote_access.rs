//! The remote of a store: its address, whether it may be used unasked, and an exchange with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::progress::Progress;
use super::session::{Session, Workspace};
use super::views::sync::{SharedWorkflow, SyncReport};
use ckpt_model::WorkflowId;
use ckpt_model::digest::Digest;
use ckpt_store as store;
use ckpt_store::Store;
use ckpt_store::files::read_regular;
use ckpt_store::{Disk as _, OsDisk};
use ckpt_sync as sync;
use ckpt_sync::transports::{self, RemoteUrl, TransportContext};
use ckpt_sync::{Exchange, Names, Remote, Retrying};
use ckpt_wire::PROGRAM;

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
pub(crate) struct SyncOptions {
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

    /// Returns a path outside the store for what this machine keeps about a store and its remote.
    fn own_place(&self, kind: &str, workspace: &Workspace, url: &RemoteUrl) -> Option<PathBuf> {
        let root = workspace.store.root();
        let root = ckpt_platform::canonicalize(&root).unwrap_or(root);
        let name = Digest::of(format!("{}\n{url}", root.display()).as_bytes()).to_hex();
        Some(self.env.state_home(&self.env.home()?).join("ckpt").join(kind).join(name))
    }

    /// Returns true if a remote may be contacted without being asked for: the settings of a store may be a stranger's.
    pub(crate) fn is_trusted(&self, workspace: &Workspace, url: &RemoteUrl, source: Source) -> bool {
        let is_marked = || self.trust_file(workspace, url).is_some_and(|file| read_regular(&file, 1 << 16).is_ok());
        source != Source::StoreSettings || is_marked()
    }

    /// Returns the address of the remote, which must be set up.
    pub(crate) fn remote_url(&self, workspace: &Workspace) -> Result<RemoteUrl, Failure> {
        let found = self.find_remote(workspace)?;
        found.map(|(url, _)| url).ok_or_else(|| {
            Failure::new(ErrorCode::NoRemote, "no remote is set up")
                .help("`ckpt remote add git:origin` shares the workflows through the git remote of the project")
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
        Ok(transports::open(url, &self.transport_context(workspace, url, unique, time_limit))?)
    }

    /// Tries a remote out, and says which layout it has if it is empty. Returns true if it was.
    pub(crate) fn probe_remote(&self, workspace: &Workspace, url: &RemoteUrl) -> Result<bool, Failure> {
        let unique = &self.stamp(&workspace.place, &workspace.config)?.save_id;
        let context = self.transport_context(workspace, url, unique, WHEN_ASKED);
        transports::try_out(url, &context).map_err(|failure| match failure {
            sync::ProbeFailure::Failed { failure, .. } => failure,
            sync::ProbeFailure::Unsuitable(why) => sync::Failure::Refused(why),
        })?;
        let mut remote = transports::open(url, &context)?;
        Ok(exchange_with(&workspace.store, &mut *remote, url, unique).remote.claim_layout()?)
    }

    fn transport_context(
        &self,
        workspace: &Workspace,
        url: &RemoteUrl,
        unique: &str,
        time_limit: Duration,
    ) -> TransportContext {
        let beside = self.env.executable().map(|path| path.with_file_name(PROGRAM));
        TransportContext {
            project: workspace.store.project().to_owned(),
            copy_dir: self.own_place("git", workspace, url),
            time_limit,
            program: beside.filter(|path| path.is_file()).or_else(|| self.env.program(PROGRAM)),
            allow_http: workspace.config.allow_http(),
            unique: unique.to_owned(),
        }
    }

    /// Pulls everything before a command that reads. A remote that is not reached is not a failure: the reason is returned.
    pub(crate) fn pull_first(&self, workspace: &Workspace) -> Result<Option<String>, Failure> {
        match self.exchange(workspace, &[], SyncOptions { pull: true, ..SyncOptions::default() }) {
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
        options: SyncOptions,
    ) -> Result<Exit, Failure> {
        let report = self.exchange(workspace, workflows, options)?;
        self.answer(&report)?;
        Ok(if report.is_complete() { Exit::Ok } else { Exit::Partial })
    }

    /// Exchanges workflows with the remote: those that are named, or all.
    pub(crate) fn exchange(
        &self,
        workspace: &Workspace,
        workflows: &[WorkflowId],
        options: SyncOptions,
    ) -> Result<SyncReport, Failure> {
        let url = self.remote_url(workspace)?;
        let store = &workspace.store;
        let stamp = self.stamp(&workspace.place, &workspace.config)?;
        let mut remote = self.open_remote(workspace, &url, &stamp.save_id, options.time_limit.unwrap_or(WHEN_ASKED))?;
        let mut exchange = exchange_with(store, &mut *remote, &url, &stamp.save_id);
        (exchange.dry_run, exchange.allow_secrets) = (options.dry_run, options.allow_secrets);
        let is_known = |workflow: &WorkflowId| store.ledger(workflow, url.identity()).main > 0;
        // What was pushed to before is known to be a remote.
        if options.pull || workflows.is_empty() || !workflows.iter().all(is_known) {
            if options.push && !options.dry_run {
                exchange.remote.claim_layout()?;
            } else {
                exchange.remote.check_layout()?;
            }
        }
        if options.pull && !options.dry_run {
            store.create()?;
        }
        let mut report = SyncReport::new(url.to_string(), !options.dry_run);
        let mut progress = Progress::new(&self.output);

        let mut listed = if options.pull && workflows.is_empty() { Some(exchange.remote.names(None)?) } else { None };
        let mut ids = workflows.to_vec();
        if ids.is_empty() && options.push {
            ids = store.workflow_ids()?;
        }
        ids.extend(listed.iter().flat_map(|listed| listed.keys().cloned()));
        ids.sort();
        ids.dedup();
        let total = ids.len();
        for (done, workflow) in ids.into_iter().enumerate() {
            progress.at(|| format!("Exchanged {done} of {total} workflows"));
            let mut shared = SharedWorkflow::new(&workflow);
            let exchanged = exchange_one(store, &mut exchange, &workflow, listed.as_mut(), options, &mut shared);
            if matches!(exchanged, Ok(false)) && !workflows.is_empty() {
                let failure = Failure::from(store::Error::NoSuchWorkflow { id: workflow.clone(), similar: Vec::new() });
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

/// Prepares an exchange between a store and its remote.
pub(crate) fn exchange_with<'a>(
    store: &'a Store,
    remote: &'a mut dyn Remote,
    url: &RemoteUrl,
    save_id: &'a str,
) -> Exchange<'a, OsDisk> {
    let remote = Retrying::new(remote, |duration| store.disk().pause(duration));
    Exchange::new(store, remote, url.identity(), save_id)
}

/// Pulls and pushes one workflow. The names of its objects are taken from `listed`, or asked for if something is pulled.
/// Returns false if it is neither here nor there, and nothing was done.
fn exchange_one(
    store: &Store,
    exchange: &mut Exchange<'_, OsDisk>,
    workflow: &WorkflowId,
    listed: Option<&mut BTreeMap<WorkflowId, Names>>,
    options: SyncOptions,
    shared: &mut SharedWorkflow,
) -> Result<bool, sync::Error> {
    let mut names = None;
    if options.pull {
        names = Some(match listed {
            Some(listed) => listed.remove(workflow).unwrap_or_default(),
            None => exchange.remote.names_of(workflow)?,
        });
    }
    if names.as_ref().is_none_or(Names::is_empty) && store.head_number(workflow)?.is_none() {
        return Ok(false);
    }
    if let Some(names) = &names {
        shared.pulled(exchange.pull(workflow, names)?);
    }
    if options.push {
        shared.pushed(exchange.push(workflow, names.as_ref())?);
    }
    Ok(true)
}
