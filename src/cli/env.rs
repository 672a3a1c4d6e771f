//! The environment, read once.
#![expect(clippy::disallowed_methods, reason = "this is where the environment is read")]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::caller::Caller;
use super::streams::Streams;
use ckpt_platform as platform;

/// The arguments, the variables, the working directory and the streams of a run.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    pub(crate) args: Vec<OsString>,
    /// The variables and their values. There are a few dozen, so they are searched from the front.
    variables: Arc<[(OsString, OsString)]>,
    /// The error is the reason why there is none.
    pub(crate) cwd: Result<PathBuf, String>,
    /// The agent that a hook speaks for; its variables need not be set.
    pub(crate) agent: Option<Caller>,
    pub(crate) streams: Streams,
}

impl Environment {
    /// Returns the environment of the process.
    pub(crate) fn read() -> Self {
        Self::new(std::env::args_os().collect(), std::env::vars_os().collect(), Streams::Process)
    }

    /// Returns the environment of a run in the present working directory.
    pub(crate) fn new(args: Vec<OsString>, variables: Arc<[(OsString, OsString)]>, streams: Streams) -> Self {
        let cwd = std::env::current_dir().map_err(|error| error.to_string());
        Self { args, variables, cwd, agent: None, streams }
    }

    /// Returns the value of a variable. An empty one counts as not set.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        self.value(name)?.to_str().map(str::to_owned)
    }

    pub(crate) fn var_os(&self, name: &str) -> Option<OsString> {
        self.value(name).map(OsStr::to_owned)
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.variables.iter().find(|(set, _)| platform::is_same_variable(set, name))?;
        (!value.is_empty()).then_some(value)
    }

    /// True if any variable with this prefix is set.
    pub(crate) fn any_with_prefix(&self, prefix: &str) -> bool {
        self.variables.iter().any(|(name, _)| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    }

    /// Returns the path of the settings file of the user.
    pub(crate) fn user_config(&self) -> Option<PathBuf> {
        let base = self.var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let (variable, below) = platform::CONFIG_HOME;
        let base = base.or_else(|| self.var_os(variable).map(|home| PathBuf::from(home).join(below)))?;
        Some(base.join("ckpt").join("config.toml"))
    }

    /// Returns the home directory of the user.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.var_os(platform::HOME).map(PathBuf::from)
    }

    /// Returns the directory in which programs keep what is to last and is no setting.
    pub(crate) fn state_home(&self, home: &Path) -> PathBuf {
        let named = self.var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        named.unwrap_or_else(|| home.join(".local").join("state"))
    }

    /// Finds a program on the `PATH`.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let list = self.var_os("PATH")?;
        std::env::split_paths(&list).map(|dir| dir.join(&name)).find(|path| path.is_absolute() && path.is_file())
    }

    /// Returns the path of this program.
    pub(crate) fn executable(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// Returns the variables with this prefix, in the order of their names.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Vec<(String, String)> {
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let mut found: Vec<(String, String)> = self
            .variables
            .iter()
            .map(|(name, value)| (text(name), text(value)))
            .filter(|(name, _)| name.starts_with(prefix))
            .collect();
        found.sort_unstable();
        found
    }

    /// Returns the directories of `CKPT_CEILING_DIRECTORIES`, which have the meaning of `GIT_CEILING_DIRECTORIES`: links
    /// in them are resolved, except behind an empty entry.
    pub(crate) fn ceilings(&self) -> Vec<PathBuf> {
        let Some(list) = self.var_os("CKPT_CEILING_DIRECTORIES") else { return Vec::new() };
        let mut resolves = true;
        let mut ceilings = Vec::new();
        for path in std::env::split_paths(&list) {
            if path.as_os_str().is_empty() {
                resolves = false;
            } else if path.is_absolute() {
                let resolved = if resolves { platform::canonicalize(&path).ok() } else { None };
                ceilings.push(resolved.unwrap_or(path));
            }
        }
        ceilings
    }

    /// Returns the accounts whose stores are trusted without being named: the own one, and the one behind `sudo`.
    pub(crate) fn trusted_accounts(&self) -> Vec<u32> {
        let own = platform::current_account();
        let mut accounts = vec![own];
        if Some(own) == platform::SUPERUSER {
            accounts.extend(self.var("SUDO_UID").and_then(|account| account.parse::<u32>().ok()));
        }
        accounts
    }

    pub(crate) fn host(&self) -> Option<String> {
        platform::host_name().filter(|name| !name.is_empty())
    }

    pub(crate) fn user(&self) -> Option<String> {
        platform::USER.iter().find_map(|name| self.var(name))
    }
}
