//! JSON that is given on the command line, in a file, or on stdin.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::error::{ErrorCode, Failure};
use crate::core::files::{FileProblem, read_bounded};
use crate::core::json::parse_strict;
use crate::core::size::Size;

/// The largest document that is read.
const MAX_INPUT: Size = Size(16 << 20);

/// Reads arguments; knows whether stdin has been used up.
#[derive(Debug, Default)]
pub(crate) struct Input {
    stdin_used_by: Cell<Option<&'static str>>,
}

impl Input {
    /// Reads `JSON`, `@FILE` or `-`.
    pub(crate) fn json(&self, flag: &'static str, given: &str) -> Result<Value, Failure> {
        let (bytes, source) = match given {
            "-" => (self.stdin(flag)?, "stdin".to_owned()),
            given => match given.strip_prefix('@') {
                Some(path) => (read_file(flag, path)?, format!("`{path}`")),
                None => (given.as_bytes().to_vec(), flag.to_owned()),
            },
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
        match path {
            "-" => self.json(flag, "-"),
            path => self.json(flag, &format!("@{path}")),
        }
    }

    fn stdin(&self, flag: &'static str) -> Result<Vec<u8>, Failure> {
        if let Some(other) = self.stdin_used_by.replace(Some(flag)) {
            return Err(Failure::new(
                ErrorCode::StdinTwice,
                format!("both {other} and {flag} want to read stdin"),
            )
            .help("give one of them as `@FILE`"));
        }
        read_bounded(io::stdin().lock(), MAX_INPUT.0).map_err(|problem| unreadable(flag, "stdin", &problem))
    }
}

fn read_file(flag: &'static str, path: &str) -> Result<Vec<u8>, Failure> {
    // Whoever names a file here may name a pipe or a link: it is their own.
    #[expect(clippy::disallowed_methods, reason = "the caller's own file, read with a bound")]
    let file = File::open(Path::new(path)).map_err(FileProblem::from);
    let bytes = file.and_then(|file| read_bounded(file, MAX_INPUT.0));
    bytes.map_err(|problem| unreadable(flag, &format!("`{path}`"), &problem))
}

fn unreadable(flag: &'static str, source: &str, problem: &FileProblem) -> Failure {
    let failure = Failure::new(ErrorCode::UnreadableInput, format!("{source}, given with {flag}, {problem}"));
    failure.help(match problem {
        FileProblem::TooLarge(_) => format!(
            "{flag} reads at most {MAX_INPUT}; keep large content in a file and record it with `--artifact`"
        ),
        FileProblem::Missing => "check the path; it starts at the present directory".to_owned(),
        _ => "name a file that can be read, or `-` for stdin".to_owned(),
    })
}
