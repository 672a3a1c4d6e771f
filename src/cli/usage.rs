//! Usage errors, said the way everything else is said.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::args::CommandSpec;
use super::error::{ErrorCode, Failure};

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
            let failure = Failure::new(ErrorCode::Usage, "say what to do")
                .help("`ckpt --help` lists the commands")
                .help("`ckpt save 042 --phase plan` is a start");
            return NotACommand::Mistake(failure);
        }
        _ => {}
    }
    let head: Vec<&str> = rendered.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = head.join(" ").trim_start_matches("error: ").replace('\'', "`");
    let mut failure = Failure::new(ErrorCode::Usage, message);
    match dashed_value(error, args) {
        Some(flag) => {
            failure = failure.help(format!("a value that begins with `-` is written with `=`: `{flag}=...`"));
        }
        None => {
            // What could stand behind `--` is a command that is run, and hardly ever meant.
            let tips = rendered.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
            for tip in tips.filter(|tip| !tip.starts_with("to pass ")) {
                failure = failure.help(tip.replace('\'', "`"));
            }
        }
    }
    let command = args.iter().skip(1).find_map(CommandSpec::find);
    let failure = match command {
        Some(spec) => failure.help(format!("`ckpt {} --help` shows all flags", spec.name)),
        None => failure.help("`ckpt --help` lists the commands"),
    };
    NotACommand::Mistake(failure)
}

/// The flag whose value was taken for another flag, because it begins with a dash.
fn dashed_value<'a>(error: &clap::Error, args: &'a [OsString]) -> Option<&'a str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let spec = args.iter().skip(1).find_map(CommandSpec::find)?;
    let command = spec.standalone();
    let takes_value = |flag: &str| {
        let named =
            |arg: &&clap::Arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long));
        command.get_arguments().find(named).is_some_and(|arg| arg.get_action().takes_values())
    };
    let pairs = args.windows(2).filter_map(|pair| Some((pair[0].to_str()?, pair[1].to_str()?)));
    let mut flags = pairs.filter(|(flag, value)| value.starts_with('-') && takes_value(flag));
    flags.next().map(|(flag, _)| flag)
}
