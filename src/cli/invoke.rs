//! The program as the pages see it: a session on the store, and commands that run inside of this process, for actions.

use std::ffi::OsString;
use std::path::PathBuf;

use super::args::{self, GlobalArgs};
use super::clock::Clock;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::output::Output;
use super::session::Session;
use super::streams::{Memory, Streams};
use super::style::ColorChoice;
use ckpt_model::digest::Digest;

/// The environment that the program was started in, and the store.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) env: Environment,
    pub(crate) store: PathBuf,
}

impl Program {
    /// Returns a session on the store that reads the time now and writes into memory.
    pub(crate) fn session(&self) -> Result<Session, Failure> {
        self.session_with(false)
    }

    /// Runs a command and returns what it wrote.
    pub(crate) fn run(&self, args: &[&str]) -> Result<Memory, Failure> {
        let line: Vec<OsString> = std::iter::once("ckpt").chain(args.iter().copied()).map(OsString::from).collect();
        let (command, matches, global) =
            args::parse(&line).map_err(|error| Failure::new(ErrorCode::Usage, error.to_string()))?;
        let session = self.session_with(global.quiet)?;
        (command.run)(matches, &session)?;
        Ok(session.env.streams.take())
    }

    /// Returns a digest that changes with the store; none if it cannot be read.
    pub(crate) fn fingerprint(&self) -> Option<Digest> {
        let session = Session::silent(self.env.clone(), Some(self.store.clone()));
        session.store().ok()?.fingerprint().ok()
    }

    fn session_with(&self, quiet: bool) -> Result<Session, Failure> {
        let store = Some(self.store.clone());
        let color = ColorChoice::Never;
        let global = GlobalArgs { store, quiet, color, no_input: true, ..GlobalArgs::default() };
        let mut env = self.env.clone();
        env.streams = Streams::memory(Vec::new());
        let (output, clock) = (Output::new(&global, &env), Clock::new(&env)?);
        Ok(Session { env, output, global, clock, heads: None })
    }
}
