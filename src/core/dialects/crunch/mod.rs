//! The `crunch` dialect: a YAML file per checkpoint of an issue (JSON in older versions), and an index beside them.
//!
//! A checkpoint knows the phase that an issue is in, and not what became of the phases before it; their order is fixed,
//! so they are taken as complete. What is beside it is its entry in the index, which alone knows why it was taken.

mod graph;
mod phases;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{read, recognises};
pub(super) use write::write;
