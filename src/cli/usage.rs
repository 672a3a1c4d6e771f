//! Usage errors, said the way everything else is said.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::error::Failure;
use super::exit::Exit;

/// What came of parsing the arguments, when it was not a command.
pub(crate) enum NotACommand {
    /// Help or version: text for stdout.
    Text(String),
    /// A mistake.
    Mistake(Failure),
}

/// Takes a parser error apart.
pub(crate) fn explain(error: &clap::Error) -> NotACommand {
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
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        let usage = usage.to_string();
        let words: Vec<&str> = usage.trim_start_matches("Usage: ").split_whitespace().collect();
        let command = words.iter().take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
        let command: Vec<&str> = command.copied().collect();
        failure = failure.help(format!("`{} --help` shows all flags", command.join(" ")));
    } else {
        failure = failure.help("`ckpt --help` lists the commands");
    }
    NotACommand::Mistake(failure)
}
