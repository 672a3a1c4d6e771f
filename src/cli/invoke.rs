//! Running a command inside of this process, for the pages: they show the documents that `--json` answers with, and their
//! actions are the commands themselves.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use super::args::{self, GlobalArgs};
use super::clock::Clock;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::session::Session;
use super::streams::{Memory, Streams};
use super::style::ColorChoice;
use super::ui::Ui;
use crate::core::digest::Digest;

/// The program as seen by the pages: the environment that it was started in, and the store.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) env: Environment,
    pub(crate) store: PathBuf,
}

impl Program {
    /// Runs a command and returns its document.
    pub(crate) fn document(&self, args: &[&str]) -> Result<Value, Failure> {
        let captured = self.run(args, true)?;
        serde_json::from_slice(&captured.out).map_err(|error| {
            Failure::new(
                ErrorCode::Output,
                format!("the answer of `ckpt {}` is no JSON: {error}", args.join(" ")),
            )
        })
    }

    /// Runs a command and returns its text for people: the answer, then what it says beside it.
    pub(crate) fn text(&self, args: &[&str]) -> Result<String, Failure> {
        let captured = self.run(args, false)?;
        Ok(String::from_utf8_lossy(&captured.out).into_owned() + &captured.err)
    }

    /// Returns a digest that changes with the store; none if it cannot be read.
    pub(crate) fn fingerprint(&self) -> Option<Digest> {
        let session = Session::silent(self.env.clone(), Some(self.store.clone()));
        session.store().ok()?.fingerprint().ok()
    }

    fn run(&self, args: &[&str], json: bool) -> Result<Memory, Failure> {
        let line: Vec<OsString> =
            std::iter::once("ckpt").chain(args.iter().copied()).map(OsString::from).collect();
        let (command, matches, _) =
            args::parse(&line).map_err(|error| Failure::new(ErrorCode::Usage, error.to_string()))?;
        let global = GlobalArgs {
            store: Some(self.store.clone()),
            json,
            color: ColorChoice::Never,
            no_input: true,
            ..GlobalArgs::default()
        };
        let mut env = self.env.clone();
        env.streams = Streams::memory(Vec::new());
        let (ui, clock) = (Ui::new(&global, &env), Clock::new(&env)?);
        let session = Session { env, ui, global, clock, heads: None };
        (command.run)(matches, &session)?;
        Ok(session.env.streams.take())
    }
}
