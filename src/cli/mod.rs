//! The command line: arguments in, a report out.
//!
//! A command turns its arguments into a request to [`core`](crate::core) and the answer into a report. A report
//! serialises to JSON, and a view renders it for people; no command knows which of the two will be wanted. Only `ui`
//! writes to the streams, only `exit` knows numbers, only `env` and `clock` look at the world.

mod agent;
mod args;
mod auto_cleanup;
mod child;
mod clock;
mod commands;
mod complete;
mod env;
mod error;
pub mod escape;
mod exit;
mod input;
mod mirror;
mod page;
mod progress;
mod question;
mod report;
mod run;
mod save;
mod session;
mod style;
mod table;
mod ui;
mod usage;
mod values;
mod views;
mod words;

pub use args::command_tree;
pub use error::ErrorCode;
pub use exit::Exit;
pub use run::main;
