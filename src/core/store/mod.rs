//! The store: a directory of immutable, numbered files, and the protocol that adds to it.
//!
//! ```text
//! .ckpt/
//!   config.toml                   settings and pipelines, optional
//!   .gitignore                    everything but config.toml
//!   workflows/042/00000007.json   checkpoint 042/7; of no bytes: a tombstone, its content is in the archive
//!   archive/042/*.jsonl.gz        bundles: what left the live store, and why
//!   archive/042/*.gone            says which numbers are in no bundle any more, and why that is known
//!   quarantine/042/               damaged files, moved, never deleted
//! ```
//!
//! # Model
//!
//! A workflow is a directory, a checkpoint is a file in it, and its number is its name. The newest checkpoint is the
//! one with the highest number: no clock, no modification time and no index file has a say in it. A file is made
//! visible in one step and never changes afterwards. Numbers are taken by creating the file only if it is not there,
//! so two writers never share one, and there is no lock that a killed process could leave behind.
//!
//! A number once taken is never freed, so the files of a workflow are numbered from 1 without gaps. What leaves the live
//! store is in a bundle first, and leaves a tombstone behind; reading finds it in the bundle. A workflow that leaves as a
//! whole is closed by a seal, which takes a number too. Its tombstones and its seal stay for good.
//!
//! # Limitations
//!
//! The promises hold on file systems that have hard links, or a rename that does not replace, and whose `fsync` tells
//! the truth. A number whose file was removed by hand is found missing, but what was in it is gone.

mod append;
mod archive;
mod base;
mod bundle;
mod bundles;
mod clean;
mod disk;
mod error;
mod gone;
mod layout;
mod locate;
mod merge;
mod migrate;
mod open;
mod os_disk;
mod pack;
mod read;
mod repair;
mod resolve;
mod restart;
mod restore;
mod scan;
mod scan_archive;
mod scan_bundles;
mod sources;
mod survey;
mod telling;
mod verify;

pub use append::{Decision, LOCK_PATIENCE};
pub use archive::Archived;
pub use bundle::{
    BadBundle, Bundle, BundleName, MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, Manifest, ManifestEntry,
};
pub use clean::{Cleaned, CleanedWorkflow};
pub use disk::{Access, Disk, FileId, Kind, Stat};
pub use error::{Error, Result};
pub use gone::{Gone, GoneNotes};
pub use layout::{EntryName, STORE_NAME};
pub use locate::{Located, Location, Searcher, locate};
pub use migrate::MigrationPlan;
pub use open::Store;
pub use os_disk::OsDisk;
pub use read::{Entry, Stored};
pub use repair::{Repair, RepairAction};
pub use restart::{Keep, Restarted};
pub use restore::Restored;
pub use scan::{CheckpointRow, Live, WorkflowRow};
pub use scan_bundles::BundleRow;
pub use telling::{ArchiveStep, Archiving};
pub use verify::{Checked, StoredSecret, Verification};
