//! Reads JSON from the command line, a file, or stdin, and foreign checkpoint files from stdin.

use std::cell::Cell;
use std::fs::File;
use std::path::Path;

use serde_json::Value;

use super::error::{ErrorCode, Failure};
use super::session::Session;
use super::streams::Streams;
use ckpt_formats::dialects::MAX_SOURCE_BYTES;
use ckpt_formats::import::SourceError;
use ckpt_model::json::parse_strict;
use ckpt_model::size::Size;
use ckpt_store::files::{FileProblem, read_bounded};

const MAX_INPUT: Size = Size(16 << 20);

/// The path that stands for stdin.
pub(crate) const STDIN: &str = "-";

/// Reads the JSON arguments of one command; stdin can be read for one of them.
#[derive(Debug)]
pub(crate) struct Input {
    streams: Streams,
    stdin_used_by: Cell<Option<&'static str>>,
}

impl Input {
    pub(crate) fn new(session: &Session) -> Self {
        Self { streams: session.env.streams.clone(), stdin_used_by: Cell::default() }
    }

    /// Reads `JSON`, `@FILE` or `-`.
    pub(crate) fn json(&self, flag: &'static str, value: &str) -> Result<Value, Failure> {
        let (bytes, source) = if value == STDIN {
            (self.stdin(flag)?, "stdin".to_owned())
        } else if let Some(path) = value.strip_prefix('@') {
            (read_file(flag, path)?, format!("`{path}`"))
        } else {
            (value.as_bytes().to_vec(), flag.to_owned())
        };
        parse_strict(&bytes).map_err(|error| {
            Failure::new(ErrorCode::InvalidJson, format!("{source} is not valid JSON: {error}"))
                .help(match flag {
                    "--from" => "--from takes the name of a file, or `-` for stdin".to_owned(),
                    flag => format!("{flag} takes JSON, `@FILE` or `-` for stdin"),
                })
                .context("argument", flag)
                .context("line", error.line)
                .context("column", error.column)
        })
    }

    /// Reads a document from a file or, with `-`, from stdin.
    pub(crate) fn document(&self, flag: &'static str, path: &str) -> Result<Value, Failure> {
        if path == STDIN { self.json(flag, STDIN) } else { self.json(flag, &format!("@{path}")) }
    }

    fn stdin(&self, flag: &'static str) -> Result<Vec<u8>, Failure> {
        if let Some(other) = self.stdin_used_by.replace(Some(flag)) {
            return Err(Failure::new(ErrorCode::StdinTwice, format!("both {other} and {flag} want to read stdin"))
                .help("give one of them as `@FILE`"));
        }
        let read = self.streams.read_input(MAX_INPUT.0);
        read.map_err(|problem| unreadable(flag, "stdin", &problem))
    }
}

fn read_file(flag: &'static str, path: &str) -> Result<Vec<u8>, Failure> {
    // Unlike a file of the store, this one may be a pipe or a symbolic link.
    #[expect(clippy::disallowed_methods, reason = "a file of the user, read with a bound")]
    let file = File::open(Path::new(path)).map_err(FileProblem::from);
    let bytes = file.and_then(|file| read_bounded(file, MAX_INPUT.0));
    bytes.map_err(|problem| unreadable(flag, &format!("`{path}`"), &problem))
}

fn unreadable(flag: &'static str, source: &str, problem: &FileProblem) -> Failure {
    let failure = Failure::new(ErrorCode::UnreadableInput, format!("{source}, given with {flag}, {problem}"));
    failure.help(match problem {
        FileProblem::TooLarge(_) => {
            format!("{flag} reads at most {MAX_INPUT}; keep large content in a file and record it with `--artifact`")
        }
        FileProblem::Missing => "check the path; it starts at the present directory".to_owned(),
        _ => "name a file that can be read, or `-` for stdin".to_owned(),
    })
}

/// Reads a foreign checkpoint file from stdin. `command` is the command that reads it, for the help line.
pub(crate) fn read_foreign_stdin(session: &Session, command: &str) -> Result<Vec<u8>, Failure> {
    let bytes = session.env.streams.read_input(MAX_SOURCE_BYTES);
    let bytes = bytes.map_err(|error| SourceError::from(error).of(STDIN))?;
    if bytes.trim_ascii().is_empty() {
        return Err(Failure::new(ErrorCode::Damaged, "nothing came in on standard input")
            .help(format!("pipe a checkpoint file into it: `ckpt {command} < state.json`"))
            .context("source", STDIN));
    }
    Ok(bytes)
}
