//! The `ckpt-remote` program: object stores for `ckpt`, which starts it where a remote is `s3://`, `az://` or `gs://`.
//!
//! It is a program of its own so that `ckpt` links no network code. It decides nothing: `ckpt` says which object to create,
//! list or read, in the frames of [`ckpt_wire`], and gets the answer of the engine with the kind of its failure. It
//! repeats no request, because only `ckpt` knows what a repetition means.
//!
//! - `serve`: frames in, answers out. `engine`: the verbs, and what an answer of HTTP means. `settings`: a URL and the
//!   environment become an engine. `profile`: the files of the AWS command line. `connection`: HTTP and certificates.
#![expect(
    clippy::disallowed_methods,
    reason = "the environment, the streams and the files of the user are read here, and the library is not part of it"
)]

mod connection;
mod engine;
mod profile;
mod serve;
mod settings;
mod target;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut stdout = io::stdout();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let said = match arguments.as_slice() {
        [] if io::stdin().is_terminal() => {
            writeln!(
                stdout,
                "ckpt starts this program where a remote is s3://, az:// or gs://. Try: ckpt remote --help"
            )
        }
        [] => return serve::run(),
        [flag] if flag == "--version" => writeln!(stdout, "ckpt-remote {}", env!("CARGO_PKG_VERSION")),
        _ => {
            let _ = writeln!(io::stderr(), "usage: ckpt-remote [--version]; ckpt starts it without arguments");
            return ExitCode::from(2);
        }
    };
    if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
