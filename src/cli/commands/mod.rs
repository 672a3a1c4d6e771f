//! The commands, one file each.

mod approve;
mod archive;
mod brief;
mod cleanup;
mod completions;
mod diff;
mod export;
mod foreign;
mod import;
mod init;
mod list;
mod man;
mod migrate;
mod pipeline;
mod restore;
mod resume;
mod revise;
mod rollback;
mod run;
mod save;
mod schema;
mod show;
mod stats;
mod status;
mod unfinished;
mod verify;

use super::args::CommandSpec;

/// All commands, in the order of the help text.
pub(crate) const ALL: &[CommandSpec] = &[
    save::COMMAND,
    resume::COMMAND,
    status::COMMAND,
    brief::COMMAND,
    list::COMMAND,
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
