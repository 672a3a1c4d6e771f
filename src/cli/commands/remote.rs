//! `ckpt remote`

use clap::{Args, Subcommand};

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::remote::RemoteReport;
use ckpt_agents::setup::write_private;
use ckpt_model::config::PushMode;
use ckpt_sync::transports::RemoteUrl;
use ckpt_sync::{with_remote, without_remote};

pub(crate) const COMMAND: CommandSpec = command!(RemoteArgs, "remote", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt remote add git:origin
  ckpt remote add file:///mnt/team/ckpt
  ckpt remote show
  ckpt remote check";

/// Set up the place through which other machines have the same workflows
///
/// A remote is a directory that several machines share, the git remote of the project, or a bucket of an object store. It
/// only ever gains objects. `ckpt push` and `ckpt pull` exchange checkpoints with it; nothing is contacted unless asked for.
/// `CKPT_REMOTE` names a remote for one command.
#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Try a remote, and write its address into the settings of the store
    Add {
        /// Its address: `git:origin`, `git:URL`, `file:///path`, `s3://bucket/prefix`, `az://...` or `gs://...`
        url: String,
        /// When checkpoints are pushed: `manual` by `ckpt push`, `end` after a phase or the workflow ended, `always` with
        /// every save
        #[arg(long, value_enum, value_name = "WHEN")]
        push: Option<PushMode>,
    },
    /// Show the remote, without contacting it
    Show,
    /// Try whether the remote does what a remote must
    Check,
    /// Take the remote out of the settings; what it holds stays
    Remove,
}

fn run(args: &RemoteArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace_or_empty()?;
    match &args.action {
        Action::Add { url, push } => add(session, &workspace, url, *push),
        Action::Show => match session.find_remote(&workspace)? {
            Some((url, source)) => {
                session.answer(&RemoteReport::shown(&url, source.word(), workspace.config.push_mode()))
            }
            None => session.answer(&RemoteReport::none()),
        },
        Action::Check => {
            let url = session.remote_url(&workspace)?;
            let is_new = session.probe_remote(&workspace, &url)?;
            session.answer(&RemoteReport::checked(&url, is_new))
        }
        Action::Remove => remove(session, &workspace),
    }
}

fn add(session: &Session, workspace: &Workspace, url: &str, push: Option<PushMode>) -> Result<Exit, Failure> {
    let url: RemoteUrl = url.parse()?;
    let text = workspace.store.config_text()?;
    let stored = ckpt_model::Config::parse(&text).ok().and_then(|config| config.remote_url().map(str::to_owned));
    if let Some(other) = stored.filter(|other| *other != url.to_string()) {
        return Err(Failure::new(ErrorCode::RemoteExists, format!("the store has the remote `{other}` already"))
            .help("a store has one remote; `ckpt remote remove` takes it out of the settings first"));
    }
    let is_new = session.probe_remote(workspace, &url)?;
    let with = with_remote(&text, &url.to_string(), push).map_err(|why| invalid(workspace, &why))?;
    workspace.store.create()?;
    workspace.store.replace_config(&with)?;
    // The settings may travel with the project; that they are used unasked is said on this machine only.
    if let Some(file) = session.trust_file(workspace, &url) {
        let note = format!("{}\n{url}\n", workspace.store.root().display());
        write_private(&file, &note).map_err(|error| {
            Failure::new(ErrorCode::StoreUnusable, format!("cannot write `{}`: {error}", file.display()))
        })?;
    }
    session.answer(&RemoteReport::added(&url, is_new))
}

fn remove(session: &Session, workspace: &Workspace) -> Result<Exit, Failure> {
    let text = workspace.store.config_text()?;
    let without = without_remote(&text).map_err(|why| invalid(workspace, &why))?;
    if without == text {
        return Err(Failure::new(ErrorCode::NoRemote, "the settings of the store name no remote"));
    }
    workspace.store.replace_config(&without)?;
    workspace.store.forget_remote();
    session.answer(&RemoteReport::removed(workspace.config.remote_url().unwrap_or_default()))
}

fn invalid(workspace: &Workspace, why: &str) -> Failure {
    let file = workspace.store.config_file();
    Failure::new(ErrorCode::InvalidConfig, format!("`{}`: {why}", file.display())).help("correct the file")
}
