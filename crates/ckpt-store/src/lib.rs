//! The store: a directory of immutable, numbered files, and the protocol that adds to it.
//!
//! ```text
//! .ckpt/
//!   config.toml                   settings and pipelines, optional
//!   .gitignore                    everything but config.toml
//!   index                         a cache for lists, only in a large store; see `index`
//!   workflows/042/00000007.json   entry 042/7: a checkpoint or a seal; with zero bytes, a tombstone
//!   workflows/042/key-*           markers: keys of saves that the head does not list any more
//!   archive/042/*.jsonl.gz        bundles: the content that left the live store
//!   archive/042/*.deleted         deletion records: numbers whose content is nowhere, and why
//!   objects/ab/abcdef….gz         objects: the contents of artifacts that were captured; see `objects`
//!   quarantine/042/               damaged files, moved by a repair, never deleted
//!   sides/042/00000008@*.json     side checkpoints: what other stores saved under numbers that are taken here
//!   remote/042.json               ledgers: what the remote is known to have; may be deleted at any time
//!   sessions/*.json               notes: who is at work, on what, since when; may be deleted at any time
//!   hook.log                      what went wrong in hooks; may be deleted at any time
//! ```
//!
//! # Model
//!
//! A workflow is a directory, and its entries are files named by their numbers. The head is the entry with the highest
//! number; no clock, no modification time and no index file has a say in it. An entry becomes visible in one step and
//! its content never changes. A number is taken by publishing a file without replacing anything, so two writers never
//! share one, and there is no lock that a killed process could leave behind.
//!
//! A number is never freed, so the entries of a workflow are numbered from 1 without gaps. That is how the head of a long
//! workflow is found without listing its directory: by looking up numbers until one exists and the next does not (see
//! `head`).
//!
//! Content that leaves the live store is in a bundle first, and its file is then replaced by a tombstone; readers find
//! the content in the bundle. A workflow is archived as a whole by a seal, which takes a number too.
//!
//! A run is one pass of a workflow: each checkpoint records the number that its run began with, a fresh start begins
//! another run, and any other save continues the run, also above a seal. A bundle holds files of one run, which its name
//! records. What expires is a whole run.
//!
//! # Two processes save at once
//!
//! Both read the head and stage their checkpoint; the first to publish the next number wins. The other gets
//! `AlreadyExists`, reads the new head and decides again on top of it. The advisory lock only spares it that work. The
//! same holds for a seal, which is why a save during archiving continues above the seal. See `append`.
//!
//! # Where fsync is called
//!
//! In [`Disk::stage`] for the content of a file, and in [`Disk::sync_dir`] for names; nowhere else. `append` syncs the
//! directories above a workflow before its first number is taken, and its directory before a save is acknowledged. New
//! objects and the directories above them are synced before the checkpoint that refers to them is published.
//! `pack` syncs the archive before a seal is published and before files are replaced by tombstones, and `deletion` syncs a
//! record before the content is deleted.
//!
//! # Modules
//!
//! - `disk`, `os_disk`: the seam to the file system, and the real one. `layout`: names. `publish`: stage and publish.
//! - `locate`, `open`: finding, opening and creating a [`Store`]; opening its directories.
//! - `workflow`: one workflow with its open directory; reads and writes its entries. `head`: its newest entry.
//!   `head_memory`: the one that a server has just written.
//! - `archive`: the archive of one workflow; reads its bundles. `deletion`: its deletion records. `bundle`: the file
//!   format.
//! - `objects`: the contents of artifacts. A save stores them before its checkpoint is published.
//! - `adopt`: adding entries that another store has saved. `sides`: side checkpoints. `heads`: what nothing continues.
//!   `ledger`: what a remote is known to have.
//! - `append`: the save protocol. `keys`: finding a save by its key. `restart` adds checkpoints by it.
//! - `archiving`: archiving a workflow. `pack`: writing a bundle, then tombstones. `restore`: the way back.
//! - `cleanup_facts`, `cleanup`: the facts that retention plans by, and applying its plan.
//! - `resolve`, `scan`, `scan_workflows`, `scan_archive`, `figures`, `history`, `imported`: reading for selectors, lists,
//!   statistics, logs, exports and imports. `bundled_files`: reading many archived checkpoints, each bundle once.
//! - `lineage`: what a checkpoint continues, across workflows.
//! - `session_notes`: who is at work.
//!   `hook_log`: what went wrong in hooks.
//! - `fingerprint`: noticing that something changed.
//! - `summary`, `summaries`: selecting among all workflows. `index`: a cache for it. `batches`: reading on all cores.
//! - `verify`, `repair`: checking everything that is stored, and repairing it.
//!
//! # Limitations
//!
//! The promises need a file system with hard links, or a rename that does not replace, and an `fsync` that works. If
//! files are removed by hand, `verify` reports the missing numbers, but only a bundle can bring their content back. In a
//! workflow of more than two hundred entries, files above a wide gap may be overlooked: saves then continue below the
//! gap. Nothing is overwritten, and from the first number that turns out to be taken, the highest one is the head again.

mod adopt;
mod append;
mod archive;
mod archiving;
pub mod artifact;
mod batches;
mod bundle;
mod bundled_files;
pub mod capture;
mod cleanup;
mod cleanup_facts;
mod delete;
mod deletion;
mod disk;
mod error;
mod figures;
mod file_stamp;
pub mod files;
mod fingerprint;
pub mod git;
mod head;
mod head_memory;
mod heads;
mod history;
mod hook_log;
mod imported;
mod index;
mod keys;
mod layout;
mod ledger;
mod lineage;
mod locate;
mod objects;
pub mod observe;
mod open;
mod os_disk;
mod pack;
pub mod place;
mod progress;
mod publish;
mod repair;
mod resolve;
mod restart;
mod restore;
pub mod restore_artifacts;
pub mod save;
mod scan;
mod scan_archive;
mod scan_workflows;
mod session_notes;
pub mod settings_file;
mod sides;
pub mod store_stats;
mod summaries;
mod summary;
mod undo;
mod verify;
mod workflow;

pub use adopt::MOST_FILLED;
pub use append::Decision;
pub use archiving::{ArchivePlan, Archived};
pub use batches::ScanProgress;
pub use bundle::{BadBundle, Bundle, BundleName, MAX_BUNDLE_BYTES, Manifest, ManifestEntry};
pub use ckpt_model::reason::DeletionReason;
pub use cleanup::{Cleaned, CleanedWorkflow, CleanupProgress};
pub use delete::DeletionPlan;
pub use deletion::{Deletions, NumberSet};
pub use disk::{Access, Disk, FileId, FileKind, StagedFile, Stat};
pub use error::{Error, Result};
pub use figures::{BundleTotals, WorkflowFigures};
pub use head::Head;
pub use head_memory::HeadMemory;
pub use history::History;
pub use imported::ImportedFiles;
pub use layout::STORE_NAME;
pub use ledger::Ledger;
pub use lineage::Relation;
pub use locate::{Located, Location, Searcher, locate};
pub use objects::{BadObject, MAX_OBJECT_BYTES, ObjectContent, ObjectTotals, SeenFiles};
pub use open::Store;
pub use os_disk::OsDisk;
pub use progress::{ArchiveProgress, ArchiveStep};
pub use repair::{Repair, RepairAction};
pub use restore::{RestorePlan, RestoreScope, Restored};
pub use scan::CheckpointRow;
pub use scan_archive::BundleRow;
pub use scan_workflows::{Extent, Live, WorkflowRow};
pub use session_notes::SessionKey;
pub use summary::{HeadSummary, SelectedWorkflow, WorkflowSummary};
pub use undo::ArchivedPart;
pub use verify::{Checked, StoredSecret, Verification};
pub use workflow::{Entry, Stored};
