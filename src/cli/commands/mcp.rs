//! `ckpt mcp`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::mcp::serve;
use crate::cli::session::Session;

pub(crate) const COMMAND: CommandSpec = command!(McpArgs, "mcp", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt mcp
  ckpt mcp --store ../team/.ckpt

Register it with `claude mcp add ckpt -- ckpt mcp`, `codex mcp add ckpt -- ckpt mcp` or `gemini mcp add ckpt ckpt mcp`.";

/// Serve an agent over the Model Context Protocol, on stdin and stdout
///
/// For agents that have no shell, or run it in a sandbox that cannot write: tools `save`, `resume` and `show`, a resource for each
/// workflow and the prompt `resume`. It works in the current directory, speaks every version of the protocol up to
/// 2026-07-28, and ends when stdin ends. A save is durable when it is answered.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {}

fn run(_: &McpArgs, session: &Session) -> Result<Exit, Failure> {
    serve(std::io::stdin().lock(), session)
}
