//! `ckpt hook`

use clap::Args;

use crate::cli::args::CommandSpec;
use crate::cli::exit::Exit;

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "hook",
    alias: None,
    augment_args: HookArgs::augment_args,
    examples: EXAMPLES,
    // `cli::hook` has handled the line before it was parsed; what is left asked for help.
    run: |_, _| Ok(Exit::Ok),
};

const EXAMPLES: &str = "\
Examples:
  ckpt hook claude SessionStart
  ckpt hook codex PostToolUse < payload.json
  ckpt hook gemini SessionEnd -v";

/// Keep the plan of an agent as checkpoints, called by its host; always exits 0
///
/// The host calls this at the events of a session, with its JSON on stdin. The plan that the agent keeps with its own tools
/// becomes phases, edited files are remembered, and the start of a session gets the brief. It never asks, never waits, and
/// is silent when there is nothing to say. What went wrong is in `.ckpt/hook.log`, and on stderr with `-v`.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The program that runs the agent: claude, codex or gemini
    #[arg(value_name = "HOST")]
    host: Option<String>,
    /// The event, in the words of the host, such as SessionStart; others than those of the manual do nothing
    #[arg(value_name = "EVENT")]
    event: Option<String>,
}
