//! The command line as clap sees it: the global flags, one command, or the whole tree.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::commands;
use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::session::Session;
use super::style::ColorChoice;

/// Flags that every command takes, before or behind its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Use this store instead of searching for one [env: CKPT_STORE]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Answer with one JSON document; failures are JSON on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Never ask, even on a terminal
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Print only the essential value, such as the new handle, and never ask
    #[arg(short = 'q', long, global = true)]
    pub(crate) quiet: bool,
    /// Print more, such as paths and the reason of every decision
    #[arg(short = 'v', long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

/// One command: its name, its arguments and the function that runs it.
pub(crate) struct CommandSpec {
    pub(crate) name: &'static str,
    pub(crate) alias: Option<&'static str>,
    pub(crate) augment_args: fn(Command) -> Command,
    pub(crate) examples: &'static str,
    pub(crate) run: fn(ArgMatches, &Session) -> Result<Exit, Failure>,
}

/// Describes a command without an alias by the type of its arguments, its name, its examples and the function that runs it.
macro_rules! command {
    ($args:ty, $name:literal, $examples:expr, $run:expr) => {
        $crate::cli::args::CommandSpec {
            name: $name,
            alias: None,
            augment_args: <$args as clap::Args>::augment_args,
            examples: $examples,
            run: |matches, session| $run(&$crate::cli::args::parsed(matches)?, session),
        }
    };
}
pub(crate) use command;

impl CommandSpec {
    /// Finds a command by its name or alias.
    pub(crate) fn find(word: &OsString) -> Option<&'static Self> {
        commands::all().find(|spec| word == spec.name || spec.alias.is_some_and(|alias| word == alias))
    }

    /// The command as a part of the whole tree. Its help has the global flags in one line.
    fn subcommand(&self) -> Command {
        let hidden = |arg: Arg| arg.hide_short_help(true).hide_long_help(true);
        let global = GlobalArgs::augment_args(Command::new(self.name)).mut_args(hidden);
        let command = (self.augment_args)(global.next_help_heading(None)).mut_args(with_repetition);
        let command = command.after_help(format!("{}\n\n{GLOBAL_HINT}", self.examples));
        match self.alias {
            Some(alias) => command.visible_alias(alias),
            None => command,
        }
    }

    /// The command alone, with the global flags on the same level.
    pub(super) fn standalone(&self) -> Command {
        let command = GlobalArgs::augment_args(Command::new(self.name));
        (self.augment_args)(command.no_binary_name(true).disable_help_flag(true))
    }
}

/// Adds to the help of a flag that it may be repeated.
fn with_repetition(arg: Arg) -> Arg {
    if arg.is_positional() || !matches!(arg.get_action(), ArgAction::Append) {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help} (repeatable)"))
}

/// Converts matches to the arguments of a command.
pub(crate) fn parsed<A: FromArgMatches>(mut matches: ArgMatches) -> Result<A, Failure> {
    A::from_arg_matches_mut(&mut matches).map_err(|error| Failure::new(ErrorCode::Usage, error.to_string()))
}

const ABOUT: &str = "Saves, resumes, lists, shows, cleans up and archives the checkpoints of long, multi-phase work";

pub(crate) const EXAMPLES: &str = "\
Examples:
  ckpt start 042 --phases plan,build,test --phase plan --title \"OAuth login\"
  ckpt done 042 --phase plan --next \"Write the parser\"
  ckpt resume 042
  ckpt list
  ckpt cleanup --dry-run";

const MORE: &str = "\
Naming a checkpoint:
  042    the newest one of the workflow
  042/7  number 7
  042~1  the one before the newest

`ckpt save --help` explains a command.
`ckpt man | man -l -` has the settings, environment variables, files and exit codes.";

const GLOBAL_HINT: &str = "Also: --json, -q, -v, --store DIR, --color WHEN, --no-input; `ckpt --help` explains them.";

/// The whole command tree, for help, completion and documentation.
#[must_use]
pub fn command_tree() -> Command {
    // The flags come first: their doc comment would replace the description.
    let tree = GlobalArgs::augment_args(Command::new("ckpt"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(None)
        .after_help(format!("{EXAMPLES}\n\n{MORE}"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(commands::all().map(CommandSpec::subcommand));
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Global options:\n{{options}}{{after-help}}",
        command_list(&tree)
    );
    tree.help_template(template)
}

/// Lists the commands by group, with a line about each.
fn command_list(tree: &Command) -> String {
    let mut text = String::new();
    for (group, commands) in commands::GROUPS {
        text.push_str(&format!("{group}:\n"));
        for spec in *commands {
            let about = tree.find_subcommand(spec.name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let alias = spec.alias.map(|alias| format!(" [alias: {alias}]")).unwrap_or_default();
            text.push_str(&format!("  {:<12} {about}{alias}\n", spec.name));
        }
        text.push('\n');
    }
    text
}

/// Parses the command line.
///
/// Building the whole tree takes longer than the rest of a save. So if the first word is a command, only that one is
/// built. The whole tree is the fallback: it accepts global flags before the command, and words help and errors. Behind
/// the name of a command both accept the same arguments.
pub(crate) fn parse(args: &[OsString]) -> Result<(&'static CommandSpec, ArgMatches, GlobalArgs), clap::Error> {
    if let [_, word, rest @ ..] = args
        && let Some(spec) = CommandSpec::find(word)
        && let Ok(mut matches) = spec.standalone().try_get_matches_from(rest)
    {
        let global = GlobalArgs::from_arg_matches_mut(&mut matches)?;
        return Ok((spec, matches, global));
    }
    let mut matches = command_tree().try_get_matches_from(args)?;
    let global = GlobalArgs::from_arg_matches_mut(&mut matches)?;
    let subcommand = matches.remove_subcommand().and_then(|(name, matches)| {
        let spec = CommandSpec::find(&name.into())?;
        Some((spec, matches, global))
    });
    subcommand.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("ckpt").chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn every_command_is_well_formed_alone_and_in_the_tree() {
        command_tree().debug_assert();
        commands::all().for_each(|spec| spec.standalone().debug_assert());
    }

    #[test]
    fn a_command_alone_understands_what_the_tree_understands() {
        for line in ["ls --json --store list", "list --store x -q", "--store list ls", "-q list", "list"] {
            let (spec, _, global) = parse(&words(line)).unwrap();
            assert_eq!(spec.name, "list", "{line}");
            let mut whole = command_tree().try_get_matches_from(words(line)).unwrap();
            let expected = GlobalArgs::from_arg_matches_mut(&mut whole).unwrap();
            assert_eq!(format!("{global:?}"), format!("{expected:?}"), "{line}");
        }
    }

    #[test]
    fn what_a_command_alone_refuses_is_worded_by_the_tree() {
        for line in ["list --nonsense", "list --help", "list -V", "list --quiet --verbose", "--store list"] {
            let expected = command_tree().try_get_matches_from(words(line)).unwrap_err().to_string();
            assert_eq!(parse(&words(line)).map(|_| ()).unwrap_err().to_string(), expected, "{line}");
        }
    }
}
