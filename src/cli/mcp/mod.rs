//! The Model Context Protocol over stdin and stdout, for `ckpt mcp`.
//!
//! Written by hand: a dozen methods over the JSON code that is here anyway, without a runtime (see
//! `docs/internals/decisions.md`). Both eras are spoken. Since 2026-07-28 every request says what it needs to in `_meta`,
//! and `server/discover` comes first if at all; up to 2025-11-25 there is a handshake, `initialize`.
//!
//! - `lines` cuts stdin into lines of a bounded length; `message` makes requests of them.
//! - `server` answers one message at a time, in their order. It knows the protocol and nothing of checkpoints.
//! - `tools`, `resources` and `prompts` are what `ckpt` offers, made from the reports of its commands; `document` is how a
//!   report is written.
//!
//! Nothing that arrives ends the server, except the end of stdin. A save is durable when its answer is written.

mod document;
mod lines;
mod message;
mod prompts;
mod resources;
mod server;
mod tools;

use std::io::BufRead;

use super::args::GlobalArgs;
use super::error::Failure;
use super::exit::Exit;
use super::output::Output;
use super::session::Session;
use ckpt_store::HeadMemory;
use lines::Lines;
use server::Server;

/// Answers the messages on `input` until it ends.
pub(super) fn serve(input: impl BufRead, session: &Session) -> Result<Exit, Failure> {
    // A call must neither ask nor write to a stream by itself.
    let global = GlobalArgs { json: true, no_input: true, ..session.global.clone() };
    let output = Output::new(&global, &session.env);
    let quiet = Session { output, global, heads: Some(HeadMemory::default()), ..session.clone() };
    let mut server = Server::new(&quiet);
    for line in Lines::new(input) {
        if let Some(answer) = server.answer(line) {
            let mut line = serde_json::to_vec(&answer).unwrap_or_default();
            line.push(b'\n');
            session.output.answer_bytes(&line)?;
        }
    }
    Ok(Exit::Ok)
}
