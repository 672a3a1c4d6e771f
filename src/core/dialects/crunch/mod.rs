//! The `crunch` dialect: a YAML file per checkpoint of an issue (JSON in older versions), and an index of them.
//!
//! A checkpoint has the current phase of an issue, and nothing about the phases before it; their order is fixed, so they
//! are taken as complete. The companion is the entry of the checkpoint in the index, which has its trigger.

mod graph;
mod phases;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{read, recognises};
pub(super) use write::write;
