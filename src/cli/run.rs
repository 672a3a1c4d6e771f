//! From the arguments to the exit code.

use std::process::ExitCode;

use super::args;
use super::clock::Clock;
use super::complete;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::session::Session;
use super::ui::Ui;
use super::usage::{NoCommand, explain};

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    say_panics();
    let env = Environment::read();
    if complete::answer(&env) {
        return Exit::Ok.into();
    }
    run(env).into()
}

fn run(env: Environment) -> Exit {
    let (command, matches, global) = match args::parse(&env.args) {
        Ok(parsed) => parsed,
        Err(error) => {
            let ui = Ui::early(&env);
            return match explain(&error, &env.args) {
                NoCommand::Text(text) => ended(&ui, ui.answer_bytes(text.as_bytes()).map(|()| Exit::Ok)),
                NoCommand::Invalid(failure) => ended(&ui, Err(failure)),
            };
        }
    };
    let ui = Ui::new(&global, &env);
    let clock = match Clock::new(&env) {
        Ok(clock) => clock,
        Err(failure) => return ended(&ui, Err(failure)),
    };
    let session = Session { env, ui, global, clock };
    ended(&session.ui, (command.run)(matches, &session))
}

fn ended(ui: &Ui, result: Result<Exit, Failure>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            ui.fail(&failure);
            failure.exit()
        }
    }
}

/// A panic is a bug of ours; it is said like any other failure, with its own exit code.
fn say_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|location| format!(" at {}:{}", location.file(), location.line()));
        let message =
            format!("internal error{}: {}", place.unwrap_or_default(), panic.payload_as_str().unwrap_or("?"));
        let failure = Failure::new(ErrorCode::Bug, message)
            .help("this is a bug in ckpt; what was acknowledged before is safe")
            .help("please report it with the command that you ran");
        Ui::early(&Environment::read()).fail(&failure);
        Exit::Bug.now()
    }));
}
