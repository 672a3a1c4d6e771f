//! The commands, one file each.
//!
//! To add a command:
//!
//! 1. Write `commands/NAME.rs` with its arguments (a `clap::Args` struct whose doc comment is the help text), `EXAMPLES`,
//!    a function `run`, and a constant `COMMAND` that names all of them.
//! 2. Add `NAME::COMMAND` to [`ALL`], at its place in the help text.
//! 3. Write its report and view in `cli/views/NAME.rs`, and its JSON Schema in `schemas/`.
//! 4. Add its tests in `tests/it/cli/NAME.rs`, and its section to `docs/reference/commands.md`.
//!
//! A command never prints. It returns its report through [`Session::answer`](super::session::Session::answer), and only
//! [`ui`](super::ui) writes to stdout and stderr: the answer, questions, progress and failures. Only
//! [`views`](super::views) turn reports into text. Values are parsed to the types of `core` by clap, see
//! [`values`](super::values); errors of `core` become failures in [`error`](super::error).

mod approve;
mod archive;
mod brief;
mod cleanup;
mod completions;
mod diff;
mod done;
mod export;
mod fail;
mod import;
mod init;
mod list;
mod log;
mod man;
mod migrate;
mod pipeline;
mod restore;
mod resume;
mod resume_command;
mod revise;
mod rollback;
mod run;
mod save;
mod save_flags;
mod schema;
mod show;
mod start;
mod stats;
mod status;
pub(crate) mod unfinished;
mod verify;

use super::args::CommandSpec;

/// All commands, in the order of the help text.
pub(crate) const ALL: &[CommandSpec] = &[
    save::COMMAND,
    start::COMMAND,
    done::COMMAND,
    fail::COMMAND,
    resume::COMMAND,
    status::COMMAND,
    brief::COMMAND,
    list::COMMAND,
    log::COMMAND,
    show::COMMAND,
    diff::COMMAND,
    run::COMMAND,
    approve::COMMAND,
    revise::COMMAND,
    rollback::COMMAND,
    archive::COMMAND,
    restore::COMMAND,
    verify::COMMAND,
    cleanup::COMMAND,
    stats::COMMAND,
    pipeline::COMMAND,
    import::COMMAND,
    export::COMMAND,
    migrate::COMMAND,
    init::COMMAND,
    schema::COMMAND,
    completions::COMMAND,
    man::COMMAND,
];
