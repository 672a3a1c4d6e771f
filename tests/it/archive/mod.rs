//! Nothing leaves without a verified archive, and everything can come back.

mod bad_bundles;
mod compacted;
mod compaction;
mod cycle;
mod merging;
mod repair;
