//! Turns the errors of clap into failures like any other.

use std::error::Error;
use std::ffi::OsString;

use clap::error::ErrorKind;

use super::args::CommandSpec;
use super::error::{ErrorCode, Failure};
use crate::core::name::InvalidName;
use crate::core::selector::SelectorError;
use crate::core::trigger::UnknownTrigger;
use crate::core::workflow_id::InvalidId;

/// Returns the text of help or version, which clap reports as errors too, or the failure.
pub(crate) fn explain(error: &clap::Error, args: &[OsString]) -> Result<String, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(error.render().to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Err(Failure::new(ErrorCode::Usage, "say what to do")
                .help("`ckpt --help` lists the commands")
                .help("`ckpt save 042 --phase plan` is a start"))
        }
        _ => Err(invalid_value(error).unwrap_or_else(|| usage_error(error, args))),
    }
}

/// Returns the failure of a value that its type in `core` rejects: that has an error code of its own.
fn invalid_value(error: &clap::Error) -> Option<Failure> {
    let source = error.source()?;
    if let Some(error) = source.downcast_ref::<InvalidId>() {
        return Some(error.clone().into());
    }
    if let Some(error) = source.downcast_ref::<SelectorError>() {
        return Some(error.clone().into());
    }
    if let Some(error) = source.downcast_ref::<InvalidName>() {
        return Some(error.clone().into());
    }
    let error = source.downcast_ref::<UnknownTrigger>()?;
    Some(Failure::from(error.clone()).help("without `--trigger` it follows from what is saved"))
}

fn usage_error(error: &clap::Error, args: &[OsString]) -> Failure {
    let rendered = error.render().to_string();
    let head: Vec<&str> = rendered.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = head.join(" ").trim_start_matches("error: ").replace('\'', "`");
    let mut failure = Failure::new(ErrorCode::Usage, message);
    let command = args.iter().skip(1).find_map(CommandSpec::find);
    match command.and_then(|command| dashed_value(error, command, args)) {
        Some(flag) => {
            failure = failure.help(format!("a value that begins with `-` is written with `=`: `{flag}=...`"));
        }
        None => {
            // clap suggests `--` for unknown flags, but behind `--` only `run` and `resume` take anything.
            let tips = rendered.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
            for tip in tips.filter(|tip| !tip.starts_with("to pass ")) {
                failure = failure.help(tip.replace('\'', "`"));
            }
        }
    }
    match command {
        Some(command) => failure.help(format!("`ckpt {} --help` shows all flags", command.name)),
        None => failure.help("`ckpt --help` lists the commands"),
    }
}

/// Returns the flag whose value was taken for another flag, because it begins with a dash.
fn dashed_value<'a>(error: &clap::Error, command: &CommandSpec, args: &'a [OsString]) -> Option<&'a str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let command = command.standalone();
    let takes_value = |flag: &str| {
        let Some(name) = flag.strip_prefix("--") else { return false };
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name));
        argument.is_some_and(|argument| argument.get_action().takes_values())
    };
    let pairs = args.windows(2).filter_map(|pair| Some((pair[0].to_str()?, pair[1].to_str()?)));
    let mut flags = pairs.filter(|(flag, value)| value.starts_with('-') && takes_value(flag));
    flags.next().map(|(flag, _)| flag)
}
