//! The command line, run as processes.

mod archive;
mod bad_input;
mod cleanup;
mod cleanup_races;
mod completions;
mod concurrency;
mod contracts;
mod export;
mod faults;
mod independence;
mod init;
mod list;
mod man;
mod migrate;
mod readers;
mod repair;
mod restore;

mod resume;
mod save;
mod schema;
mod selectors;
mod show;
mod stats;
mod verify;
