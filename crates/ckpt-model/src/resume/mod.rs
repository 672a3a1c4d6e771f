//! Resume: where to continue, why, and whether it is safe.
//!
//! Input: a [`Checkpoint`](crate::Checkpoint) and [`Facts`] about the files, the git checkout and the session
//! around it, which `core/observe` collects. [`evaluate()`] judges without I/O, so that every rule can be tested at every
//! boundary. Output: a [`Resume`] with the resume point, the findings and the verdict.
//!
//! # Rules
//!
//! 1. Where work continues is decided in [`next_phase`](crate::next_phase), for `save` and `resume` alike: at a
//!    phase that is failed or in progress, else at the next phase that a save named, else at the first one that is not
//!    done. A phase between done ones that was never begun is a gap: it is the resume point, or else needs a
//!    confirmation.
//! 2. A phase `in_progress` whose outputs all exist and are valid is done by evidence. Otherwise it was interrupted and
//!    is repeated. A `failed` phase is tried again and never counts as done.
//! 3. A phase that needs approval and is recorded as complete, or has something to show, waits until a person agrees. It
//!    is presented again, not repeated.
//! 4. The tasks of the phase are recovered one by one: see [`tasks`].
//! 5. The verdict follows from the heaviest finding, or is `complete` if no phase is left.
//!
//! # Where do I add a finding?
//!
//! Add its code to [`Code`](crate::finding::Code) and a check to `checks.rs`, which [`evaluate()`] calls. If the
//! check needs to look at anything outside the checkpoint, add a fact to [`Facts`] and collect it in `core/observe/gather.rs`.

mod checks;
mod evaluate;
mod facts;
pub mod tasks;

pub use super::config::Limits;
pub use evaluate::{PhaseEvidence, Resume, Verdict, evaluate, phase_state};
pub use facts::{DamagedNewest, Facts, FileCondition, GitFact, KeptContent, OtherHead, OutputFact, Selection, Sharing};
