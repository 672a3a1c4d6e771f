//! Command lines inside of this process, for the tests of this repository: most of the time of a short command is its start.

use std::ffi::OsString;

use super::entry::run;
use super::env::Environment;
use super::streams::{Memory, Streams};

/// The exit code of a command line, and its output.
#[derive(Debug)]
pub struct Finished {
    /// The exit code.
    pub code: u8,
    /// The bytes on stdout.
    pub stdout: Vec<u8>,
    /// The text on stderr.
    pub stderr: String,
}

/// Runs a command line as the program does, from the arguments, the first of which is the name of the program, to the exit
/// code. Its working directory is that of the calling thread, and its streams are no terminals.
///
/// Not as in a process: a panic is the caller's, completion does not answer, and the programs that a command starts see the
/// variables of this process.
#[must_use]
pub fn run_line(args: Vec<OsString>, variables: Vec<(OsString, OsString)>, stdin: Vec<u8>) -> Finished {
    let streams = Streams::memory(stdin);
    let code = run(Environment::new(args, variables.into(), streams.clone())).code();
    let Memory { out, err, .. } = streams.take();
    Finished { code, stdout: out, stderr: err }
}
