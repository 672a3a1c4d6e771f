//! The environments that tests run in, and the instruments they measure with.
//!
//! - [`project`]: a temporary project in which `ckpt` runs, [`inside`] of this process or in one of its own, with [`strace`]
//!   for its system calls.
//! - [`program`]: where the program under test is.
//! - [`store`]: a store in a temporary directory, used through the library, on a disk with faults.
//! - [`memory`], [`tap`], [`fault`]: a disk in memory that can lose power, and disks that watch, refuse or fail a step.
//! - [`terminal`]: a pseudo-terminal with a program in it.
//! - [`kamiflow`]: the data that complete phases of that system must have.
//! - [`files`]: copies of directories, and directories in memory.
//! - [`offered`]: the commands in texts for users, all of which must be understood.
//! - [`proof`]: how much is tried, and the figures of what was.
//! - [`audit`]: savers that leave a mark each, and the check of what they left.

pub(crate) mod audit;
pub(crate) mod fault;
pub(crate) mod files;
pub(crate) mod inside;
pub(crate) mod kamiflow;
pub(crate) mod memory;
pub(crate) mod offered;
pub(crate) mod program;
pub(crate) mod project;
pub(crate) mod proof;
pub(crate) mod store;
pub(crate) mod strace;
pub(crate) mod tap;
pub(crate) mod terminal;
