//! The environment, read once.
#![expect(clippy::disallowed_methods, reason = "this is where the environment is read")]

use std::ffi::OsString;
use std::path::PathBuf;

use crate::platform;

/// The arguments, the variables and the working directory of the process.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    pub(crate) args: Vec<OsString>,
    /// The error is the reason why there is none.
    pub(crate) cwd: Result<PathBuf, String>,
}

impl Environment {
    pub(crate) fn read() -> Self {
        Self {
            args: std::env::args_os().collect(),
            cwd: std::env::current_dir().map_err(|error| error.to_string()),
        }
    }

    /// Returns the value of a variable. An empty one counts as not set.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        self.var_os(name).and_then(|value| value.into_string().ok())
    }

    pub(crate) fn var_os(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.var_os(name).is_some()
    }

    /// True if any variable with this prefix is set.
    pub(crate) fn any_with_prefix(&self, prefix: &str) -> bool {
        std::env::vars_os().any(|(name, _)| name.to_str().is_some_and(|name| name.starts_with(prefix)))
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
