//! The `claude-plan` dialect: one file per plan, rewritten after every phase.
//!
//! It numbers its phases and has no total, so the phases behind the current one are not known, unless the list is part
//! of the [embedded](super::embedded) data.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{read, recognises};
pub(super) use write::write;
