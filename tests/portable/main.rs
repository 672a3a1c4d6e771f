//! The everyday work and the promises of the program, on every platform: natively, for aarch64 under qemu, and for Windows
//! under wine. `docs/platforms.md` says which platforms run it.
//!
//! Only the standard library is used here, and the program is used as people use it. Everything that needs more than one
//! platform has is in `tests/it`.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, reason = "tests arrange their own world")]

mod everyday;
mod hostile;
mod many;
mod project;
