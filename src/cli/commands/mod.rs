//! The commands, one file each.

mod completions;
mod init;
mod list;
mod man;
mod save;
mod schema;
mod show;

use super::args::Spec;

/// All commands, in the order of the help text.
pub(crate) const ALL: &[Spec] =
    &[save::SPEC, list::SPEC, show::SPEC, init::SPEC, schema::SPEC, completions::SPEC, man::SPEC];
