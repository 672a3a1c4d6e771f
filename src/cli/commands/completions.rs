//! `ckpt completions`

use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete::VARIABLE;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::text::TextReport;

pub(crate) const COMMAND: CommandSpec = command!(CompletionsArgs, "completions", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  source <(ckpt completions bash)
  ckpt completions zsh > ~/.zfunc/_ckpt
  ckpt completions fish | source";

/// Print the completion script of a shell
///
/// It completes commands, flags, workflows, checkpoints and phases.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: ShellArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShellArg {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

fn run(args: &CompletionsArgs, session: &Session) -> Result<Exit, Failure> {
    let name = match args.shell {
        ShellArg::Bash => "bash",
        ShellArg::Zsh => "zsh",
        ShellArg::Fish => "fish",
        ShellArg::Elvish => "elvish",
        ShellArg::Powershell => "powershell",
    };
    let failed = |why: String| Failure::new(ErrorCode::Output, format!("the script cannot be made: {why}"));
    let shells = Shells::builtins();
    let shell = shells.completer(name).ok_or_else(|| failed(format!("{name} is not supported")))?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "ckpt", "ckpt", "ckpt", &mut script)
        .map_err(|error| failed(error.to_string()))?;
    session.answer(&TextReport::new(String::from_utf8_lossy(&script).into_owned()))
}
