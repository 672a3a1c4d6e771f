//! Rules for every command: streams, JSON, exit codes, colour, help.

mod color;
mod exit_codes;
mod failures;
mod help;
mod json;
mod processes;
mod quiet;
mod streams;
