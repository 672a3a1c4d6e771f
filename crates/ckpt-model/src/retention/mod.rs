//! Retention: which checkpoints stay live, which leave the live store, and which runs expire.
//!
//! [`plan()`] turns a [`Snapshot`] of the store, a [`Policy`] and the time into a [`CleanupPlan`] without I/O.
//! `Store::cleanup_facts` of `ckpt-store` takes the snapshot, and
//! `Store::clean_up` carries out exactly the plan.
//!
//! # Where is it decided that a checkpoint may go?
//!
//! In `decide.rs`, one checkpoint at a time, as a [`CheckpointDecision`] with its [`Reason`]s:
//!
//! 1. Guards keep the newest checkpoint of an open workflow, pinned checkpoints, checkpoints dated in the future,
//!    unreadable checkpoints, and every checkpoint of a workflow whose newest one is unreadable.
//! 2. [`KeepRules`] keep what the command line protects.
//! 3. [`Rules`] name what leaves. Any reason from 1 or 2 outweighs them.
//!
//! With `abandon_idle`, an open workflow that has been idle for longer leaves as a whole, marked abandoned, or not at all:
//! if a guard or a keep rule matches one of its checkpoints, it stays open.
//!
//! When a workflow completes, the limits of triggers that the settings name keep checkpoints live; the default ones do not.
//!
//! `size.rs` then adds the oldest finished workflows if the store is larger than `max_size`.
//!
//! # Where is it decided that content is deleted for good?
//!
//! In `runs.rs`, one [`Run`] at a time, by the [`RunRule`]. A run goes as a whole: never a part of one that a later
//! checkpoint continues, and no run of which a checkpoint stays live.
//!
//! # Invariants
//!
//! - Every live checkpoint in scope gets one decision, with all reasons of the winning side.
//! - Adding a keep rule never makes more checkpoints leave.
//! - A workflow of which nothing stays is archived as a whole. Otherwise its newest checkpoint stays too, because the
//!   next number follows it.
//! - Planning again right after a plan was carried out finds nothing to do.
//! - A policy without any rule is an error; it never means "everything".
//! - An age of exactly the limit is not too old.
//!
//! # Limitations
//!
//! `max_size` counts live checkpoints only; the archive has its own rule ([`RunRule`]).

mod decide;
mod limit;
mod plan;
mod policy;
mod reason;
mod runs;
mod settings;
mod size;
mod snapshot;

pub use limit::{InvalidLimit, Limit};
pub use plan::{CheckpointDecision, CleanupEffect, CleanupPlan, WorkflowPlan, is_past_grace, plan};
pub use policy::{KeepRules, Policy, PolicyError, Rules, RunRule, TriggerLimits, WorkflowFilter};
pub use reason::Reason;
pub use runs::{ExpiredRun, Run};
pub use settings::RetentionSettings;
pub use snapshot::{
    BundleFacts, CheckpointDetails, CheckpointFacts, HeadFacts, Snapshot, StoreDirectory, TemporaryFile,
    UnreferredObject, WorkflowFacts,
};
