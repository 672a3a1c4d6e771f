//! The commands, one file each.

#[cfg(test)]
mod agreement;
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
mod reader;
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

use super::args::Spec;

/// All commands, in the order of the help text.
pub(crate) const ALL: &[Spec] = &[
    save::SPEC,
    resume::SPEC,
    status::SPEC,
    brief::SPEC,
    list::SPEC,
    show::SPEC,
    diff::SPEC,
    run::SPEC,
    approve::SPEC,
    revise::SPEC,
    rollback::SPEC,
    archive::SPEC,
    restore::SPEC,
    verify::SPEC,
    cleanup::SPEC,
    stats::SPEC,
    pipeline::SPEC,
    import::SPEC,
    export::SPEC,
    migrate::SPEC,
    init::SPEC,
    schema::SPEC,
    completions::SPEC,
    man::SPEC,
];
