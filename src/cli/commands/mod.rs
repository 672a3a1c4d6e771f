//! The commands, one file each.
//!
//! To add a command:
//!
//! 1. Write `commands/NAME.rs` with its arguments (a `clap::Args` struct whose doc comment is the help text), `EXAMPLES`,
//!    a function `run`, and a constant `COMMAND` that names all of them.
//! 2. Add `NAME::COMMAND` to its group in [`GROUPS`].
//! 3. Write its report and view in `cli/views/NAME.rs`, and its JSON Schema in `schemas/`.
//! 4. Add its tests in `tests/it/cli/NAME.rs`, and its section to `docs/reference/commands.md`.
//!
//! A command never prints. It returns its report through [`Session::answer`](super::session::Session::answer), and only
//! [`output`](super::output) writes to stdout and stderr: the answer, questions, progress and failures. Only
//! [`views`](super::views) turn reports into text. Values are parsed to the types of `core` by clap, see
//! [`values`](super::values); errors of `core` become failures in [`error`](super::error).

mod approve;
mod archive;
pub(crate) mod brief;
mod cleanup;
mod completions;
mod conflict_flags;
pub(crate) mod diff;
mod doctor;
mod done;
mod export;
mod fail;
mod fork;
mod hook;
mod import;
mod init;
mod list;
mod log;
mod man;
mod mcp;
mod merge;
mod pipeline;
mod pull;
mod pull_flag;
mod push;
mod remote;
mod report;
mod restore;
pub(crate) mod resume;
mod resume_command;
mod revise;
mod rollback;
mod run;
pub(crate) mod save;
mod save_flags;
mod schema;
mod setup;
pub(crate) mod show;
mod start;
mod stats;
pub(crate) mod status;
mod sync;
mod ui;
pub(crate) mod unfinished;
mod verify;

use super::args::CommandSpec;

/// All commands by the group that the help text shows them in, in its order.
pub(crate) const GROUPS: &[(&str, &[CommandSpec])] = &[
    (
        "Every day",
        &[
            start::COMMAND,
            done::COMMAND,
            fail::COMMAND,
            save::COMMAND,
            resume::COMMAND,
            status::COMMAND,
            list::COMMAND,
            run::COMMAND,
            brief::COMMAND,
        ],
    ),
    (
        "History and decisions",
        &[
            show::COMMAND,
            log::COMMAND,
            diff::COMMAND,
            approve::COMMAND,
            revise::COMMAND,
            rollback::COMMAND,
            fork::COMMAND,
            merge::COMMAND,
            stats::COMMAND,
            report::COMMAND,
            ui::COMMAND,
        ],
    ),
    ("Keeping the store", &[cleanup::COMMAND, archive::COMMAND, restore::COMMAND, verify::COMMAND]),
    ("Sharing", &[push::COMMAND, pull::COMMAND, sync::COMMAND, remote::COMMAND]),
    ("Other systems", &[import::COMMAND, export::COMMAND, pipeline::COMMAND]),
    (
        "Set-up",
        &[
            init::COMMAND,
            setup::COMMAND,
            doctor::COMMAND,
            hook::COMMAND,
            mcp::COMMAND,
            completions::COMMAND,
            man::COMMAND,
            schema::COMMAND,
        ],
    ),
];

/// Returns all commands.
pub(crate) fn all() -> impl Iterator<Item = &'static CommandSpec> {
    GROUPS.iter().flat_map(|(_, commands)| *commands)
}
