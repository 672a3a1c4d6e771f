//! Resume: where to continue, why, and whether it is safe.
//!
//! [`evaluate`] judges a checkpoint in the light of [`Facts`] about the world, without looking at the world itself;
//! [`gather`] looks, and judges nothing. Keeping the two apart is what makes every rule testable at every boundary.
//!
//! The rules, in order:
//!
//! 1. A phase is done when it is recorded as `complete` or `skipped`. Work continues at the first declared phase that
//!    is not done. What the checkpoint says about "next" is only a claim: where it disagrees, that is a finding.
//! 2. A phase `in_progress` whose promised outputs all exist and are valid is done by evidence. Otherwise it was
//!    interrupted and is done again. A `failed` phase is tried again and never counts as done.
//! 3. A phase that needs approval, has something to show and has not been approved is presented again, not redone.
//! 4. Tasks of the phase are recovered one by one: see [`tasks`].
//! 5. Everything that has changed around the work is a finding. The verdict is the worst of them.

mod checks;
mod evaluate;
mod facts;
mod gather;
mod select;
pub mod tasks;

pub use super::config::Limits;
pub use evaluate::{Evidence, Resume, Verdict, evaluate};
pub use facts::{Condition, Facts, GitFact, OutputFact, TaskOutput, Watched};
pub use gather::{Observer, gather};
pub use select::Selected;
