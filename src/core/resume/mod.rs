//! Resume: where to continue, why, and whether it is safe.
//!
//! Input: a [`Checkpoint`](crate::core::Checkpoint), chosen by [`Selected`], and [`Facts`] about the files, the git
//! checkout and the session around it. [`gather()`] collects the facts and judges nothing. [`evaluate()`] judges without
//! I/O, so that every rule can be tested at every boundary. Output: a [`Resume`] with the resume point, the findings
//! and the verdict.
//!
//! # Rules
//!
//! 1. A phase is done if it is recorded as `complete` or `skipped`. Work continues at the first declared phase that is
//!    not done. The recorded "next" is only a claim; a disagreement is a finding.
//! 2. A phase `in_progress` whose outputs all exist and are valid is done by evidence. Otherwise it was interrupted and
//!    is repeated. A `failed` phase is tried again and never counts as done.
//! 3. A phase that needs approval, has something to show and is not approved is presented again, not repeated.
//! 4. The tasks of the phase are recovered one by one: see [`tasks`].
//! 5. The verdict follows from the heaviest finding, or is `complete` if no phase is left.
//!
//! # Where do I add a finding?
//!
//! Add its code to [`Code`](crate::core::finding::Code) and a check to `checks.rs`, which [`evaluate()`] calls. If the
//! check needs to look at anything outside the checkpoint, add a fact to [`Facts`] and collect it in [`gather()`].

mod checks;
mod evaluate;
mod facts;
mod gather;
mod select;
pub mod tasks;

pub use super::config::Limits;
pub use evaluate::{PhaseEvidence, Resume, Verdict, evaluate};
pub use facts::{DamagedNewest, Facts, FileCondition, GitFact, OutputFact, Selection};
pub use gather::{Observer, gather};
pub use select::Selected;
