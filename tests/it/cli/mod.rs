//! The command line, run as processes.

mod completions;
mod init;
mod list;
mod man;
mod save;
mod schema;
mod selectors;
mod show;
