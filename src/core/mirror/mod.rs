//! Mirrors: the files of a workflow for another system, kept equal to what the store holds.
//!
//! [`update()`] locks the manifest, computes the [projection](crate::core::export::projection) of what the store holds
//! now, plans by comparing it with the manifest and the files, and carries the plan out. So it does not matter which
//! command changed the store, or how many do at once: the last update sees all of it.
//!
//! A file is replaced or removed only if its content is known: recorded in the manifest, equal to what would be written, or
//! imported before. Any other content belongs to the system or the user, and is reported once.

mod known;
mod plan;
mod update;

pub use update::{MirrorError, MirrorUpdate, mirrored, update};
