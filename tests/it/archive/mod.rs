//! Nothing leaves without a verified archive, and everything can come back.

mod bad_bundles;
mod cycle;
mod expiry;
mod removed_directory;
mod repair;
