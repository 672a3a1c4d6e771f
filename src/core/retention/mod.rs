//! Retention: which checkpoints stay in the live store, which leave it, and why.
//!
//! [`plan()`] decides and [`Store::clean`](crate::core::Store::clean) carries out exactly that value. Deciding looks
//! at nothing but a [`Snapshot`], a [`Policy`] and the time.
//!
//! # Model
//!
//! Rules say what goes, keep rules and guards say what stays, and whatever says "stays" wins. Every checkpoint in
//! scope gets one [`Verdict`] with all the reasons on the winning side. The guards are: the newest checkpoint of an
//! open workflow, pinned ones, ones dated in the future, ones that cannot be read, and everything in a workflow whose
//! newest checkpoint cannot be read. Adding a keep rule never removes more.
//!
//! A finished workflow of which nothing stays leaves as a whole. If anything of it stays, its newest checkpoint stays
//! too, because the numbers go on from there.
//!
//! An archived workflow keeps its tombstones and its seal in the live store for good, because a number once taken is
//! never freed. Small bundles of single checkpoints are merged before bundles are counted, so that those of an open
//! workflow do not drive each other out.
//!
//! An age of exactly the limit is young enough.
//!
//! # Limitations
//!
//! The size of a store is that of its live checkpoints. What is in the archive is small and has its own rule.

mod bundles;
mod judge;
mod limit;
mod merge;
mod plan;
mod policy;
mod reason;
mod settings;
mod size;
mod snapshot;

pub(in crate::core) use merge::{is_small, may_be_due};

pub use limit::{InvalidLimit, Limit};
pub use plan::{BundleRemoval, CleanupPlan, Removal, Verdict, WorkflowPlan, plan};
pub use policy::{BundleRule, KeepRules, Policy, PolicyError, Rules, Scope, TriggerLimits};
pub use reason::Reason;
pub use settings::RetentionSettings;
pub use snapshot::{
    BundleFacts, CheckpointFacts, Content, Leftover, Place, Snapshot, Standing, WorkflowFacts,
};
