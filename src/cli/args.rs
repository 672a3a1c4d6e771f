//! The command tree.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::commands;
use super::error::Failure;
use super::exit::Exit;
use super::session::Session;
use super::style::ColorChoice;

/// Flags that every command takes, before or behind its name.
#[derive(Debug, Clone, Default, Args)]
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
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Print more
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Global options")]
    pub(crate) verbose: bool,
}

/// One command: what it is called, how its arguments look, and what it does.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) alias: Option<&'static str>,
    pub(crate) augment: fn(Command) -> Command,
    pub(crate) examples: &'static str,
    pub(crate) run: fn(&ArgMatches, &Session) -> Result<Exit, Failure>,
}

impl Spec {
    fn answers_to(&self, word: &OsString) -> bool {
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

/// Turns matches into the arguments of a command. It cannot fail after parsing, but if it does, that is said.
pub(crate) fn take<A: FromArgMatches>(matches: &ArgMatches) -> Result<A, Failure> {
    A::from_arg_matches(matches).map_err(|error| Failure::usage("usage", error.to_string()))
}

const ABOUT: &str =
    "Saves, resumes, lists, shows, cleans up and archives the checkpoints of long, multi-phase work";

const EXAMPLES: &str = "\
Examples:
  ckpt save 042 --phase plan --phases plan,build,test --next \"Write the parser\"
  ckpt list
  ckpt show 042
  ckpt COMMAND --help";

fn tree<'a>(specs: impl Iterator<Item = &'a Spec>) -> Command {
    // The flags come first: their doc comment would replace the description.
    GlobalArgs::augment_args(Command::new("ckpt"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(None)
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .max_term_width(100)
        .subcommands(specs.map(Spec::command))
}

/// The whole command tree, for help, completion and documentation.
#[must_use]
pub fn command_tree() -> Command {
    tree(commands::ALL.iter())
}

/// Understands the arguments.
///
/// Building the whole tree takes longer than the rest of a save. So the command is looked for among the words first,
/// and a tree with only that one is tried. If it does not accept the arguments, the whole tree decides, and words the
/// complaint. The small tree accepts nothing that the whole one would understand differently: the first word that is
/// not a flag's is the command in both.
pub(crate) fn parse(args: &[OsString]) -> Result<(&'static Spec, ArgMatches, GlobalArgs), clap::Error> {
    let named = args.iter().skip(1).find_map(|word| commands::ALL.iter().find(|spec| spec.answers_to(word)));
    if let Some(spec) = named
        && let Ok(matches) = tree(std::iter::once(spec)).try_get_matches_from(args)
    {
        return accept(&matches);
    }
    accept(&command_tree().try_get_matches_from(args)?)
}

fn accept(matches: &ArgMatches) -> Result<(&'static Spec, ArgMatches, GlobalArgs), clap::Error> {
    let global = GlobalArgs::from_arg_matches(matches)?;
    let found = matches.subcommand().and_then(|(name, inner)| {
        let spec = commands::ALL.iter().find(|spec| spec.name == name)?;
        Some((spec, inner.clone(), global))
    });
    found.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
}
