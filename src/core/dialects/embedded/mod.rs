//! Embedded ckpt data: the parts of a checkpoint for which a dialect has no member.
//!
//! Most of these systems have a member whose content is up to their users. Data that cannot be expressed otherwise goes
//! there, under `ckpt`, and is read again on import:
//!
//! | dialect | member |
//! |---|---|
//! | `kamiflow` | `metadata` |
//! | `claude-dir` | `workflow_state` |
//! | `claude-plan` | `context_metadata` |
//! | `crunch` | `knowledge_context` |
//!
//! The system that owns the file continues without reading the embedded data. So its own members take precedence, and
//! embedded data that may be outdated is ignored once the file has a later time of saving: the status, that of phases,
//! the note, the next action, the last error and the git checkout. A `ckpt` member that was not written by this program
//! is left alone.

mod artifact_names;
mod collect;
mod container;
mod phase_owners;
mod read;
#[cfg(test)]
mod tests;

pub(super) use collect::{collect, is_same, state_without_import};
pub(super) use container::{KEY, container, insert, remove};
pub(super) use read::read;
