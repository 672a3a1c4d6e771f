//! Nothing leaves without a verified archive, and everything can come back.
#![expect(clippy::disallowed_methods, reason = "tests arrange their own world")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod bad_bundles;
mod compacted;
mod cycle;
mod faults;
mod races;
mod world;
