//! From the arguments to the exit code.

use std::process::ExitCode;

use super::args;
use super::clock::Clock;
use super::complete;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::hook;
use super::output::Output;
use super::session::Session;
use super::usage::{explain, explain_newest};

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let env = Environment::read();
    install_panic_hook(&env);
    if complete::respond(&env) {
        return Exit::Ok.into();
    }
    run(env).into()
}

/// Runs a command line. Nothing in here depends on the process, except the programs that a command starts.
pub(super) fn run(env: Environment) -> Exit {
    if let Some(exit) = hook::respond(&env) {
        return exit;
    }
    let (command, matches, global) = match args::parse(&env.args) {
        Ok(parsed) => parsed,
        Err(error) => {
            let output = Output::early(&env);
            let written = explain(&error, &env).and_then(|text| output.answer_bytes(text.as_bytes()));
            return exit(&output, written.map(|()| Exit::Ok));
        }
    };
    let output = Output::new(&global, &env);
    let clock = match Clock::new(&env) {
        Ok(clock) => clock,
        Err(failure) => return exit(&output, Err(failure)),
    };
    let session = Session { env, output, global, clock, heads: None };
    let result = (command.run)(matches, &session);
    exit(&session.output, result.map_err(|failure| explain_newest(failure, &session)))
}

/// Prints a failure and returns its exit code.
fn exit(output: &Output, result: Result<Exit, Failure>) -> Exit {
    result.unwrap_or_else(|failure| {
        output.fail(&failure);
        failure.exit()
    })
}

/// Prints a panic, which is a bug, like any other failure, with an exit code of its own.
fn install_panic_hook(env: &Environment) {
    if hook::hides_panics(env) {
        return std::panic::set_hook(Box::new(|_| Exit::Ok.now()));
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|location| format!(" at {}:{}", location.file(), location.line()));
        let message = format!("internal error{}: {}", place.unwrap_or_default(), panic.payload_as_str().unwrap_or("?"));
        let failure = Failure::new(ErrorCode::Bug, message)
            .help("this is a bug in ckpt; what was acknowledged before is safe")
            .help("please report it with the command that you ran");
        Output::early(&Environment::read()).fail(&failure);
        Exit::Bug.now()
    }));
}
