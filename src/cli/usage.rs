//! Usage errors, said the way everything else is said.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::commands;
use super::error::Failure;
use super::exit::Exit;

/// What came of parsing the arguments, when it was not a command.
pub(crate) enum NotACommand {
    /// Help or version: text for stdout.
    Text(String),
    /// A mistake.
    Mistake(Failure),
}

/// Takes a parser error apart, and says where these arguments are explained.
pub(crate) fn explain(error: &clap::Error, args: &[OsString]) -> NotACommand {
    let rendered = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return NotACommand::Text(rendered),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let failure = Failure::with(Exit::Usage, "usage", "say what to do")
                .help("`ckpt --help` lists the commands")
                .help("`ckpt save 042 --phase plan` is a start");
            return NotACommand::Mistake(failure);
        }
        _ => {}
    }
    let head: Vec<&str> = rendered.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = head.join(" ").trim_start_matches("error: ").replace('\'', "`");
    let mut failure = Failure::usage("usage", message);
    for tip in rendered.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
        failure = failure.help(tip.replace('\'', "`"));
    }
    let command =
        args.iter().skip(1).find_map(|word| commands::ALL.iter().find(|spec| spec.answers_to(word)));
    let failure = match command {
        Some(spec) => failure.help(format!("`ckpt {} --help` shows all flags", spec.name)),
        None => failure.help("`ckpt --help` lists the commands"),
    };
    NotACommand::Mistake(failure)
}
