//! Mirrors: the files of a workflow for another system, kept equal to what the store holds.
//!
//! [`update()`] locks the manifest, computes the [projection](crate::core::export::projection) of what the store holds
//! now, plans by comparing it with the manifest and the files, and carries the plan out. So it does not matter which
//! command changed the store, or how many do at once: the last update sees all of it.
//!
//! After a save, only the checkpoints that the manifest does not have are read, and only the files that change are looked at,
//! so that a save to a long workflow costs no more than one to a short one. Whatever that leaves (files that somebody has
//! deleted, say) is found by the next update after another command.
//!
//! A file is replaced or removed only if its content is known: recorded in the manifest, equal to what would be written, or
//! imported before. Any other content belongs to the system or the user, and is reported once.

mod known;
mod plan;
mod update;

pub use update::{MirrorError, MirrorUpdate, Since, mirrored, update};
