//! One run of the program: what it was started with, and the store it works on.

use std::path::PathBuf;

use super::args::GlobalArgs;
use super::env::Environment;
use super::error::Failure;
use super::exit::Exit;
use super::report::Report;
use super::ui::Ui;
use crate::core::error::Error;
use crate::core::git::Checkout;
use crate::core::store::{Located, Location, Searcher, locate};
use crate::core::{Config, Store, Timestamp};

/// What a command has at hand.
pub(crate) struct Session {
    pub(crate) env: Environment,
    pub(crate) ui: Ui,
    pub(crate) global: GlobalArgs,
    pub(crate) now: Timestamp,
}

/// Where the store is, and the git checkout around it.
pub(crate) struct Place {
    pub(crate) location: Location,
    pub(crate) checkout: Option<Checkout>,
    pub(crate) cwd: PathBuf,
}

impl Place {
    pub(crate) fn located(&self) -> &Located {
        match &self.location {
            Location::Found(located) | Location::Absent(located) => located,
        }
    }
}

impl Session {
    /// The directory the program was started in.
    pub(crate) fn cwd(&self) -> Result<PathBuf, Failure> {
        self.env.cwd.clone().map_err(|error| {
            Failure::with(
                Exit::Failure,
                "no_working_directory",
                format!("the working directory cannot be used: {error}"),
            )
            .help("change to a directory that exists")
        })
    }

    /// Looks for the store.
    pub(crate) fn place(&self) -> Result<Place, Failure> {
        let cwd = self.cwd()?;
        let checkout = Checkout::discover(&cwd);
        let named = self.global.store.clone().or_else(|| self.env.var_os("CKPT_STORE").map(PathBuf::from));
        let trusted = self.env.trusted_accounts();
        let searcher = Searcher { cwd: &cwd, named: named.as_deref(), trusted: &trusted };
        let location = locate(&searcher, checkout.as_ref())?;
        Ok(Place { location, checkout, cwd })
    }

    /// The store; it must be there.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        let place = self.place()?;
        match place.location {
            Location::Found(located) => Ok(Store::at(&located)?),
            Location::Absent(_) => Err(Error::NoStore { searched: place.cwd }.into()),
        }
    }

    /// The settings in force: those of the store over those of the user.
    pub(crate) fn config(&self, store: &Store) -> Result<Config, Failure> {
        let read =
            |path: &std::path::Path| Config::load(path).map_err(|error| Failure::from(Error::from(error)));
        let stored = read(&store.config_file())?.unwrap_or_default();
        match self.env.user_config() {
            Some(path) => Ok(stored.over(read(&path)?.unwrap_or_default())),
            None => Ok(stored),
        }
    }

    /// Answers, and ends well.
    pub(crate) fn answer<R: Report>(&self, report: &R) -> Result<Exit, Failure> {
        self.ui.answer(report, self.now)?;
        Ok(Exit::Ok)
    }
}
