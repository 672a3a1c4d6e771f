//! Injected faults: every step fails once, or is the last one before the process dies.
//!
//! [`disk`] injects them at the [`Disk`](ckpt_store::Disk) seam, in the test's own process; [`system_calls`]
//! injects them with `strace` into `ckpt` as a process.

mod disk;
mod system_calls;
