//! The command line: arguments in, a report out.
//!
//! A command calls `core` and returns a report, which serialises to JSON or is rendered by a view. The
//! command does not know which of the two is wanted. Only `ui` writes to the streams, only `exit` knows exit codes, only
//! `env` and `clock` read the environment and the time.

mod agent;
mod agents;
mod args;
mod attempts;
mod auto_cleanup;
mod child;
mod clock;
mod codex_trust;
mod commands;
mod commits;
mod complete;
mod content;
mod env;
mod error;
pub mod escape;
mod exit;
mod find;
mod hook;
mod input;
mod invoke;
mod lease;
mod mcp;
mod mirror;
mod page;
mod pages;
mod picker;
mod progress;
mod question;
mod remote;
mod remote_cleanup;
mod report;
mod run;
mod save;
mod screen;
mod server;
mod session;
mod share;
mod streams;
mod style;
mod suggest;
mod synonyms;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod ui;
mod undo;
mod usage;
mod values;
mod views;
mod words;

pub use args::command_tree;
pub use error::ErrorCode;
pub use exit::Exit;
pub use run::main;
