//! The command line: arguments in, a report out.
//!
//! A command calls `core` and returns a report, which serialises to JSON or is rendered by a view. The
//! command does not know which of the two is wanted. Only `output` writes to the streams, only `exit` knows exit codes, only
//! `env` and `clock` read the environment and the time.

mod answer;
mod args;
mod attempts;
mod auto_cleanup;
mod caller;
mod child;
mod clock;
mod codex_trust;
mod commands;
mod complete;
mod content;
mod entry;
mod env;
mod error;
pub mod escape;
mod exit;
mod find;
mod hook;
mod input;
mod installed_agents;
mod invoke;
mod lease;
mod mcp;
mod output;
mod pages;
mod picker;
mod progress;
mod question;
mod remote_access;
mod remote_cleanup;
mod saving;
mod screen;
mod server;
mod session;
mod share;
mod streams;
mod style;
mod suggest;
mod synonyms;
mod table;
pub mod testing;
mod text_page;
mod undo;
mod usage;
mod values;
mod views;
mod words;

pub use args::command_tree;
pub use entry::main;
pub use error::ErrorCode;
pub use exit::Exit;
