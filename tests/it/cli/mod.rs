//! The command line, run as processes.

mod archive;
mod bad_input;
mod cleanup;
mod completions;
mod contracts;
mod diff;
mod discovery;
mod export;
mod independence;
mod init;
mod list;
mod man;
mod migrate;
mod pipeline;
mod progress;
mod readers;
mod repair;
mod restore;
mod resume;
mod rollback;
mod save;
mod schema;
mod selectors;
mod show;
mod stats;
mod verify;
