//! `ckpt man`

use clap::builder::Resettable;
use clap::{Arg, Args};

use crate::cli::args::{self, CommandSpec, command, command_tree};
use crate::cli::caller;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::text::TextReport;

pub(crate) const COMMAND: CommandSpec = command!(ManArgs, "man", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt man | man -l -
  ckpt man save > ckpt-save.1";

/// Print the manual page of ckpt, or of one of its commands
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The page of this command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

fn run(args: &ManArgs, session: &Session) -> Result<Exit, Failure> {
    let mut tree = command_tree();
    tree.build();
    let (command, examples) = match &args.command {
        None => (tree, args::EXAMPLES),
        Some(name) => {
            let found = CommandSpec::find(&name.into())
                .and_then(|spec| Some((tree.find_subcommand(spec.name)?.clone(), spec.examples)));
            let (command, examples) = found.ok_or_else(|| {
                Failure::new(ErrorCode::NoSuchCommand, format!("there is no command `{name}`"))
                    .help("`ckpt --help` lists the commands")
            })?;
            let title = format!("ckpt-{}", command.get_name());
            // The page of the program has the global options.
            let without_globals = |arg: Arg| if arg.is_global_set() { arg.hide(true) } else { arg };
            (command.display_name(title).mut_args(without_globals), examples)
        }
    };
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command.after_help(Resettable::Reset)).render(&mut page);
    rendered.map_err(|error| Failure::new(ErrorCode::Output, format!("the page cannot be made: {error}")))?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    if args.command.is_none() {
        page.push_str(&reference_sections());
    } else {
        page.push_str(
            ".SH SEE ALSO\n\\fBckpt\\fR(1) for global options, settings, environment, files and exit codes.\n",
        );
    }
    page.push_str(&examples_section(examples));
    session.answer(&TextReport::new(page))
}

/// The files that the program reads and writes.
const FILES: &[(&str, &str)] = &[
    (".ckpt/", "The store, in the project. It is ignored by git, except for its settings."),
    (".ckpt/config.toml", "The settings of the store, and its pipelines."),
    (".ckpt/workflows/042/00000007.json", "Checkpoint 042/7. Empty if it has left the live store."),
    (".ckpt/archive/042/", "The compressed bundles of what left, and records of what was deleted."),
    (
        ".ckpt/sides/042/00000008@3fa9c2d1.json",
        "Checkpoint 042/8 of another store, where this one has used the number for its own.",
    ),
    (".ckpt/remote/", "What the remote is known to have. It may be deleted at any time."),
    (".ckpt/undo/", "What the newest runs of cleanup and archive took out of the live store."),
    (".ckpt/.gitignore", "Keeps the store out of git, except for its settings."),
    (".ckpt/objects/", "The kept contents of artifacts, compressed, each under the SHA-256 of the content."),
    (".ckpt/quarantine/", "Damaged files that a repair moved away. Nothing in it is deleted."),
    (".ckpt/index", "A cache for lists. It may be deleted at any time."),
    (".ckpt/sessions/", "Who is at work on what, as advice for others. It may be deleted at any time."),
    (".ckpt/cleaned", "How far the last daily cleanup came. It may be deleted at any time."),
    (".ckpt/hook.log", "What went wrong in the hooks of agents. It may be deleted at any time."),
    ("$XDG_CONFIG_HOME/ckpt/config.toml", "The settings of the user, for all stores; ~/.config if it is not set."),
    ("$XDG_STATE_HOME/ckpt/setup/", "The files of agents as they were before setup edited them."),
    ("$XDG_STATE_HOME/ckpt/remotes/", "The remotes that were added on this machine, which may be contacted unasked."),
];

/// The environment variables that the program reads, except those by which agents and CI systems are recognised.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("CKPT_STORE", "The store to use, as --store names it."),
    ("CKPT_REMOTE", "The address of the remote, in place of that of the settings."),
    (
        "CKPT_WORKFLOW",
        "The workflow of save, start, done and fail if none is given. Set for commands that run and resume start, with CKPT_HANDLE, CKPT_PHASE and CKPT_ACTION.",
    ),
    (
        "CKPT_CEILING_DIRECTORIES",
        "Directories above which no store is searched for, as GIT_CEILING_DIRECTORIES has them.",
    ),
    ("CKPT_NO_INPUT", "If set, nothing is ever asked, as with --no-input."),
    ("CKPT_NOW", "The time to use instead of the clock, in RFC 3339; for tests."),
    ("CI", "If set, nothing is ever asked."),
    ("NO_COLOR", "If set, there is no colour, unless --color asks for it."),
    ("CLICOLOR_FORCE", "If set and not 0, there is colour also where the output is not a terminal."),
    ("TERM", "There is no colour on a terminal called dumb."),
    ("HOME", "The search for a store ends there; the settings of the user are below it."),
    ("XDG_CONFIG_HOME", "Where the settings of the user are."),
    ("XDG_STATE_HOME", "Where setup keeps the files of before; ~/.local/state if it is not set."),
    ("CLAUDE_CONFIG_DIR", "Where Claude Code has its files; ~/.claude if it is not set."),
    ("CODEX_HOME", "Where Codex has its files; ~/.codex if it is not set."),
    ("GEMINI_CLI_HOME", "The directory with the .gemini of Gemini CLI; HOME if it is not set."),
    ("PATH", "Where setup and doctor look for agents and for ckpt itself."),
    ("USER", "Recorded as the one who saves; LOGNAME if it is not set."),
    ("LOGNAME", "See USER."),
    ("SUDO_UID", "Under sudo, the account whose stores are trusted too."),
    ("COMPLETE", "Set by the completion scripts."),
];

/// The sections about everything that is not a command.
fn reference_sections() -> String {
    let mut text = String::from(".SH SETTINGS\nIn \\fI.ckpt/config.toml\\fR; all of them are optional.\n.nf\n");
    for line in super::init::CONFIG.lines() {
        text.push_str(&format!("\\&{}\n", plain(line.strip_prefix("# ").unwrap_or(line))));
    }
    text.push_str(".fi\n");
    text.push_str(&definitions("ENVIRONMENT", ENVIRONMENT.iter().copied()));
    let agents: Vec<&str> = caller::variables().collect();
    text.push_str(&definition(
        &agents.join(", "),
        "Recorded with each save: which agent or CI system saved, and in which session. Others that begin with CODEX_ too.",
    ));
    text.push_str(&definitions("FILES", FILES.iter().copied()));
    let codes: Vec<String> = Exit::ALL.iter().map(|exit| exit.code().to_string()).collect();
    let meanings = Exit::ALL.iter().map(|exit| exit.meaning());
    text.push_str(&definitions("EXIT STATUS", codes.iter().map(String::as_str).zip(meanings)));
    text.push_str(&definition("any other", "That of the command which run or resume started."));
    text
}

fn definitions<'a>(title: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let entries: String = entries.map(|(term, meaning)| definition(term, meaning)).collect();
    format!(".SH {}\n{entries}", plain(title))
}

fn definition(term: &str, meaning: &str) -> String {
    format!(".TP\n\\fB{}\\fR\n{}\n", plain(term), plain(meaning))
}

/// Renders the examples without filling and hyphenation, so that they can be copied.
fn examples_section(examples: &str) -> String {
    let lines = examples.lines().skip(1).map(|line| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        format!("\\&{}\n", plain(line))
    });
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.collect::<String>())
}

/// Escapes the characters that roff would change.
fn plain(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}
