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

mod adopt;
mod archive;
mod cli;
mod examples;
mod fuzz;
mod protocol;
mod readme;
mod resume;
mod retention;
mod strace;
mod world;
