//! Tests of the program from the outside, and of the store's protocol from the inside.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests arrange their own world, and a broken arrangement is a failed test"
)]

mod architecture;
mod archive;
mod browser;
mod cli;
mod dialects;
mod docs;
mod engines;
mod faults;
mod format;
mod fuzz;
mod hermetic;
mod hooks;
mod import;
mod index;
mod library;
mod objects;
mod promises;
mod proof;
mod protocol;
mod races;
mod resume;
mod retention;
mod scaling;
mod support;
mod sync;
mod words;
