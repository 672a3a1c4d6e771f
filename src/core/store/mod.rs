//! The store: a directory of immutable, numbered files, and the protocol that adds to it.
//!
//! ```text
//! .ckpt/
//!   config.toml                   settings and pipelines, optional
//!   .gitignore                    everything but config.toml
//!   workflows/042/00000007.json   checkpoint 042/7
//! ```
//!
//! # Model
//!
//! A workflow is a directory, a checkpoint is a file in it, and its number is its name. The newest checkpoint is the
//! one with the highest number: no clock, no modification time and no index file has a say in it. A file is made
//! visible in one step and never changes afterwards. Numbers are taken by creating the file only if it is not there,
//! so two writers never share one, and there is no lock that a killed process could leave behind.
//!
//! # Limitations
//!
//! The promises hold on file systems that have hard links, or a rename that does not replace, and whose `fsync` tells
//! the truth. A number whose file was removed by hand is found missing, but what was in it is gone.

mod append;
mod disk;
mod layout;
mod locate;
mod open;
mod os_disk;
mod read;
mod resolve;
mod scan;

pub use append::{Appended, Decision, LOCK_PATIENCE};
pub use disk::{Access, Disk, FileId};
pub use layout::{EntryName, STORE_NAME};
pub use locate::{Located, Location, Searcher, locate};
pub use open::Store;
pub use os_disk::OsDisk;
pub use read::{Entry, Stored};
pub use scan::{CheckpointRow, WorkflowRow};
