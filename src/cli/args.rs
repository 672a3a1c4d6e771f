//! The command tree.

use std::any::Any;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::commands;
use super::declare::arguments;
use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::quick::Reader;
use super::session::Session;
use super::style::ColorChoice;

arguments! {
    /// Flags that every command takes, before or behind its name.
    #[derive(Clone, Default)]
    pub(crate) struct GlobalArgs {
        /// Use this store instead of searching for one [env: CKPT_STORE]
        #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
        pub(crate) store: Option<PathBuf>,
        /// Answer with one JSON document
        #[arg(long, global = true, help_heading = "Global options")]
        pub(crate) json: bool,
        /// When to use colour
        #[arg(
            long,
            global = true,
            value_enum,
            value_name = "WHEN",
            default_value = "auto",
            help_heading = "Global options"
        )]
        pub(crate) color: ColorChoice,
        /// Never ask, even on a terminal
        #[arg(long, global = true, help_heading = "Global options")]
        pub(crate) no_input: bool,
        /// Print only the essential value
        #[arg(short = 'q', long, global = true, help_heading = "Global options")]
        pub(crate) quiet: bool,
        /// Print more
        #[arg(short = 'v', long, global = true, conflicts_with = "quiet", help_heading = "Global options")]
        pub(crate) verbose: bool,
    }
}

/// One command: what it is called, how its arguments look, and what it does.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) alias: Option<&'static str>,
    pub(crate) augment: fn(Command) -> Command,
    /// Understands ordinary arguments without clap, where that is worth it.
    pub(crate) quick: Option<Reader>,
    pub(crate) examples: &'static str,
    pub(crate) run: fn(Given, &Session) -> Result<Exit, Failure>,
}

/// What was given to a command.
pub(crate) enum Given {
    /// Its arguments.
    Arguments(Box<dyn Any>),
    /// What clap makes them of.
    Matches(ArgMatches),
}

impl Spec {
    pub(crate) fn answers_to(&self, word: &OsString) -> bool {
        word == self.name || self.alias.is_some_and(|alias| word == alias)
    }

    fn command(&self) -> Command {
        let command = (self.augment)(Command::new(self.name)).after_help(self.examples);
        match self.alias {
            Some(alias) => command.visible_alias(alias),
            None => command,
        }
    }
}

/// Takes the arguments of a command. It cannot fail after parsing, but if it does, that is said.
pub(crate) fn take<A: FromArgMatches + 'static>(given: Given) -> Result<A, Failure> {
    let taken = match given {
        Given::Arguments(arguments) => {
            let arguments = arguments.downcast().map(|arguments| *arguments);
            arguments.map_err(|_| "these are the arguments of another command".to_owned())
        }
        Given::Matches(mut matches) => {
            A::from_arg_matches_mut(&mut matches).map_err(|error| error.to_string())
        }
    };
    taken.map_err(|why| Failure::new(ErrorCode::Usage, why))
}

const ABOUT: &str =
    "Saves, resumes, lists, shows, cleans up and archives the checkpoints of long, multi-phase work";

const EXAMPLES: &str = "\
Examples:
  ckpt save 042 --phase plan --phases plan,build,test --next \"Write the parser\"
  ckpt list
  ckpt show 042
  ckpt COMMAND --help";

/// The whole command tree, for help, completion and documentation.
#[must_use]
pub fn command_tree() -> Command {
    // The flags come first: their doc comment would replace the description.
    GlobalArgs::augment_args(Command::new("ckpt"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(None)
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(commands::ALL.iter().map(Spec::command))
}

/// One command and the global flags on one level: all that is needed to understand what stands behind its name.
pub(super) fn flat(spec: &Spec) -> Command {
    let command =
        GlobalArgs::augment_args(Command::new(spec.name)).no_binary_name(true).disable_help_flag(true);
    (spec.augment)(command)
}

/// Understands the arguments.
///
/// Building the whole tree takes longer than the rest of a save. So when the first word is a command, what follows is
/// first read without clap, then tried on that command alone. If neither accepts the arguments, the whole tree decides,
/// and words the complaint or the help. Nothing is accepted that the whole tree would understand differently: behind
/// the name of a command all three know the same arguments.
pub(crate) fn parse(args: &[OsString]) -> Result<(&'static Spec, Given, GlobalArgs), clap::Error> {
    if let [_, word, rest @ ..] = args
        && let Some(spec) = commands::ALL.iter().find(|spec| spec.answers_to(word))
    {
        if let Some((global, arguments)) = spec.quick.and_then(|quick| quick(rest)) {
            return Ok((spec, Given::Arguments(arguments), global));
        }
        if let Ok(mut matches) = matches(flat(spec), rest) {
            let global = GlobalArgs::from_arg_matches_mut(&mut matches)?;
            return Ok((spec, Given::Matches(matches), global));
        }
    }
    let mut matches = matches(command_tree(), args)?;
    let global = GlobalArgs::from_arg_matches_mut(&mut matches)?;
    let found = matches.remove_subcommand().and_then(|(name, inner)| {
        let spec = commands::ALL.iter().find(|spec| spec.name == name)?;
        Some((spec, Given::Matches(inner), global))
    });
    found.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
}

fn matches(mut command: Command, args: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let matches = command.try_get_matches_from_mut(args);
    // The process is short: taking the tree apart would cost as much as building it.
    std::mem::forget(command);
    matches
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
        commands::ALL.iter().for_each(|spec| flat(spec).debug_assert());
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
